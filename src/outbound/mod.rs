//! Where the service itself may connect to: decided on a parsed address, pinned to what its name meant
//! at that moment, decided again at every redirect.
//!
//! [`Outbound::decide`] is the only way to a [`Pinned`], and a [`Pinned`] the only way to a connection to
//! anything a caller named (security rule 1). A name is resolved once; all its addresses must be allowed;
//! the connection goes to one of these and never asks for the name again.

mod addresses;
mod certificates;
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
pub use certificates::certificate_authorities;
pub use send::{Body, SendError};
pub use special::is_global;

use crate::config::{Allowed, DeliveryReach, OutboundConfig};

/// Decides, and sends where it may.
#[derive(Clone)]
pub struct Outbound {
    config: Arc<OutboundConfig>,
    own: Arc<[SocketAddr]>,
    resolver: Arc<dyn Resolve>,
}

/// An address that may be connected to, and the only addresses its host stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    url: Url,
    addresses: Vec<SocketAddr>,
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

/// What the rules say before a name is resolved.
struct Named<'a> {
    shown: String,
    port: u16,
    entry: Option<&'a Allowed>,
}

impl Outbound {
    /// Rules of `config`; `own` are the service's own listeners, which are never connected to.
    #[must_use]
    pub fn new(config: OutboundConfig, own: &[SocketAddr], resolver: Arc<dyn Resolve>) -> Self {
        Self { config: Arc::new(config), own: own.into(), resolver }
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

    /// Decides whether `url` may be connected to, resolving its host.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub async fn decide(&self, url: Url) -> Result<Pinned, Refusal> {
        let named = self.judge_name(&url)?;
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), named.port)],
            Some(Host::Domain(name)) => self.resolve(name, &named).await?,
            None => return forbidden("it has no host"),
        };
        // Without them nobody knows which addresses are this very machine's.
        let local = addresses::local().map_err(|error| {
            Refusal::Unresolved(format!("the machine's own addresses cannot be listed: {error}"))
        })?;
        for address in &addresses {
            self.judge_address(*address, &named, &local)?;
        }
        Ok(Pinned { url, addresses })
    }

    /// What can be said of the address as it is written.
    fn judge_name(&self, url: &Url) -> Result<Named<'_>, Refusal> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            scheme => return forbidden(&format!("'{scheme}:' is not https")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return forbidden("it contains a user name or a password; use a presigned address");
        }
        let (Some(host), Some(port)) = (host_of(url), url.port_or_known_default()) else {
            return forbidden("it has no host");
        };
        let shown = shown(url);
        let entry = self.config.allow.iter().find(|entry| matches(entry, &host, port));
        if !secure && !entry.is_some_and(|entry| entry.http) {
            return forbidden(&format!(
                "{shown} is not https; outbound.allow can open it: {{ host = \"{host}:{port}\", http = true }}"
            ));
        }
        let public = self.config.delivery == DeliveryReach::Public && port == 443;
        if entry.is_none() && !public {
            return forbidden(&format!("{shown} is not opened; outbound.allow can do so: \"{host}:{port}\""));
        }
        Ok(Named { shown, port, entry })
    }

    async fn resolve(&self, name: &str, named: &Named<'_>) -> Result<Vec<SocketAddr>, Refusal> {
        let limit = Duration::from_millis(self.config.connect_timeout_ms);
        let unresolved = |why: String| {
            Refusal::Unresolved(format!("the host of {} cannot be resolved: {why}", named.shown))
        };
        let name = name.trim_end_matches('.');
        let found = timeout(limit, self.resolver.resolve(name, named.port)).await;
        let late = || unresolved(format!("no answer within {} ms", limit.as_millis()));
        let addresses = found.map_err(|_| late())?.map_err(|error| unresolved(error.to_string()))?;
        if addresses.is_empty() { Err(unresolved("it has no address".to_owned())) } else { Ok(addresses) }
    }

    fn judge_address(&self, address: SocketAddr, named: &Named<'_>, local: &[IpAddr]) -> Result<(), Refusal> {
        let ip = special::plain(address.ip());
        let here = ip.is_loopback() || ip.is_unspecified() || local.contains(&ip);
        let ours = |own: &SocketAddr| own.port() == address.port() && (here || own.ip().to_canonical() == ip);
        if self.own.iter().any(ours) {
            return forbidden(&format!("{} is this service itself", named.shown));
        }
        let private = named.entry.is_some_and(|entry| entry.private);
        if (here || !is_global(ip)) && !private {
            return forbidden(&format!(
                "{} has an address that is not public; outbound.allow can open it: \
                 {{ host = \"HOST:{}\", private = true }}",
                named.shown, named.port
            ));
        }
        Ok(())
    }
}

impl Pinned {
    /// `https://host:port`: what may be shown and logged of it.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(&self.url)
    }
}

impl Admitted {
    /// The address as text, with its signature: for the journal, never for a log.
    #[must_use]
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
