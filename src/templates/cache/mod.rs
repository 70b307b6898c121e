//! Unpacked packages in memory, and how renders get them.

mod content;
pub mod source;
pub(in crate::templates) mod unpacking;

pub(in crate::templates) use content::ContentCache;
