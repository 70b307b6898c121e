//! Excel workbooks, filled: beside what others make of real templates, calculated by LibreOffice, and beside models of where cells move.

mod book;
mod calculated;
mod corpus;
mod limits;
mod mapped;
mod read;

pub use calculated::{data, files};
pub use corpus::templates;
