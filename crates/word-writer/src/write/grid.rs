//! Where a table's cells stand, whatever spans they claim.

use crate::model::{Cell, Extent, Row, Table};

/// Word's columns.
pub const MOST_COLUMNS: usize = 63;

/// A table with a place for everything.
pub struct Grid<'a> {
    /// Its columns.
    pub columns: usize,
    /// What stands in its rows, from left to right without gaps.
    pub rows: Vec<Vec<Slot<'a>>>,
    /// What is said of each column's width.
    pub widths: Vec<Option<Extent>>,
    /// Cells had to share a place.
    pub overfull: bool,
}

/// A place of a row.
pub struct Slot<'a> {
    /// The first column.
    pub start: usize,
    /// The column after the last.
    pub end: usize,
    /// What is there.
    pub content: Content<'a>,
}

/// What is at a place.
pub enum Content<'a> {
    /// Cells, nearly always one.
    Cells {
        /// The cells.
        cells: Vec<&'a Cell>,
        /// Further rows go on with it.
        spans_rows: bool,
    },
    /// A cell of a row above.
    Covered(&'a Cell),
    /// Nothing.
    Empty,
}

/// A cell that goes down.
#[derive(Clone, Copy)]
struct Carried<'a> {
    rows: usize,
    end: usize,
    cell: &'a Cell,
}

impl<'a> Grid<'a> {
    /// Places all cells.
    pub fn new(table: &'a Table) -> Self {
        let mut overfull = false;
        let mut carried: Vec<Option<Carried>> = vec![None; MOST_COLUMNS];
        let ends = section_ends(&table.rows);
        let mut rows: Vec<Vec<Slot>> = Vec::new();
        for (place, (row, end)) in table.rows.iter().zip(ends).enumerate() {
            rows.push(place_row(row, end - place, &mut carried, &mut overfull));
        }
        let mut grid = Self { columns: 0, rows, widths: Vec::new(), overfull };
        grid.compress(&table.columns);
        grid
    }

    /// Only columns in which some cell begins are columns; a span over others reaches as far as there are any.
    fn compress(&mut self, widths: &[Option<Extent>]) {
        let mut begins = [false; MOST_COLUMNS + 1];
        begins[0] = true;
        for slot in self.rows.iter().flatten() {
            if let (Some(begin), Content::Cells { .. }) = (begins.get_mut(slot.start), &slot.content) {
                *begin = true;
            }
        }
        let mut places = [0; MOST_COLUMNS + 1];
        let mut count = 0;
        for (place, begin) in places.iter_mut().zip(begins) {
            // A column that no cell begins in belongs to the one before it.
            *place = count;
            count += usize::from(begin);
        }
        self.columns = count.max(1);
        let at = |column: usize| places.get(column).copied().unwrap_or(count);
        for row in &mut self.rows {
            for slot in row.iter_mut() {
                (slot.start, slot.end) = (at(slot.start), at(slot.end));
            }
            row.retain(|slot| slot.end > slot.start);
            let end = row.last().map_or(0, |slot| slot.end);
            if end < self.columns {
                row.push(Slot { start: end, end: self.columns, content: Content::Empty });
            }
        }
        self.widths = self.column_widths(widths, &begins);
    }

    fn column_widths(&self, widths: &[Option<Extent>], begins: &[bool]) -> Vec<Option<Extent>> {
        let mut found: Vec<Option<Extent>> = vec![None; self.columns];
        let mut column = 0;
        for (place, begin) in begins.iter().enumerate() {
            column += usize::from(*begin && place > 0);
            let width = widths.get(place).copied().flatten();
            if let (Some(slot), true) = (found.get_mut(column), width.is_some()) {
                *slot = sum(*slot, width);
            }
        }
        for slot in self.rows.iter().flatten().filter(|slot| slot.end - slot.start == 1) {
            if let (Content::Cells { cells, .. }, Some(width)) = (&slot.content, found.get_mut(slot.start)) {
                *width = width.or(cells.first().and_then(|cell| cell.width));
            }
        }
        found
    }
}

fn sum(one: Option<Extent>, other: Option<Extent>) -> Option<Extent> {
    match (one, other) {
        (Some(Extent::Twips(one)), Some(Extent::Twips(other))) => {
            Some(Extent::Twips(one.saturating_add(other)))
        }
        (Some(Extent::Percent(one)), Some(Extent::Percent(other))) => {
            Some(Extent::Percent(one.saturating_add(other)))
        }
        (one, other) => other.or(one),
    }
}

/// For each row, the row after the last of its section.
fn section_ends(rows: &[Row]) -> Vec<usize> {
    let mut end = rows.len();
    let mut ends: Vec<usize> = rows
        .iter()
        .enumerate()
        .rev()
        .map(|(place, row)| {
            if row.last_of_section {
                end = place + 1;
            }
            end
        })
        .collect();
    ends.reverse();
    ends
}

fn place_row<'a>(
    row: &'a Row,
    rows_left: usize,
    carried: &mut [Option<Carried<'a>>],
    overfull: &mut bool,
) -> Vec<Slot<'a>> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut cells = row.cells.iter();
    let mut column = 0;
    while column < MOST_COLUMNS {
        if let Some(Some(above)) = carried.get_mut(column) {
            let end = above.end;
            slots.push(Slot { start: column, end, content: Content::Covered(above.cell) });
            above.rows -= 1;
            if above.rows == 0
                && let Some(slot) = carried.get_mut(column)
            {
                *slot = None;
            }
            column = end;
            continue;
        }
        let free = carried.iter().skip(column).position(Option::is_some).unwrap_or(MOST_COLUMNS - column);
        let Some(cell) = cells.next() else {
            if column + free < MOST_COLUMNS {
                slots.push(Slot { start: column, end: column + free, content: Content::Empty });
            }
            column += free;
            continue;
        };
        let span = usize::try_from(cell.column_span).unwrap_or(MOST_COLUMNS).clamp(1, free);
        let rows = match usize::try_from(cell.row_span).unwrap_or(rows_left) {
            0 => rows_left,
            rows => rows.min(rows_left),
        };
        let end = column + span;
        let content = Content::Cells { cells: vec![cell], spans_rows: rows > 1 };
        slots.push(Slot { start: column, end, content });
        if let Some(slot) = carried.get_mut(column).filter(|_| rows > 1) {
            *slot = Some(Carried { rows: rows - 1, end, cell });
        }
        column = end;
    }
    // A row has no more columns: what is left over goes where the row has its last cell.
    let rest: Vec<&Cell> = cells.collect();
    if !rest.is_empty() {
        *overfull = true;
        let last = slots.iter_mut().rev().find_map(|slot| match &mut slot.content {
            Content::Cells { cells, .. } => Some(cells),
            Content::Covered(_) | Content::Empty => None,
        });
        if let Some(cells) = last {
            cells.extend(rest);
        }
    }
    slots
}
