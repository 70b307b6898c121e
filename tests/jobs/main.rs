//! The job registry and its actors over the real index, store and accounts: what no HTTP client can
//! cause at will. Documents are html pages, which need no browser.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and prints its tables"
)]

mod crash;
mod fairness;
#[path = "../support/faults.rs"]
mod fault_file;
mod faults;
mod life;
#[path = "../support/objects/mod.rs"]
mod objects;
mod races;
mod registry;
mod retention;
mod service;
mod stored;
