//! What formulas within a section mean by addresses of rows outside of it: the turn before, or the same cells in each turn.

use cell_references::{Cell as At, Lines, Mention};

use super::joined::Named;
use super::sheet::{Calculated, Content, Sheet};
use super::tree::{Item, Rows};

/// Notes in the formulas of sections what they mean by rows outside of these.
pub(super) fn note(sheet: &mut Sheet, items: &[Item], named: Named<'_>) {
    note_in(sheet, items, &mut Vec::new(), named);
}

fn note_in(sheet: &mut Sheet, items: &[Item], around: &mut Vec<Lines>, named: Named<'_>) {
    for item in items {
        match item {
            Item::Block(Rows { lines, items, .. }) => {
                around.push(*lines);
                note_in(sheet, items, around, named);
                around.pop();
            }
            Item::Row(row) => {
                let cells = sheet.rows.get(*row).map(|row| row.cells.clone()).unwrap_or_default();
                for cell in sheet.cells.get_mut(cells).unwrap_or_default() {
                    let at = At { row: cell.row, column: cell.column };
                    let around = around.get(..cell.depth).unwrap_or_default();
                    if let (Content::Formula(calculated), Some(innermost)) =
                        (&mut cell.content, around.last())
                    {
                        note_formula(calculated, at, (*innermost, around), named);
                    }
                }
            }
        }
    }
}

fn note_formula(
    calculated: &mut Calculated,
    at: At,
    (innermost, around): (Lines, &[Lines]),
    (sheet, names): Named<'_>,
) {
    let above = (at.row == innermost.first && at.row > 1).then(|| At { row: at.row - 1, ..at });
    let (mut is_above, mut outside) = (false, None);
    let formula = calculated.formula.formula(names);
    for mention in formula.mentions() {
        let is_own = mention.sheet.is_none_or(|named| named == sheet);
        if is_own && above.is_some_and(|above| mention.is_to(above)) {
            is_above = true;
        } else if outside.is_none() {
            outside = told(&mention, |row| {
                is_own && around.iter().any(|lines| (lines.first..=lines.last).contains(&row))
            });
        }
    }
    drop(formula);
    (calculated.is_above, calculated.outside) = (is_above, outside);
}

/// What is to be said of an address that moves along in Excel and stays here; `is_within` says whether a row is in a section
/// around the formula.
fn told(mention: &Mention<'_>, is_within: impl Fn(u32) -> bool) -> Option<Box<str>> {
    let is_outside = mention.moving_rows().map(|row| row.is_some_and(|row| !is_within(row)));
    if is_outside == [false; 2] {
        return None;
    }
    let (written, fixed) = (mention.text, mention.with_fixed(is_outside));
    Some(
        format!("{written} is outside of the repeated rows, so it is the same in each of them; write {fixed} to say so")
            .into_boxed_str(),
    )
}

/// Whether something stands in a cell of the template that is in more than so many sections of rows. What stands beside a section's
/// tags is written with one of its turns alone, so that the others have nothing there.
pub(super) fn is_filled(sheet: &Sheet, at: At, sections: usize) -> bool {
    let cells = sheet.of_row(at.row);
    let found = cells.binary_search_by_key(&at.column, |cell| cell.column).ok();
    let cell = found.and_then(|found| cells.get(found));
    cell.is_some_and(|cell| cell.depth > sections && !matches!(cell.content, Content::Empty))
}
