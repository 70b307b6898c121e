//! Templates: what their archives hold, the registry that owns their index, the cache of what renders need.
//!
//! `registry` is the actor; what it does stands in a file for each change: `begin` (a new id, its upload),
//! `content` (unzip, the entry's text), `save` (save and update), `copy` (clone), `remove`.

mod begin;
mod cache;
mod change;
mod content;
mod copy;
pub mod deps;
pub mod index;
mod info;
pub mod janitor;
pub mod list;
pub mod messages;
pub mod package;
pub mod rebuild;
pub mod record;
mod refusal;
pub mod registry;
pub mod remove;
mod room;
mod save;
pub mod source;
pub mod trust;
mod turns;
pub mod variables;
pub mod view;
