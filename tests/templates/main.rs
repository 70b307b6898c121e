//! Templates where no HTTP client gets: killed between two steps, swept, raced, and rebuilt from the store.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and prints its tables"
)]

mod crash;
mod damage;
#[path = "../support/faults.rs"]
mod fault_file;
mod faults;
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
