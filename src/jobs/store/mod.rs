//! What lasts of a job, in the index and in the object store. Called by the registry, the job actors and the cleanup; `app`
//! opens the journal. Nothing here knows an actor.

pub mod expiry;
pub mod idempotency;
pub(super) mod inputs;
pub mod journal;
pub mod record;
pub(super) mod secrets;
pub mod stored_inputs;
