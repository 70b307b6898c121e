//! Fuzzes the lexer of tags with any text.

#![no_main]

#[path = "../../crates/office-template/tests/any/mod.rs"]
#[expect(dead_code, reason = "documents are of the other target")]
mod any;

libfuzzer_sys::fuzz_target!(|text: &str| any::text(text));
