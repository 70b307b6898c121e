//! The actor, its messages, and what the index holds of templates.
//!
//! `http` and `jobs` send `messages`; the other rooms use `context`, `index` and `record`. Handlers call `changes` and `cache`.

mod actor;
pub mod context;
pub mod index;
pub(in crate::templates) mod info_object;
pub mod list;
pub(in crate::templates) mod locks;
pub mod messages;
pub mod record;
pub(in crate::templates) mod refusal;
pub mod variables;
pub mod view;

pub use actor::TemplateRegistry;
