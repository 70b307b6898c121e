//! Helpers of the tests of `formatOpts`.

use json_members::Members;

use super::{OptionLimits, PageOptions, Reading, described, read, read_options};

/// Reads `text` without limits.
pub fn reading(text: &str) -> Reading {
    assert_described(text);
    read(serde_json::from_str(text).unwrap(), &OptionLimits::ADMITTED)
}

/// The names in `text` that nobody reads.
pub fn unknown(text: &str) -> Vec<String> {
    reading(text).unknown.into_iter().map(|unknown| unknown.path).collect()
}

/// Asserts the one rule of readers: what they ask for in `text` is what they ask for over nothing.
fn assert_described(text: &str) {
    let Ok(mut members) = Members::of(text, "") else { return };
    read_options(&mut members, &OptionLimits::ADMITTED);
    let described = described(&OptionLimits::ADMITTED);
    let is_described = |name: &&str| described.iter().any(|member| member.name == *name);
    assert!(members.asked().iter().all(is_described), "{text}");
    let is_asked = |name: &str| members.asked().contains(&name);
    assert!(described.iter().all(|member| is_asked(member.name)), "{text}");
}

/// The options in `text`, which has no error.
pub fn options(text: &str) -> PageOptions {
    let reading = reading(text);
    assert_eq!(reading.errors, [], "{text}");
    reading.options
}

/// Asserts that `text` has one error, at `pointer`, whose detail contains `part`.
#[track_caller]
pub fn assert_error(text: &str, pointer: &str, part: &str) {
    let errors = reading(text).errors;
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    assert_eq!(errors[0].pointer, pointer);
    assert!(errors[0].detail.contains(part), "{}", errors[0].detail);
}
