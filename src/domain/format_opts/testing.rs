//! Helpers of the tests of `formatOpts`.

use super::{OptionLimits, PageOptions, Reading, read};

/// Reads `text` without limits.
pub fn reading(text: &str) -> Reading {
    read(serde_json::from_str(text).unwrap(), &OptionLimits::ADMITTED)
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
