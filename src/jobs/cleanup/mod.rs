//! Deletes jobs whose retention is over, and the jobs of deleted accounts. Started and called by `app`; asks the registry
//! to end what still has an actor.

pub mod account;
mod expiry_batch;
pub mod sweeper;
