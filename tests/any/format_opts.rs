//! Any `formatOpts` are read, or refused with errors that name a key and show no secret.

use std::sync::LazyLock;

use platen::config::Config;
use platen::domain::format_opts::{OptionLimits, is_key, mask_secrets, read};
use platen::domain::kinds::{Target, TemplateKind};
use serde_json::Value;
use serde_json::value::RawValue;

/// Keys whose values are secret, in whatever they are nested.
const SECRET_KEYS: [&str; 4] = ["password", "userPassword", "ownerPassword", "requests"];
/// What every secret ends with; no other text has it.
const SECRET: &str = "<secret>";
/// Longest sentence of an error or a warning, without the caller's own key in it.
const SENTENCE_CHARS: usize = 1_000;

static LIMITS: LazyLock<OptionLimits> = LazyLock::new(|| OptionLimits::of(&Config::default().browser));

/// Reads the bytes as they are, and once more with every secret marked.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if text.contains(SECRET) {
        return;
    }
    check_object(text);
    if let Ok(Value::Object(mut members)) = serde_json::from_str(text) {
        for key in SECRET_KEYS {
            members.entry(key).and_modify(mark);
        }
        check_object(&Value::Object(members).to_string());
    }
}

/// Appends the mark to every text.
fn mark(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(SECRET),
        Value::Array(items) => items.iter_mut().for_each(mark),
        Value::Object(members) => members.values_mut().for_each(mark),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_object(text: &str) {
    let Ok(object) = serde_json::from_str::<&RawValue>(text) else { return };
    let reading = read(object, &LIMITS);
    for error in &reading.errors {
        assert!(names_a_key(text, &error.pointer), "{} is in no {text}", error.pointer);
        assert_sentence(&error.detail, text);
    }
    let warnings = reading.warnings((TemplateKind::Ejs, Target::Pdf), |_| false);
    for warning in &warnings {
        assert!(warning.starts_with("formatOpts."), "{warning}");
        assert_no_secret(warning);
    }
    assert_no_secret(&format!("{reading:?}"));
    if reading.errors.is_empty() {
        assert_eq!(read(object, &OptionLimits::ADMITTED).options, reading.options, "{text}");
    }
    let masked = mask_secrets(object);
    let shown = masked.as_deref().unwrap_or(object);
    assert_no_secret(shown.get());
    assert!(mask_secrets(shown).is_none_or(|again| again.get() == shown.get()), "{shown} is masked twice");
}

/// Whether the pointer leads to a key that is known, and inside of it to a member of what was sent, or to one that is missing there.
fn names_a_key(text: &str, pointer: &str) -> bool {
    let Some(inside) = pointer.strip_prefix("/formatOpts/") else { return pointer == "/formatOpts" };
    let key = inside.split('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    // A text with half of a surrogate pair is read only in part.
    let was_sent = |(parent, _): (&str, &str)| {
        serde_json::from_str::<Value>(text).map_or(true, |sent| sent.pointer(&format!("/{parent}")).is_some())
    };
    is_key(&key) && inside.rsplit_once('/').is_none_or(was_sent)
}

fn assert_sentence(sentence: &str, text: &str) {
    assert!(!sentence.is_empty() && sentence.chars().count() <= SENTENCE_CHARS, "{sentence}: {text}");
    assert_no_secret(sentence);
}

fn assert_no_secret(shown: &str) {
    assert!(!shown.contains(SECRET), "a secret is shown: {shown}");
}
