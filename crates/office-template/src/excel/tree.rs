//! What a sheet asks for, once its tags are read.

use cell_references::{Area, Lines};

use crate::program::Step;

/// What a sheet asks for.
#[derive(Default)]
pub(super) struct Plan {
    /// What the program is asked for it, in the order in which a [`Slot`] counts.
    pub steps: Vec<Step>,
    /// Its rows, and the sections of rows among them.
    pub items: Vec<Item>,
    /// The blocks of cells, without how often they are there: those of rows first.
    pub areas: Vec<(Area, Option<usize>)>,
    /// How many of them are of rows.
    pub rows: usize,
}

/// What follows each other from the top to the bottom.
#[derive(Debug)]
pub(super) enum Item {
    /// A row, by its place.
    Row(usize),
    Block(Rows),
}

/// A section of rows.
#[derive(Debug)]
pub(super) struct Rows {
    /// Its number among the blocks.
    pub block: usize,
    /// Where its answer stands in the scope around it.
    pub slot: usize,
    pub lines: Lines,
    /// Cells of its rows are not its own: where its list is none, the rows stay for their sake.
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
    /// A text, in the run of this place.
    Text(usize, String),
    /// A value's text.
    Value(usize, Slot),
    /// What stands there as often as the section says.
    Section(Slot, Vec<Piece>),
    /// A section of columns begins here, whatever else it has: how often it is there is asked for.
    Nothing(Slot),
}

/// Where an answer stands.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The number of the tag.
    pub tag: usize,
    /// So many sections of rows are around it; within a section of a text its own scope is meant.
    pub depth: usize,
    /// The places of the sections of columns around it, each in the scope of the one before.
    pub columns: Vec<usize>,
    pub at: usize,
}
