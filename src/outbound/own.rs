//! The service's own listeners, which nothing connects to, whatever is allowed.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

/// What the service listens on at the moment.
#[derive(Debug)]
pub(super) struct Own(RwLock<Vec<SocketAddr>>);

/// A listener that is the service's own for as long as this lives.
#[derive(Debug)]
pub struct Claim {
    own: Arc<Own>,
    address: SocketAddr,
}

impl Own {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        Self(RwLock::new(addresses.to_vec()))
    }

    pub(super) fn claim(self: &Arc<Self>, address: SocketAddr) -> Claim {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(address);
        Claim { own: Arc::clone(self), address }
    }

    /// Whether `ip` at `port` is one of them; `here` when `ip` is this machine.
    pub(super) fn holds(&self, ip: IpAddr, port: u16, here: bool) -> bool {
        let own = self.0.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().any(|own| own.port() == port && (here || own.ip().to_canonical() == ip))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut own = self.own.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = own.iter().position(|own| *own == self.address) {
            own.swap_remove(at);
        }
    }
}
