//! Unpacked packages in memory, and how renders get them: `source` loads a job's template, for `pipeline` and `engines`.
//!
//! Calls `package`; `registry` and `changes` call it.

mod content;
pub mod source;
pub(in crate::templates) mod unpacking;

pub(in crate::templates) use content::ContentCache;
