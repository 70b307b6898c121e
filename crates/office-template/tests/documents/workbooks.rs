//! Excel workbooks, filled: beside what others make of real templates, calculated by LibreOffice, and beside models of where cells move.

mod beside;
mod book;
mod bounded;
mod calculated;
mod columns;
mod corpus;
mod costs;
mod days;
mod edges;
mod formulas;
mod limits;
mod mapped;
mod names;
mod read;
mod rules;
mod whole;

pub use beside::with_links;
pub use book::{Sheet, book, one_cell};
pub use calculated::{data, files};
pub use corpus::templates;
