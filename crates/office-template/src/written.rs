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
    /// It takes a file, and none is fetched: the document will not be made.
    NotFetched,
    /// An error of the whole document.
    Error(Error),
}

impl Refusal {
    /// The fault of the tag; `None` where there is nothing to tell its author.
    pub(crate) fn fault(self) -> Result<Option<String>, Error> {
        match self {
            Self::Fault(message) => Ok(Some(message)),
            Self::NotFetched => Ok(None),
            Self::Error(error) => Err(error),
        }
    }
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
