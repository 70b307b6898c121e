//! Time, memory and disk space of a program that makes a document: keys that several sections share.

use serde::Deserialize;

use super::SettingErrors;

/// The shared keys, flattened into a section.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ProgramLimits {
    /// Longest time to make a document, all runs together; then the program is killed.
    pub timeout_ms: u64,
    /// Memory of a run.
    pub memory_limit_mb: u64,
    /// Processor time of a run.
    pub processor_limit_s: u64,
    /// Disk space of a document.
    pub files_limit_mb: u64,
    /// Files and folders of a document.
    pub files_limit: u64,
    /// Output of a run besides its log.
    pub printed_limit_bytes: u64,
}

impl ProgramLimits {
    /// Below `least_memory_mb` the program itself could not start.
    pub(super) fn validate(&self, section: &str, least_memory_mb: u64, errors: &mut SettingErrors) {
        let mut within =
            |key: &str, value, least, most| errors.within(&format!("{section}.{key}"), value, least, most);
        within("timeout_ms", self.timeout_ms, 100, 3_600_000);
        within("memory_limit_mb", self.memory_limit_mb, least_memory_mb, 1 << 20);
        within("processor_limit_s", self.processor_limit_s, 1, 3_600);
        within("files_limit_mb", self.files_limit_mb, 16, 1 << 20);
        within("files_limit", self.files_limit, 64, 1_000_000);
        within("printed_limit_bytes", self.printed_limit_bytes, 1_024, 1 << 30);
    }
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use crate::config::{Config, DEFAULT_TOML};

    /// `serde(flatten)` rules out `deny_unknown_fields`, so a field misspelt here would silently never be read.
    #[test]
    fn every_key_of_a_section_with_these_limits_is_read() {
        let defaults: Table = DEFAULT_TOML.parse().unwrap();
        let read = |table: &Table| format!("{:?}", table.clone().try_into::<Config>().unwrap());
        for section in ["tex", "pandoc"] {
            for key in defaults[section].as_table().unwrap().keys() {
                let mut changed = defaults.clone();
                let value = &mut changed[section][key];
                *value = match (value.as_integer(), value.as_str()) {
                    (Some(number), _) => Value::Integer(number + 1),
                    (_, Some(text)) => Value::String(format!("{text}x")),
                    _ => panic!("{value:?}: change it as well"),
                };
                assert_ne!(read(&changed), read(&defaults), "{section}.{key}");
            }
        }
    }
}
