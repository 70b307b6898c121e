//! Why a part cannot be rewritten.

/// Why a part cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The part is no XML that can be read.
    #[error("it is broken XML ({0}); save the file anew in Excel")]
    Xml(String),
    /// A worksheet without cells, a table without a place, or the like.
    #[error("it has no {0}; save the file anew in Excel")]
    Missing(&'static str),
    /// The workbook has no such sheet, or the sheet no such copy.
    #[error("there is no copy {copy} of sheet {sheet}")]
    NoSheet {
        /// The sheet's number.
        sheet: usize,
        /// The copy's number.
        copy: usize,
    },
    /// A list would grow beyond what the caller allows.
    #[error("the sheet '{sheet}' would have more than {allowed} {what}; repeat fewer rows with them")]
    Many {
        /// The sheet as it is called now.
        sheet: String,
        /// What there would be too many of.
        what: &'static str,
        /// How many are allowed.
        allowed: usize,
    },
    /// A part has more elements than the caller allows.
    #[error("it has more than {0} elements")]
    Elements(usize),
    /// What is written for each turn would take more bytes than the caller allows.
    #[error("what belongs to its cells would become too large; repeat fewer of them")]
    Room,
    /// A formula cannot be written.
    #[error("{place}: {error}")]
    Formula {
        /// What has the formula.
        place: String,
        /// Why.
        error: cell_references::Error,
    },
}
