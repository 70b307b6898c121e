//! What sections have written, as a package remembers it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::content_types::Kinds;

/// What a package remembers of the dependents that have been written.
#[derive(Default)]
pub(crate) struct Written {
    /// The dependents that stand under the name or id of the template, by their indices.
    pub first: BTreeSet<usize>,
    /// The notes that are added to a part, and the next free id in it, by the part's name.
    pub notes: BTreeMap<String, (Vec<u8>, u64)>,
    /// The template's content of parts that are copied as they are: the first turn may fill them, as a chart's workbook.
    pub originals: BTreeMap<usize, Rc<[u8]>>,
    /// The names of bookmarks in turns, by the template's names and the indices of the turns around them.
    pub bookmarks: BTreeMap<(String, Vec<usize>), String>,
    /// The bookmarks that a part has begun, by the template's names and the turns.
    pub begun: BTreeSet<(String, Vec<usize>)>,
    /// The bookmarks that have been written under the template's names.
    pub kept_bookmarks: BTreeSet<String>,
    pub kinds: Option<Rc<Kinds>>,
}

impl Written {
    /// The notes of a part, and its next free id; `largest` is the largest id of the template.
    pub(crate) fn of(&mut self, part: &str, largest: u64) -> &mut (Vec<u8>, u64) {
        self.notes.entry(part.to_owned()).or_insert_with(|| (Vec::new(), largest.saturating_add(1)))
    }
}
