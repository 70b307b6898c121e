//! Resolves names, and lists this machine's own addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;

/// Resolves names to addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Every address that the name has now, with `port`.
    ///
    /// # Errors
    /// When there is no such name, or no name server answers.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The system's resolver.
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, port)).await?.collect())
    }
}

/// The addresses of this machine's interfaces; listed anew each time, because they change.
pub(super) fn local() -> io::Result<Vec<IpAddr>> {
    let interfaces = nix::ifaddrs::getifaddrs()?;
    let addresses = interfaces.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
    });
    Ok(addresses.collect())
}
