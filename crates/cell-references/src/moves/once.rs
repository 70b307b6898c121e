//! Cells beside blocks, which are there once, and what stands there for each turn all the same.

use std::collections::BTreeSet;

use super::{Moves, Place};
use crate::address::{Cell, Range};

/// Cells that share rows or columns with a block and are not repeated with it: they are in one of its turns.
#[derive(Debug, Clone)]
pub struct Once {
    /// The cells.
    pub area: Range,
    /// The blocks that they are not repeated with, from the outermost one, and whether they are in its last turn instead of its
    /// first.
    pub blocks: Vec<(usize, bool)>,
    /// Cells of it that are repeated nevertheless: their columns and rows.
    pub but: BTreeSet<(u32, u32)>,
}

impl Once {
    /// Whether any cell of a range is repeated nevertheless.
    fn repeats_any(&self, range: Range) -> bool {
        let Range { rows, columns } = range;
        let mut from = (columns.first, rows.first);
        while let Some(&(column, row)) = self.but.range(from..).next().filter(|(it, _)| *it <= columns.last) {
            if rows.has(row) {
                return true;
            }
            from = (if row < rows.first { column } else { column + 1 }, rows.first);
        }
        false
    }
}

impl Moves {
    /// The same with cells that are not repeated with blocks beside them. Of areas that share cells the first counts.
    pub fn with_once(mut self, once: Vec<Once>) -> Self {
        self.once = once;
        if self.is_turned {
            self.once.iter_mut().for_each(|once| once.area = once.area.turned());
        }
        self
    }

    /// The area of cells that are not repeated and that has all of a range.
    pub(super) fn once_of(&self, range: Range) -> Option<&Once> {
        let on_sheet = self.laid(range);
        self.once.iter().find(|once| once.area.holds(range) && !once.repeats_any(on_sheet))
    }

    /// The place from which a range is looked up. Cells that are not repeated are looked up from the turn that they are in,
    /// whatever `place` is.
    pub(super) fn seen(&self, range: Range, place: Place) -> Place {
        self.once_of(range).map_or(place, |once| self.turn_of(once, place))
    }

    /// The turn that cells which are not repeated are in, within those of `place` around their blocks.
    pub(super) fn turn_of(&self, once: &Once, place: Place) -> Place {
        let turn = |place, &(block, is_last): &(usize, bool)| {
            let outer = self.outside(place, block);
            let count = if is_last { self.count(outer, block)?.checked_sub(1)? } else { 0 };
            self.turn(outer, block, count)
        };
        once.blocks.iter().try_fold(place, turn).unwrap_or(place)
    }

    /// The place from which what stands in a range sees a list of cells: beside rows or columns that it is not repeated with all
    /// of their turns.
    pub fn beside(&self, range: Range, place: Place) -> Place {
        let block = self.once_of(self.laid(range)).and_then(|once| once.blocks.first());
        block.map_or(place, |(block, _)| self.outside(place, *block))
    }

    /// The same of rows alone.
    pub fn beside_rows(&self, range: Range, place: Place) -> Place {
        if self.is_beside_rows(range) { self.beside(range, place) } else { place }
    }

    /// Whether what stands in a range is not repeated with rows that it is beside.
    pub fn is_beside_rows(&self, range: Range) -> bool {
        self.is_beside_block(range, self.is_turned)
    }

    /// The same of columns, which it is above or below.
    pub fn is_beside_columns(&self, range: Range) -> bool {
        self.is_beside_block(range, !self.is_turned)
    }

    /// The same of both.
    pub fn is_beside(&self, range: Range) -> bool {
        self.once_of(self.laid(range)).is_some_and(|once| !once.blocks.is_empty())
    }

    /// Whether a range is beside a block; `is_across`: one that the layout has among its columns.
    fn is_beside_block(&self, range: Range, is_across: bool) -> bool {
        let block = self.once_of(self.laid(range)).and_then(|once| once.blocks.first());
        block.is_some_and(|(block, _)| self.columns.has(*block) == is_across)
    }

    /// The place of the first turn of the blocks that have all of a range, or that it is beside.
    pub fn first_turn(&self, range: Range) -> Place {
        self.places(self.laid(range)).next().unwrap_or_default()
    }

    /// What a range became, without the cells that came between. Cells that are not repeated are in all turns that they are beside.
    /// None if these are more than `at_most` ranges.
    pub fn parts_beside(&self, range: Range, at_most: usize) -> Option<Vec<Range>> {
        let parts = self.areas_of(self.laid(range), Place::default(), at_most)?;
        Some(parts.into_iter().map(|part| self.laid(part)).collect())
    }

    /// Where a cell is in the turns of a place, also if it is not repeated with them.
    pub(crate) fn cell_beside(&self, cell: Cell, place: Place) -> Option<Cell> {
        let found = self.laid(self.find(self.laid(cell.into()), place, [None; 4])?);
        Some(Cell { row: found.rows.last, column: found.columns.last })
    }
}
