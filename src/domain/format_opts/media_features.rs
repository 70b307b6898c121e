//! `mediaFeatures`: emulated CSS media features such as `prefers-color-scheme`.

use json_members::{Members, Shape};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Key;
use crate::domain::shown::shortened;

/// The features that Chromium can emulate, and the values of each.
const FEATURES: [(&str, &[&str]); 7] = [
    ("prefers-color-scheme", &["light", "dark"]),
    ("prefers-reduced-motion", &["no-preference", "reduce"]),
    ("prefers-reduced-transparency", &["no-preference", "reduce"]),
    ("prefers-reduced-data", &["no-preference", "reduce"]),
    ("prefers-contrast", &["no-preference", "more", "less", "custom"]),
    ("forced-colors", &["none", "active"]),
    ("color-gamut", &["srgb", "p3", "rec2020"]),
];
const WANTED: &str = "an object such as {\"prefers-color-scheme\": \"dark\"}";

/// Most wrong features that are reported.
const SHOWN_ERRORS: usize = 3;

/// A feature and its value.
pub type MediaFeature = (&'static str, &'static str);

/// As other services have it: a list of names and values.
#[derive(Deserialize)]
struct Named {
    name: String,
    value: String,
}

/// Reads `mediaFeatures`.
pub(super) fn read(members: &mut Members<'_>) -> Vec<MediaFeature> {
    let Some(sent) = members.raw(Key::MediaFeatures, || Shape::Map(Box::new(Shape::Text))) else {
        return Vec::new();
    };
    let Some(named) = named(sent) else {
        members.fault(Key::MediaFeatures, format!("must be {WANTED}"));
        return Vec::new();
    };
    let mut features: Vec<MediaFeature> = Vec::new();
    let mut wrong = Vec::new();
    for Named { name, value } in named {
        if let Some((known, values)) = FEATURES.iter().find(|(known, _)| *known == name) {
            if let Some(value) = values.iter().find(|known| **known == value) {
                // As with style sheets, the last one counts.
                features.retain(|(other, _)| other != known);
                features.push((*known, *value));
            } else {
                let values = values.join(", ");
                wrong.push(format!("'{}' is no value of {known}; give one of {values}", shortened(&value)));
            }
        } else {
            let known = FEATURES.map(|(known, _)| known).join(", ");
            wrong.push(format!("'{}' is not known; give some of {known}", shortened(&name)));
        }
        // A list may be as long as options are: neither its errors nor its repetitions are kept.
        if wrong.len() == SHOWN_ERRORS {
            break;
        }
    }
    for detail in wrong {
        members.fault(Key::MediaFeatures, detail);
    }
    features
}

fn named(sent: &RawValue) -> Option<Vec<Named>> {
    if sent.get().starts_with('[') {
        return serde_json::from_str(sent.get()).ok();
    }
    let object: std::collections::BTreeMap<String, String> = serde_json::from_str(sent.get()).ok()?;
    Some(object.into_iter().map(|(name, value)| Named { name, value }).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, reading};
    use super::*;

    #[test]
    fn features_are_an_object_or_a_list() {
        for text in [
            r#"{"mediaFeatures":{"prefers-color-scheme":"dark","color-gamut":"p3"}}"#,
            r#"{"mediaFeatures":[{"name":"color-gamut","value":"p3"},{"name":"prefers-color-scheme","value":"dark"}]}"#,
        ] {
            let mut features = options(text).emulation.features;
            features.sort_unstable();
            assert_eq!(features, [("color-gamut", "p3"), ("prefers-color-scheme", "dark")]);
        }
        let again = r#"{"name":"color-gamut","value":"p3"},"#.repeat(500);
        let text = format!(r#"{{"mediaFeatures":[{again}{{"name":"color-gamut","value":"srgb"}}]}}"#);
        assert_eq!(options(&text).emulation.features, [("color-gamut", "srgb")]);
        let many = r#"{"name":"a","value":"b"},"#.repeat(500);
        let text = format!(r#"{{"mediaFeatures":[{many}{{"name":"a","value":"b"}}]}}"#);
        assert_eq!(reading(&text).errors.len(), SHOWN_ERRORS);
        let at = "/formatOpts/mediaFeatures";
        assert_error(r#"{"mediaFeatures":"dark"}"#, at, "must be an object such as");
        assert_error(r#"{"mediaFeatures":{"prefers-colour":"dark"}}"#, at, "some of prefers-color-scheme, ");
        assert_error(r#"{"mediaFeatures":{"forced-colors":"yes"}}"#, at, "give one of none, active");
    }
}
