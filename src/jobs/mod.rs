//! The life of a job, from its init to the deletion of its record.
//!
//! `queue` decides whose job runs next; `registry` answers the messages, supervises the actors and owns all that is in
//! memory; `run` is the actor of one job; `store` is what lasts; `cleanup` deletes what has expired.
//!
//! Who may call what: `http` sends `messages` to the registry and reads `view`s; `app` starts registry, sweeper and the
//! deletion of accounts. Inside, calls go one way: `cleanup` → `registry` → `queue`, `run` → `store`.

pub mod cleanup;
pub mod context;
pub mod messages;
mod queue;
pub mod registry;
mod run;
pub mod store;
pub mod view;
