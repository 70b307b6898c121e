//! The life of a job: `queue` decides whose job runs next, `registry` answers the messages and supervises, `run` is the
//! actor of one job, `store` is what lasts, `cleanup` deletes what has expired.
//!
//! `http` sends messages to the registry and reads views; `app` starts the rooms.

pub mod cleanup;
pub mod context;
pub mod messages;
mod queue;
pub mod registry;
mod run;
pub mod store;
pub mod view;
