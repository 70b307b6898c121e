//! Templates where no HTTP client gets: killed between two steps, swept, raced, and rebuilt from the store.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash;
mod damage;
mod full_index;
mod garbage_collector;
mod missing_index;
#[path = "../support/objects/mod.rs"]
mod objects;
mod office;
mod operation;
mod prepared_folder;
mod rebuild;
mod registry;
mod service;
mod state;
mod stored;
mod test_registry;
mod variables;
