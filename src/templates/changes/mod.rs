//! Everything that changes templates: the registry's handlers, one file a change. All of them end in `commit`.
//!
//! Nothing outside calls them but by messages; the garbage collector calls `delete` under a lock of its own.

mod clone;
pub(in crate::templates) mod commit;
pub(in crate::templates) mod delete;
mod save;
mod unzip;
mod upload;
