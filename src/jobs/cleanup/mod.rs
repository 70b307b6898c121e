//! Deletes jobs whose retention is over, and the jobs of deleted accounts. Started and called by `app`; asks the registry
//! to end what still has an actor.

pub mod account;
mod expiry_batch;
pub mod sweeper;

/// Jobs in one batch of the index: so many that ten thousand cost a hundred syncs, so few that no delete waits long for
/// the lock.
const JOBS_PER_BATCH: usize = 100;
