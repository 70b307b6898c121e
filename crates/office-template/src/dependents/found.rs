//! What sections write, as far as the template has been read.

use std::collections::{BTreeMap, BTreeSet};

/// What has been found while a template is read.
#[derive(Default)]
pub(crate) struct Found {
    /// By the part's name in lower case and the note's id, which is empty for a whole part.
    pub(super) known: BTreeMap<(String, String), usize>,
    /// The parts that are only written by the sections that refer to them, by their names in lower case.
    pub parts: BTreeSet<String>,
    /// The same of notes, by the names of their parts in lower case.
    pub notes: BTreeMap<String, BTreeSet<String>>,
    /// The numbers of the tags that open the sections around the part that is being read.
    pub(super) around: Vec<usize>,
    /// The parts that are being read, each referred to by the one before.
    pub(super) chain: Vec<String>,
    /// Whether the part that is being read has nothing outside of sections that refers to it.
    pub(super) is_own: bool,
    /// Whether it is a note.
    pub(super) is_note: bool,
    /// The parts that all turns share, by their names in lower case.
    pub(super) shared: BTreeSet<String>,
}

impl Found {
    /// Whether the part that is being read is one that a section writes.
    pub(crate) fn is_within(&self) -> bool {
        !self.chain.is_empty()
    }
}
