//! Pictures from bytes to drawings, as sentences.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

mod codes;
mod drawings;
mod files;
mod formats;
mod sizes;
mod sources;
