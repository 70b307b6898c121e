//! Fuzzes an upload: an archive, an Office file, a text.

#![no_main]

#[path = "../../tests/any/archive.rs"]
mod archive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| archive::check(bytes));
