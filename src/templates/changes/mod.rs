//! Everything that changes templates, one file a change; all of them end in `commit`.
//!
//! The registry's handlers call these; `app` calls `delete` for an account that is deleted.

mod clone;
pub(in crate::templates) mod commit;
pub mod delete;
mod save;
mod unzip;
mod upload;
