//! The XML of a form, or why it cannot be written.

use crate::error::Error;
use crate::mark::Mark;

/// The XML of a form, by where it goes.
pub(crate) enum Written {
    Nothing,
    /// Goes into a run, beside its texts.
    Run(String),
    /// Goes into a paragraph, between runs.
    Inline(String),
    /// Goes between paragraphs.
    Blocks(String),
    /// Is written when the part is complete.
    Mark(Mark),
}

/// Why a form cannot be written.
pub(crate) enum Refusal {
    /// A fault of the tag, for its author.
    Fault(String),
    /// An error of the whole document.
    Error(Error),
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::Fault(message)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
