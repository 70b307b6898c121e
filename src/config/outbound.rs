//! Which hosts the service may connect to, for itself and for its pages.

use serde::Deserialize;

use super::{SettingErrors, without_password};

/// Section `[outbound]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutboundConfig {
    /// Hosts that pages may reach, and deliveries besides what `delivery` says.
    pub allow: Vec<Allowed>,
    /// Where documents may be delivered to.
    pub delivery: DeliveryReach,
    /// How often a delivery is tried when the receiver fails.
    pub delivery_tries: u64,
    /// Longest time for a delivery, all tries together.
    pub delivery_timeout_s: u64,
    /// Deliveries at once; further ones wait, which counts as part of their time.
    pub delivery_limit: u64,
    /// Deliveries at once of one account.
    pub delivery_account_limit: u64,
    /// Longest time to resolve a host, and again to connect to it.
    pub connect_timeout_ms: u64,
    /// Redirects that a delivery or a fetched picture follows; each address is checked anew.
    pub redirect_limit: u64,
    /// Longest delivery URL.
    pub address_limit_bytes: u64,
    /// Longest time for one request of a page to an allowed host, or one of its tunnels.
    pub page_timeout_s: u64,
    /// Bytes of one request or tunnel of a page, both directions together.
    pub page_limit_bytes: u64,
    /// Longest status and headers of a response to a page over plain http.
    pub page_head_limit_bytes: u64,
    /// Bytes of all requests and tunnels of a page together.
    pub page_total_limit_bytes: u64,
    /// Requests and tunnels of a page at once; further ones wait, which counts as part of their time.
    pub page_connection_limit: u64,
    /// Those of a page in all.
    pub page_request_limit: u64,
}

/// Which hosts a document may be delivered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryReach {
    /// Every host with a public address, by https on port 443, and what `allow` lists.
    Public,
    /// What `allow` lists.
    Listed,
}

/// One entry of `outbound.allow`: `"host"`, `"host:port"` or a table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Entry")]
pub struct Allowed {
    /// The host's name or address, in lower case, an IPv6 address without brackets.
    pub host: String,
    /// The one port; without it 443, and 80 where `http` is set.
    pub port: Option<u16>,
    /// The host may have an address that is not public; only with a port.
    pub private: bool,
    /// Plain http is allowed as well; always so where `private` is set.
    pub http: bool,
}

/// What an entry must allow besides https to a public address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostExceptions {
    /// Plain http.
    pub http: bool,
    /// An address that is not public.
    pub private: bool,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an entry of outbound.allow is \"host\", \"host:port\" or { host = \"host:port\", private = true }"
)]
enum Entry {
    Host(String),
    Table(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    host: String,
    #[serde(default)]
    private: bool,
    #[serde(default)]
    http: bool,
}

impl From<Entry> for Allowed {
    fn from(entry: Entry) -> Self {
        let Table { host, private, http } = match entry {
            Entry::Host(host) => Table { host, private: false, http: false },
            Entry::Table(table) => table,
        };
        let (name, port) = split(&host);
        let host = name.trim_end_matches('.').to_ascii_lowercase();
        Self { host, port, private, http: http || private }
    }
}

/// Splits `host:port`, `[v6]:port`, `host` or `v6`. An invalid port stays part of the host, which validation then refuses.
fn split(text: &str) -> (&str, Option<u16>) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match text.split_once(':') {
        Some((host, port)) => port.parse().map_or((text, None), |port| (host, Some(port))),
        None => (text, None),
    }
}

impl OutboundConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        for entry in &self.allow {
            entry.validate(errors);
        }
        errors.within("outbound.delivery_tries", self.delivery_tries, 1, 10);
        errors.within("outbound.delivery_timeout_s", self.delivery_timeout_s, 1, 3_600);
        errors.within("outbound.delivery_limit", self.delivery_limit, 1, 100_000);
        errors.within("outbound.delivery_account_limit", self.delivery_account_limit, 1, 100_000);
        errors.within("outbound.connect_timeout_ms", self.connect_timeout_ms, 100, 60_000);
        errors.within("outbound.redirect_limit", self.redirect_limit, 0, 10);
        errors.within("outbound.address_limit_bytes", self.address_limit_bytes, 256, 65_536);
        errors.within("outbound.page_timeout_s", self.page_timeout_s, 1, 600);
        errors.within("outbound.page_limit_bytes", self.page_limit_bytes, 1_024, 1 << 40);
        errors.within("outbound.page_head_limit_bytes", self.page_head_limit_bytes, 8_192, 1 << 20);
        errors.within("outbound.page_total_limit_bytes", self.page_total_limit_bytes, 1_024, 1 << 40);
        errors.within("outbound.page_connection_limit", self.page_connection_limit, 1, 32);
        errors.within("outbound.page_request_limit", self.page_request_limit, 1, 1_000_000);
    }
}

impl Allowed {
    /// The entry of `outbound.allow` that makes `host` reachable at `port`.
    pub fn entry(host: &str, port: u16, exceptions: HostExceptions) -> String {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let http = if exceptions.http { ", http = true" } else { "" };
        match exceptions {
            HostExceptions { private: true, .. } => {
                format!("{{ host = \"{host}:{port}\"{http}, private = true }}")
            }
            HostExceptions { http: true, .. } => format!("{{ host = \"{host}:{port}\"{http} }}"),
            HostExceptions { .. } if port == 443 => format!("\"{host}\""),
            HostExceptions { .. } => format!("\"{host}:{port}\""),
        }
    }

    fn validate(&self, errors: &mut SettingErrors) {
        let key = "outbound.allow";
        let name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let is_host = self.host.parse::<std::net::IpAddr>().is_ok() || self.host.chars().all(name);
        if self.host.is_empty() || !is_host {
            let host = without_password(&self.host);
            let detail = format!("'{host}' is no host; write a name or an address, with :port or without");
            errors.add(key, detail);
        }
        if self.private && self.port.is_none() {
            let detail = format!("'{}' is private and has no port; write \"{}:PORT\"", self.host, self.host);
            errors.add(key, detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    const HTTPS: HostExceptions = HostExceptions { http: false, private: false };

    fn load(allow: &str) -> Result<Vec<Allowed>, SettingErrors> {
        let variable = ("PLATEN__OUTBOUND__ALLOW".to_owned(), allow.to_owned());
        Config::load(None, [variable]).map(|config| config.outbound.allow)
    }

    fn allowed(host: &str, port: Option<u16>, private: bool, http: bool) -> Allowed {
        Allowed { host: host.to_owned(), port, private, http }
    }

    #[test]
    fn entries_are_read_in_every_form() {
        let entries = load(
            r#"["CDN.example.", "a.example:8443", { host = "[::1]:9000", private = true }, "2001:db8::1",
                { host = "old.example", http = true }]"#,
        );
        assert_eq!(
            entries.unwrap(),
            [
                allowed("cdn.example", None, false, false),
                allowed("a.example", Some(8443), false, false),
                allowed("::1", Some(9000), true, true),
                allowed("2001:db8::1", None, false, false),
                allowed("old.example", None, false, true),
            ]
        );
    }

    #[test]
    fn the_suggested_entry_allows_the_host() {
        for (host, port, exceptions, private, http) in [
            ("a.example", 443, HTTPS, false, false),
            ("a.example", 8443, HTTPS, false, false),
            ("a.example", 80, HostExceptions { http: true, private: false }, false, true),
            ("10.0.0.5", 9000, HostExceptions { http: true, private: true }, true, true),
            ("::1", 443, HostExceptions { http: false, private: true }, true, true),
            ("2001:db8::1", 443, HTTPS, false, false),
        ] {
            let entry = Allowed::entry(host, port, exceptions);
            let port = (exceptions != HTTPS || port != 443).then_some(port);
            assert_eq!(load(&format!("[{entry}]")).unwrap(), [allowed(host, port, private, http)], "{entry}");
        }
    }

    #[test]
    fn an_invalid_entry_is_refused_without_showing_its_password() {
        for (allow, words) in [
            (r#"["https://a.example/"]"#, "'https://a.example/' is no host"),
            (r#"["https://u:pw@a.example", "u:pw@b"]"#, "'***@a.example' is no host"),
            (r#"["a.example:99999"]"#, "'a.example:99999' is no host"),
            (r#"[""]"#, "'' is no host"),
            (r#"[{ host = "10.0.0.1", private = true }]"#, "'10.0.0.1' is private and has no port"),
            (r#"[{ host = "a", privat = true }]"#, "an entry of outbound.allow is \"host\""),
            ("a.example", "PLATEN__OUTBOUND__ALLOW"),
        ] {
            let message = load(allow).unwrap_err().to_string();
            assert!(message.contains(words) && !message.contains("pw"), "{allow}: {message}");
        }
    }
}
