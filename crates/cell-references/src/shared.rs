//! References of a formula that all turns of a block share: what moves along with each of its cells, and what is held by a `$`.

use crate::address::{Lines, Range, Reference, Side};
use crate::moves::Moves;
use crate::workbook::Origin;

/// A reference of a shared formula.
pub(crate) struct Shared {
    /// As it is written, with the `$` that hold it.
    pub reference: Reference,
    /// It means cells beside the formula's own turn, also if they are not repeated with it.
    pub is_along: bool,
    /// The lines that keep their distance from the formula's cell: of rows and of columns the first and the last one.
    kept: [Kept; 2],
}

type Kept = [Option<u32>; 2];

impl Shared {
    /// The range that is written for the one that the reference has become.
    pub fn moved(&self, found: Range) -> Range {
        let kept = |[first, last]: Kept, found: Lines| {
            Lines::new(first.unwrap_or(found.first), last.unwrap_or(found.last))
        };
        let [rows, columns] = self.kept;
        Range { rows: kept(rows, found.rows), columns: kept(columns, found.columns) }
    }
}

/// What becomes of one side of a reference.
enum Fate {
    /// What becomes of it in any formula.
    Usual,
    /// It means lines of the formula's own turn.
    Own,
    /// It keeps its distance from the formula's cell, but for a line with a `$`.
    Kept(Kept),
    Held,
}

/// How a reference is written in a formula that all turns share; `None` where it is written as in any other. `moves` are those of
/// the formula's sheet, `is_own` says whether it names that.
pub(crate) fn shared(
    reference: &Reference,
    (origin, moves): (Origin, &Moves),
    is_own: bool,
) -> Option<Shared> {
    let base = origin.shared?;
    let now = moves.cell_beside(base, origin.place)?;
    let [in_rows, in_columns] = moves.grows_at(origin.place);
    // What stands there in the formula's own line is of the block, so that the lines before and behind are other turns'.
    let range = reference.range();
    let (of_row, of_column) = (Lines::new(base.row, base.row), Lines::new(base.column, base.column));
    let is_of_block = |is_row: bool| {
        if is_row {
            range.columns == of_column || !moves.is_beside_rows(Range { rows: of_row, ..range })
        } else {
            range.rows == of_row || !moves.is_beside_columns(Range { columns: of_column, ..range })
        }
    };
    let fate = |side: Option<Side>, is_in: bool, (base, now): (u32, u32), is_row: bool| {
        let Some(side) = side.filter(|side| is_in && !(side.first_is_fixed && side.last_is_fixed)) else {
            return Fate::Usual;
        };
        let Lines { first, last } = side.lines;
        let is_of_turn = |line: u32| is_own && moves.has_line(origin.place, line, is_row);
        if is_of_turn(first) && is_of_turn(last) {
            return Fate::Own;
        }
        // A line directly before or behind the cell, where it is now.
        let kept = |line: u32| {
            let is_near = line + 1 >= base && line <= base + 1;
            (line + now).checked_sub(base).filter(|line| is_near && *line > 0)
        };
        let (first_kept, last_kept) = (kept(first), kept(last));
        if is_own
            && is_of_block(is_row)
            && (side.first_is_fixed || first_kept.is_some())
            && (side.last_is_fixed || last_kept.is_some())
        {
            return Fate::Kept([
                first_kept.filter(|_| !side.first_is_fixed),
                last_kept.filter(|_| !side.last_is_fixed),
            ]);
        }
        if is_of_turn(first) || is_of_turn(last) { Fate::Usual } else { Fate::Held }
    };
    let rows = fate(reference.rows, in_rows, (base.row, now.row), true);
    let columns = fate(reference.columns, in_columns, (base.column, now.column), false);
    if matches!((&rows, &columns), (Fate::Usual, Fate::Usual)) {
        return None;
    }
    let held = |side: Option<Side>, fate: &Fate| {
        let is_held = matches!(fate, Fate::Held);
        side.map(|side| Side {
            first_is_fixed: side.first_is_fixed || is_held,
            last_is_fixed: side.last_is_fixed || is_held,
            ..side
        })
    };
    let kept = |fate: &Fate| if let Fate::Kept(lines) = fate { *lines } else { [None; 2] };
    let is_along = |fate: &Fate| matches!(fate, Fate::Own | Fate::Kept(_));
    Some(Shared {
        reference: Reference {
            rows: held(reference.rows, &rows),
            columns: held(reference.columns, &columns),
            ..*reference
        },
        is_along: is_along(&rows) || is_along(&columns),
        kept: [kept(&rows), kept(&columns)],
    })
}
