//! What is said of an Office file that is taken as it is: the order to make a plain one of it and to count its tags, and what
//! came of it. The child is that of [`assemble`](super::assemble).

use serde::{Deserialize, Serialize};

use super::fill::FillLimits;

/// A file to take as it is; the body is the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct UnfilledJob {
    /// What it is.
    pub file: UnfilledFile,
    /// What bounds it.
    pub limits: FillLimits,
}

/// What such a file is, by whose program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfilledFile {
    /// A text, a table or a presentation of `OpenDocument`.
    OpenDocument,
}

/// What came of it; the file is the frame's body. The sentences are for the template's author.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfilled {
    /// The document.
    Document {
        /// How many tags it has, which stay as they are.
        tags: usize,
        /// The first of them; a long one is cut.
        first: Option<String>,
        /// What its author should know besides.
        warnings: Vec<String>,
    },
    /// The file is damaged, or has what cannot be left out.
    NotOffice(String),
    /// A limit was passed; the sentence names it.
    Limit(String),
    /// A fault of ours, for the log.
    Broken(String),
}
