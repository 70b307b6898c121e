//! The plan of a sheet, made from its tags: which rows are repeated, and what is written into its cells.

use cell_references::{Area, Lines, Range};

use crate::program::Step;

/// The plan of a sheet.
#[derive(Default)]
pub(super) struct Plan {
    /// Its steps of the program; a [`Slot`] counts in their order.
    pub steps: Vec<Step>,
    /// Its rows, and the sections of rows among them.
    pub items: Vec<Item>,
    /// The blocks of cells, those of rows first, each with the block around it. How often each is there depends on the data.
    pub areas: Vec<(Area, Option<usize>)>,
    /// How many of them are of rows.
    pub rows: usize,
}

/// A row or a section of rows, in the order from top to bottom.
#[derive(Debug)]
pub(super) enum Item {
    /// A row, as an index of the sheet's rows.
    Row(usize),
    Block(Rows),
}

/// A section of rows.
#[derive(Debug)]
pub(super) struct Rows {
    /// Its number among the blocks.
    pub block: usize,
    /// The index of its answer in the scope around it.
    pub slot: usize,
    pub lines: Lines,
    /// Its rows have cells outside of it. Where its condition is false, the rows are written once for these.
    pub is_shared: bool,
    pub items: Vec<Item>,
}

/// A cell with tags.
pub(super) struct Tagged {
    pub runs: Vec<String>,
    pub content: Pieces,
}

/// What is written into a cell.
pub(super) enum Pieces {
    /// One value, which keeps its type.
    Value(Slot),
    Text(Vec<Piece>),
}

/// A piece of a cell's text.
pub(super) enum Piece {
    /// A text, and the index of its run.
    Text(usize, String),
    /// A value's text, and the index of its run.
    Value(usize, Slot),
    /// Pieces that are repeated as often as the section's answer says.
    Section(Slot, Vec<Piece>),
    /// Writes nothing. A section of columns begins in this cell; the slot lets its turns be counted where the cell has no value
    /// in it.
    Nothing(Slot),
}

/// A piece of a sheet's name, its header or its footer.
pub(super) enum Title {
    Text(String),
    Value { tag: usize, at: usize },
}

/// A link whose address has tags.
pub(super) struct Link {
    /// The id of its relationship.
    pub id: String,
    /// Its cells in the template.
    pub range: Range,
    /// Its other attributes, each with a blank before it.
    pub kept: String,
    /// The text before each of its tags, as the address is written.
    pub before: Vec<String>,
    pub rest: String,
    /// The slots of its tags.
    pub slots: Vec<Slot>,
}

/// Where an answer is found.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The number of the tag.
    pub tag: usize,
    /// How many sections of rows are around it. Within a section of a text it does not count: `at` is an index of that section's
    /// answers.
    pub depth: usize,
    /// The indices of the sections of columns around it, each in the scope of the one before.
    pub columns: Vec<usize>,
    pub at: usize,
}
