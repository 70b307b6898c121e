//! Parts of workbooks as Excel writes them, after rows, columns and sheets were repeated or dropped.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod beside;
mod drawn;
mod model;
mod support;
mod tables;
mod whole;
mod worksheets;
