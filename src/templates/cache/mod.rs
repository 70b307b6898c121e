//! Unpacked packages in memory, and how renders get them: `source` loads a template's files.
//!
//! Calls `package`; `registry` (its reader) and `changes` call it.

mod content;
pub mod source;
pub(in crate::templates) mod unpacking;

pub(in crate::templates) use content::ContentCache;
