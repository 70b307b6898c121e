//! What is repeated or dropped on a sheet, and whether it can be.

use crate::address::{LAST_COLUMN, LAST_ROW, Lines, Range};
use crate::axis::Spec;
use crate::error::{BLOCKS, Error, TURNS};

/// Which way a block grows, and what it consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Whole rows: everything below moves down.
    Rows(Lines),
    /// Whole columns: everything to the right moves right.
    Columns(Lines),
    /// Some cells: what is below them, in their columns, moves down; the cells beside them stay. Blocks below them must have no
    /// other columns, because they would be torn ([`Error::Torn`]): whole rows may be repeated above them only.
    Cells(Range),
    /// The same to the right: what is right of them, in their rows, moves right. Not on one sheet with [`Area::Cells`]
    /// ([`Error::Directions`]).
    Right(Range),
}

/// What is repeated, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it is in the template.
    pub area: Area,
    /// The index of the block around it in the list of blocks: an earlier one of the same kind; blocks of cells must have the
    /// same columns. Blocks of rows and blocks of columns cross each other (a matrix) and are not within one another. Rows within
    /// rows may be the same rows, as a condition on a repeated row is.
    pub parent: Option<usize>,
    /// How often it is repeated in each turn of the block around it, in the order of these turns: those within the first outer
    /// turn come first. Without a parent it is one number. 0 drops the block.
    pub counts: Vec<u32>,
}

impl Area {
    fn range(self) -> Range {
        match self {
            Self::Rows(rows) => Range { rows, columns: Lines::ALL_COLUMNS },
            Self::Columns(columns) => Range { rows: Lines::ALL_ROWS, columns },
            Self::Cells(range) | Self::Right(range) => range,
        }
    }

    fn is_columns(self) -> bool {
        matches!(self, Self::Columns(_))
    }

    /// The same with rows and columns exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Rows(rows) => Self::Columns(rows),
            Self::Columns(columns) => Self::Rows(columns),
            Self::Cells(range) => Self::Right(range.turned()),
            Self::Right(range) => Self::Cells(range.turned()),
        }
    }

    pub(crate) fn columns_to_repeat(self) -> Option<Lines> {
        self.is_columns().then(|| self.range().columns)
    }

    pub(crate) fn rows_to_repeat(self, band: Lines) -> Option<Lines> {
        let range = self.range();
        (!self.is_columns() && range.columns.holds(band)).then_some(range.rows)
    }

    /// Whether the area is within `outer` and of the same kind; areas of cells must have the same columns.
    fn is_within(self, outer: Self) -> bool {
        let (inner, outer_range) = (self.range(), outer.range());
        let holds = outer_range.rows.holds(inner.rows) && outer_range.columns.holds(inner.columns);
        let is_alike = match (self, outer) {
            (Self::Rows(_), Self::Rows(_)) | (Self::Columns(_), Self::Columns(_)) => true,
            (Self::Cells(inner), Self::Cells(outer)) => inner.columns == outer.columns,
            _ => false,
        };
        holds && is_alike
    }
}

pub(crate) fn specs(blocks: &[Block], lines: impl Fn(&Block) -> Option<Lines>) -> Vec<Spec<'_>> {
    let spec = |(id, block): (usize, _)| -> Option<Spec<'_>> {
        let block: &Block = block;
        Some(Spec {
            id,
            lines: lines(block)?,
            parent: block.parent,
            counts: &block.counts,
            is_alike: matches!(block.area, Area::Rows(_)),
        })
    };
    blocks.iter().enumerate().filter_map(spec).collect()
}

/// The columns between the edges of blocks of cells.
pub(crate) fn bands_of(blocks: &[Block], all: Lines) -> Vec<Lines> {
    let mut starts = vec![1];
    for block in blocks {
        if let Area::Cells(Range { columns, .. }) = block.area {
            starts.extend([columns.first, columns.last + 1]);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| *start <= all.last);
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([all.last]);
    starts.iter().zip(ends).map(|(first, last)| Lines { first: *first, last }).collect()
}

/// Whether blocks of cells grow to the right: they are laid out with rows and columns exchanged, as if they grew down.
pub(crate) fn are_turned(blocks: &[Block]) -> Result<bool, Error> {
    let place = |is_meant: fn(&Block) -> bool| blocks.iter().position(is_meant);
    let right = place(|block| matches!(block.area, Area::Right(_)));
    match (right, place(|block| matches!(block.area, Area::Cells(_)))) {
        (Some(right), Some(down)) => Err(Error::Directions { right, down }),
        (right, _) => Ok(right.is_some()),
    }
}

/// The blocks with rows and columns exchanged.
pub(crate) fn turned(blocks: &[Block]) -> Vec<Block> {
    blocks.iter().map(|block| Block { area: block.area.turned(), ..block.clone() }).collect()
}

/// Refuses too many blocks or turns, and areas that are not on a sheet.
pub(crate) fn check_turns(blocks: &[Block]) -> Result<(), Error> {
    if blocks.len() > BLOCKS {
        return Err(Error::Blocks { blocks: blocks.len() });
    }
    let mut turns = 0;
    for (number, block) in blocks.iter().enumerate() {
        let range = block.area.range();
        let is_ordered = |lines: Lines, all: Lines| lines.first <= lines.last && all.holds(lines);
        if !is_ordered(range.rows, Lines::ALL_ROWS) || !is_ordered(range.columns, Lines::ALL_COLUMNS) {
            return Err(Error::Area { block: number });
        }
        // Hazard: turns take memory before their lines are counted: the limit of lines alone would come too late.
        let needed: u64 = block.counts.iter().map(|count| u64::from(*count)).sum();
        turns += needed;
        if matches!(block.area, Area::Columns(_) | Area::Right(_)) && needed > u64::from(LAST_COLUMN) {
            return Err(Error::Columns { needed });
        }
        if needed > u64::from(LAST_ROW) {
            return Err(Error::Rows { needed });
        }
        if turns > TURNS {
            return Err(Error::Turns { turns });
        }
    }
    Ok(())
}

/// Refuses blocks that cannot be laid out beside and within each other.
pub(crate) fn check_layout(blocks: &[Block]) -> Result<(), Error> {
    for (number, block) in blocks.iter().enumerate() {
        if let Some(parent) = block.parent
            && !blocks.iter().take(number).nth(parent).is_some_and(|outer| block.area.is_within(outer.area))
        {
            return Err(Error::Parent { block: number, parent });
        }
        for (other, earlier) in blocks.iter().take(number).enumerate() {
            check_pair((other, earlier), (number, block), blocks)?;
        }
    }
    Ok(())
}

/// Two blocks must not share lines if neither is around the other, and none may be torn by one above it.
fn check_pair(one: (usize, &Block), other: (usize, &Block), blocks: &[Block]) -> Result<(), Error> {
    let (a, b) = (one.1.area.range(), other.1.area.range());
    // Columns cross rows.
    if one.1.area.is_columns() != other.1.area.is_columns() || !a.columns.meets(b.columns) {
        return Ok(());
    }
    if a.rows.meets(b.rows) {
        let outer = |block: &Block| block.parent;
        let mut around = outer(other.1);
        while around.is_some_and(|around| around > one.0) {
            around = around.and_then(|around| blocks.get(around)).and_then(outer);
        }
        let is_around = around == Some(one.0);
        return if is_around { Ok(()) } else { Err(Error::Overlap { first: one.0, second: other.0 }) };
    }
    let (above, below) = if a.rows.last < b.rows.first { (one, other) } else { (other, one) };
    if above.1.area.range().columns.holds(below.1.area.range().columns) {
        Ok(())
    } else {
        Err(Error::Torn { above: above.0, below: below.0 })
    }
}
