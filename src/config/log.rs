//! What is logged and how.

use serde::Deserialize;
use tracing_subscriber::EnvFilter;

use super::{Config, Faults};

/// Section `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// How a line looks.
    pub format: LogFormat,
    /// Tracing directives, e.g. `info,platen::browser=debug`.
    pub filter: String,
    /// A line for each request.
    pub access: bool,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Pretty,
    /// One JSON object a line, for machines.
    Json,
}

impl LogConfig {
    /// The same for a command that somebody waits for: it says itself what came of it, so of the log what is no trouble is
    /// left out where no filter was chosen.
    pub fn of_command(&self) -> Self {
        let is_chosen = self.filter != Config::default().log.filter;
        let filter = if is_chosen { self.filter.clone() } else { "warn".to_owned() };
        Self { filter, ..self.clone() }
    }

    pub(super) fn validate(&self, faults: &mut Faults) {
        if let Err(error) = EnvFilter::try_new(&self.filter) {
            faults.add("log.filter", format!("'{}' is no filter: {error}", self.filter));
        }
    }
}
