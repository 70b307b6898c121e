//! Word files, filled with what the real engine makes of their programs.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod containers;
mod corpus;
mod costs;
mod fill;
mod forms;
mod html;
mod library;
mod outline;
mod pictures;
mod plain;
mod repeat;
mod runs;
mod structure;
mod support;
