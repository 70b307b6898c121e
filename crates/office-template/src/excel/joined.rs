//! Formulas beside a section of rows that belong to its turns: `=B2*C2` right of the closing tag, where `B2` and `C2` are the section's.

use std::collections::{BTreeMap, BTreeSet};

use cell_references::{Formula, LAST_COLUMN, Lines, Mention};

use super::sheet::{Cell, Content, Sheet};
use super::tags::{Found, Of, Section};

/// How many columns of a range are looked at for formulas that belong to the turns themselves. Hazard: a row of formulas that each
/// name the whole row would be the square of that many.
const COLUMNS: usize = 64;

/// How a formula names its own row of a table (ECMA-376 part 1, 18.17.6.1), in small letters.
const THIS_ROW: &str = "[#this row]";

/// For each section, the rows and columns of the formulas that stand beside it and belong to its turns.
pub(super) struct Joined(Vec<BTreeSet<(u32, u32)>>);

/// A sheet's number, and the names of all sheets.
pub(super) type Named<'n> = (usize, &'n [String]);

impl Joined {
    /// Finds them. `around` says which section of rows is around another.
    pub(super) fn find(
        sheet: &Sheet,
        (found, sections): (&[Found], &[Section]),
        around: impl Fn(usize) -> Option<usize>,
        named: Named<'_>,
    ) -> Self {
        let mut joined = Self(vec![BTreeSet::new(); sections.len()]);
        for (number, section) in sections.iter().enumerate().filter(|(_, section)| section.of == Of::Rows) {
            let (Some(open), Some(close)) = (found.get(section.open), found.get(section.close)) else {
                continue;
            };
            let is_one_row = open.row == close.row;
            let rows = [Some(open.row), (!is_one_row).then_some(close.row)];
            for row in rows.into_iter().flatten() {
                // What stands beside a nested section of one row is written in each turn of it anyway, so that every value of the
                // row is the turn's.
                let outer = around(number).filter(|_| is_one_row);
                let outer = outer.and_then(|outer| {
                    let section = sections.get(outer)?;
                    Some((outer, span(row, found.get(section.open)?, found.get(section.close)?)))
                });
                let own = joined.beside(sheet, (row, span(row, open, close)), outer, named);
                if let Some(all) = joined.0.get_mut(number) {
                    all.extend(own.into_iter().map(|column| (row, column)));
                }
            }
        }
        joined
    }

    /// The columns of the formulas of a row that belong to the turns of a section with these columns of the row.
    fn beside(
        &self,
        sheet: &Sheet,
        (row, span): (u32, Lines),
        outer: Option<(usize, Lines)>,
        named: Named<'_>,
    ) -> BTreeSet<u32> {
        let is_of_outer = |lines: Lines| {
            outer.is_some_and(|(outer, span)| meets(span, lines) || self.has_any(outer, row, lines))
        };
        // Formulas by the columns from which they take a value.
        let mut waiting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut next = Vec::new();
        for cell in sheet.of_row(row) {
            let own = Lines::new(cell.column, cell.column);
            let Content::Formula(calculated) = &cell.content else { continue };
            if meets(span, own) || (outer.is_some() && !is_of_outer(own)) {
                continue;
            }
            let formula = calculated.formula.formula(named.1);
            let taken = taken(&formula, row, named.0);
            if taken.iter().any(|lines| meets(span, *lines) || is_of_outer(*lines)) {
                next.push(cell.column);
                continue;
            }
            for column in taken.iter().flat_map(|lines| (lines.first..=lines.last).take(COLUMNS)) {
                waiting.entry(column).or_default().push(cell.column);
            }
        }
        let mut all = BTreeSet::new();
        while let Some(column) = next.pop() {
            if all.insert(column) {
                next.extend(waiting.remove(&column).unwrap_or_default());
            }
        }
        all
    }

    pub(super) fn has(&self, section: usize, cell: &Cell) -> bool {
        self.0.get(section).is_some_and(|all| all.contains(&(cell.row, cell.column)))
    }

    fn has_any(&self, section: usize, row: u32, columns: Lines) -> bool {
        let all = self.0.get(section);
        all.is_some_and(|all| all.range((row, columns.first)..=(row, columns.last)).next().is_some())
    }

    /// Notes in the cells how many sections hold them.
    pub(super) fn deepen(&self, sheet: &mut Sheet) {
        for &(row, column) in self.0.iter().flatten() {
            let at = sheet.cells.binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
            if let Some(cell) = at.ok().and_then(|at| sheet.cells.get_mut(at)) {
                cell.depth += 1;
            }
        }
    }

    /// The columns of a row in which such formulas of a section stand.
    pub(super) fn columns(&self, section: usize, row: u32) -> BTreeSet<u32> {
        let all = self.0.get(section).into_iter().flat_map(|all| all.range((row, 1)..=(row, LAST_COLUMN)));
        all.map(|(_, column)| *column).collect()
    }
}

/// The columns of a row that are between two tags, as one reads.
fn span(row: u32, open: &Found, close: &Found) -> Lines {
    let first = if row == open.row { open.column } else { 1 };
    let last = if row == close.row { close.column } else { LAST_COLUMN };
    Lines::new(first, last)
}

fn meets(one: Lines, other: Lines) -> bool {
    one.first <= other.last && other.first <= one.last
}

/// The columns from which a formula takes a value of its own row, by an address that moves along: of one cell, also beside other
/// arguments (`MAX(B2,0)`), or of several columns together, as a row's total does (`SUM(B2:D2)`). A list of one column (`SUM(B2)`,
/// `B2:B2`) is none, and a table in which a value is looked up neither: they mean all rows.
fn taken(formula: &Formula, row: u32, sheet: usize) -> Vec<Lines> {
    let is_own = |mention: &Mention<'_>| {
        mention.sheet.is_none_or(|named| named == sheet) && mention.moving_rows() == [Some(row); 2]
    };
    let is_taken = |mention: &Mention<'_>| {
        let Lines { first, last } = mention.range.columns;
        mention.is_value || mention.is_one_of_several || (first < last && !mention.is_table)
    };
    let taken = formula.mentions().filter(is_own).filter(is_taken);
    let mut taken: Vec<Lines> = taken.map(|mention| mention.range.columns).collect();
    // A table's column of its own row; which one it is, the table knows.
    if formula.text().to_ascii_lowercase().contains(THIS_ROW) {
        taken.push(Lines::ALL_COLUMNS);
    }
    taken
}
