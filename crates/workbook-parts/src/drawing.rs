//! What is drawn over a sheet: pictures, charts and shapes on their anchors (ECMA-376 part 1, 20.5).

use std::fmt::Write as _;

use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Meaning, Place, Range};

use crate::book::{At, Book, Sheet};
use crate::error::Error;
use crate::report::Report;
use crate::xml::{Document, Edits, rewritten};

/// A drawing part, rewritten.
#[derive(Debug)]
pub struct Drawing {
    /// The part.
    pub xml: Vec<u8>,
    /// All charts in it.
    pub charts: Vec<ChartAt>,
}

/// A chart of a drawing. Excel shows a chart's part once, so each copy of a chart is to have its own.
#[derive(Debug)]
pub struct ChartAt {
    /// The id of the relationship to its part in the template.
    pub from: String,
    /// The id by which the drawing now refers to it: the same, or a new one for which there is no relationship yet.
    pub id: String,
    /// Its place, which [`chart`](crate::chart) takes.
    pub place: Place,
}

/// A corner of an anchor.
#[derive(Clone, Copy)]
struct Corner {
    index: usize,
    cell: Cell,
    /// It is at the very begin of its cell's row, or column.
    is_at_row: bool,
    is_at_column: bool,
}

impl Corner {
    fn read(document: &Document<'_>, index: usize) -> Option<Self> {
        let text = |name: &str| document.child(index, name).map(|at| document.text(at).trim().to_owned());
        let line = |name: &str| text(name)?.parse::<u32>().ok();
        let is_zero = |name: &str| text(name).is_none_or(|it| it == "0");
        let (row, column) = (line("row")?, line("col")?);
        let cell = Cell { row: row.min(LAST_ROW - 1) + 1, column: column.min(LAST_COLUMN - 1) + 1 };
        Some(Self { index, cell, is_at_row: is_zero("rowOff"), is_at_column: is_zero("colOff") })
    }

    fn set(self, document: &Document<'_>, cell: Cell, edits: &mut Edits) {
        for (name, line, limit) in [("row", cell.row, LAST_ROW), ("col", cell.column, LAST_COLUMN)] {
            if let Some(at) = document.child(self.index, name) {
                edits.set_text(document, at, &(line.clamp(1, limit) - 1).to_string());
            }
        }
    }
}

/// An anchor in the template.
struct Anchor {
    from: Corner,
    to: Option<Corner>,
    /// The cells that it is over.
    range: Range,
    /// Whether it grows with its cells.
    grows: bool,
}

impl Anchor {
    fn read(document: &Document<'_>, index: usize) -> Option<Self> {
        let corner = |name: &str| Corner::read(document, document.child(index, name)?);
        let from = corner("from")?;
        let to = corner("to").filter(|to| to.cell.row >= from.cell.row && to.cell.column >= from.cell.column);
        let mut range = Range::from(from.cell);
        if let Some(to) = to {
            // What ends where a row begins is not over that row.
            let last = |to: u32, from: u32, is_at: bool| if is_at && to > from { to - 1 } else { to };
            range.rows.last = last(to.cell.row, from.cell.row, to.is_at_row);
            range.columns.last = last(to.cell.column, from.cell.column, to.is_at_column);
        }
        let mut kinds = document.within(index).map(|at| document.name(at));
        let kind = kinds.find(|name| matches!(*name, "sp" | "cxnSp" | "grpSp" | "pic" | "graphicFrame"));
        let is_shape = matches!(kind, Some("sp" | "cxnSp" | "grpSp"));
        let grows = is_shape && document.value(index, "editAs").is_none_or(|it| it == "twoCell");
        Some(Self { from, to, range, grows })
    }

    /// Moves it to where its cells are.
    fn set(&self, document: &Document<'_>, now: Range, edits: &mut Edits) {
        let first = now.first_cell();
        self.from.set(document, first, edits);
        let Some(to) = self.to else { return };
        let before = self.from.cell;
        let last = if self.grows {
            Cell {
                row: now.rows.last + (to.cell.row - self.range.rows.last),
                column: now.columns.last + (to.cell.column - self.range.columns.last),
            }
        } else {
            Cell {
                row: first.row + (to.cell.row - before.row),
                column: first.column + (to.cell.column - before.column),
            }
        };
        to.set(document, last, edits);
    }
}

/// Rewrites a drawing: objects in a block get a copy for each turn; those on dropped cells are left out, with their charts.
///
/// # Errors
/// [`Error::Xml`], [`Error::Many`] for more objects than the limit, [`Error::Formula`].
pub fn drawing(xml: &[u8], book: &Book<'_>, at: At, report: &mut Report) -> Result<Drawing, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let numbers = (0..document.len()).filter(|&index| document.name(index) == "cNvPr");
    let next = numbers.filter_map(|index| document.number(index, "id")).max().unwrap_or_default();
    let mut writer = Writer { document: &document, sheet, next, objects: 0, charts: Vec::new() };
    let mut edits = Edits::default();
    for index in 0..document.len() {
        if !matches!(document.name(index), "twoCellAnchor" | "oneCellAnchor" | "absoluteAnchor") {
            continue;
        }
        // Anchors of controls are within an alternative: a control is there once, so they move and are not copied.
        if document.parent_name(index) == "wsDr" {
            let copies = writer.copies(index, report)?;
            edits.replace(document.elements[index].whole.clone(), copies);
        } else {
            moved_in_place(&document, index, &sheet, &mut edits);
        }
    }
    let charts = writer.charts;
    Ok(Drawing { xml: edits.into_part(&document), charts })
}

/// Moves an anchor that is not copied: to the first turn of the blocks around it.
pub(crate) fn moved_in_place(document: &Document<'_>, index: usize, sheet: &Sheet<'_>, edits: &mut Edits) {
    if document.value(index, "editAs").is_some_and(|it| it == "absolute") {
        return;
    }
    let Some(anchor) = Anchor::read(document, index) else { return };
    if let Some(now) = sheet.moves.range(anchor.range, sheet.first_place(anchor.range)) {
        anchor.set(document, now, edits);
    }
}

struct Writer<'a> {
    document: &'a Document<'a>,
    sheet: Sheet<'a>,
    /// The last number of an object.
    next: u32,
    objects: usize,
    charts: Vec<ChartAt>,
}

impl Writer<'_> {
    fn copies(&mut self, index: usize, report: &mut Report) -> Result<String, Error> {
        let (document, sheet) = (self.document, self.sheet);
        let is_absolute = document.value(index, "editAs").is_some_and(|it| it == "absolute");
        let anchor = Anchor::read(document, index).filter(|_| !is_absolute);
        let mut text = String::new();
        let Some(anchor) = anchor else {
            let change = self.changes(index, (0, Place::default()), report)?;
            return Ok(rewritten(document, index, |edits| *edits = change));
        };
        for (turn, (place, now)) in sheet.moves.turns(anchor.range).enumerate() {
            self.objects += 1;
            sheet.check(self.objects, "drawn objects")?;
            let mut edits = self.changes(index, (turn, place), report)?;
            anchor.set(document, now, &mut edits);
            let piece = rewritten(document, index, |all| *all = edits);
            sheet.book.take(&piece)?;
            text.push_str(&piece);
        }
        Ok(text)
    }

    /// What changes in the objects of an anchor, for one of its turns.
    fn changes(
        &mut self,
        index: usize,
        (turn, place): (usize, Place),
        report: &mut Report,
    ) -> Result<Edits, Error> {
        let (document, sheet) = (self.document, self.sheet);
        let mut edits = Edits::default();
        for at in document.within(index) {
            match document.name(at) {
                "cNvPr" if turn > 0 => {
                    self.next = self.next.saturating_add(1);
                    edits.set(document, at, "id", &self.next.to_string());
                }
                "creationId" if turn > 0 => {
                    if let Some(id) = document.value(at, "id") {
                        edits.set(document, at, "id", &guid(&id, sheet.at, turn));
                    }
                }
                "chart" => {
                    let Some(from) = document.foreign(at, "id") else { continue };
                    let id = if turn > 0 { format!("{from}_{turn}") } else { from.to_string() };
                    edits.set_foreign(document, at, "id", &id);
                    self.charts.push(ChartAt { from: from.into_owned(), id, place });
                }
                // A shape that shows a cell, and a picture of cells.
                name @ ("sp" | "cameraTool") => {
                    let attribute = if name == "sp" { "textlink" } else { "cellRange" };
                    let formula = document.value(at, attribute).filter(|it| !it.is_empty());
                    if let Some(formula) = formula {
                        let meaning = if name == "sp" { Meaning::Value } else { Meaning::Cells };
                        let now = sheet.formula(&formula, (meaning, place), report, "a shape")?;
                        edits.set(document, at, attribute, &now);
                    }
                }
                _ => {}
            }
        }
        Ok(edits)
    }
}

/// The GUID of a copy: the template's, with the numbers of the copy and the turn as its last twelve digits.
pub(crate) fn guid(of: &str, at: At, turn: usize) -> String {
    if turn == 0 && at.copy == 0 {
        return of.to_owned();
    }
    let mut out = of.trim_end_matches('}').to_owned();
    if out.len() < 36 || !out.is_ascii() {
        return of.to_owned();
    }
    out.truncate(out.len() - 12);
    // Writing into a String does not fail.
    let _ = write!(out, "{:04X}{:08X}", at.copy & 0xffff, turn & 0xffff_ffff);
    out.push_str(if of.ends_with('}') { "}" } else { "" });
    out
}
