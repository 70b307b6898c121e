//! Columns of a table: the cell at one place of its grid in each row.

use std::collections::BTreeMap;

use crate::powerpoint;
use crate::word::attribute::attribute;
use crate::word::{Id, Kind, Part};

/// A table, row by row.
#[derive(Default)]
pub(super) struct Grid {
    /// The widths that the table begins with: a `w:gridCol` for each column.
    widths: Vec<Id>,
    rows: Vec<Row>,
    /// The row of each cell, and its index in the row.
    places: BTreeMap<Id, (usize, usize)>,
}

#[derive(Default)]
struct Row {
    /// How many columns it skips before its first cell, and behind its last.
    before: usize,
    behind: usize,
    cells: Vec<Cell>,
}

struct Cell {
    /// The cell, or the content control that holds it: a child of the row.
    piece: Id,
    /// The content control holds more than this cell.
    is_shared: bool,
    begin: usize,
    columns: usize,
}

impl Grid {
    /// Reads the table, without those in its cells.
    pub(super) fn of(part: &Part, table: Id) -> Self {
        let mut grid = Self::default();
        let end = part.element(table).map_or(0, |element| element.range().end);
        let mut id = table.saturating_add(1);
        while let Some(element) = part.element(id).filter(|element| element.range().start < end) {
            id = match element.kind {
                Kind::Table => part.behind(id),
                Kind::Row => {
                    grid.rows.push(Row::default());
                    id.saturating_add(1)
                }
                Kind::Cell => {
                    grid.cell(part, id);
                    id.saturating_add(1)
                }
                Kind::Other => {
                    grid.property(part, id, table);
                    id.saturating_add(1)
                }
                Kind::Paragraph
                | Kind::Run
                | Kind::Text
                | Kind::Box
                | Kind::Control
                | Kind::ControlContent
                | Kind::ControlProperties
                | Kind::ParagraphProperties
                | Kind::Properties
                | Kind::Code
                | Kind::Value
                | Kind::MoveFrom => id.saturating_add(1),
            };
        }
        for row in &mut grid.rows {
            let mut begin = row.before;
            for cell in &mut row.cells {
                cell.begin = begin;
                begin = begin.saturating_add(cell.columns);
            }
        }
        grid
    }

    fn cell(&mut self, part: &Part, id: Id) {
        let index = self.rows.len().saturating_sub(1);
        let Some(row) = self.rows.last_mut() else { return };
        let above = part.path(id).take_while(|&id| part.kind(id) != Kind::Row);
        let Some(piece) = above.last() else { return };
        self.places.insert(id, (index, row.cells.len()));
        let is_shared = row.cells.last().is_some_and(|neighbour| neighbour.piece == piece);
        if let Some(neighbour) = row.cells.last_mut() {
            neighbour.is_shared |= is_shared;
        }
        let is_shared = is_shared || part.dialect.is_drawn() && powerpoint::is_merged(part, id);
        row.cells.push(Cell { piece, is_shared, begin: 0, columns: 1 });
    }

    /// Reads `gridCol` (a column's width), `gridSpan` (how many columns a cell takes), `gridBefore` and `gridAfter` (how many a
    /// row skips).
    fn property(&mut self, part: &Part, id: Id, table: Id) {
        let around = part.path(id).nth(2);
        let Some(kind) = around.map(|id| part.kind(id)) else { return };
        if !matches!(kind, Kind::Table | Kind::Row | Kind::Cell) {
            return;
        }
        let local = part.name(id).strip_prefix(&part.prefix).unwrap_or_default();
        let Some(row) = self.rows.last_mut() else {
            if (kind, local, around) == (Kind::Table, "gridCol", Some(table)) {
                self.widths.push(id);
            }
            return;
        };
        match (kind, local) {
            (Kind::Row, "gridBefore") => row.before = number(part, id),
            (Kind::Row, "gridAfter") => row.behind = number(part, id),
            (Kind::Cell, "gridSpan") => {
                if let Some(cell) = row.cells.last_mut() {
                    cell.columns = number(part, id).max(1);
                }
            }
            _ => {}
        }
    }

    /// The number of its rows.
    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    /// Whether the two cells are the ends of one column, in the table's first and last row.
    pub(super) fn is_column(&self, one: Id, other: Id) -> bool {
        let (Some(&(first, from)), Some(&(last, to))) = (self.places.get(&one), self.places.get(&other))
        else {
            return false;
        };
        // A cell that is alone in its row spans all columns, so it marks none.
        let cell = |row: usize, at: usize| {
            let cells = &self.rows.get(row)?.cells;
            cells.get(at).filter(|_| cells.len() > 1)
        };
        let is_same = cell(first, from)
            .zip(cell(last, to))
            .is_some_and(|(one, other)| (one.begin, one.columns) == (other.begin, other.columns));
        is_same && first == 0 && last + 1 == self.rows.len()
    }

    /// The pieces of a cell's column in the grid and in each row; an error where a cell is merged with another column's.
    pub(super) fn column(&self, cell: Id) -> Result<Vec<Id>, String> {
        let place = self.places.get(&cell);
        let cell = place.and_then(|&(row, at)| self.rows.get(row)?.cells.get(at));
        let Some(&Cell { begin, columns, .. }) = cell else { return Ok(Vec::new()) };
        if columns != 1 {
            return Err(MERGED.to_owned());
        }
        let mut pieces: Vec<Id> = self.widths.get(begin).copied().into_iter().collect();
        for (index, row) in self.rows.iter().enumerate() {
            let behind = row.cells.partition_point(|cell| cell.begin <= begin);
            let found = behind.checked_sub(1).and_then(|at| row.cells.get(at));
            let Some(cell) = found.filter(|cell| begin < cell.begin.saturating_add(cell.columns)) else {
                if row.before > 0 || row.behind > 0 {
                    return Err(format!("{MERGED} (row {} leaves it out)", index + 1));
                }
                continue;
            };
            if cell.columns != 1 || cell.is_shared {
                return Err(format!("{MERGED} (row {} has one)", index + 1));
            }
            pieces.push(cell.piece);
        }
        Ok(pieces)
    }
}

const MERGED: &str = "stand in one column of the table, from its first row to its last, so that the column would be repeated; \
     that cannot be where a cell is merged with one of another column: split it, or write {-w:tr …} to repeat the rows";

/// The number in the element's `w:val`; 0 where there is none.
fn number(part: &Part, id: Id) -> usize {
    let tag = part.element(id).and_then(|element| part.xml.get(element.start_tag())).unwrap_or_default();
    let value = attribute(tag, "val").and_then(|value| std::str::from_utf8(tag.get(value.value)?).ok());
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}
