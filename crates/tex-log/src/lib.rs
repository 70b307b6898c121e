//! Reads the log of a run of `pdftex`, `luatex` or `xetex`: what was wrong and where, and what a further run is needed for; and
//! what `bibtex`, `biber` and `makeindex` say of the lists that they make between two runs.
//!
//! The run is one with `-file-line-error -interaction=nonstopmode`, and `max_print_line` so great that no line is broken.
//!
//! Hazard: a document writes into its log what it likes. So a report may be wrong about a document that wants it to be, but
//! never costs more than a pass over the log, nor more memory than some bounded lists.

mod advice;
mod error;
mod files;
mod header;
mod lines;
mod needs;
mod packages;
mod remarks;
mod report;
mod text;
mod warning;

pub use advice::advice;
pub use error::{Cause, Error, Excerpt, Program};
pub use needs::Needs;
pub use packages::{package_of_file, package_of_font};
pub use remarks::{About, Remark, of_biber, of_bibtex, of_makeindex};
pub use report::{Report, read};
pub use warning::{Kind, Warning, missing_characters};
