//! Why a template cannot be read or filled, in sentences for its author.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

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

/// The place of a tag: the index of its paragraph in the part, and the bytes of the paragraph's text that it takes.
pub(crate) type Spot = (usize, Range<usize>);

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
    /// The template's expressions, if its tags cannot be read, so that none of them was run.
    pub(crate) expressions: Option<Expressions>,
}

/// Expressions that were not run.
#[derive(Debug)]
pub(crate) struct Expressions {
    pub steps: String,
    /// For each of their tags the fault that it would be; the message says where it is.
    pub tags: Vec<Fault>,
}

impl Faults {
    pub(crate) fn new(mut faults: Vec<Fault>, count: usize) -> Self {
        let count = count.max(faults.len());
        faults.truncate(FAULTS);
        Self { first: faults, count, expressions: None }
    }

    /// Whether a fault of the same tag is among them.
    pub(crate) fn has(&self, other: &Fault) -> bool {
        let place = |fault: &Fault| (fault.part.clone(), fault.paragraph, fault.tag.clone());
        self.first.iter().any(|fault| place(fault) == place(other))
    }

    /// The template's expressions, as [`Outline::steps`](crate::Outline::steps). `None` if they were run, so that their faults
    /// are among these already.
    pub fn expressions(&self) -> Option<&str> {
        self.expressions.as_ref().map(|expressions| expressions.steps.as_str())
    }

    /// Adds what is wrong with the [`expressions`](Self::expressions): the numbers of tags, and why. All faults are then in the
    /// order of the document.
    #[must_use]
    pub fn with_expressions(self, errors: Vec<(usize, String)>) -> Self {
        let Self { first, count, expressions } = self;
        let tags = expressions.map(|expressions| expressions.tags).unwrap_or_default();
        let more = errors.len();
        let faults = errors.into_iter().filter_map(|(tag, message)| {
            let tag = tags.get(tag)?.clone();
            Some(Fault { message: cut(&message, MESSAGE_CHARACTERS) + &tag.message, ..tag })
        });
        let parts = tags.iter().map(|tag| tag.part.as_str());
        Self { first, count, expressions: None }.with((faults.collect(), more), parts)
    }

    /// With further faults, and how many these are. `parts` are the names of parts in the order of the document.
    pub(crate) fn with<'p>(
        self,
        (faults, more): (Vec<Fault>, usize),
        parts: impl Iterator<Item = &'p str>,
    ) -> Self {
        let Self { mut first, count, .. } = self;
        first.extend(faults);
        let mut order: HashMap<&str, usize> = HashMap::new();
        for part in parts {
            let next = order.len();
            order.entry(part).or_insert(next);
        }
        let place = |fault: &Fault| order.get(fault.part.as_str()).copied().unwrap_or(usize::MAX);
        first.sort_by_key(|fault| (place(fault), fault.paragraph));
        Self::new(first, count + more)
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
    /// What is wrong, the remedy where there is one, and in parentheses the text around the tag.
    pub message: String,
    /// Where the tag is, until the message says it.
    pub(crate) spot: Option<Spot>,
    /// Another tag that the message names, and where that is.
    pub(crate) other: Option<(String, Spot)>,
}

impl Fault {
    pub(crate) fn new(part: &str, paragraph: usize, tag: &str, message: &str) -> Self {
        let message = cut(message, MESSAGE_CHARACTERS);
        Self { part: part.to_owned(), paragraph, tag: tag.to_owned(), message, spot: None, other: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, paragraph, tag, message, .. } = self;
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
