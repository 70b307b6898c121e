//! Formulas beside a section that belong to its turns: `=B2*C2` right of the closing tag of rows, `=B2*B3` below columns, where `B2` is the
//! section's.

use std::collections::{BTreeMap, BTreeSet};

use cell_references::{Formula, LAST_COLUMN, LAST_ROW, Lines, Mention, Range};

use super::sheet::{Cell, Content, Sheet};
use super::tags::{Found, Of, Section};

/// How many lines of a range are looked at for formulas that belong to the turns themselves. Hazard: a row of formulas that each
/// name the whole row would be the square of that many.
const LINES: usize = 64;

/// How a formula names its own row of a table (ECMA-376 part 1, 18.17.6.1), in small letters.
const THIS_ROW: &str = "[#this row]";

/// The formulas that stand beside sections and belong to their turns, by the sections' numbers.
pub(super) struct Joined {
    /// Of sections of rows: their rows and columns.
    rows: Vec<BTreeSet<(u32, u32)>>,
    /// Of sections of columns: their columns and rows.
    columns: Vec<BTreeSet<(u32, u32)>>,
}

/// A sheet's number, and the names of all sheets.
pub(super) type Named<'n> = (usize, &'n [String]);

impl Joined {
    /// No formulas, of so many sections.
    pub(super) fn none(sections: usize) -> Self {
        let none = || vec![BTreeSet::new(); sections];
        Self { rows: none(), columns: none() }
    }

    /// Finds them. `around` says which section of rows is around another.
    pub(super) fn find(
        sheet: &Sheet,
        (found, sections): (&[Found], &[Section]),
        around: impl Fn(usize) -> Option<usize>,
        named: Named<'_>,
    ) -> Self {
        let mut joined = Self::none(sections.len());
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
                if let Some(all) = joined.rows.get_mut(number) {
                    all.extend(own.into_iter().map(|column| (row, column)));
                }
            }
        }
        joined.find_below(sheet, (found, sections), around, named);
        joined
    }

    /// Finds those above and below sections of columns.
    fn find_below(
        &mut self,
        sheet: &Sheet,
        (found, sections): (&[Found], &[Section]),
        around: impl Fn(usize) -> Option<usize>,
        named: Named<'_>,
    ) {
        let mut of_columns = sections.iter().enumerate().filter(|(_, one)| one.of == Of::Columns).peekable();
        if of_columns.peek().is_none() {
            return;
        }
        let formulas = sheet.cells.iter().enumerate();
        let formulas = formulas.filter(|(_, cell)| matches!(cell.content, Content::Formula(_)));
        let mut formulas: Vec<_> = formulas.map(|(at, cell)| (cell.column, cell.row, at)).collect();
        formulas.sort_unstable();
        for (number, section) in of_columns {
            let Some(area) = section.area(found) else { continue };
            let outer = around(number);
            let outer = outer.and_then(|outer| Some((outer, sections.get(outer)?.area(found)?)));
            let first = formulas.partition_point(|(column, ..)| *column < area.columns.first);
            let behind = formulas.partition_point(|(column, ..)| *column <= area.columns.last);
            let beside = formulas.get(first..behind).unwrap_or_default().iter().filter(|(column, row, _)| {
                !area.rows.has(*row)
                    && outer.is_none_or(|(outer, area)| {
                        area.rows.has(*row) || self.has_below(outer, (*column, *row))
                    })
            });
            let mut waiting: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
            let mut next = Vec::new();
            for &(column, row, at) in beside {
                let Some(Content::Formula(calculated)) = sheet.cells.get(at).map(|cell| &cell.content) else {
                    continue;
                };
                let formula = calculated.formula.formula(named.1);
                let is_own = |mention: &Mention<'_>| mention.is_of(named.0);
                let taken = formula.mentions().filter(is_own).filter(|it| it.is_taken_of_column(column));
                let taken: Vec<Lines> = taken.map(|mention| mention.range.rows).collect();
                if taken.iter().any(|rows| area.rows.meets(*rows)) {
                    next.push((column, row));
                    continue;
                }
                for taken in taken.iter().flat_map(|rows| (rows.first..=rows.last).take(LINES)) {
                    waiting.entry((column, taken)).or_default().push((column, row));
                }
            }
            if let Some(own) = self.columns.get_mut(number) {
                *own = reached(next, waiting);
            }
        }
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
            outer.is_some_and(|(outer, span)| span.meets(lines) || self.has_any(outer, row, lines))
        };
        // Formulas by the columns from which they take a value.
        let mut waiting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut next = Vec::new();
        for cell in sheet.of_row(row) {
            let own = Lines::new(cell.column, cell.column);
            let Content::Formula(calculated) = &cell.content else { continue };
            if span.meets(own) || (outer.is_some() && !is_of_outer(own)) {
                continue;
            }
            let formula = calculated.formula.formula(named.1);
            let taken = taken(&formula, row, named.0);
            if taken.iter().any(|lines| span.meets(*lines) || is_of_outer(*lines)) {
                next.push(cell.column);
                continue;
            }
            for column in taken.iter().flat_map(|lines| (lines.first..=lines.last).take(LINES)) {
                waiting.entry(column).or_default().push(cell.column);
            }
        }
        reached(next, waiting)
    }

    pub(super) fn has(&self, section: usize, cell: &Cell) -> bool {
        self.rows.get(section).is_some_and(|all| all.contains(&(cell.row, cell.column)))
    }

    fn has_any(&self, section: usize, row: u32, columns: Lines) -> bool {
        let all = self.rows.get(section);
        all.is_some_and(|all| all.range((row, columns.first)..=(row, columns.last)).next().is_some())
    }

    /// Whether such a formula of a section of columns stands in this column and row.
    pub(super) fn has_below(&self, section: usize, cell: (u32, u32)) -> bool {
        self.columns.get(section).is_some_and(|all| all.contains(&cell))
    }

    /// Notes in the cells which sections hold them.
    pub(super) fn deepen(&self, sheet: &mut Sheet) {
        for &(row, column) in self.rows.iter().flatten() {
            if let Some(cell) = cell_at(sheet, row, column) {
                cell.depth += 1;
            }
        }
        for (number, all) in self.columns.iter().enumerate() {
            for &(column, row) in all {
                if let Some(Cell { columns, .. }) = cell_at(sheet, row, column) {
                    columns.insert(columns.partition_point(|outer| *outer < number), number);
                }
            }
        }
    }

    /// The columns and rows of such formulas of a section of rows that stand in a row.
    pub(super) fn in_row(&self, section: usize, row: u32) -> BTreeSet<(u32, u32)> {
        let all = self.rows.get(section).into_iter().flat_map(|all| all.range((row, 1)..=(row, LAST_COLUMN)));
        all.map(|(row, column)| (*column, *row)).collect()
    }

    /// Those of a section of columns that stand in an area.
    pub(super) fn in_area(&self, section: usize, Range { rows, columns }: Range) -> BTreeSet<(u32, u32)> {
        let all = self.columns.get(section).into_iter();
        let all = all.flat_map(|all| all.range((columns.first, 1)..=(columns.last, LAST_ROW)));
        all.filter(|(_, row)| rows.has(*row)).copied().collect()
    }
}

fn cell_at(sheet: &mut Sheet, row: u32, column: u32) -> Option<&mut Cell> {
    let at = sheet.cells.binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
    at.ok().and_then(|at| sheet.cells.get_mut(at))
}

/// The columns of a row that are between two tags, as one reads.
fn span(row: u32, open: &Found, close: &Found) -> Lines {
    let first = if row == open.row { open.column } else { 1 };
    let last = if row == close.row { close.column } else { LAST_COLUMN };
    Lines::new(first, last)
}

/// The formulas `next`, and those that wait for them or for each other: `waiting` has them by the cell from which they take a value.
fn reached<K: Ord + Copy>(mut next: Vec<K>, mut waiting: BTreeMap<K, Vec<K>>) -> BTreeSet<K> {
    let mut all = BTreeSet::new();
    while let Some(one) = next.pop() {
        if all.insert(one) {
            next.extend(waiting.remove(&one).unwrap_or_default());
        }
    }
    all
}

/// The columns from which a formula takes a value of its own row, by an address that moves along.
fn taken(formula: &Formula, row: u32, sheet: usize) -> Vec<Lines> {
    let is_own = |mention: &Mention<'_>| mention.is_of(sheet);
    let taken = formula.mentions().filter(is_own).filter(|mention| mention.is_taken_of_row(row));
    let mut taken: Vec<Lines> = taken.map(|mention| mention.range.columns).collect();
    // A table's column of its own row; which one it is, the table knows.
    if formula.text().to_ascii_lowercase().contains(THIS_ROW) {
        taken.push(Lines::ALL_COLUMNS);
    }
    taken
}
