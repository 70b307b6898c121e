//! The sheets of a workbook: their names, copies and moves.

use crate::address::{Cell, Range, Reference};
use crate::moves::{Moves, Place, Single};

/// What became of a template's sheets.
#[derive(Debug, Clone, Default)]
pub struct Workbook {
    /// In the order of the template, which is the order of the names that a [`Formula`](crate::Formula) was parsed with.
    pub sheets: Vec<Sheet>,
}

/// What became of a sheet.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// Its name in the template.
    pub name: String,
    /// Usually one; more where the sheet was repeated for a list; none where it was dropped.
    pub copies: Vec<SheetCopy>,
}

/// A sheet as it is now.
#[derive(Debug, Clone, Default)]
pub struct SheetCopy {
    /// Its name now.
    pub name: String,
    /// Where its cells are now.
    pub moves: Moves,
    /// Old and new names of tables and the like that have another name in this copy, because each name is unique in a workbook.
    pub renamed: Vec<(String, String)>,
}

/// What a formula means by the cell directly above it, or left of it, from the second turn on: a cell of the turn before, as a
/// running balance does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// The cell directly above or left in the template.
    pub written: Cell,
    /// The cell of the turn before that is meant, where it is now.
    pub now: Cell,
}

/// Where a formula is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin {
    /// The sheet's number in the workbook.
    pub sheet: usize,
    /// The number of its copy.
    pub copy: usize,
    /// The turns of that copy's blocks.
    pub place: Place,
    /// For a formula in the first row of a block, from its second turn on: what it means by the cell above it.
    pub above: Option<Before>,
    /// The same in the first column of a block: what it means by the cell left of it.
    pub left: Option<Before>,
    /// For a formula that all turns share, as a conditional format has one: the cell of the template that its addresses are
    /// relative to. What a `$` does not hold moves along with each cell of the turns. So addresses outside of the blocks are held,
    /// but for the lines directly before and behind the cell.
    pub shared: Option<Cell>,
}

impl Origin {
    /// The cells of the turn before that a reference means, if it is to the cell directly above or left. `moves` are those of the
    /// formula's sheet.
    pub(crate) fn before(&self, reference: &Reference, moves: &Moves) -> Option<Range> {
        let first = || moves.reference(reference, self.place, Single::Grow);
        if let Some(above) = self.above.filter(|above| reference.is_to(above.written)) {
            return Some(reference.moved_to(above.now, first().map(|range| range.rows.first)));
        }
        let turned = reference.turned();
        let left = self.left.filter(|left| turned.is_to(left.written.turned()))?;
        Some(turned.moved_to(left.now.turned(), first().map(|range| range.columns.first)).turned())
    }
}

impl Workbook {
    /// A workbook of one sheet, which keeps its name.
    pub fn of_one(name: &str, moves: Moves) -> Self {
        let copy = SheetCopy { name: name.to_owned(), moves, renamed: Vec::new() };
        Self { sheets: vec![Sheet { name: name.to_owned(), copies: vec![copy] }] }
    }

    pub(crate) fn copy_at(&self, origin: Origin) -> Option<&SheetCopy> {
        self.sheets.get(origin.sheet)?.copies.get(origin.copy)
    }
}

/// Writes `Sheet1!` or `'It''s'!`, with a second name `Sheet1:Sheet3!`.
pub(crate) fn push_sheets(out: &mut String, first: &str, last: Option<&str>) {
    let mut names = [Some(first), last].into_iter().flatten();
    let is_quoted = names.clone().any(needs_quotes);
    let quote = |out: &mut String| {
        if is_quoted {
            out.push('\'');
        }
    };
    quote(out);
    let mut push = |name: &str| {
        for sign in name.chars() {
            out.extend(std::iter::repeat_n(sign, 1 + usize::from(sign == '\'')));
        }
    };
    names.next().map(&mut push);
    if let Some(name) = names.next() {
        push(":");
        push(name);
    }
    quote(out);
    out.push('!');
}

/// Whether a name could be taken for something else: a number, a reference (`A1`, also `R1C1`), a constant, or several words.
/// Quotes that Excel would leave out do no harm.
fn needs_quotes(name: &str) -> bool {
    let is_plain = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '.';
    let starts_plainly = name.starts_with(|sign: char| sign.is_alphabetic() || sign == '_');
    if !starts_plainly || !name.chars().all(is_plain) {
        return true;
    }
    let is_cell = Reference::read(name.as_bytes(), 0).is_some();
    let is_by_number =
        name.bytes().all(|sign| matches!(sign, b'R' | b'r' | b'C' | b'c') || sign.is_ascii_digit());
    is_cell || is_by_number || ["TRUE", "FALSE"].iter().any(|it| it.eq_ignore_ascii_case(name))
}
