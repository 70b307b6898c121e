//! What a formula refers to, as its author wrote it.

use crate::address::{Cell, Lines, Range, Reference, Side};
use crate::formula::Formula;
use crate::reader::{Content, Role, Target};

/// A reference of a formula, as it is written.
#[derive(Debug, Clone, Copy)]
pub struct Mention<'f> {
    /// With the sheet's name, if one is written.
    pub text: &'f str,
    /// The number of the sheet that is named (of several the first); `None` for the formula's own.
    pub sheet: Option<usize>,
    /// The cells that it names.
    pub range: Range,
    /// One value is meant, and not a list of cells as `SUM` takes it.
    pub is_value: bool,
    /// It is an argument whose rows and columns are told apart, as a table is in which a value is looked up, or a range begins or
    /// ends in it.
    pub is_table: bool,
    /// It is one cell beside other arguments of a function that takes any number of them, as in `MAX(A1,0)`. `SUM(A1)` and
    /// `SUBTOTAL(9,A1)` have one.
    pub is_one_of_several: bool,
    /// The sheet's name as it is written, with its `!`.
    before: &'f str,
    reference: Reference,
}

impl Formula {
    /// The references to cells of this workbook, in their order.
    pub fn mentions(&self) -> impl Iterator<Item = Mention<'_>> {
        self.slots().iter().filter_map(|slot| {
            let Content::Reference(reference, role) = slot.content else { return None };
            let sheet = match slot.sheet {
                Target::Own => None,
                Target::Sheet(sheet) | Target::Sheets(sheet, _) => Some(sheet),
                Target::Elsewhere => return None,
            };
            let text = |from: usize, to: usize| self.text().get(from..to).unwrap_or_default();
            let behind = text(slot.end, self.text().len()).trim_ascii_start();
            let is_alone =
                text(slot.call, slot.start).trim_ascii().is_empty() && !behind.starts_with([',', ';']);
            Some(Mention {
                text: text(slot.start, slot.end),
                sheet,
                range: reference.range(),
                is_value: reference.is_single && role == Role::One,
                is_table: matches!(role, Role::Table | Role::Begin | Role::End),
                is_one_of_several: reference.is_single && role == Role::List && !is_alone,
                before: text(slot.start, slot.body),
                reference,
            })
        })
    }
}

impl Mention<'_> {
    /// Whether its cells are of this sheet, the one that its formula is on.
    pub fn is_of(&self, sheet: usize) -> bool {
        self.sheet.is_none_or(|named| named == sheet)
    }

    /// The first and the last row, where they move along when the formula is copied to another row: whole columns name none, and
    /// a `$` holds on to one.
    pub fn moving_rows(&self) -> [Option<u32>; 2] {
        moving(self.reference.rows)
    }

    /// The same of the columns.
    pub fn moving_columns(&self) -> [Option<u32>; 2] {
        moving(self.reference.columns)
    }

    /// Whether a formula in this row takes a value of it by this: of one cell, also beside other arguments (`MAX(B2,0)`), or of
    /// several columns together, as a row's total does (`SUM(B2:D2)`). A list of one column (`SUM(B2)`, `B2:B2`) means all rows,
    /// and so does a table in which a value is looked up.
    pub fn is_taken_of_row(&self, row: u32) -> bool {
        self.moving_rows() == [Some(row); 2] && self.is_taken(self.range.columns)
    }

    /// The same with rows and columns exchanged.
    pub fn is_taken_of_column(&self, column: u32) -> bool {
        self.moving_columns() == [Some(column); 2] && self.is_taken(self.range.rows)
    }

    fn is_taken(&self, across: Lines) -> bool {
        self.is_value || self.is_one_of_several || (across.first < across.last && !self.is_table)
    }

    /// Whether it means what stands in this cell, directly above its formula, or all down to it, and moves along with the formula.
    pub fn is_to(&self, above: Cell) -> bool {
        self.reference.is_to(above)
    }

    /// The same of the cell directly left of its formula.
    pub fn is_to_left(&self, left: Cell) -> bool {
        self.reference.turned().is_to(left.turned())
    }

    /// How it is written with a `$` before these rows and columns, the first and the last.
    pub fn with_fixed(&self, rows: [bool; 2], columns: [bool; 2]) -> String {
        let fixed = |side: Option<Side>, lines: [bool; 2]| {
            side.map(|side| Side {
                first_is_fixed: side.first_is_fixed || lines[0],
                last_is_fixed: side.last_is_fixed || lines[1],
                ..side
            })
        };
        let Reference { rows: own_rows, columns: own_columns, .. } = self.reference;
        let mut text = self.before.to_owned();
        let (rows, columns) = (fixed(own_rows, rows), fixed(own_columns, columns));
        Reference { rows, columns, ..self.reference }.write(&mut text);
        text
    }
}

/// The first and the last line of a side that have no `$`.
fn moving(side: Option<Side>) -> [Option<u32>; 2] {
    let line = |line: fn(Side) -> (u32, bool)| {
        side.map(line).filter(|(_, is_fixed)| !is_fixed).map(|(line, _)| line)
    };
    [line(|side| (side.lines.first, side.first_is_fixed)), line(|side| (side.lines.last, side.last_is_fixed))]
}

impl Reference {
    /// Whether this is the cell, or a range down to it from the same cell or a row with a `$`, and its last row moves along with
    /// the formula.
    pub(crate) fn is_to(&self, cell: Cell) -> bool {
        let is_own = |side: Side| side.lines.first == cell.column && side.lines.last == cell.column;
        let is_down_to = |side: Side| {
            side.lines.last == cell.row
                && !side.last_is_fixed
                && (side.first_is_fixed || side.lines.first == cell.row)
        };
        self.columns.is_some_and(is_own) && self.rows.is_some_and(is_down_to)
    }

    /// The cells that it means where the cell that it [is to](Self::is_to) is another one. `first` is the row of its first cell.
    pub(crate) fn moved_to(&self, cell: Cell, first: Option<u32>) -> Range {
        let held = self.rows.is_some_and(|side| side.first_is_fixed);
        let first = first.filter(|_| held).unwrap_or(cell.row);
        Range::new(Cell { row: first, column: cell.column }, cell)
    }
}
