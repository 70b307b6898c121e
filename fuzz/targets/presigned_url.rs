//! Fuzzes presigned URLs, signed here or made up.

#![no_main]

#[path = "../../tests/any/presigned_url.rs"]
mod presigned_url;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| presigned_url::check(bytes));
