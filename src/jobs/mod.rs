//! The life of a job: the registry actor, one actor a job, the journal.

pub mod messages;
pub mod view;
