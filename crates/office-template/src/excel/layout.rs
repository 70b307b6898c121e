//! The faults of sections that cannot be laid out beside each other.

use cell_references::{Cell, Error};

use super::tags::Found;
use crate::error::Fault;

/// What is wrong with two sections, and the remedy, at the opening tag of one of them; it names the other. `open` finds the
/// opening tag of a block.
pub(super) fn fault<'f>(error: &Error, open: impl Fn(usize) -> Option<&'f Found>) -> Fault {
    let (own, other, why) = match *error {
        Error::Overlap { first, second } => (
            second,
            Some(first),
            "has some of its cells, and not all; let one stand within the other, or beside it",
        ),
        Error::Parent { block, parent } => (
            block,
            Some(parent),
            "is around it, and grows another way or in other rows; name both alike, and let their tags stand in the same rows",
        ),
        Error::Torn { above, below } => (
            below,
            Some(above),
            "stands left of it and would move only some of its rows; let both have the same rows, or put it below",
        ),
        Error::Blocks { .. } => (0, None, "part them over several sheets"),
        Error::Rows { .. }
        | Error::Columns { .. }
        | Error::Turns { .. }
        | Error::Area { .. }
        | Error::Directions { .. }
        | Error::Counts { .. }
        | Error::FormulaLength { .. }
        | Error::Arguments { .. } => (0, None, "put the sections on sheets of their own"),
    };
    let named = |found: &Found| (cell(found), found.shown.clone());
    let (place, shown) = open(own).map(named).unwrap_or_default();
    let message = match other.and_then(&open) {
        Some(other) => format!("{} of {} {why}", other.shown, cell(other)),
        None => format!("{error}; {why}"),
    };
    Fault::new(&place, 0, &shown, &message)
}

fn cell(found: &Found) -> String {
    Cell { row: found.row, column: found.column }.to_string()
}
