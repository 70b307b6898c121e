//! The cells of a sheet: which columns and rows there are, how large they are, and what is merged.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use roxmltree::Node;

use crate::css::{points, written};
use crate::html::Declarations;
use crate::limits::Error;
use crate::writer::Writer;
use crate::xml::{attribute, count, name};

/// More rows than these that are alike are not written: between two tables of a sheet there may be a million empty ones.
pub const ALIKE: usize = 100;
/// Excel has as many.
const COLUMNS: usize = 16_384;
/// How wide a column is that says nothing, in points.
const WIDTH: f64 = 48.0;
/// How high a row is that says nothing, in points.
const HEIGHT: f64 = 12.8;
/// No picture goes over more columns or rows than these.
const STEPS: usize = 10_000;
/// LibreOffice rounds lengths: what ends with a cell is not over the next one. In points.
const ROUNDED: f64 = 0.1;

/// Columns that are alike, up to the place behind them.
pub struct Columns<'a> {
    end: usize,
    pub hidden: bool,
    width: Option<f64>,
    pub style: &'a str,
}

/// Rows that are alike.
pub struct Rows<'a, 'i> {
    pub row: Node<'a, 'i>,
    /// The number of the first.
    pub start: usize,
    pub count: usize,
    pub hidden: bool,
    pub head: bool,
    /// The place behind the last cell that shows anything.
    pub used: usize,
    height: Option<f64>,
}

/// A merged cell whose own column or row is hidden: it is shown at the first place that is not.
#[derive(Clone, Copy)]
pub struct Veiled<'a, 'i> {
    pub cell: Node<'a, 'i>,
    /// Among which rows it stands, and in which column.
    pub place: (usize, usize),
}

/// Cells from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub first: (usize, usize),
    pub last: (usize, usize),
}

/// A sheet's cells.
pub struct Grid<'a, 'i> {
    columns: Vec<Columns<'a>>,
    pub rows: Vec<Rows<'a, 'i>>,
    /// How many of the rows are written: as far as one of them is used.
    pub written: usize,
    merged: Vec<Area>,
    veiled: HashMap<(usize, usize), Veiled<'a, 'i>>,
}

impl Writer<'_, '_> {
    /// Reads the cells of a sheet.
    pub(crate) fn grid<'a, 'i>(&mut self, sheet: Node<'a, 'i>) -> Result<Grid<'a, 'i>, Error> {
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        self.sheet_columns(sheet, &mut columns);
        self.sheet_rows(sheet, false, &mut rows)?;
        let mut grid = Grid { columns, rows, written: 0, merged: Vec::new(), veiled: HashMap::new() };
        for place in 0..grid.rows.len() {
            grid.read_merged(place);
        }
        grid.written = grid.rows.iter().rposition(|row| row.used > 0).map_or(0, |last| last + 1);
        Ok(grid)
    }

    fn sheet_columns<'a>(&self, parent: Node<'a, '_>, columns: &mut Vec<Columns<'a>>) {
        for node in parent.children() {
            match name(node) {
                ("table", "table-column") => {
                    let start = columns.last().map_or(0, |one| one.end);
                    columns.push(Columns {
                        end: start.saturating_add(count(node, "number-columns-repeated")),
                        hidden: is_hidden(node),
                        width: self.extent(node, "table-column", "column-width"),
                        style: attribute(node, "table", "default-cell-style-name").unwrap_or("Default"),
                    });
                }
                ("table", "table-columns" | "table-header-columns" | "table-column-group") => {
                    self.sheet_columns(node, columns);
                }
                _ => {}
            }
        }
    }

    fn sheet_rows<'a, 'i>(
        &mut self,
        parent: Node<'a, 'i>,
        head: bool,
        rows: &mut Vec<Rows<'a, 'i>>,
    ) -> Result<(), Error> {
        self.enter("")?;
        for node in parent.children() {
            match name(node) {
                ("table", "table-row") => rows.push(Rows {
                    row: node,
                    start: rows.last().map_or(0, |rows| rows.start.saturating_add(rows.count)),
                    count: count(node, "number-rows-repeated"),
                    hidden: is_hidden(node),
                    head,
                    used: self.used_cells(node),
                    height: self.extent(node, "table-row", "row-height"),
                }),
                ("table", "table-header-rows") => self.sheet_rows(node, true, rows)?,
                ("table", "table-rows" | "table-row-group") => self.sheet_rows(node, head, rows)?,
                _ => {}
            }
        }
        self.leave();
        Ok(())
    }

    /// How wide a column or how high a row is, in points.
    fn extent(&self, node: Node<'_, '_>, family: &str, property: &str) -> Option<f64> {
        let style = attribute(node, "table", "style-name").unwrap_or_default();
        let kind = format!("{family}-properties");
        let found = self.styles.property(family, style, &kind, ("style", property));
        found.and_then(points).filter(|extent| *extent > 0.0)
    }

    /// The place behind the last cell of a row that has content, or a background or border of its own.
    fn used_cells(&self, row: Node<'_, '_>) -> usize {
        let mut used = 0;
        for (columns, cell) in cells(row) {
            let filled = cell.children().any(|one| name(one) == ("text", "p"));
            let style = attribute(cell, "table", "style-name").unwrap_or_default();
            // A line below the whole sheet is no cell of it.
            if filled || (columns.len() <= ALIKE && self.is_seen(style)) {
                used = columns.end;
            }
        }
        used
    }

    fn is_seen(&self, style: &str) -> bool {
        let look = self.styles.declared("table-cell", style);
        look.css.keys().any(|name| *name == "background-color" || name.starts_with("border"))
    }
}

/// The cells of a row, and in which columns they stand.
pub fn cells<'a, 'i>(row: Node<'a, 'i>) -> impl Iterator<Item = (Range<usize>, Node<'a, 'i>)> {
    let mut place = 0_usize;
    let cells =
        row.children().filter(|one| matches!(name(*one), ("table", "table-cell" | "covered-table-cell")));
    cells.map(move |cell| {
        let start = place;
        place = start.saturating_add(count(cell, "number-columns-repeated")).min(COLUMNS);
        (start..place, cell)
    })
}

/// Whether a cell lies under a merged one.
pub fn is_covered(cell: Node<'_, '_>) -> bool {
    name(cell) == ("table", "covered-table-cell")
}

fn is_hidden(node: Node<'_, '_>) -> bool {
    matches!(attribute(node, "table", "visibility"), Some("collapse" | "filter"))
}

impl<'a, 'i> Grid<'a, 'i> {
    /// The columns that one belongs to.
    pub fn column(&self, place: usize) -> Option<&Columns<'a>> {
        self.columns.get(self.columns.partition_point(|one| one.end <= place))
    }

    /// The rows that one belongs to.
    fn row(&self, number: usize) -> Option<&Rows<'a, 'i>> {
        self.rows.get(self.rows.partition_point(|one| one.start.saturating_add(one.count) <= number))
    }

    /// Whether a column is hidden.
    pub fn hides_column(&self, place: usize) -> bool {
        self.column(place).is_some_and(|one| one.hidden)
    }

    /// Whether a row is hidden.
    pub fn hides_row(&self, number: usize) -> bool {
        self.row(number).is_some_and(|one| one.hidden)
    }

    /// What is to be shown at a place that a merged cell covers: the cell, where its own place is hidden and this is the
    /// first that is not.
    pub fn veiled(&self, row: usize, column: usize) -> Option<Veiled<'a, 'i>> {
        self.veiled.get(&(row, column)).copied()
    }

    /// Remembers what is merged in rows.
    fn read_merged(&mut self, place: usize) {
        let Some(rows) = self.rows.get(place) else { return };
        let (row, start, alike) = (rows.row, rows.start, rows.count);
        for (columns, cell) in cells(row) {
            let wide = count(cell, "number-columns-spanned").min(COLUMNS);
            // Rows that are alike have no cell that goes over several of them.
            let tall = if alike > 1 { 1 } else { count(cell, "number-rows-spanned") };
            if is_covered(cell) || (wide, tall) == (1, 1) {
                continue;
            }
            let column = columns.start;
            let last = (start.saturating_add(tall) - 1, column + wide - 1);
            self.merged.push(Area { first: (start, column), last });
            let Some(shown_column) = (column..=last.1).find(|place| !self.hides_column(*place)) else {
                continue;
            };
            let shown = self
                .rows
                .iter()
                .skip(place)
                .take_while(|one| one.start <= last.0)
                .position(|one| !one.hidden);
            let Some(shown) = shown else { continue };
            if (shown, shown_column) == (0, column) {
                continue;
            }
            let Some(rows) = self.rows.get_mut(place + shown) else { continue };
            rows.used = rows.used.max(shown_column + 1);
            for number in (rows.start..).take(if tall == 1 { alike.min(ALIKE) } else { 1 }) {
                self.veiled.insert((number, shown_column), Veiled { cell, place: (place, column) });
            }
        }
    }

    /// The rest of the table's tag, and its columns.
    pub fn write_columns(&self, out: &mut String) {
        let used = self.rows.iter().map(|row| row.used).max().unwrap_or(0);
        let shown = (0..used).filter_map(|place| self.column(place)).filter(|one| !one.hidden);
        let widths: Vec<_> = shown.map(|column| column.width.unwrap_or(WIDTH)).collect();
        let mut style = Declarations::default();
        style.add("border-collapse", "collapse");
        style.add("width", &format!("{}pt", widths.iter().sum::<f64>().round()));
        style.add("white-space", "nowrap");
        style.write(out);
        out.push_str(">\n<colgroup>");
        for width in widths {
            let _ = write!(out, "<col style=\"width:{}\">", written(width));
        }
        out.push_str("</colgroup>\n");
    }

    /// `colspan` and `rowspan` of a cell, of the columns and rows that are shown.
    pub fn spans(&self, cell: Node<'_, '_>, (row, column): (usize, usize)) -> String {
        let wide = count(cell, "number-columns-spanned").min(COLUMNS);
        let tall = count(cell, "number-rows-spanned");
        let mut out = String::new();
        let columns = if wide > 1 { self.shown_columns(column, wide) } else { 1 };
        let rows = if tall > 1 { self.shown_rows(row, tall) } else { 1 };
        for (name, number) in [("colspan", columns), ("rowspan", rows)] {
            if number > 1 {
                let _ = write!(out, " {name}=\"{number}\"");
            }
        }
        out
    }

    /// How many of so many columns are shown. By those that are alike: each of thousands of cells may go over thousands of columns.
    fn shown_columns(&self, first: usize, count: usize) -> usize {
        let (mut left, mut place, mut shown) = (count, first, 0_usize);
        let begin = self.columns.partition_point(|one| one.end <= first);
        for columns in self.columns.iter().skip(begin) {
            let taken = columns.end.saturating_sub(place).min(left);
            shown += if columns.hidden { 0 } else { taken };
            (place, left) = (place + taken, left - taken);
            if left == 0 {
                break;
            }
        }
        // Those that the sheet does not name are shown.
        shown + left
    }

    /// How many of so many rows are written.
    fn shown_rows(&self, first: usize, count: usize) -> usize {
        let (mut left, mut shown) = (count, 0_usize);
        for rows in self.rows.iter().skip(first) {
            let taken = rows.count.min(left);
            shown += if rows.hidden { 0 } else { taken.min(ALIKE) };
            left -= taken;
            if left == 0 {
                break;
            }
        }
        shown
    }

    /// The cells under what begins so far from the corner of a cell and is so large, in points.
    pub fn area(&self, from: (usize, usize), (x, y): (f64, f64), (width, height): (f64, f64)) -> Area {
        let row = |start, far| {
            walk(start, far, |place| self.row(place).and_then(|one| one.height).unwrap_or(HEIGHT))
        };
        let column = |start, far| {
            walk(start, far, |place| self.column(place).and_then(|one| one.width).unwrap_or(WIDTH))
        };
        let first = (row(from.0, y + ROUNDED), column(from.1, x + ROUNDED));
        let last = (row(from.0, y + height - ROUNDED), column(from.1, x + width - ROUNDED));
        self.with_merged(Area { first, last: (last.0.max(first.0), last.1.max(first.1)) })
    }

    /// The area with all of each merged cell that it touches.
    fn with_merged(&self, area: Area) -> Area {
        let over = self.merged.iter().filter(|merged| merged.meets(&area));
        over.fold(area, |area, merged| Area {
            first: (area.first.0.min(merged.first.0), area.first.1.min(merged.first.1)),
            last: (area.last.0.max(merged.last.0), area.last.1.max(merged.last.1)),
        })
    }

    /// Whether there is nothing in the cells of an area.
    pub fn is_empty(&self, area: &Area) -> bool {
        let first = self.rows.partition_point(|one| one.start.saturating_add(one.count) <= area.first.0);
        let rows = self.rows.iter().skip(first).take_while(|one| one.start <= area.last.0);
        rows.flat_map(|rows| cells(rows.row)).all(|(columns, cell)| {
            columns.end <= area.first.1 || columns.start > area.last.1 || !has_data(cell)
        })
    }
}

impl Area {
    /// Whether a cell lies in it.
    pub fn holds(&self, (row, column): (usize, usize)) -> bool {
        (self.first.0..=self.last.0).contains(&row) && (self.first.1..=self.last.1).contains(&column)
    }

    fn meets(&self, other: &Self) -> bool {
        self.first.0 <= other.last.0
            && other.first.0 <= self.last.0
            && self.first.1 <= other.last.1
            && other.first.1 <= self.last.1
    }
}

fn has_data(cell: Node<'_, '_>) -> bool {
    attribute(cell, "office", "value-type").is_some()
        || attribute(cell, "table", "formula").is_some()
        || cell.children().any(|one| name(one) == ("text", "p"))
}

/// The place so many points behind the beginning of another.
fn walk(start: usize, far: f64, extent: impl Fn(usize) -> f64) -> usize {
    if far < 0.0 {
        return start.saturating_sub(1);
    }
    let (mut place, mut left) = (start, far);
    for _ in 0..STEPS {
        let extent = extent(place);
        if left < extent {
            break;
        }
        left -= extent;
        place += 1;
    }
    place
}
