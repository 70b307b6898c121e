//! Configuration: the defaults compiled in, a file over them, `PLATEN__SECTION__KEY` over both.
//!
//! `config/default.toml` holds every key, so it is also the schema: what it does not name is unknown,
//! and a value must be of the type it has there. All errors are reported at once, each with its key
//! and remedy. One file a section; `layers.rs` merges, `print.rs` prints the result.
//!
//! Every other module may read the sections' types; only `Config::load` makes them, for `cli` and tests.

mod accounts;
mod assemble;
mod browser;
mod engines;
mod http;
mod jobs;
mod layers;
mod log;
mod metrics;
mod office;
mod outbound;
mod pandoc;
mod print;
mod program;
mod raster;
mod s3;
mod storage;
mod templates;
mod tex;
mod workers;

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use layers::Layers;

pub use self::print::effective;
pub use self::s3::{S3Config, Secret};
pub use accounts::AccountsConfig;
pub use assemble::AssembleConfig;
pub use browser::{BrowserConfig, ScriptedReuse};
pub use engines::EnginesConfig;
pub use http::HttpConfig;
pub use jobs::JobsConfig;
pub use log::{LogConfig, LogFormat};
pub use metrics::MetricsConfig;
pub use office::OfficeConfig;
pub use outbound::{Allowed, DeliveryReach, HostExceptions, OutboundConfig};
pub use pandoc::PandocConfig;
pub use program::ProgramLimits;
pub use raster::RasterConfig;
pub use storage::{Objects, StorageConfig};
pub use templates::TemplatesConfig;
pub use tex::TexConfig;
pub use workers::{SERVER_USERS, WorkersConfig};

/// When a program is started that the service keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// With the service.
    Eager,
    /// With the first page or document that needs it.
    Lazy,
}

/// The compiled-in defaults.
pub const DEFAULT_TOML: &str = include_str!("../../config/default.toml");

/// The whole configuration, validated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Section `[http]`.
    pub http: HttpConfig,
    /// Section `[jobs]`.
    pub jobs: JobsConfig,
    /// Section `[browser]`.
    pub browser: BrowserConfig,
    /// Section `[assemble]`.
    pub assemble: AssembleConfig,
    /// Section `[office]`.
    pub office: OfficeConfig,
    /// Section `[raster]`.
    pub raster: RasterConfig,
    /// Section `[tex]`.
    pub tex: TexConfig,
    /// Section `[pandoc]`.
    pub pandoc: PandocConfig,
    /// Section `[engines]`.
    pub engines: EnginesConfig,
    /// Section `[workers]`.
    pub workers: WorkersConfig,
    /// Section `[templates]`.
    pub templates: TemplatesConfig,
    /// Section `[storage]`.
    pub storage: StorageConfig,
    /// Section `[s3]`.
    pub s3: S3Config,
    /// Section `[accounts]`.
    pub accounts: AccountsConfig,
    /// Section `[metrics]`.
    pub metrics: MetricsConfig,
    /// Section `[outbound]`.
    pub outbound: OutboundConfig,
    /// Section `[log]`.
    pub log: LogConfig,
}

/// One wrong setting: its key, what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// `section.key`, or the file.
    pub key: String,
    /// What is wrong and the remedy.
    pub detail: String,
}

/// All errors of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingErrors(pub Vec<SettingError>);

impl SettingErrors {
    fn add(&mut self, key: impl Into<String>, detail: impl Into<String>) {
        self.0.push(SettingError { key: key.into(), detail: detail.into() });
    }

    /// Adds an error unless `value` is between `least` and `most`, both included.
    fn within(&mut self, key: &str, value: u64, least: u64, most: u64) {
        if value < least || value > most {
            self.add(key, format!("{value} is out of range; give a number from {least} to {most}"));
        }
    }
}

/// A configured limit as a count of things in memory. One that `usize` cannot hold, on a machine of 32 bits, is no limit there.
pub fn as_count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// An invalid address with everything before `@` masked, for error messages: it may hold a password.
fn without_password(address: &str) -> String {
    address.rsplit_once('@').map_or_else(|| address.to_owned(), |(_, host)| format!("***@{host}"))
}

impl fmt::Display for SettingErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the configuration has {} fault(s):", self.0.len())?;
        self.0.iter().try_for_each(|error| write!(formatter, "\n  {}: {}", error.key, error.detail))
    }
}

impl std::error::Error for SettingErrors {}

impl Config {
    /// Defaults, then `file` where one is given, then `environment` (pairs of name and value).
    ///
    /// # Errors
    /// Every error of every layer at once.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingErrors> {
        let environment: Vec<_> = environment.into_iter().collect();
        let mut errors = SettingErrors::default();
        let layers = Layers::read(file, &environment, &mut errors);
        let Some(config) = Self::of(layers, &environment, &mut errors) else { return Err(errors) };
        if errors.0.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// The validated configuration of the layers, errors added to `errors`; `None` where it cannot be deserialized.
    fn of(mut layers: Layers, environment: &[(String, String)], errors: &mut SettingErrors) -> Option<Self> {
        layers.replace_unreadable(errors);
        let mut config: Self = match layers.table.try_into() {
            Ok(config) => config,
            Err(error) => {
                errors.add("config", error.message());
                return None;
            }
        };
        config.s3.take_environment(environment);
        config.tex.take_environment(environment);
        config.validate(errors);
        Some(config)
    }

    fn validate(&self, errors: &mut SettingErrors) {
        self.http.validate(errors);
        self.jobs.validate(errors);
        self.browser.validate(errors);
        self.assemble.validate(errors);
        self.office.validate(errors);
        self.raster.validate(errors);
        self.tex.validate(errors);
        self.pandoc.validate(errors);
        self.engines.validate(errors);
        self.workers.validate(errors);
        self.templates.validate(errors);
        self.storage.validate(errors);
        let is_s3 = self.storage.objects == Objects::S3;
        if is_s3 {
            let (output, upload) = (self.storage.output_limit_bytes, self.http.upload_limit_bytes);
            errors.within("storage.output_limit_bytes", output, 1_024, self::s3::OBJECT_LIMIT_BYTES);
            errors.within("http.upload_limit_bytes", upload, 1_024, self::s3::OBJECT_LIMIT_BYTES);
        }
        self.s3.validate(is_s3, errors);
        self.accounts.validate(errors);
        self.metrics.validate(errors);
        self.outbound.validate(errors);
        self.log.validate(errors);
    }
}

impl Default for Config {
    /// The compiled-in defaults alone.
    fn default() -> Self {
        #[expect(clippy::expect_used, reason = "compiled in; the unit tests load it")]
        Self::load(None, []).expect("config/default.toml is valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_variable_wins_over_a_file_and_a_file_over_the_defaults() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "[http]\nbind = \"127.0.0.1:1\"\nwait_limit_s = 30\n").unwrap();
        let layers = [variable("PLATEN__HTTP__BIND", "127.0.0.1:2"), variable("HOME", "/")];
        let config = Config::load(Some(file.path()), layers).unwrap();
        assert_eq!(config.http.bind, "127.0.0.1:2");
        assert_eq!(config.http.wait_limit_s, 30);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let layers = [
            variable("PLATEN__HTTP__WAIT_LIMIT_S", "soon"),
            variable("PLATEN__HTTP__COLOUR", "blue"),
            variable("PLATEN__LIMBO__KEY", "1"),
            variable("PLATEN__JOBS__QUEUE_LIMIT", "-1"),
            variable("PLATEN__BROWSER__PROCESSES", "0"),
            variable("PLATEN__METRICS__BIND", "9090"),
            variable("PLATEN__HTTP__BIND", "nowhere"),
        ];
        let errors = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = errors.0.iter().map(|error| error.key.as_str()).collect();
        let unread = ["http.wait_limit_s", "http.colour", "limbo.key", "jobs.queue_limit"];
        let wrong = ["http.bind", "browser.processes", "metrics.bind"];
        assert_eq!(keys, [&unread[..], &wrong].concat());
    }

    #[test]
    fn an_unknown_word_is_reported_with_its_key() {
        let layers = [
            variable("PLATEN__OFFICE__START", "sometimes"),
            variable("PLATEN__ENGINES__SLOTS", "[1]"),
            variable("PLATEN__HTTP__WAIT_LIMIT_S", "30"),
        ];
        let errors = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = errors.0.iter().map(|error| error.key.as_str()).collect();
        assert_eq!(keys, ["engines.slots", "office.start"]);
        assert!(errors.0[1].detail.contains("expected `eager` or `lazy`"), "{errors}");
    }

    #[test]
    fn an_unreadable_value_hides_no_other_error() {
        let allow = r#"["a.example", 1, { host = "b", privat = true }, "c d", { host = "10.0.0.1", private = true }]"#;
        let layers = [
            variable("PLATEN__OUTBOUND__ALLOW", allow),
            variable("PLATEN__OUTBOUND__DELIVERY", "everywhere"),
            variable("PLATEN__OUTBOUND__DELIVERY_TRIES", "0"),
            variable("PLATEN__LOG__FORMAT", "xml"),
        ];
        let errors = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = errors.0.iter().map(|error| error.key.as_str()).collect();
        let allow = "outbound.allow";
        let tries = "outbound.delivery_tries";
        assert_eq!(keys, ["log.format", allow, allow, "outbound.delivery", allow, allow, tries], "{errors}");
        let message = errors.to_string();
        for words in
            ["entry 2: ", "entry 3: ", "`public` or `listed`", "'c d' is no host", "'10.0.0.1' is private"]
        {
            assert!(message.contains(words), "{words}: {message}");
        }
    }
}
