//! Where metrics are read.

use std::net::SocketAddr;

use serde::Deserialize;

use super::SettingErrors;

/// Section `[metrics]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// Separate address and port for `/metrics`; empty: the same as everything else (`http.bind`).
    pub bind: String,
    /// How often each shared thread is observed, in milliseconds (`platen_thread_held_seconds`); 0: never.
    pub watch_ms: u64,
}

impl MetricsConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        if !self.bind.is_empty() && self.bind.parse::<SocketAddr>().is_err() {
            let detail = format!("'{}' is no address; write IP:PORT, e.g. 127.0.0.1:9090", self.bind);
            errors.add("metrics.bind", detail);
        }
        errors.within("metrics.watch_ms", self.watch_ms, 0, 60_000);
    }
}
