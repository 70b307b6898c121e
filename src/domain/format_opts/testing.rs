//! What the tests of `formatOpts` share.

use super::{OptionLimits, PageOptions, Reading, read};

/// What is read of `text`, without limits.
pub fn reading(text: &str) -> Reading {
    read(serde_json::from_str(text).unwrap(), &OptionLimits::ADMITTED)
}

/// The options in `text`, which has no fault.
pub fn options(text: &str) -> PageOptions {
    let reading = reading(text);
    assert_eq!(reading.faults, [], "{text}");
    reading.options
}

/// `text` has one fault, at `pointer`, whose detail has `part` in it.
#[track_caller]
pub fn assert_fault(text: &str, pointer: &str, part: &str) {
    let faults = reading(text).faults;
    assert_eq!(faults.len(), 1, "{text}: {faults:?}");
    assert_eq!(faults[0].pointer, pointer);
    assert!(faults[0].detail.contains(part), "{}", faults[0].detail);
}
