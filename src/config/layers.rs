//! Merges the layers of the configuration key by key, and records which layer set each value.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Config, DEFAULT_TOML, SettingErrors};

const ENV_PREFIX: &str = "PLATEN__";

/// The layer that set a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The file, by the path it was given by.
    File(PathBuf),
    /// The variable of the environment, by its name.
    Variable(String),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Variable(name) => write!(formatter, "environment {name}"),
        }
    }
}

/// The defaults with the values of the other layers.
pub(super) struct Layers {
    /// Every key with its value.
    pub table: Table,
    /// The keys (`section.key`) that a layer other than the defaults has set.
    pub sources: BTreeMap<String, Source>,
}

impl Layers {
    /// Merges the layers. A value that cannot be merged is an error; the value of the layer below stays.
    pub fn read(file: Option<&Path>, environment: &[(String, String)], errors: &mut SettingErrors) -> Self {
        let mut layers = Self { table: defaults(), sources: BTreeMap::new() };
        if let Some(path) = file {
            layers.overlay_file(path, errors);
        }
        for (name, value) in environment {
            if let Some(key) = name.strip_prefix(ENV_PREFIX) {
                layers.overlay_variable(name, key, value, errors);
            }
        }
        layers
    }

    /// Replaces values by the defaults that have the right type but cannot be deserialized, such as an unknown word, and drops
    /// such entries from lists. One bad value fails the whole table and would hide all other errors. The error names no
    /// key, so each value is deserialized alone among the defaults.
    pub fn replace_unreadable(&mut self, errors: &mut SettingErrors) {
        if self.table.clone().try_into::<Config>().is_ok() {
            return;
        }
        for (section, keys) in &mut self.table {
            let Some(keys) = keys.as_table_mut() else { continue };
            for (key, value) in keys {
                let Err(error) = deserialize_alone(section, key, value) else { continue };
                let name = format!("{section}.{key}");
                if let Value::Array(entries) = value {
                    let mut number = 0;
                    entries.retain(|entry| {
                        number += 1;
                        let read = deserialize_alone(section, key, &Value::Array(vec![entry.clone()]));
                        read.map_err(|error| errors.add(&name, format!("entry {number}: {error}"))).is_ok()
                    });
                } else {
                    errors.add(&name, error);
                }
                if let Err(error) = deserialize_alone(section, key, value) {
                    if value.is_array() {
                        errors.add(&name, error);
                    }
                    if let Some(default) = defaults().get(section).and_then(|keys| keys.get(key)) {
                        *value = default.clone();
                        self.sources.remove(&name);
                    }
                }
            }
        }
    }

    fn overlay_file(&mut self, path: &Path, errors: &mut SettingErrors) {
        let shown = path.display().to_string();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return errors.add(shown, format!("cannot be read: {error}")),
        };
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return errors.add(shown, not_toml(&text, &error)),
        };
        for (section, keys) in table {
            let Value::Table(keys) = keys else {
                errors.add(section, "is not a section; put it under one, e.g. [http]");
                continue;
            };
            for (key, value) in keys {
                self.set((&section, &key), value, Source::File(path.to_owned()), errors);
            }
        }
    }

    fn overlay_variable(&mut self, name: &str, key: &str, value: &str, errors: &mut SettingErrors) {
        let Some((section, key)) = key.split_once("__") else {
            return errors.add(name, "is not of the form PLATEN__SECTION__KEY");
        };
        let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
        let present = self.table.get(&section).and_then(|keys| keys.get(&key));
        let parsed = if matches!(present, Some(Value::String(_)) | None) {
            Value::String(value.to_owned())
        } else if matches!(present, Some(Value::Array(_))) {
            match value.parse::<Value>() {
                Ok(list) => list,
                Err(error) => return errors.add(name, format!("is not a TOML array: {}", error.message())),
            }
        } else if let Ok(number) = value.parse::<i64>() {
            Value::Integer(number)
        } else if let Ok(flag) = value.parse::<bool>() {
            Value::Boolean(flag)
        } else {
            Value::String(value.to_owned())
        };
        self.set((&section, &key), parsed, Source::Variable(name.to_owned()), errors);
    }

    fn set(
        &mut self,
        (section, key): (&str, &str),
        value: Value,
        source: Source,
        errors: &mut SettingErrors,
    ) {
        let name = format!("{section}.{key}");
        let Some(Value::Table(keys)) = self.table.get_mut(section) else {
            return errors.add(name, "there is no such section; `platen serve --print-config` lists them");
        };
        let Some(present) = keys.get_mut(key) else {
            return errors.add(name, "there is no such key; `platen serve --print-config` lists them");
        };
        if present.type_str() != value.type_str() {
            let detail = format!("must be {}, not {}", a(present.type_str()), a(value.type_str()));
            return errors.add(name, detail);
        }
        if matches!(value, Value::Integer(number) if number < 0) {
            return errors.add(name, "must not be negative");
        }
        *present = value;
        self.sources.insert(name, source);
    }
}

fn defaults() -> Table {
    #[expect(clippy::expect_used, reason = "compiled in; the unit tests load it")]
    DEFAULT_TOML.parse().expect("config/default.toml is TOML")
}

/// Deserializes the defaults with this one value changed.
fn deserialize_alone(section: &str, key: &str, value: &Value) -> Result<(), String> {
    let mut table = defaults();
    if let Some(present) = table.get_mut(section).and_then(|keys| keys.get_mut(key)) {
        *present = value.clone();
    }
    table.try_into::<Config>().map(drop).map_err(|error| error.message().to_owned())
}

/// Names the line by its number only: its text may hold a secret.
fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("is not TOML: line {}: {}", before.matches('\n').count() + 1, error.message())
}

/// The name of a type with its article.
fn a(type_name: &str) -> String {
    let article = if type_name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {type_name}")
}
