//! The HTTP interface: address, limits, waits.

use std::net::SocketAddr;

use serde::Deserialize;
use url::Url;

use super::{SettingErrors, without_password};
use crate::domain::network::Network;

/// Section `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// Address and port to listen on; port 0 takes a free one.
    pub bind: String,
    /// Base of all URLs in answers; empty: http:// and the bound address.
    pub public_url: String,
    /// Threads that answer requests; 0: one a core, at most 4.
    pub workers: u64,
    /// Largest JSON body (10 MiB).
    pub json_limit_bytes: u64,
    /// Deepest nesting of a JSON body and of a job's data.
    pub json_depth_limit: u64,
    /// Parts of a form that are not files.
    pub form_fields_limit: u64,
    /// Largest upload to a presigned URL (100 MiB).
    pub upload_limit_bytes: u64,
    /// Longest wait of a waiting start or an immediate render.
    pub wait_default_s: u64,
    /// Longest wait of a long poll.
    pub wait_limit_s: u64,
    /// Longest time for the head of a request to arrive.
    pub request_timeout_ms: u64,
    /// How long a connection is kept open between two requests.
    pub keep_alive_s: u64,
    /// Longest time for a body or an upload to arrive whole.
    pub upload_timeout_s: u64,
    /// A client that reads nothing of its response for so long is disconnected.
    pub send_timeout_s: u64,
    /// JSON bodies and forms held in memory at once, all together; one account gets at most all but a quarter of what others
    /// leave.
    pub bodies_limit_bytes: u64,
    /// A body that comes slower is given up (408) when another one needs its memory.
    pub body_floor_bytes_per_s: u64,
    /// How long a body may come slower, or pause.
    pub body_floor_window_ms: u64,
    /// Connections held at once. When they are all taken, the holder of the most (an account or an address) makes way for others.
    pub connection_limit: u64,
    /// Addresses and networks of proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<String>,
    /// How long a stopping service lets running jobs finish.
    pub shutdown_grace_s: u64,
    /// Requests of one token in a second, on average; more are refused with 429.
    pub rate_limit_per_s: u64,
    /// Requests of one token at once, after a pause.
    pub rate_burst_limit: u64,
    /// Longest `Idempotency-Key`.
    pub idempotency_key_limit_bytes: u64,
}

impl HttpConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        if self.bind.parse::<SocketAddr>().is_err() {
            let detail = format!("'{}' is no address; write IP:PORT, e.g. 127.0.0.1:8080", self.bind);
            errors.add("http.bind", detail);
        }
        if !self.public_url.is_empty() && !is_base(&self.public_url) {
            let shown = without_password(&self.public_url);
            let detail = format!("'{shown}' is no http(s) address without name, password and query");
            errors.add("http.public_url", detail);
        }
        errors.within("http.workers", self.workers, 0, 256);
        errors.within("http.json_limit_bytes", self.json_limit_bytes, 1_024, 1 << 30);
        errors.within("http.json_depth_limit", self.json_depth_limit, 8, 1_000);
        errors.within("http.form_fields_limit", self.form_fields_limit, 1, 100_000);
        errors.within("http.upload_limit_bytes", self.upload_limit_bytes, 1_024, 1 << 33);
        errors.within("http.wait_limit_s", self.wait_limit_s, 1, 3_600);
        errors.within("http.wait_default_s", self.wait_default_s, 0, self.wait_limit_s);
        errors.within("http.request_timeout_ms", self.request_timeout_ms, 100, 600_000);
        errors.within("http.keep_alive_s", self.keep_alive_s, 1, 3_600);
        errors.within("http.upload_timeout_s", self.upload_timeout_s, 1, 86_400);
        errors.within("http.send_timeout_s", self.send_timeout_s, 1, 86_400);
        // The share of one account must hold the largest body.
        let least = self.json_limit_bytes.saturating_add(self.json_limit_bytes.div_ceil(3));
        errors.within("http.bodies_limit_bytes", self.bodies_limit_bytes, least, 1 << 40);
        errors.within("http.body_floor_bytes_per_s", self.body_floor_bytes_per_s, 1, 1 << 30);
        errors.within("http.body_floor_window_ms", self.body_floor_window_ms, 100, 600_000);
        for entry in self.trusted_proxies.iter().filter(|entry| Network::parse(entry).is_none()) {
            let detail = format!("'{entry}' is no address and no network; write e.g. 10.0.0.7 or 10.0.0.0/8");
            errors.add("http.trusted_proxies", detail);
        }
        errors.within("http.connection_limit", self.connection_limit, 1, 1_000_000);
        errors.within("http.shutdown_grace_s", self.shutdown_grace_s, 0, 3_600);
        errors.within("http.rate_limit_per_s", self.rate_limit_per_s, 1, 1_000_000);
        errors.within("http.rate_burst_limit", self.rate_burst_limit, 1, 10_000_000);
        errors.within("http.idempotency_key_limit_bytes", self.idempotency_key_limit_bytes, 16, 4_096);
    }
}

fn is_base(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        let has_no_user = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https")
            && has_no_user
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    fn keys(variables: &[(&str, &str)]) -> Vec<String> {
        let variables =
            variables.iter().map(|(name, value)| (format!("PLATEN__HTTP__{name}"), (*value).to_owned()));
        let errors = Config::load(None, variables).err().unwrap_or_default();
        errors.0.into_iter().map(|error| error.key).collect()
    }

    #[test]
    fn an_accounts_share_of_the_memory_for_bodies_holds_the_largest_body() {
        let limit = |bytes| keys(&[("JSON_LIMIT_BYTES", "3000"), ("BODIES_LIMIT_BYTES", bytes)]);
        assert_eq!(limit("4000"), Vec::<String>::new());
        assert_eq!(limit("3999"), ["http.bodies_limit_bytes"]);
    }

    #[test]
    fn a_trusted_proxy_is_an_address_or_a_network() {
        let trusted = |list| keys(&[("TRUSTED_PROXIES", list)]);
        assert_eq!(trusted(r#"["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"]"#), Vec::<String>::new());
        assert_eq!(trusted(r#"["proxy", "10.0.0.0/40"]"#), ["http.trusted_proxies"; 2]);
    }
}
