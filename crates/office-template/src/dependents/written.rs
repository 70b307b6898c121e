//! What sections have written, as a package remembers it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::begun::{Begun, Turns};
use crate::content_types::Kinds;

/// A comment that a turn has written.
pub(crate) struct Comment {
    /// The id of its last paragraph in the template, and in this turn.
    pub own: String,
    pub new: String,
    /// The turns around it.
    pub turns: Turns,
}

impl Comment {
    /// Whether both stand in the same turn of each section that is around both.
    pub(crate) fn is_in_turn_of(&self, other: &Self) -> bool {
        let both = self.turns.iter().zip(&other.turns);
        both.take_while(|(own, other)| own.0 == other.0).all(|(own, other)| own.1 == other.1)
    }
}

/// What a package remembers of the dependents that have been written.
#[derive(Default)]
pub(crate) struct Written {
    /// The dependents that stand under the name or id of the template, by their indices.
    pub first: BTreeSet<usize>,
    /// The notes that are added to a part, and the next free id in it, by the part's name.
    pub notes: BTreeMap<String, (Vec<u8>, u64)>,
    /// The template's content of parts that are copied as they are: the first turn may fill them, as a chart's workbook.
    pub originals: BTreeMap<usize, Rc<[u8]>>,
    /// The bookmarks that turns begin.
    pub begun: Begun,
    /// The names of bookmarks in turns, by their keys and the turns around them.
    pub bookmarks: BTreeMap<(String, Turns), String>,
    /// The bookmarks that a part has, by their keys and the turns.
    pub taken: BTreeSet<(String, Turns)>,
    /// The comments of turns, in the order in which they are written.
    pub comments: Vec<Comment>,
    /// The ids of paragraphs and comments, and the last one that was made; `None` until one is needed.
    pub paragraphs: Option<(BTreeSet<u32>, u32)>,
    /// How many parts turns have of their own.
    pub parts: u64,
    pub kinds: Option<Rc<Kinds>>,
}

impl Written {
    /// The notes of a part, and its next free id; `largest` is the largest id of the template.
    pub(crate) fn of(&mut self, part: &str, largest: u64) -> &mut (Vec<u8>, u64) {
        self.notes.entry(part.to_owned()).or_insert_with(|| (Vec::new(), largest.saturating_add(1)))
    }
}
