//! What is logged and how.

use serde::Deserialize;
use tracing_subscriber::EnvFilter;

use super::{Config, SettingErrors};

/// Section `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// How a line looks.
    pub format: LogFormat,
    /// Tracing directives, e.g. `info,platen::browser=debug`.
    pub filter: String,
    /// One line for each request: method, path without its query, status, time, bytes, account.
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
    /// The same for a one-shot command, which prints its own result: warnings and errors only, unless a filter is set.
    pub fn of_command(&self) -> Self {
        let is_chosen = self.filter != Config::default().log.filter;
        let filter = if is_chosen { self.filter.clone() } else { "warn".to_owned() };
        Self { filter, ..self.clone() }
    }

    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        if let Err(error) = EnvFilter::try_new(&self.filter) {
            errors.add("log.filter", format!("'{}' is no filter: {error}", self.filter));
        }
    }
}
