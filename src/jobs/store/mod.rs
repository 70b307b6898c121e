//! What lasts of a job, in the index and in the object store; for the jobs' actors, the cleanup and `app`.

pub mod expiry;
pub mod idempotency;
pub(super) mod inputs;
pub mod journal;
pub mod record;
pub mod secrets;
pub mod stored_inputs;
