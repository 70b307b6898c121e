//! The actor that owns the templates' index, and what is read of templates beside it.
//!
//! `http` sends `messages` to the actor and reads by [`TemplateReader`]; jobs load by the reader. `app` builds both
//! over one `context`. The other folders use `context`, `index`, `record` and `writer`; `changes` holds the actor's
//! handlers.

mod actor;
pub mod context;
pub mod index;
pub(in crate::templates) mod info_object;
pub mod list;
pub(in crate::templates) mod locks;
pub mod messages;
pub(in crate::templates) mod problems;
mod reader;
pub mod record;
pub mod variables;
pub mod view;
pub(in crate::templates) mod writer;

pub use actor::TemplateRegistry;
pub use context::TemplateContext;
pub use reader::TemplateReader;
