//! References of workbooks whose rows, columns and cells were repeated or dropped.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

mod areas;
mod cases;
mod errors;
mod grammar;
mod model;
mod sheets;
mod support;
