//! Masks the secrets in `formatOpts` that are stored and shown.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Key;
use super::promises::asks;

/// Replaces a secret.
const STARS: &str = r#""***""#;

/// `object` with stars in place of passwords and of the headers and cookies of requests. `None` if it has none.
pub fn mask_secrets(object: &RawValue) -> Option<Box<RawValue>> {
    let Ok(Ordered(members)) = serde_json::from_str(object.get()) else { return None };
    let is_secret = |name: &str, value: &RawValue| {
        Key::from_name(name).is_some_and(Key::is_secret) && value.get() != "null" && asks(value)
    };
    if !members.iter().any(|(name, value)| is_secret(name, value)) {
        return None;
    }
    let written = members.iter().map(|(name, value)| {
        let is_secret = is_secret(name, value);
        // The names in it (hosts, headers) are not secret.
        let shown = if is_secret && name == Key::Requests.name() {
            starred(value)
        } else if is_secret {
            STARS.to_owned()
        } else {
            value.get().to_owned()
        };
        format!("{}:{shown}", serde_json::Value::from(name.as_str()))
    });
    RawValue::from_string(format!("{{{}}}", written.collect::<Vec<_>>().join(","))).ok()
}

/// The same names, and stars for every value.
fn starred(value: &RawValue) -> String {
    fn star(value: serde_json::Value) -> serde_json::Value {
        if let serde_json::Value::Object(members) = value {
            members.into_iter().map(|(name, value)| (name, star(value))).collect()
        } else {
            "***".into()
        }
    }
    serde_json::from_str(value.get()).map_or_else(|_| STARS.to_owned(), |value| star(value).to_string())
}

/// The members of an object in their order, names given twice included: each of the two may hold a secret.
struct Ordered<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Ordered<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Ordered<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_however_the_key_is_written() {
        let shown = |text: &str| {
            let object: Box<RawValue> = serde_json::from_str(text).unwrap();
            mask_secrets(&object).map(|shown| shown.get().to_owned())
        };
        assert_eq!(shown(r#"{"scale": 1.50, "password": false}"#), None, "as it was sent");
        assert_eq!(shown("[]"), None);
        let text = r#"{"b":1.50,"passw\u006frd":"one","password":"two","ownerPassword":["x"],"userPassword":null,"\"":{}}"#;
        let stars = r#"{"b":1.50,"password":"***","password":"***","ownerPassword":"***","userPassword":null,"\"":{}}"#;
        assert_eq!(shown(text).as_deref(), Some(stars));
        let text = r#"{"requests":{"a.example":{"headers":{"X":"one"}}},"requests":["two"],"requests":"three","scale":1.0}"#;
        let stars = r#"{"requests":{"a.example":{"headers":{"X":"***"}}},"requests":"***","requests":"***","scale":1.0}"#;
        assert_eq!(shown(text).as_deref(), Some(stars));
    }
}
