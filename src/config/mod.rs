//! Configuration: the defaults compiled in, a file over them, `PLATEN__SECTION__KEY` over both.
//!
//! `config/default.toml` holds every key, so it is also the schema: what it does not name is unknown,
//! and a value must be of the type it has there. All faults are reported at once, each with its key
//! and remedy. One file a section.

mod accounts;
mod assemble;
mod browser;
mod engines;
mod http;
mod jobs;
mod log;
mod metrics;
mod office;
mod outbound;
mod pandoc;
mod raster;
mod s3;
mod storage;
mod templates;
mod tex;
mod workers;

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

pub use self::s3::{S3Config, Secret};
pub use accounts::AccountsConfig;
pub use assemble::AssembleConfig;
pub use browser::BrowserConfig;
pub use engines::EnginesConfig;
pub use http::HttpConfig;
pub use jobs::JobsConfig;
pub use log::{LogConfig, LogFormat};
pub use metrics::MetricsConfig;
pub use office::{OfficeConfig, OfficeStart};
pub use outbound::{Allowed, DeliveryReach, Opening, OutboundConfig};
pub use pandoc::PandocConfig;
pub use raster::RasterConfig;
pub use storage::{Objects, StorageConfig};
pub use templates::TemplatesConfig;
pub use tex::TexConfig;
pub use workers::{SERVER_USERS, WorkersConfig};

/// The compiled-in defaults, as `platen serve --print-config` prints them.
pub const DEFAULT_TOML: &str = include_str!("../../config/default.toml");

const ENV_PREFIX: &str = "PLATEN__";

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
pub struct Fault {
    /// `section.key`, or the file.
    pub key: String,
    /// What is wrong and the remedy.
    pub detail: String,
}

/// All faults of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    fn add(&mut self, key: impl Into<String>, detail: impl Into<String>) {
        self.0.push(Fault { key: key.into(), detail: detail.into() });
    }

    /// Demands that `value` lies between `least` and `most`, both included.
    fn within(&mut self, key: &str, value: u64, least: u64, most: u64) {
        if value < least || value > most {
            self.add(key, format!("{value} is out of range; give a number from {least} to {most}"));
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the configuration has {} fault(s):", self.0.len())?;
        self.0.iter().try_for_each(|fault| write!(formatter, "\n  {}: {}", fault.key, fault.detail))
    }
}

impl std::error::Error for Faults {}

impl Config {
    /// Defaults, then `file` where one is given, then `environment` (pairs of name and value).
    ///
    /// # Errors
    /// Every fault of every layer at once.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let mut merged = defaults();
        if let Some(path) = file {
            overlay_file(&mut merged, path, &mut faults);
        }
        let environment: Vec<_> = environment.into_iter().collect();
        for (name, value) in &environment {
            if let Some(key) = name.strip_prefix(ENV_PREFIX) {
                overlay_variable(&mut merged, name, key, value, &mut faults);
            }
        }
        // What could not be taken over left the default in its place, so the rest is checked as well.
        let mut config: Self = match merged.clone().try_into() {
            Ok(config) => config,
            Err(error) => {
                name_unread(&merged, &error, &mut faults);
                return Err(faults);
            }
        };
        config.s3.take_environment(&environment);
        config.tex.take_environment(&environment);
        config.validate(&mut faults);
        if faults.0.is_empty() { Ok(config) } else { Err(faults) }
    }

    fn validate(&self, faults: &mut Faults) {
        self.http.validate(faults);
        self.jobs.validate(faults);
        self.browser.validate(faults);
        self.assemble.validate(faults);
        self.office.validate(faults);
        self.raster.validate(faults);
        self.tex.validate(faults);
        self.pandoc.validate(faults);
        self.engines.validate(faults);
        self.workers.validate(faults);
        self.templates.validate(faults);
        self.storage.validate(faults);
        let is_s3 = self.storage.objects() == Some(Objects::S3);
        if is_s3 {
            let (output, upload) = (self.storage.output_limit_bytes, self.http.upload_limit_bytes);
            faults.within("storage.output_limit_bytes", output, 1_024, self::s3::OBJECT_LIMIT_BYTES);
            faults.within("http.upload_limit_bytes", upload, 1_024, self::s3::OBJECT_LIMIT_BYTES);
        }
        self.s3.validate(is_s3, faults);
        self.accounts.validate(faults);
        self.metrics.validate(faults);
        self.outbound.validate(faults);
        self.log.validate(faults);
    }
}

impl Default for Config {
    /// The compiled-in defaults alone.
    fn default() -> Self {
        #[expect(clippy::expect_used, reason = "compiled in; the unit tests load it")]
        Self::load(None, []).expect("config/default.toml is valid")
    }
}

fn defaults() -> Table {
    #[expect(clippy::expect_used, reason = "compiled in; the unit tests load it")]
    DEFAULT_TOML.parse().expect("config/default.toml is TOML")
}

fn overlay_file(merged: &mut Table, path: &Path, faults: &mut Faults) {
    let shown = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return faults.add(shown, format!("cannot be read: {error}")),
    };
    let table: Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return faults.add(shown, not_toml(&text, &error)),
    };
    for (section, keys) in table {
        let Value::Table(keys) = keys else {
            faults.add(section, "is not a section; put it under one, e.g. [http]");
            continue;
        };
        for (key, value) in keys {
            set(merged, &section, &key, value, faults);
        }
    }
}

/// Where it is wrong, and not the line itself: it may hold a secret.
fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("is not TOML: line {}: {}", before.matches('\n').count() + 1, error.message())
}

fn overlay_variable(merged: &mut Table, name: &str, key: &str, value: &str, faults: &mut Faults) {
    let Some((section, key)) = key.split_once("__") else {
        return faults.add(name, "is not of the form PLATEN__SECTION__KEY");
    };
    let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
    let present = merged.get(&section).and_then(|keys| keys.get(&key));
    let parsed = if matches!(present, Some(Value::String(_)) | None) {
        Value::String(value.to_owned())
    } else if matches!(present, Some(Value::Array(_))) {
        match value.parse::<Value>() {
            Ok(list) => list,
            Err(error) => return faults.add(name, format!("is not a TOML array: {}", error.message())),
        }
    } else if let Ok(number) = value.parse::<i64>() {
        Value::Integer(number)
    } else if let Ok(flag) = value.parse::<bool>() {
        Value::Boolean(flag)
    } else {
        Value::String(value.to_owned())
    };
    set(merged, &section, &key, parsed, faults);
}

fn set(merged: &mut Table, section: &str, key: &str, value: Value, faults: &mut Faults) {
    let name = format!("{section}.{key}");
    let Some(Value::Table(keys)) = merged.get_mut(section) else {
        return faults.add(name, "there is no such section; `platen serve --print-config` lists them");
    };
    let Some(present) = keys.get_mut(key) else {
        return faults.add(name, "there is no such key; `platen serve --print-config` lists them");
    };
    if present.type_str() != value.type_str() {
        let detail = format!("must be a {}, not a {}", present.type_str(), value.type_str());
        return faults.add(name, detail);
    }
    if matches!(value, Value::Integer(number) if number < 0) {
        return faults.add(name, "must not be negative");
    }
    *present = value;
}

/// Which values cannot be read, though they are of the type that the defaults have there, as a word that is none of those
/// known. What reads them says no key, so each is tried by itself among the defaults.
fn name_unread(merged: &Table, error: &toml::de::Error, faults: &mut Faults) {
    let before = faults.0.len();
    for (section, keys) in merged {
        for (key, value) in keys.as_table().into_iter().flatten() {
            let mut alone = defaults();
            if let Some(present) = alone.get_mut(section).and_then(|keys| keys.get_mut(key)) {
                *present = value.clone();
            }
            if let Err(error) = alone.try_into::<Config>() {
                faults.add(format!("{section}.{key}"), error.message());
            }
        }
    }
    if faults.0.len() == before {
        faults.add("config", error.message());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn the_defaults_are_valid() {
        let config = Config::default();
        assert_eq!(config.http.bind, "127.0.0.1:8080");
        assert_eq!(config.jobs.queue_limit, 1_000);
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
    fn every_fault_is_named_at_once() {
        let layers = [
            variable("PLATEN__HTTP__WAIT_LIMIT_S", "soon"),
            variable("PLATEN__HTTP__COLOUR", "blue"),
            variable("PLATEN__LIMBO__KEY", "1"),
            variable("PLATEN__JOBS__QUEUE_LIMIT", "-1"),
        ];
        let faults = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = faults.0.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["http.wait_limit_s", "http.colour", "limbo.key", "jobs.queue_limit"]);
    }

    #[test]
    fn a_word_that_is_none_of_those_known_is_named_by_its_key() {
        let layers = [
            variable("PLATEN__OFFICE__START", "sometimes"),
            variable("PLATEN__ENGINES__SLOTS", "[1]"),
            variable("PLATEN__HTTP__WAIT_LIMIT_S", "30"),
        ];
        let faults = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = faults.0.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["engines.slots", "office.start"]);
        assert!(faults.0[1].detail.contains("expected `eager` or `lazy`"), "{faults}");
    }

    #[test]
    fn values_are_checked_over_all_sections_at_once() {
        let layers = [
            variable("PLATEN__HTTP__BIND", "nowhere"),
            variable("PLATEN__BROWSER__PROCESSES", "0"),
            variable("PLATEN__METRICS__BIND", "9090"),
            variable("PLATEN__LOG__FORMAT", "xml"),
            variable("PLATEN__HTTP__COLOUR", "blue"),
        ];
        let faults = Config::load(None, layers).unwrap_err();
        let keys: Vec<_> = faults.0.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["http.colour", "http.bind", "browser.processes", "metrics.bind", "log.format"]);
    }
}
