//! Everything that changes templates, one file a change; all of them end in `commit`.

mod clone;
pub(in crate::templates) mod commit;
pub mod delete;
mod save;
mod unzip;
mod upload;
