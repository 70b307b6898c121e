//! An option that was given as text: a part of a form, an argument of the command line.

use std::sync::LazyLock;

use json_members::{Member, Shape};
use serde_json::value::{RawValue, to_raw_value};

use super::{Key, KeySet, OptionLimits, described};

/// The value of the key `name` as JSON, nested at most `depth` deep. The key's shape decides. A text is taken as it stands, also
/// where it looks like a number. `True`, `FALSE`, `1` and `0` are truth values where the key takes nothing else. The value of any
/// other key, known or not, is JSON, or else a text.
///
/// # Errors
/// When it cannot be written as JSON: a bug.
pub fn value_of(name: &str, text: &str, depth: usize) -> serde_json::Result<Box<RawValue>> {
    static TEXTS: LazyLock<KeySet> = LazyLock::new(|| keys(|member| member.shape.is_text()));
    static FLAGS: LazyLock<KeySet> = LazyLock::new(|| keys(|member| member.shape == Shape::Flag));
    let key = Key::from_name(name);
    if let Some(flag) = key.filter(|key| FLAGS.has(*key)).and_then(|_| truth_of(text)) {
        return to_raw_value(&flag);
    }
    let is_text = key.is_some_and(|key| TEXTS.has(key)) || !is_json(text, depth);
    if is_text { to_raw_value(text) } else { RawValue::from_string(text.trim().to_owned()) }
}

fn keys(is_wanted: impl Fn(&Member) -> bool) -> KeySet {
    let described = described(&OptionLimits::ADMITTED).into_iter();
    let wanted = described.filter(is_wanted).filter_map(|member| Key::from_name(member.name));
    KeySet::of(&wanted.collect::<Vec<_>>())
}

fn truth_of(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Whether the text is a value that JSON writes without quotes.
fn is_json(text: &str, depth: usize) -> bool {
    !text.trim_start().starts_with('"') && json_members::check(text.as_bytes(), depth).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_keys_whose_values_are_strings() {
        let texts = [
            Key::Format,
            Key::HeaderTemplate,
            Key::FooterTemplate,
            Key::BaseUrl,
            Key::Selector,
            Key::MediaType,
            Key::Timezone,
            Key::Locale,
            Key::WaitForSelector,
            Key::WaitForExpression,
            Key::FileName,
            Key::Pages,
            Key::Engine,
            Key::Password,
            Key::UserPassword,
            Key::OwnerPassword,
        ];
        for &key in Key::ALL {
            let is_text = value_of(key.name(), "12", 4).unwrap().get() == "\"12\"";
            assert_eq!(is_text, texts.contains(&key), "{key}");
        }
        assert_eq!(value_of("landscapes", "12", 4).unwrap().get(), "12");
    }

    #[test]
    fn a_flag_is_taken_in_every_spelling_and_a_flag_among_others_is_not() {
        for (name, text, value) in [
            ("landscape", "True", "true"),
            ("landscape", "FALSE", "false"),
            ("outline", "1", "true"),
            ("outline", " 0 ", "false"),
            ("landscape", "yes", "\"yes\""),
            ("pdfa", "True", "\"True\""),
            ("fromPage", "1", "1"),
            ("margin", "1", "1"),
            ("margin", " {\"top\": 1} ", "{\"top\": 1}"),
            ("margin", "\"1cm\"", r#""\"1cm\"""#),
        ] {
            assert_eq!(value_of(name, text, 4).unwrap().get(), value, "{name} {text}");
        }
    }
}
