//! The view of a sheet: panes, selections, and widths of columns.

use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Lines, Place, Range};

use super::Writer;
use crate::book::{Fate, first_of};
use crate::error::Error;
use crate::xml::rewritten;

impl Writer<'_, '_> {
    pub(super) fn view(&mut self, index: usize) {
        let document = self.document;
        if let Some(cell) = document.value(index, "topLeftCell") {
            match self.sheet.cell(&cell) {
                Fate::Stays => {}
                Fate::Moved(cell) => self.edits.set(document, index, "topLeftCell", &cell),
                Fate::Gone => self.edits.unset(document, index, "topLeftCell"),
            }
        }
        // Hazard: two selected sheets are a group, and what is typed into one of them gets into both.
        if self.sheet.at.copy > 0 {
            self.edits.unset(document, index, "tabSelected");
        }
    }

    /// Rewrites a pane. A frozen one has a number of rows and columns: as many as these became.
    pub(super) fn pane(&mut self, index: usize) {
        let document = self.document;
        let state = document.value(index, "state").unwrap_or_default();
        let top_left = document.value(index, "topLeftCell").map(|cell| self.sheet.cell(&cell));
        if !state.starts_with("frozen") {
            match top_left {
                Some(Fate::Moved(cell)) => self.edits.set(document, index, "topLeftCell", &cell),
                Some(Fate::Gone) => self.edits.unset(document, index, "topLeftCell"),
                None | Some(Fate::Stays) => {}
            }
            return;
        }
        let view = document.elements[index].parent.and_then(|view| document.value(view, "topLeftCell"));
        let corner = view.and_then(|cell| Range::parse(&cell)).unwrap_or(Cell { row: 1, column: 1 }.into());
        let rows = self.frozen(index, "ySplit", (corner.rows.first, LAST_ROW), |rows| Range {
            rows,
            columns: Lines::ALL_COLUMNS,
        });
        let columns = self.frozen(index, "xSplit", (corner.columns.first, LAST_COLUMN), |columns| Range {
            columns,
            rows: Lines::ALL_ROWS,
        });
        let (rows, columns) = (rows.map(|now| now.rows), columns.map(|now| now.columns));
        for (name, now) in [("ySplit", rows), ("xSplit", columns)] {
            match now {
                Frozen::Nothing => {}
                Frozen::Lines(lines) => self.edits.set(document, index, name, &lines.count().to_string()),
                Frozen::Gone => self.edits.unset(document, index, name),
            }
        }
        match top_left {
            Some(Fate::Moved(cell)) => self.edits.set(document, index, "topLeftCell", &cell),
            Some(Fate::Gone) => {
                let behind =
                    |now: Frozen<Lines>| if let Frozen::Lines(lines) = now { lines.last + 1 } else { 1 };
                let cell = Cell { row: behind(rows), column: behind(columns) };
                self.edits.set(document, index, "topLeftCell", &cell.to_string());
            }
            None | Some(Fate::Stays) => {}
        }
        if rows != Frozen::Gone && columns != Frozen::Gone {
            return;
        }
        // The selections name panes that are not there any more.
        let parent = document.elements[index].parent.unwrap_or_default();
        for other in document.children(parent).filter(|&it| document.name(it) == "selection") {
            self.leave_out(other);
        }
        match (rows, columns) {
            (Frozen::Lines(_), _) => self.edits.set(document, index, "activePane", "bottomLeft"),
            (_, Frozen::Lines(_)) => self.edits.set(document, index, "activePane", "topRight"),
            _ => self.leave_out(index),
        }
    }

    /// What the frozen lines of one direction became.
    fn frozen(
        &self,
        index: usize,
        name: &str,
        (first, limit): (u32, u32),
        range: impl Fn(Lines) -> Range,
    ) -> Frozen<Range> {
        let split = self.document.value(index, name).unwrap_or_default();
        // A number with digits behind the point is allowed there.
        let lines = split.split('.').next().and_then(|lines| lines.trim().parse::<u32>().ok());
        let Some(lines) = lines.filter(|&lines| lines > 0) else { return Frozen::Nothing };
        let last = first.saturating_add(lines - 1).min(limit);
        let now = self.sheet.moves.range(range(Lines::new(first, last)), Place::default());
        now.map_or(Frozen::Gone, Frozen::Lines)
    }

    pub(super) fn selection(&mut self, index: usize) {
        let document = self.document;
        let list = document.value(index, "sqref").unwrap_or_default();
        let active = document.value(index, "activeCell").unwrap_or_default();
        let ranges = Range::parse_list(&list).unwrap_or_default();
        let is_still = |range: &Range| self.sheet.moves.range(*range, Place::default()) == Some(*range);
        if ranges.iter().all(is_still) && !matches!(self.sheet.cell(&active), Fate::Moved(_) | Fate::Gone) {
            return;
        }
        self.edits.unset(document, index, "activeCellId");
        let active = Range::parse(&active).or_else(|| ranges.first().copied().map(first_of));
        let active = active.and_then(|cell| self.sheet.moves.range(cell, Place::default())).map(first_of);
        for name in ["activeCell", "sqref"] {
            match active {
                Some(cell) => self.edits.set(document, index, name, &cell.to_string()),
                None => self.edits.unset(document, index, name),
            }
        }
    }

    /// Widths, styles and outline levels of columns, for each column that they became.
    pub(super) fn columns(&mut self, index: usize) -> Result<(), Error> {
        let document = self.document;
        let mut columns: Vec<(Lines, usize)> = Vec::new();
        let mut is_still = true;
        for child in document.children(index) {
            let (Some(min), Some(max)) = (document.number(child, "min"), document.number(child, "max"))
            else {
                continue;
            };
            let range = Range { rows: Lines::ALL_ROWS, columns: Lines::new(min, max.max(min)) };
            let parts = self.sheet.moves.parts(range, LAST_COLUMN as usize).unwrap_or_default();
            is_still &= matches!(parts[..], [part] if part == range);
            columns.extend(parts.into_iter().map(|part| (part.columns, child)));
        }
        if is_still {
            return Ok(());
        }
        columns.sort_unstable();
        let mut text = String::new();
        for (lines, child) in columns {
            let piece = rewritten(document, child, |edits| {
                edits.set(document, child, "min", &lines.first.to_string());
                edits.set(document, child, "max", &lines.last.to_string());
            });
            self.sheet.book.take(&piece)?;
            text.push_str(&piece);
        }
        self.edits.fill(document, index, text);
        Ok(())
    }
}

/// Frozen rows or columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frozen<T> {
    Nothing,
    Lines(T),
    /// They were all dropped.
    Gone,
}

impl<T> Frozen<T> {
    fn map<U>(self, to: impl FnOnce(T) -> U) -> Frozen<U> {
        match self {
            Self::Nothing => Frozen::Nothing,
            Self::Lines(lines) => Frozen::Lines(to(lines)),
            Self::Gone => Frozen::Gone,
        }
    }
}
