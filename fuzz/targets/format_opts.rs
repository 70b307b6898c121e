//! Fuzzes `formatOpts` of any text.

#![no_main]

#[path = "../../tests/any/format_opts.rs"]
mod format_opts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| format_opts::check(bytes));
