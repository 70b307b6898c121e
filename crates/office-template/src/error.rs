//! Why a template cannot be read or filled, in sentences for its author.

use std::fmt;

use crate::limits::Limit;

/// So many faults are reported; of the others only how many there are.
const FAULTS: usize = 20;

/// The longest tag that is quoted whole, in characters.
const QUOTED_CHARACTERS: usize = 80;

/// The longest message of a fault, in characters: an expression's error may say anything.
const MESSAGE_CHARACTERS: usize = 300;

/// Why a template cannot be read or filled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is no Word file, or a damaged one.
    #[error("{0}")]
    NotOffice(String),
    /// The file, or what would become of it, passes a limit.
    #[error("{0}")]
    Limit(String),
    /// Tags that cannot be read, or whose expressions fail.
    #[error("{0}")]
    Tags(Faults),
    /// The delimiters that were asked for cannot be used.
    #[error("{0}")]
    Delimiters(String),
    /// What the program answered does not belong to this template. No template makes it so: a caller mixed up two.
    #[error("{0}")]
    Answer(String),
}

impl Error {
    pub(crate) fn limit(limit: &Limit, what: &str) -> Self {
        Self::Limit(format!("{what} ({} = {})", limit.name, limit.value))
    }
}

/// Faults of tags: the first of them, and how many there are.
#[derive(Debug)]
pub struct Faults {
    /// In the order of the document.
    pub first: Vec<Fault>,
    /// All of them.
    pub count: usize,
}

impl Faults {
    pub(crate) fn new(mut faults: Vec<Fault>, count: usize) -> Self {
        let count = count.max(faults.len());
        faults.truncate(FAULTS);
        Self { first: faults, count }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.first.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(formatter, "{between}{fault}")?;
        }
        match self.count.saturating_sub(self.first.len()) {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}

/// What is wrong with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part's name, as `word/document.xml`; of a presentation which slide's it is, as `slide 3`.
    pub part: String,
    /// The paragraph in the part, counted from 1 in the order in which they begin; 0 for what stands in none, as a property.
    pub paragraph: usize,
    /// The tag, with its delimiters; a long one is cut.
    pub tag: String,
    /// What is wrong, and the remedy where there is one.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(part: &str, paragraph: usize, tag: &str, message: &str) -> Self {
        let message = cut(message, MESSAGE_CHARACTERS);
        Self { part: part.to_owned(), paragraph, tag: tag.to_owned(), message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, paragraph, tag, message } = self;
        match paragraph {
            0 => write!(formatter, "{part}, {tag}: {message}"),
            _ => write!(formatter, "{part}, paragraph {paragraph}, {tag}: {message}"),
        }
    }
}

/// `text`, cut where it is longer than a sentence bears.
pub(crate) fn quoted(text: &str) -> String {
    cut(text, QUOTED_CHARACTERS)
}

fn cut(text: &str, characters: usize) -> String {
    let mut letters = text.chars();
    let mut shown: String = letters.by_ref().take(characters).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}
