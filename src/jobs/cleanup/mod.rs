//! Deletes jobs whose time is over, and those of deleted accounts; started and called by `app`.

pub mod account;
mod expiry_batch;
pub mod sweeper;
