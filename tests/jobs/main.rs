//! The job registry and its actors over the real index, store and accounts: what no HTTP client can
//! cause at will. Documents are html pages, which need no browser.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash;
mod fairness;
mod life;
#[path = "../support/objects/mod.rs"]
mod objects;
mod races;
mod registry;
mod retention;
mod service;
mod stored;
