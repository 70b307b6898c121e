//! What formulas within a section mean by addresses outside of it: the turn before, or the same cells in each turn.

use cell_references::{Cell as At, Lines, Mention, Range};

use super::calculated::{Calculated, Outside};
use super::joined::{Joined, Named};
use super::sheet::{Cell, Content, Sheet};
use super::tags::{Found, Section};
use super::tree::{Item, Rows};

/// The sections with the tags, the formulas beside them, and what the sheets are called.
type Around<'a> = ((&'a [Section], &'a [Found]), &'a Joined, Named<'a>);

/// Notes in the formulas of sections what they mean by rows and columns outside of these.
pub(super) fn note(sheet: &mut Sheet, items: &[Item], around: Around<'_>) {
    note_in(sheet, items, &mut Vec::new(), around);
}

fn note_in(sheet: &mut Sheet, items: &[Item], rows: &mut Vec<Lines>, around: Around<'_>) {
    for item in items {
        match item {
            Item::Block(Rows { lines, items, .. }) => {
                rows.push(*lines);
                note_in(sheet, items, rows, around);
                rows.pop();
            }
            Item::Row(row) => {
                let cells = sheet.rows.get(*row).map(|row| row.cells.clone()).unwrap_or_default();
                for cell in sheet.cells.get_mut(cells).unwrap_or_default() {
                    note_cell(cell, rows, around);
                }
            }
        }
    }
}

/// The sections that a formula is in.
struct Sections<'a> {
    /// Those of rows, outermost first.
    rows: &'a [Lines],
    /// Those of columns with their numbers, outermost first.
    columns: Vec<(usize, Range)>,
    joined: &'a Joined,
}

fn note_cell(cell: &mut Cell, rows: &[Lines], ((sections, found), joined, named): Around<'_>) {
    let at = At { row: cell.row, column: cell.column };
    let Content::Formula(calculated) = &mut cell.content else { return };
    let area = |number: &usize| Some((*number, sections.get(*number)?.area(found)?));
    let sections = Sections {
        rows: rows.get(..cell.depth).unwrap_or_default(),
        columns: cell.columns.iter().filter_map(area).collect(),
        joined,
    };
    if !sections.rows.is_empty() || !sections.columns.is_empty() {
        note_formula(calculated, at, &sections, named);
    }
}

fn note_formula(calculated: &mut Calculated, at: At, sections: &Sections<'_>, (sheet, names): Named<'_>) {
    let begins = |line: Option<u32>, at: u32| line == Some(at) && at > 1;
    let first_row = sections.rows.last().map(|lines| lines.first);
    let above = begins(first_row, at.row).then(|| At { row: at.row - 1, ..at });
    let first_column = sections.columns.last().map(|(_, area)| area.columns.first);
    let left = begins(first_column, at.column).then(|| At { column: at.column - 1, ..at });
    let (mut is_above, mut is_left, mut outside) = (false, false, None);
    let formula = calculated.formula.formula(names);
    for mention in formula.mentions() {
        let is_own = mention.is_of(sheet);
        if is_own && above.is_some_and(|above| mention.is_to(above)) {
            is_above = true;
        } else if is_own && left.is_some_and(|left| mention.is_to_left(left)) {
            is_left = true;
        } else if outside.is_none() {
            outside = sections.outside(&mention, is_own);
        }
    }
    drop(formula);
    (calculated.is_above, calculated.is_left, calculated.outside) = (is_above, is_left, outside);
}

impl Sections<'_> {
    /// What is to be said of an address that moves along in Excel and stays here.
    fn outside(&self, mention: &Mention<'_>, is_own: bool) -> Option<Outside> {
        let rows = mention.moving_rows().map(|row| row.is_some_and(|row| !(is_own && self.has_row(row))));
        let columns = mention.moving_columns();
        let columns = columns
            .map(|column| column.is_some_and(|column| !(is_own && self.has_column(column, mention.range))));
        let rows = if self.rows.is_empty() { [false; 2] } else { rows };
        let columns = if self.columns.is_empty() { [false; 2] } else { columns };
        let (of_rows, of_columns) = (rows != [false; 2], columns != [false; 2]);
        let what = match (of_rows, of_columns) {
            (false, false) => return None,
            (true, false) => "rows",
            (false, true) => "columns",
            (true, true) => "rows and columns",
        };
        let (written, fixed) = (mention.text, mention.with_fixed(rows, columns));
        let told = format!(
            "{written} is outside of the repeated {what}, so it is the same in each of them; write {fixed} to say so"
        );
        Some(Outside { told: told.into_boxed_str(), of_rows, of_columns })
    }

    fn has_row(&self, row: u32) -> bool {
        self.rows.iter().any(|lines| lines.has(row))
    }

    /// Whether a column of these cells is a section's. What stands above and below the section is there once, but for formulas that
    /// belong to its turns.
    fn has_column(&self, column: u32, Range { rows, .. }: Range) -> bool {
        self.columns.iter().any(|(number, area)| {
            area.columns.has(column)
                && (rows.meets(area.rows)
                    || (rows.first == rows.last && self.joined.has_below(*number, (column, rows.first))))
        })
    }
}

/// Whether something stands in a cell of the template that is in more than so many sections of rows. What stands beside a section's
/// tags is written with one of its turns alone, so that the others have nothing there.
pub(super) fn is_filled(sheet: &Sheet, at: At, sections: usize) -> bool {
    cell_at(sheet, at).is_some_and(|cell| cell.depth > sections)
}

/// The same of sections of columns.
pub(super) fn is_filled_across(sheet: &Sheet, at: At, sections: usize) -> bool {
    cell_at(sheet, at).is_some_and(|cell| cell.columns.len() > sections)
}

/// A cell in which something stands.
fn cell_at(sheet: &Sheet, at: At) -> Option<&Cell> {
    let cells = sheet.of_row(at.row);
    let found = cells.binary_search_by_key(&at.column, |cell| cell.column).ok();
    found.and_then(|found| cells.get(found)).filter(|cell| !matches!(cell.content, Content::Empty))
}
