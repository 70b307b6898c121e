//! The life of a job: the registry actor, one actor a job, the journal.

mod actor;
mod asking;
mod cost;
pub mod deps;
mod due;
pub mod erase;
pub mod idempotency;
mod inputs;
pub mod journal;
pub mod list;
pub mod messages;
mod notice;
pub mod purge;
mod queue;
pub mod record;
pub mod registry;
mod run;
pub mod secret;
mod settle;
pub mod stop;
pub mod stored;
pub mod sweep;
mod uploads;
pub mod view;

pub use asking::ResumeJobs;
