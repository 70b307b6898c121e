//! The service's own listeners, to which no connection is allowed, whatever `outbound.allow` has.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::RwLock;

/// The current listeners.
#[derive(Debug)]
pub(super) struct OwnListeners(RwLock<Vec<SocketAddr>>);

/// Registers a listener as the service's own until drop.
#[derive(Debug)]
pub struct OwnListenerGuard {
    own: Arc<OwnListeners>,
    address: SocketAddr,
}

impl OwnListeners {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        Self(RwLock::new(addresses.to_vec()))
    }

    /// Adds a listener until the guard is dropped.
    pub(super) fn register_own(self: &Arc<Self>, address: SocketAddr) -> OwnListenerGuard {
        self.0.write().push(address);
        OwnListenerGuard { own: Arc::clone(self), address }
    }

    /// Whether `ip` at `port` is one of them. Every local address counts (`is_local`): a listener may be bound to all of them.
    pub(super) fn holds(&self, ip: IpAddr, port: u16, is_local: bool) -> bool {
        let own = self.0.read();
        own.iter().any(|own| own.port() == port && (is_local || own.ip().to_canonical() == ip))
    }
}

impl Drop for OwnListenerGuard {
    fn drop(&mut self) {
        let mut own = self.own.0.write();
        if let Some(at) = own.iter().position(|own| *own == self.address) {
            own.swap_remove(at);
        }
    }
}
