//! What is said of an Office file that template code fills: the order, and what came of it. The child is that of
//! [`assemble`](super::assemble).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// An Office file to fill; the body is the file and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct FillJob<'a> {
    /// How many bytes of the body are the file.
    pub file_bytes: usize,
    /// What tags begin and end with, where the caller said it.
    pub delimiters: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// A name that the data lack is a fault.
    pub strict: bool,
    /// The default locale, a BCP 47 tag.
    pub locale: Cow<'a, str>,
    /// The time zone, an IANA name.
    pub timezone: Cow<'a, str>,
    /// What bounds the file.
    pub limits: FillLimits,
}

/// What bounds an Office file.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct FillLimits {
    /// `templates.archive_entries_limit`.
    pub entries: u64,
    /// `templates.archive_bytes_limit`.
    pub unpacked_bytes: u64,
    /// `templates.archive_ratio_limit`.
    pub ratio: u64,
    /// `office.depth_limit`.
    pub depth: u64,
    /// `office.elements_limit`.
    pub elements: u64,
    /// `office.attributes_limit`.
    pub attributes: u64,
    /// `office.tags_limit`.
    pub tags: u64,
    /// `office.items_limit`.
    pub items: u64,
    /// `office.slides_limit`.
    pub slides: u64,
    /// `assemble.output_limit_bytes`.
    pub output_bytes: u64,
}

/// What came of it; the filled file is the frame's body. The sentences are for the template's author.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Filled {
    /// The document, with what its author should know.
    Document(Vec<String>),
    /// Tags that cannot be read, or whose code failed.
    Failed(String),
    /// The file is no Office file of this kind, or a damaged one.
    NotOffice(String),
    /// The delimiters cannot be used.
    BadOptions(String),
    /// The data cannot be read.
    BadData(String),
    /// A limit was passed; the sentence names it.
    Limit(String),
    /// The memory is used up.
    OutOfMemory,
    /// A fault of ours, for the log.
    Broken(String),
}
