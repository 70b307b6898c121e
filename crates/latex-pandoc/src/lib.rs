//! What pandoc needs to know of a source of LaTeX, and what it says of it afterwards: its error, and what it left out.
//!
//! pandoc tells in its log (`--log`) each command that it skips, with file and line, and names no file where it looks at
//! formulas, pictures or citations; where these stand is looked for in the sources ([`Texts`]).
//!
//! Hazard: a document has its own words in the log. So a report may be wrong about a document that wants it to be; it
//! costs no more than some passes over the log and the sources.

mod error;
mod known;
mod language;
mod log;
mod notice;
mod prepare;
mod source;
mod texts;

pub use error::{Error, error};
pub use log::notices;
pub use notice::{Notice, What};
pub use prepare::prepare;
pub use source::{Citations, Facts};
pub use texts::{Place, Texts, code_of, line_ranges_with, lines_with, without_comments};
