//! Accounts, tokens, subscriptions, and the check at init.

pub mod actor;
pub mod admin;
pub mod book;
pub mod control;
pub mod erasing;
mod last_use;
pub mod ledger;
pub mod open;
mod order;
pub mod token;

pub use actor::Accounts;
pub use book::Book;
pub use ledger::{Reservation, UsageKey};
pub use open::OpenJobs;
