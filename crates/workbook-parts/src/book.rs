//! Where cells and formulas of a part are now.

use std::cell::Cell as Count;

use cell_references::{Cell, Formula, Lines, Meaning, Moves, Origin, Place, Range, SheetCopy, Workbook};

use crate::error::Error;
use crate::report::Report;
use crate::xml::Reading;

/// How many ranges a list of areas may become: a longer one is a range around them. Excel reads some thousand, but looks at each
/// for every cell.
const AREAS: usize = 1_000;

/// Which copy of which sheet a part belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct At {
    /// The sheet's number in the template.
    pub sheet: usize,
    /// The number of its copy.
    pub copy: usize,
}

/// A workbook whose parts are to be rewritten.
#[derive(Debug)]
pub struct Book<'a> {
    pub(crate) workbook: &'a Workbook,
    pub(crate) names: Vec<&'a str>,
    at_most: usize,
    /// How many elements a part may have.
    elements: usize,
    /// How many bytes may still be written for turns.
    room: Count<usize>,
}

impl<'a> Book<'a> {
    /// `at_most` bounds each list of a part that grows with the turns (merged cells, hyperlinks, drawn objects, comments,
    /// sparklines).
    pub fn new(workbook: &'a Workbook, at_most: usize) -> Self {
        let names = workbook.sheets.iter().map(|sheet| sheet.name.as_str()).collect();
        Self { workbook, names, at_most, elements: usize::MAX, room: Count::new(usize::MAX) }
    }

    /// Bounds the elements of each part that is read. Hazard: an element of four bytes takes some twenty times as many in memory.
    pub fn with_elements(self, at_most: usize) -> Self {
        Self { elements: at_most, ..self }
    }

    /// Bounds the bytes of what is written for each turn from now on, as a comment of repeated cells: all of it is in memory
    /// before its part is complete.
    pub fn set_room(&self, bytes: usize) {
        self.room.set(bytes);
    }

    pub(crate) fn reading(&self) -> Reading {
        Reading { elements: self.elements, skipped: None, is_loose: false }
    }

    /// Takes the bytes of a piece that is written for a turn from what is left; [`Error::Room`] if they are too many.
    pub(crate) fn take(&self, piece: &str) -> Result<(), Error> {
        self.room.set(self.room.get().checked_sub(piece.len()).ok_or(Error::Room)?);
        Ok(())
    }

    pub(crate) fn sheet(&self, at: At) -> Result<Sheet<'_>, Error> {
        let At { sheet, copy } = at;
        let found = self.workbook.sheets.get(sheet).and_then(|it| it.copies.get(copy));
        let found = found.ok_or(Error::NoSheet { sheet, copy })?;
        Ok(Sheet { book: self, at, copy: found, moves: &found.moves })
    }

    /// The formula at its place in the result, with its references moved.
    pub(crate) fn formula(
        &self,
        formula: &Formula,
        origin: Option<Origin>,
        report: &mut Report,
        place: impl Fn() -> String,
    ) -> Result<String, Error> {
        let mut out = String::with_capacity(formula.text().len() + 8);
        let told = formula
            .write(self.workbook, origin, &mut out)
            .map_err(|error| Error::Formula { place: place(), error })?;
        report.lost.add(told.lost, &place);
        report.widened.add(told.widened, &place);
        Ok(out)
    }
}

/// A sheet as it is now.
#[derive(Clone, Copy)]
pub(crate) struct Sheet<'a> {
    pub book: &'a Book<'a>,
    pub at: At,
    pub copy: &'a SheetCopy,
    pub moves: &'a Moves,
}

/// What became of cells that an attribute names.
pub(crate) enum Fate {
    /// They are where they were, or what is written names no cells.
    Stays,
    Moved(String),
    Gone,
}

impl Sheet<'_> {
    pub fn parse(&self, text: &str, meaning: Meaning) -> Formula {
        Formula::parse(text, &self.book.names, meaning)
    }

    /// A formula that is at this place.
    pub fn formula(
        &self,
        text: &str,
        (meaning, place): (Meaning, Place),
        report: &mut Report,
        what: &str,
    ) -> Result<String, Error> {
        self.write(&self.parse(text, meaning), place, report, what)
    }

    pub fn write(
        &self,
        formula: &Formula,
        place: Place,
        report: &mut Report,
        what: &str,
    ) -> Result<String, Error> {
        self.write_shared(formula, (place, None), report, what)
    }

    /// The same of a formula that is relative to a cell of the template in all turns.
    pub fn write_shared(
        &self,
        formula: &Formula,
        (place, shared): (Place, Option<Cell>),
        report: &mut Report,
        what: &str,
    ) -> Result<String, Error> {
        let At { sheet, copy } = self.at;
        let origin = Origin { sheet, copy, place, shared, ..Origin::default() };
        self.book.formula(formula, Some(origin), report, || self.told(what))
    }

    /// The name of something on the sheet, for messages.
    pub fn told(&self, what: &str) -> String {
        format!("{what} on '{}'", self.copy.name)
    }

    /// Refuses a list of so many elements if they are more than the caller allows.
    pub fn check(&self, count: usize, what: &'static str) -> Result<(), Error> {
        let allowed = self.book.at_most;
        if count <= allowed {
            return Ok(());
        }
        Err(Error::Many { sheet: self.copy.name.clone(), what, allowed })
    }

    /// The smallest range around all that a range became.
    pub fn range(&self, text: &str) -> Fate {
        let Some(range) = Range::parse(text) else { return Fate::Stays };
        fate(range, self.moves.range(range, Place::default()))
    }

    /// The first cell of what a cell became.
    pub fn cell(&self, text: &str) -> Fate {
        let Some(range) = Range::parse(text) else { return Fate::Stays };
        fate(range, self.moves.range(range, Place::default()).map(first_of))
    }

    /// What the ranges of a `sqref` became: all that their cells became, and no others. Those that `is_in_each` accepts are in
    /// each turn of the blocks that they are beside.
    pub fn areas(
        &self,
        ranges: &[Range],
        is_in_each: impl Fn(Range) -> bool,
        report: &mut Report,
        what: &str,
    ) -> Fate {
        let mut areas = Vec::with_capacity(ranges.len());
        for range in ranges {
            let at_most = AREAS.saturating_sub(areas.len()).max(1);
            let parts = if is_in_each(*range) {
                self.moves.parts_beside(*range, at_most)
            } else {
                self.moves.parts(*range, at_most)
            };
            if let Some(parts) = parts {
                areas.extend(parts);
            } else {
                report.widened.add(1, || self.told(what));
                areas.extend(self.moves.range(*range, Place::default()));
            }
        }
        if areas.is_empty() {
            Fate::Gone
        } else if areas == ranges {
            Fate::Stays
        } else {
            Fate::Moved(Range::write_list(&areas))
        }
    }

    /// The first cell of a range of the template that was not dropped.
    pub fn first_left(&self, range: Range) -> Option<Cell> {
        let is_left = |range: Range| self.moves.range(range, Place::default()).is_some();
        let row = first_line(range.rows, |rows| is_left(Range { rows, ..range }))?;
        let column = first_line(range.columns, |columns| is_left(Range { columns, ..range }))?;
        let cell = Cell { row, column };
        is_left(cell.into()).then_some(cell)
    }

    /// The place of a formula that belongs to a range: in the first turn of the blocks around it.
    pub fn first_place(&self, range: Range) -> Place {
        self.moves.turns(range).next().map(|(place, _)| place).unwrap_or_default()
    }
}

fn fate(range: Range, now: Option<Range>) -> Fate {
    match now {
        None => Fate::Gone,
        Some(now) if now == range => Fate::Stays,
        Some(now) => Fate::Moved(now.to_string()),
    }
}

pub(crate) fn first_of(range: Range) -> Range {
    range.first_cell().into()
}

/// The first line that is left, by binary search; `is_left` says whether any of some lines is.
fn first_line(lines: Lines, is_left: impl Fn(Lines) -> bool) -> Option<u32> {
    if !is_left(lines) {
        return None;
    }
    let (mut first, mut last) = (lines.first, lines.last);
    while first < last {
        let middle = first + (last - first) / 2;
        if is_left(Lines::new(lines.first, middle)) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    Some(first)
}
