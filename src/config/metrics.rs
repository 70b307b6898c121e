//! Where metrics are read.

use std::net::SocketAddr;

use serde::Deserialize;

use super::Faults;

/// Section `[metrics]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// Address and port of its own for `/metrics`; empty: where everything else is.
    pub bind: String,
}

impl MetricsConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        if !self.bind.is_empty() && self.bind.parse::<SocketAddr>().is_err() {
            let detail = format!("'{}' is no address; write IP:PORT, e.g. 127.0.0.1:9090", self.bind);
            faults.add("metrics.bind", detail);
        }
    }
}
