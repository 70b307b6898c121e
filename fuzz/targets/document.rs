//! Fuzzes the document of a Word file: any bytes are read, planned as a tree, and filled.

#![no_main]

#[path = "../../crates/office-template/tests/any/mod.rs"]
#[expect(dead_code, reason = "texts and whole files are of other targets")]
mod any;

libfuzzer_sys::fuzz_target!(|xml: &[u8]| any::document(xml));
