//! Why a template cannot be read or filled, in sentences for its author.

use std::collections::HashSet;
use std::fmt;

use crate::limits::Limit;

/// Most faults that are kept; further ones are only counted, for a workbook may have one in each of a million cells.
const FAULTS: usize = 100;

/// A message lists faults up to this many bytes: the service cuts one of more than 8 KiB, which would lose the "and N more" at
/// its end.
const SENTENCE_BYTES: usize = 6_000;

/// The longest tag that is quoted whole, in characters.
const QUOTED_CHARACTERS: usize = 80;

/// The longest message of a fault, in characters: an expression's error may say anything.
const MESSAGE_CHARACTERS: usize = 300;

/// Why a template cannot be read or filled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is no Office file, or a damaged one.
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
    /// What the program answered does not belong to this template. No template can cause this: a caller mixed up two of them.
    #[error("{0}")]
    Answer(String),
}

impl Error {
    pub(crate) fn limit(limit: &Limit, what: &str) -> Self {
        Self::Limit(format!("{what} ({} = {})", limit.name, limit.value))
    }
}

/// Faults of tags as they are read: the first of them, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct FaultList {
    first: Vec<Fault>,
    count: usize,
}

impl FaultList {
    pub(crate) fn push(&mut self, fault: Fault) {
        self.count += 1;
        if self.first.len() < FAULTS {
            self.first.push(fault);
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Those that were kept, and how many there are.
    pub(crate) fn into_parts(self) -> (Vec<Fault>, usize) {
        (self.first, self.count)
    }
}

impl Extend<Fault> for FaultList {
    fn extend<I: IntoIterator<Item = Fault>>(&mut self, faults: I) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }
}

/// Tags whose answers cannot be written, by their numbers, and why. Each tag is reported once: one in a section that is repeated
/// a hundred thousand times would otherwise fill the message alone.
#[derive(Debug, Default)]
pub(crate) struct TagFaults {
    first: Vec<(usize, String)>,
    tags: HashSet<usize>,
}

impl TagFaults {
    pub(crate) fn push(&mut self, (tag, message): (usize, String)) {
        if self.tags.insert(tag) && self.first.len() < FAULTS {
            self.first.push((tag, message));
        }
    }

    pub(crate) fn append(&mut self, others: Self) {
        self.extend(others.first);
        self.tags.extend(others.tags);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Those that were kept, and how many tags there are.
    pub(crate) fn into_parts(self) -> (Vec<(usize, String)>, usize) {
        (self.first, self.tags.len())
    }
}

impl Extend<(usize, String)> for TagFaults {
    fn extend<I: IntoIterator<Item = (usize, String)>>(&mut self, faults: I) {
        faults.into_iter().for_each(|fault| self.push(fault));
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
        let (mut told, mut bytes) = (0, 0);
        for fault in &self.first {
            let fault = fault.to_string();
            bytes += fault.len();
            if told > 0 && bytes > SENTENCE_BYTES {
                break;
            }
            let between = if told == 0 { "" } else { "; " };
            write!(formatter, "{between}{fault}")?;
            told += 1;
        }
        match self.count.saturating_sub(told) {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}

/// What is wrong with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part's name, such as `word/document.xml`; in a presentation its slide, such as `slide 3`.
    pub part: String,
    /// The paragraph in the part, counted from 1 in the order in which they begin; 0 for a tag outside of paragraphs, as in a
    /// property.
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

/// `text`, cut after [`QUOTED_CHARACTERS`].
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
