//! Fuzzes the log of TeX: once as it is, and a short one so often that time which is not linear shows as a timeout.

#![no_main]

#[path = "../../crates/tex-log/tests/any/mod.rs"]
mod any;

/// A pass over so much takes a millisecond.
const REPEATED_BYTES: usize = 128 << 10;

libfuzzer_sys::fuzz_target!(|log: &[u8]| {
    any::log(log);
    if (1..=64).contains(&log.len()) {
        any::log(&log.repeat(REPEATED_BYTES / log.len()));
    }
});
