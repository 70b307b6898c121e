//! Decides which hosts the service, and its pages through it, may connect to, and makes those connections.
//!
//! Threats: requests to internal hosts (SSRF), DNS rebinding, and redirects to internal addresses. So a URL is parsed, its name
//! is resolved once, all its addresses must be allowed, and the connection goes to one of these without resolving again; every
//! redirect is decided anew. A connection to anything that a caller named needs a [`PinnedUrl`] (security rule 1), which only
//! [`Outbound::decide`] (a delivery), [`Outbound::decide_page`] (a page) and [`Outbound::fetch`] (a file for a document) make.

mod addresses;
mod connect;
mod fetch;
mod own_listeners;
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
pub use own_listeners::OwnListenerGuard;
pub use page::{ExchangeError, PageRequestLimits};
pub use send::{Body, SendError};
pub use special::is_global;

use crate::config::{Allowed, DeliveryReach, HostExceptions, OutboundConfig};
use own_listeners::OwnListeners;

/// Decides about URLs, and connects to those that are allowed.
#[derive(Clone)]
pub struct Outbound {
    config: Arc<OutboundConfig>,
    own: Arc<OwnListeners>,
    resolver: Arc<dyn Resolve>,
}

/// A URL that may be connected to, with the IP addresses to which its host was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedUrl {
    url: Url,
    addresses: Vec<SocketAddr>,
    /// Whether its entry allows connections without encryption.
    allows_http: bool,
}

/// A delivery URL that passed the check at admission; it is decided again when it is used.
#[derive(Clone, PartialEq, Eq)]
pub struct AdmittedUrl(Url);

/// Why a URL may not be connected to; the sentence names the remedy, and never path or query, which may hold a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A rule forbids it.
    #[error("{0}")]
    Forbidden(String),
    /// Its host cannot be resolved at the moment.
    #[error("{0}")]
    Unresolved(String),
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The service delivers a document to a caller's URL.
    Delivery,
    /// A page makes a request.
    Page,
    /// The service fetches a file that a template names.
    File,
}

/// A URL before its name is resolved, with the entry that allows it.
struct UnresolvedTarget<'a> {
    purpose: Purpose,
    shown: String,
    host: String,
    port: u16,
    /// Whether the URL is plain http.
    http: bool,
    entry: Option<&'a Allowed>,
}

impl Outbound {
    /// The rules of `config`; `own` are the service's own listeners, which are never connected to.
    pub fn new(config: OutboundConfig, own: &[SocketAddr], resolver: Arc<dyn Resolve>) -> Self {
        Self { config: Arc::new(config), own: Arc::new(OwnListeners::new(own)), resolver }
    }

    /// Parses a delivery URL from a caller and decides about it.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn read(&self, text: &str) -> Result<PinnedUrl, Refusal> {
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

    /// Checks a delivery URL when a job is admitted. A host that cannot be resolved now passes: it may exist when it is needed,
    /// and is decided again then.
    ///
    /// # Errors
    /// `Forbidden`.
    pub async fn admit(&self, text: &str) -> Result<AdmittedUrl, Refusal> {
        match self.read(text).await {
            Ok(pinned) => Ok(AdmittedUrl(pinned.url)),
            Err(Refusal::Unresolved(_)) => self.parse(text).map(AdmittedUrl),
            Err(refusal) => Err(refusal),
        }
    }

    /// Decides whether a document may be delivered to `url`, resolving its host.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn decide(&self, url: Url) -> Result<PinnedUrl, Refusal> {
        let named = self.name(&url, Purpose::Delivery)?;
        match self.judge_delivery(&named) {
            Ok(()) => self.pin(&url, &named).await,
            Err(why) => Err(self.refusal(&url, &named, why).await),
        }
    }

    /// From now on `address` is one of the service's own listeners.
    pub fn register_own(&self, address: SocketAddr) -> OwnListenerGuard {
        self.own.register_own(address)
    }

    async fn pin(&self, url: &Url, named: &UnresolvedTarget<'_>) -> Result<PinnedUrl, Refusal> {
        let addresses = match (literal_address(url, named.port), url.domain()) {
            (Some(address), _) => vec![address],
            (None, Some(name)) => self.resolve(name, named).await?,
            (None, None) => return forbidden("it has no host"),
        };
        // Without this list an address of this machine could not be recognized, so an error refuses.
        let local = addresses::local().map_err(|error| {
            Refusal::Unresolved(format!("the machine's own addresses cannot be listed: {error}"))
        })?;
        for address in &addresses {
            self.judge_address(*address, named, &local)?;
        }
        let allows_http = named.entry.is_some_and(|entry| entry.http);
        Ok(PinnedUrl { url: url.clone(), addresses, allows_http })
    }

    /// Checks the URL before resolving; the error is the reason without the suggested entry.
    fn judge_delivery(&self, named: &UnresolvedTarget<'_>) -> Result<(), String> {
        let UnresolvedTarget { shown, port, entry, .. } = named;
        if named.http && !entry.is_some_and(|entry| entry.http) {
            return Err(format!("{shown} is not https; outbound.allow can open it"));
        }
        let public = self.config.delivery == DeliveryReach::Public && *port == 443;
        if entry.is_none() && !public {
            return Err(format!("{shown} is not opened; outbound.allow can do so"));
        }
        Ok(())
    }

    /// The refusal of a URL that is not allowed, with an entry that suffices: an operator who follows a partial hint would
    /// restart and meet the next refusal. Without an entry if none can help.
    async fn refusal(&self, url: &Url, named: &UnresolvedTarget<'_>, why: String) -> Refusal {
        // A DNS query for an unlisted name would leak data that a page encodes in it.
        let resolves_any =
            named.purpose == Purpose::Delivery && self.config.delivery == DeliveryReach::Public;
        let may_resolve = resolves_any || named.entry.is_some();
        let addresses = match (literal_address(url, named.port), url.domain()) {
            (Some(address), _) => vec![address],
            (None, Some(name)) if may_resolve => self.resolve(name, named).await.unwrap_or_default(),
            (None, _) => Vec::new(),
        };
        let local = addresses::local().unwrap_or_default();
        // Only if there is an entry: otherwise callers could probe which ports of this machine are the service's.
        if named.entry.is_some() && addresses.iter().any(|address| self.is_own(*address, &local)) {
            return Refusal::Forbidden(named.own_listener());
        }
        let is_private = |address: &SocketAddr| is_private(special::canonical_ip(address.ip()), &local);
        let private =
            addresses.iter().any(is_private) || (addresses.is_empty() && is_private_name(&named.host));
        let entry = Allowed::entry(&named.host, named.port, HostExceptions { http: named.http, private });
        Refusal::Forbidden(format!("{why}: {entry}"))
    }

    /// Host, port, and the entry that allows them.
    fn name(&self, url: &Url, purpose: Purpose) -> Result<UnresolvedTarget<'_>, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return forbidden(&format!("'{}:' is not https", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return forbidden("it contains a user name or a password; use a presigned address");
        }
        let (Some(host), Some(port)) = (host_of(url), url.port_or_known_default()) else {
            return forbidden("it has no host");
        };
        // Of several entries for one host and port the most permissive counts.
        let entries = self.config.allow.iter().filter(|entry| matches(entry, &host, port));
        let entry = entries.max_by_key(|entry| (entry.private, entry.http));
        let http = url.scheme() == "http";
        Ok(UnresolvedTarget { purpose, shown: host_for_log(url), host, port, http, entry })
    }

    async fn resolve(&self, name: &str, named: &UnresolvedTarget<'_>) -> Result<Vec<SocketAddr>, Refusal> {
        let limit = Duration::from_millis(self.config.connect_timeout_ms);
        let long = format!("the host of {}", named.shown);
        let subject = named.subject("its host", &long);
        let unresolved = |why: String| Refusal::Unresolved(format!("{subject} cannot be resolved: {why}"));
        let name = name.trim_end_matches('.');
        let found = timeout(limit, self.resolver.resolve(name, named.port)).await;
        let late = || unresolved(format!("no answer within {} ms", limit.as_millis()));
        let addresses = found.map_err(|_| late())?.map_err(|error| unresolved(error.to_string()))?;
        if addresses.is_empty() { Err(unresolved("it has no address".to_owned())) } else { Ok(addresses) }
    }

    fn judge_address(
        &self,
        address: SocketAddr,
        named: &UnresolvedTarget<'_>,
        local: &[IpAddr],
    ) -> Result<(), Refusal> {
        if self.is_own(address, local) {
            return Err(Refusal::Forbidden(named.own_listener()));
        }
        let private = named.entry.is_some_and(|entry| entry.private);
        if is_private(special::canonical_ip(address.ip()), local) && !private {
            let opening = HostExceptions { http: named.http, private: true };
            let entry = Allowed::entry(&named.host, named.port, opening);
            let subject = named.subject("it", &named.shown);
            return forbidden(&format!(
                "{subject} has an address that is not public; outbound.allow can open it: {entry}"
            ));
        }
        Ok(())
    }

    /// Whether the service itself listens there.
    fn is_own(&self, address: SocketAddr, local: &[IpAddr]) -> bool {
        let ip = special::canonical_ip(address.ip());
        self.own.holds(ip, address.port(), is_local(ip, local))
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbound").field("config", &self.config).finish_non_exhaustive()
    }
}

impl UnresolvedTarget<'_> {
    /// The subject of a sentence: messages for a template's author follow the URL, those of a delivery must name it.
    fn subject<'a>(&self, author: &'a str, delivery: &'a str) -> &'a str {
        match self.purpose {
            Purpose::Page | Purpose::File => author,
            Purpose::Delivery => delivery,
        }
    }

    fn own_listener(&self) -> String {
        format!("{} is this service itself", self.subject("it", &self.shown))
    }
}

/// How many certificate authorities the machine has; without one no delivery by https succeeds.
pub fn certificate_authorities() -> usize {
    rustls_native_certs::load_native_certs().certs.len()
}

/// Whether the address belongs to this machine.
fn is_local(ip: IpAddr, local: &[IpAddr]) -> bool {
    ip.is_loopback() || ip.is_unspecified() || local.contains(&ip)
}

/// Whether the address needs an entry with `private`.
fn is_private(ip: IpAddr, local: &[IpAddr]) -> bool {
    is_local(ip, local) || !is_global(ip)
}

/// Whether an unresolved name belongs to a private network: a single label, or below a domain reserved for such networks
/// (RFC 6761, 6762, 8375, and `internal`).
fn is_private_name(host: &str) -> bool {
    const RESERVED: [&str; 6] = ["localhost", "local", "internal", "home.arpa", "lan", "intranet"];
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    !host.contains(['.', ':']) || RESERVED.iter().any(is_below)
}

impl PinnedUrl {
    /// `https://host:port`, the part that may be shown and logged.
    pub fn host_for_log(&self) -> String {
        host_for_log(&self.url)
    }
}

impl AdmittedUrl {
    /// The whole URL with its signature: for the journal, never for a log.
    pub fn secret(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for AdmittedUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&host_for_log(&self.0))
    }
}

/// `https://host:port`, the part that may be shown and logged: path and query may hold a signature.
fn host_for_log(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// The address of a host that is an IP address; `None` for a name.
fn literal_address(url: &Url, port: u16) -> Option<SocketAddr> {
    let ip: IpAddr = match url.host()? {
        Host::Ipv4(ip) => ip.into(),
        Host::Ipv6(ip) => ip.into(),
        Host::Domain(_) => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// The host without brackets and without a trailing dot.
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
