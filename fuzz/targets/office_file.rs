//! Fuzzes the parts of a Word, Excel or PowerPoint file.

#![no_main]

#[path = "../../crates/office-template/tests/any/mod.rs"]
#[expect(dead_code, reason = "texts and single documents are of other targets")]
mod any;

libfuzzer_sys::fuzz_target!(|parts: &[u8]| any::file(parts));
