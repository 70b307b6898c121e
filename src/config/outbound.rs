//! Where the service itself may connect to, and its pages through it.

use serde::Deserialize;

use super::{Faults, without_password};

/// Section `[outbound]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutboundConfig {
    /// Hosts that pages may reach, and deliveries besides what `delivery` says.
    pub allow: Vec<Allowed>,
    /// Where documents may be delivered to.
    pub delivery: DeliveryReach,
    /// How often a delivery is tried when the other side fails.
    pub delivery_tries: u64,
    /// Until a delivery is done, all tries together.
    pub delivery_timeout_s: u64,
    /// Deliveries at once.
    pub delivery_limit: u64,
    /// Deliveries at once of one account.
    pub delivery_account_limit: u64,
    /// Until a connection is made.
    pub connect_timeout_ms: u64,
    /// Redirects that are followed, each decided upon anew.
    pub redirect_limit: u64,
    /// Longest delivery address.
    pub address_limit_bytes: u64,
    /// One request of a page, or one of its tunnels, from its beginning to its end.
    pub page_timeout_s: u64,
    /// Largest one, both directions together.
    pub page_limit_bytes: u64,
    /// Longest head of an answer to a page by http.
    pub page_head_limit_bytes: u64,
    /// All of a page together.
    pub page_total_limit_bytes: u64,
    /// Those of a page at once.
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

/// What an entry has to open beside a public address by https.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// What is not encrypted.
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

/// `host:port`, `[v6]:port`, `host` or `v6`; a port that is none stays with the host, which then is refused.
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
    pub(super) fn validate(&self, faults: &mut Faults) {
        for entry in &self.allow {
            entry.validate(faults);
        }
        faults.within("outbound.delivery_tries", self.delivery_tries, 1, 10);
        faults.within("outbound.delivery_timeout_s", self.delivery_timeout_s, 1, 3_600);
        faults.within("outbound.delivery_limit", self.delivery_limit, 1, 100_000);
        faults.within("outbound.delivery_account_limit", self.delivery_account_limit, 1, 100_000);
        faults.within("outbound.connect_timeout_ms", self.connect_timeout_ms, 100, 60_000);
        faults.within("outbound.redirect_limit", self.redirect_limit, 0, 10);
        faults.within("outbound.address_limit_bytes", self.address_limit_bytes, 256, 65_536);
        faults.within("outbound.page_timeout_s", self.page_timeout_s, 1, 600);
        faults.within("outbound.page_limit_bytes", self.page_limit_bytes, 1_024, 1 << 40);
        faults.within("outbound.page_head_limit_bytes", self.page_head_limit_bytes, 8_192, 1 << 20);
        faults.within("outbound.page_total_limit_bytes", self.page_total_limit_bytes, 1_024, 1 << 40);
        faults.within("outbound.page_connection_limit", self.page_connection_limit, 1, 32);
        faults.within("outbound.page_request_limit", self.page_request_limit, 1, 1_000_000);
    }
}

impl Allowed {
    /// What to write into `outbound.allow` so that `host` is reached at `port`.
    pub fn entry(host: &str, port: u16, reach: Opening) -> String {
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let http = if reach.http { ", http = true" } else { "" };
        match reach {
            Opening { private: true, .. } => format!("{{ host = \"{host}:{port}\"{http}, private = true }}"),
            Opening { http: true, .. } => format!("{{ host = \"{host}:{port}\"{http} }}"),
            Opening { .. } if port == 443 => format!("\"{host}\""),
            Opening { .. } => format!("\"{host}:{port}\""),
        }
    }

    fn validate(&self, faults: &mut Faults) {
        let key = "outbound.allow";
        let name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let is_host = self.host.parse::<std::net::IpAddr>().is_ok() || self.host.chars().all(name);
        if self.host.is_empty() || !is_host {
            let host = without_password(&self.host);
            let detail = format!("'{host}' is no host; write a name or an address, with :port or without");
            faults.add(key, detail);
        }
        if self.private && self.port.is_none() {
            let detail = format!("'{}' is private and has no port; write \"{}:PORT\"", self.host, self.host);
            faults.add(key, detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    const HTTPS: Opening = Opening { http: false, private: false };

    fn load(allow: &str) -> Result<Vec<Allowed>, Faults> {
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
    fn what_is_said_to_open_a_host_opens_it() {
        for (host, port, reach, private, http) in [
            ("a.example", 443, HTTPS, false, false),
            ("a.example", 8443, HTTPS, false, false),
            ("a.example", 80, Opening { http: true, private: false }, false, true),
            ("10.0.0.5", 9000, Opening { http: true, private: true }, true, true),
            ("::1", 443, Opening { http: false, private: true }, true, true),
            ("2001:db8::1", 443, HTTPS, false, false),
        ] {
            let entry = Allowed::entry(host, port, reach);
            let port = (reach != HTTPS || port != 443).then_some(port);
            assert_eq!(load(&format!("[{entry}]")).unwrap(), [allowed(host, port, private, http)], "{entry}");
        }
    }

    #[test]
    fn what_is_no_entry_is_refused_by_name() {
        for (allow, words) in [
            (r#"["https://a.example/"]"#, "'https://a.example/' is no host"),
            (r#"["https://u:pw@a.example", "u:pw@b"]"#, "'***@a.example' is no host"),
            (r#"["a.example:99999"]"#, "'a.example:99999' is no host"),
            (r#"[""]"#, "'' is no host"),
            (r#"[{ host = "10.0.0.1", private = true }]"#, "'10.0.0.1' is private and has no port"),
            (r#"[{ host = "a", privat = true }]"#, "an entry of outbound.allow is \"host\""),
            ("a.example", "PLATEN__OUTBOUND__ALLOW"),
        ] {
            let told = load(allow).unwrap_err().to_string();
            assert!(told.contains(words) && !told.contains("pw"), "{allow}: {told}");
        }
    }
}
