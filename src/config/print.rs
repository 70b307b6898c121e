//! The effective configuration as TOML: every key with its value, the layer that set it, and what it is for.

use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

use super::layers::{Layers, Source};
use super::{Config, DEFAULT_TOML, SettingErrors};

/// Keys whose values are never printed, each with the variable that it is taken from where neither is set.
const SECRETS: [(&str, &str); 2] =
    [("s3.access_key", "AWS_ACCESS_KEY_ID"), ("s3.secret_key", "AWS_SECRET_ACCESS_KEY")];

/// The configuration that [`Config::load`] would make of these layers, and its errors. A value with an error in a layer is
/// printed as if that layer did not set it.
pub fn effective(file: Option<&Path>, environment: &[(String, String)]) -> (String, SettingErrors) {
    let mut errors = SettingErrors::default();
    let mut layers = Layers::read(file, environment, &mut errors);
    layers.replace_unreadable(&mut errors);
    let shown = shown(&layers, environment);
    // For its errors only: a printed value may still be out of range.
    let _ = Config::of(layers, environment, &mut errors);
    (shown, errors)
}

/// `default.toml` line by line, with the values and sources of `layers`.
fn shown(layers: &Layers, environment: &[(String, String)]) -> String {
    let mut text = "# Every setting with its value, where that is from, and what it is for.\n".to_owned();
    let mut section = "";
    let keys_given = ["s3.access_key", "s3.secret_key"].iter().any(|key| !is_empty(&layers.table, key));
    for line in DEFAULT_TOML.lines().skip_while(|line| line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let Some((key, rest)) = line.split_once(" = ") else {
            let _ = writeln!(text, "{line}");
            continue;
        };
        let (default, meaning) = rest.split_once(" # ").unwrap_or((rest, ""));
        let name = format!("{section}.{key}");
        let secret = SECRETS.iter().find(|(secret, _)| *secret == name);
        let (value, source) = match (layers.sources.get(&name), secret) {
            // As a comment: loading this text must not set the key to the placeholder.
            (Some(source @ Source::File(_)), Some(_)) if !is_empty(&layers.table, &name) => {
                let _ = writeln!(text, "{:<34} # {source}: {meaning}", format!("# {key} = ***"));
                continue;
            }
            // Empty: loading this text takes the key from the environment again.
            (Some(source), Some(_)) => ("\"\"".to_owned(), format!("{source}, not shown")),
            (None, Some((_, variable))) if !keys_given && has(environment, variable) => {
                ("\"\"".to_owned(), format!("environment {variable}, not shown"))
            }
            (Some(source), None) => (value(&layers.table, &name), source.to_string()),
            (None, _) => (default.trim().to_owned(), "default".to_owned()),
        };
        let _ = writeln!(text, "{:<34} # {source}: {meaning}", format!("{key} = {value}"));
    }
    text
}

fn find<'t>(table: &'t Table, name: &str) -> Option<&'t Value> {
    let (section, key) = name.split_once('.')?;
    table.get(section)?.get(key)
}

/// The value as TOML, except an address with a password: validation refuses it, and it must not be printed here either.
fn value(table: &Table, name: &str) -> String {
    let value = find(table, name).map(to_toml).unwrap_or_default();
    let may_be_address = value.contains("://") || name == "outbound.allow";
    if may_be_address && value.contains('@') { "\"***\"".to_owned() } else { value }
}

/// A value in TOML. Strings are written as JSON strings, whose escapes are valid TOML.
fn to_toml(value: &Value) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    match value {
        Value::String(value) => text(value),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(moment) => moment.to_string(),
        Value::Array(entries) => {
            format!("[{}]", entries.iter().map(to_toml).collect::<Vec<_>>().join(", "))
        }
        Value::Table(keys) => {
            let pairs = keys.iter().map(|(key, value)| format!("{} = {}", text(key), to_toml(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn is_empty(table: &Table, name: &str) -> bool {
    find(table, name).and_then(Value::as_str).is_none_or(str::is_empty)
}

fn has(environment: &[(String, String)], variable: &str) -> bool {
    environment.iter().any(|(name, value)| name == variable && !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_configuration_has_every_key() {
        let (defaults, errors) = effective(None, &[]);
        assert!(errors.0.is_empty());
        let (printed, default): (Table, Table) = (defaults.parse().unwrap(), DEFAULT_TOML.parse().unwrap());
        assert_eq!(printed, default);
        let lines = defaults.lines().filter(|line| line.contains(" = ")).count();
        assert_eq!(defaults.matches(" # default: ").count(), lines);
    }

    #[test]
    fn a_printed_configuration_loads_s3_keys_from_where_they_were() {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let folder = tempfile::tempdir().unwrap();
        let [given, again] = ["platen.toml", "again.toml"].map(|name| folder.path().join(name));
        let keys = |file: &Path, environment: &[(String, String)]| {
            let s3 = Config::load(Some(file), environment.iter().cloned()).unwrap().s3;
            (s3.access_key.expose().to_owned(), s3.secret_key.expose().to_owned())
        };
        for (file, environment) in [
            ("", vec![variable("AWS_ACCESS_KEY_ID", "one"), variable("AWS_SECRET_ACCESS_KEY", "two")]),
            ("", vec![variable("PLATEN__S3__ACCESS_KEY", "one"), variable("PLATEN__S3__SECRET_KEY", "two")]),
            ("[s3]\naccess_key = \"one\"\nsecret_key = \"two\"", vec![]),
        ] {
            std::fs::write(&given, file).unwrap();
            let (printed, errors) = effective(Some(&given), &environment);
            assert!(errors.0.is_empty() && !printed.contains("\"two\""), "{printed}");
            std::fs::write(&again, &printed).unwrap();
            // Keys of a file are comments in the printed text: they have to be copied by hand.
            let expected = if file.is_empty() { ("one", "two") } else { ("", "") };
            assert_eq!(keys(&again, &environment), (expected.0.to_owned(), expected.1.to_owned()));
            assert_eq!(printed.contains("# secret_key = *** "), !file.is_empty(), "{printed}");
        }
    }
}
