//! Where the service itself may connect to, and its pages through it: decided on a parsed address, pinned
//! to what its name meant at that moment, decided again at every redirect.
//!
//! [`Outbound::decide`] (a delivery), [`Outbound::decide_page`] (a page) and [`Outbound::fetch`] (a file for a
//! document) are the only ways to a [`Pinned`], and a [`Pinned`] the only way to a connection to anything a caller named (security rule 1).
//! A name is resolved once; all its addresses must be allowed; the connection goes to one of these and
//! never asks for the name again.

mod addresses;
mod connect;
mod fetch;
mod own;
mod page;
mod send;
mod special;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use url::{Host, Url};

pub use addresses::{Resolve, SystemResolver};
pub use fetch::FetchError;
pub use own::Claim;
pub use page::{ExchangeError, PageLimits};
pub use send::{Body, SendError};
pub use special::is_global;

use crate::config::{Allowed, DeliveryReach, Opening, OutboundConfig};
use own::Own;

/// Decides, and sends where it may.
#[derive(Clone)]
pub struct Outbound {
    config: Arc<OutboundConfig>,
    own: Arc<Own>,
    resolver: Arc<dyn Resolve>,
}

/// An address that may be connected to, and the only addresses its host stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    url: Url,
    addresses: Vec<SocketAddr>,
    /// Whether its entry lets it be spoken to without encryption.
    plain: bool,
}

/// An address that a caller may name, as far as is known; it is decided upon again when it is used.
#[derive(Clone, PartialEq, Eq)]
pub struct Admitted(Url);

/// Why an address may not be connected to; the sentence names the remedy and never a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is refused by a rule, whenever it is asked.
    #[error("{0}")]
    Forbidden(String),
    /// Its host cannot be resolved now.
    #[error("{0}")]
    Unresolved(String),
}

/// Who wants to connect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The service, with a document, to an address of a caller's.
    Delivery,
    /// A page.
    Page,
    /// The service, for a file that a template names.
    File,
}

/// What the rules say before a name is resolved.
struct Named<'a> {
    purpose: Purpose,
    shown: String,
    host: String,
    port: u16,
    /// Whether it is asked for without encryption.
    http: bool,
    entry: Option<&'a Allowed>,
}

impl Outbound {
    /// Rules of `config`; `own` are the service's own listeners, which are never connected to.
    pub fn new(config: OutboundConfig, own: &[SocketAddr], resolver: Arc<dyn Resolve>) -> Self {
        Self { config: Arc::new(config), own: Arc::new(Own::new(own)), resolver }
    }

    /// Reads a delivery address as a caller wrote it and decides upon it.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn read(&self, text: &str) -> Result<Pinned, Refusal> {
        self.decide(self.parse(text)?).await
    }

    fn parse(&self, text: &str) -> Result<Url, Refusal> {
        let limit_bytes = self.config.address_limit_bytes;
        if text.len() as u64 > limit_bytes {
            let words = format!("it is longer than {limit_bytes} bytes (outbound.address_limit_bytes)");
            return Err(Refusal::Forbidden(words));
        }
        if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return forbidden("it contains a space or a control character; percent-encode it");
        }
        Url::parse(text).map_err(|error| Refusal::Forbidden(format!("it is no address: {error}")))
    }

    /// Decides whether `text` may be named as a delivery address. A host that cannot be resolved now may be
    /// there when it is needed.
    ///
    /// # Errors
    /// Why it is refused, whenever it is asked.
    pub async fn admit(&self, text: &str) -> Result<Admitted, Refusal> {
        match self.read(text).await {
            Ok(pinned) => Ok(Admitted(pinned.url)),
            Err(Refusal::Unresolved(_)) => self.parse(text).map(Admitted),
            Err(refusal) => Err(refusal),
        }
    }

    /// Decides whether a document may be delivered to `url`, resolving its host.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn decide(&self, url: Url) -> Result<Pinned, Refusal> {
        let named = self.name(&url, Purpose::Delivery)?;
        match self.judge_delivery(&named) {
            Ok(()) => self.pin(&url, &named).await,
            Err(why) => Err(self.closed(&url, &named, why).await),
        }
    }

    /// From now on `address` is one of the service's own listeners.
    pub fn claim(&self, address: SocketAddr) -> Claim {
        self.own.claim(address)
    }

    async fn pin(&self, url: &Url, named: &Named<'_>) -> Result<Pinned, Refusal> {
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Domain(name)) => self.resolve(name, named).await?,
            None => return forbidden("it has no host"),
        };
        // Without them nobody knows which addresses are this very machine's.
        let local = addresses::local().map_err(|error| {
            Refusal::Unresolved(format!("the machine's own addresses cannot be listed: {error}"))
        })?;
        for address in &addresses {
            self.judge_address(*address, named, &local)?;
        }
        let plain = named.entry.is_some_and(|entry| entry.http);
        Ok(Pinned { url: url.clone(), addresses, plain })
    }

    /// What can be said of the address as it is written: why it is not open, but for the entry.
    fn judge_delivery(&self, named: &Named<'_>) -> Result<(), String> {
        let Named { shown, port, entry, .. } = named;
        if named.http && !entry.is_some_and(|entry| entry.http) {
            return Err(format!("{shown} is not https; outbound.allow can open it"));
        }
        let public = self.config.delivery == DeliveryReach::Public && *port == 443;
        if entry.is_none() && !public {
            return Err(format!("{shown} is not opened; outbound.allow can do so"));
        }
        Ok(())
    }

    /// The refusal of what is not open: with an entry that is enough at once, so that nobody writes one, restarts, and
    /// meets the next refusal; without one where that one cannot help.
    async fn closed(&self, url: &Url, named: &Named<'_>, why: String) -> Refusal {
        // A question for a name that is not listed may carry words out.
        let asks_anyway = named.purpose == Purpose::Delivery && self.config.delivery == DeliveryReach::Public;
        let may_ask = asks_anyway || named.entry.is_some();
        let addresses = match url.host() {
            Some(Host::Domain(name)) if may_ask => self.resolve(name, named).await.unwrap_or_default(),
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Domain(_)) | None => Vec::new(),
        };
        let local = addresses::local().unwrap_or_default();
        // Only where an entry was written: else every port of this machine could be asked whether it is the service's.
        if named.entry.is_some() && addresses.iter().any(|address| self.is_own(*address, &local)) {
            return Refusal::Forbidden(named.own_listener());
        }
        let is_inner = |address: &SocketAddr| is_inner(special::plain(address.ip()), &local);
        let private = addresses.iter().any(is_inner) || (addresses.is_empty() && is_inner_name(&named.host));
        let entry = Allowed::entry(&named.host, named.port, Opening { http: named.http, private });
        Refusal::Forbidden(format!("{why}: {entry}"))
    }

    /// Host, port, and the entry that opens them.
    fn name(&self, url: &Url, purpose: Purpose) -> Result<Named<'_>, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return forbidden(&format!("'{}:' is not https", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return forbidden("it contains a user name or a password; use a presigned address");
        }
        let (Some(host), Some(port)) = (host_of(url), url.port_or_known_default()) else {
            return forbidden("it has no host");
        };
        // Of several entries for one host and port the one counts that opens most.
        let entries = self.config.allow.iter().filter(|entry| matches(entry, &host, port));
        let entry = entries.max_by_key(|entry| (entry.private, entry.http));
        Ok(Named { purpose, shown: shown(url), host, port, http: url.scheme() == "http", entry })
    }

    async fn resolve(&self, name: &str, named: &Named<'_>) -> Result<Vec<SocketAddr>, Refusal> {
        let limit = Duration::from_millis(self.config.connect_timeout_ms);
        let long = format!("the host of {}", named.shown);
        let subject = named.says("its host", &long);
        let unresolved = |why: String| Refusal::Unresolved(format!("{subject} cannot be resolved: {why}"));
        let name = name.trim_end_matches('.');
        let found = timeout(limit, self.resolver.resolve(name, named.port)).await;
        let late = || unresolved(format!("no answer within {} ms", limit.as_millis()));
        let addresses = found.map_err(|_| late())?.map_err(|error| unresolved(error.to_string()))?;
        if addresses.is_empty() { Err(unresolved("it has no address".to_owned())) } else { Ok(addresses) }
    }

    fn judge_address(&self, address: SocketAddr, named: &Named<'_>, local: &[IpAddr]) -> Result<(), Refusal> {
        if self.is_own(address, local) {
            return Err(Refusal::Forbidden(named.own_listener()));
        }
        let private = named.entry.is_some_and(|entry| entry.private);
        if is_inner(special::plain(address.ip()), local) && !private {
            let opening = Opening { http: named.http, private: true };
            let entry = Allowed::entry(&named.host, named.port, opening);
            let subject = named.says("it", &named.shown);
            return forbidden(&format!(
                "{subject} has an address that is not public; outbound.allow can open it: {entry}"
            ));
        }
        Ok(())
    }

    /// Whether the service itself listens there.
    fn is_own(&self, address: SocketAddr, local: &[IpAddr]) -> bool {
        let ip = special::plain(address.ip());
        self.own.holds(ip, address.port(), is_here(ip, local))
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbound").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Named<'_> {
    /// What is said to a template's author stands beside the address, what is said of a delivery does not.
    fn says<'a>(&self, author: &'a str, delivery: &'a str) -> &'a str {
        match self.purpose {
            Purpose::Page | Purpose::File => author,
            Purpose::Delivery => delivery,
        }
    }

    fn own_listener(&self) -> String {
        format!("{} is this service itself", self.says("it", &self.shown))
    }
}

/// How many certificate authorities the machine knows; without one no https address can be delivered to.
pub fn certificate_authorities() -> usize {
    rustls_native_certs::load_native_certs().certs.len()
}

/// Whether it is this machine.
fn is_here(ip: IpAddr, local: &[IpAddr]) -> bool {
    ip.is_loopback() || ip.is_unspecified() || local.contains(&ip)
}

/// Whether only `private` opens it.
fn is_inner(ip: IpAddr, local: &[IpAddr]) -> bool {
    is_here(ip, local) || !is_global(ip)
}

/// Whether a name that is not asked for is one that the Internet at large does not have: of one word, or below a domain
/// that is kept for networks of one's own (RFC 6761, 6762, 8375, and `internal`).
fn is_inner_name(host: &str) -> bool {
    const KEPT: [&str; 6] = ["localhost", "local", "internal", "home.arpa", "lan", "intranet"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    !host.contains(['.', ':']) || KEPT.iter().any(is_below)
}

impl Pinned {
    /// `https://host:port`: what may be shown and logged of it.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }
}

impl Admitted {
    /// The address as text, with its signature: for the journal, never for a log.
    pub fn secret(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for Admitted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&shown(&self.0))
    }
}

fn shown(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// The host without brackets and without the dot that ends a full name.
fn host_of(url: &Url) -> Option<String> {
    Some(match url.host()? {
        Host::Domain(name) => name.trim_end_matches('.').to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    })
}

fn matches(entry: &Allowed, host: &str, port: u16) -> bool {
    let same = match (entry.host.parse::<IpAddr>(), host.parse::<IpAddr>()) {
        (Ok(entry), Ok(host)) => entry.to_canonical() == host.to_canonical(),
        _ => entry.host == host,
    };
    let usual = || port == 443 || (port == 80 && entry.http);
    same && entry.port.map_or_else(usual, |only| only == port)
}

fn forbidden<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal::Forbidden(why.to_owned()))
}
