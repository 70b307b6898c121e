//! Rules for areas (`sqref`) with their formulas: conditional formats, validations, sparklines; also Excel 2010's in `extLst`
//! ([MS-XLSX] 2.6).

use cell_references::{Meaning, Mention, Place, Range};

use super::Writer;
use crate::book::{Fate, first_of};
use crate::error::Error;
use crate::xml::rewritten;

impl Writer<'_, '_> {
    /// Moves a rule to all cells that its cells became. Its formulas are relative to the first cell of its areas: if that was
    /// dropped, they are shifted to the first one that is left.
    pub(super) fn rule(&mut self, index: usize, what: &str) -> Result<(), Error> {
        let document = self.document;
        let holder = document.child(index, "sqref");
        let list = match holder {
            Some(holder) => Some(document.text(holder)),
            None => document.value(index, "sqref"),
        };
        let Some(list) = list else { return Ok(()) };
        match self.sheet.areas(&list, self.report, what) {
            Fate::Gone => {
                self.leave_out(index);
                return Ok(());
            }
            Fate::Moved(areas) => match holder {
                Some(holder) => self.edits.set_text(document, holder, &areas),
                None => self.edits.set(document, index, "sqref", &areas),
            },
            Fate::Stays => {}
        }
        let ranges = Range::parse_list(&list).unwrap_or_default();
        let Some(first) = ranges.first().copied().map(first_of) else { return Ok(()) };
        let left = ranges.iter().find_map(|range| self.sheet.first_left(*range)).map_or(first, Range::from);
        let is_list = document.value(index, "type").as_deref() == Some("list");
        let place = self.sheet.first_place(left);
        let base = Base {
            // A list to choose from that stands beside repeated rows has all of them.
            place: if is_list { self.sheet.moves.beside(left, place) } else { place },
            rows: distance(left.rows.first, first.rows.first),
            columns: distance(left.columns.first, first.columns.first),
        };
        for at in document.within(index) {
            match document.name(at) {
                "formula" | "formula1" | "formula2" | "f" if document.children(at).next().is_none() => {
                    let meaning = if is_list { Meaning::Cells } else { Meaning::Value };
                    if let Some(text) = self.relative(&document.text(at), meaning, base, what)? {
                        self.edits.set_text(document, at, &text);
                    }
                }
                // The bounds of colour scales, bars and icons may be formulas.
                "cfvo" => {
                    let value = document.value(at, "val").unwrap_or_default();
                    if let Some(text) = self.relative(&value, Meaning::Value, base, what)? {
                        self.edits.set(document, at, "val", &text);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A formula as it is seen from the first cell that is left; none where nothing in it can change.
    fn relative(
        &mut self,
        text: &str,
        meaning: Meaning,
        base: Base,
        what: &str,
    ) -> Result<Option<String>, Error> {
        let mut formula = self.sheet.parse(text, meaning);
        if formula.is_constant() {
            return Ok(None);
        }
        if base.rows != 0 || base.columns != 0 {
            formula = self.sheet.parse(&formula.shifted(base.rows, base.columns), meaning);
        }
        self.sheet.write(&formula, base.place, self.report, what).map(Some)
    }

    /// A sparkline for each turn, of the cells of its turn.
    pub(super) fn sparklines(&mut self, index: usize) -> Result<(), Error> {
        let document = self.document;
        let (mut text, mut lines) = (String::new(), 0);
        for child in document.children(index) {
            let Some(holder) = document.child(child, "sqref") else { continue };
            let Some(range) = Range::parse(document.text(holder).trim()) else {
                text.push_str(&rewritten(document, child, |_| {}));
                continue;
            };
            let data = document.child(child, "f");
            let formula = data.map(|data| self.sheet.parse(&document.text(data), Meaning::Cells));
            // What draws a column beside repeated rows draws all of them.
            let is_column = |mention: Mention<'_>| mention.range.columns.first == mention.range.columns.last;
            let is_list = formula.as_ref().is_some_and(|formula| formula.mentions().all(is_column));
            for (place, now) in self.sheet.moves.turns(range) {
                let place = if is_list { self.sheet.moves.beside(range, place) } else { place };
                lines += 1;
                self.sheet.check(lines, "sparklines")?;
                let formula =
                    formula.as_ref().map(|it| self.sheet.write(it, place, self.report, "a sparkline"));
                let formula = formula.transpose()?;
                let piece = rewritten(document, child, |edits| {
                    edits.set_text(document, holder, &now.to_string());
                    if let (Some(data), Some(formula)) = (data, &formula) {
                        edits.set_text(document, data, formula);
                    }
                });
                self.sheet.book.take(&piece)?;
                text.push_str(&piece);
            }
        }
        match document.elements[index].parent {
            Some(group) if text.is_empty() => self.leave_out(group),
            _ => self.edits.replace(document.elements[index].inner.clone(), text),
        }
        Ok(())
    }

    pub(super) fn dates(&mut self, index: usize) -> Result<(), Error> {
        let text = self.document.text(index);
        let as_cells = (Meaning::Cells, Place::default());
        let formula = self.sheet.formula(&text, as_cells, self.report, "the dates of sparklines")?;
        self.edits.set_text(self.document, index, &formula);
        Ok(())
    }

    /// Moves a range of any sheet, as consolidated data name it.
    pub(super) fn source(&mut self, index: usize) {
        match crate::pivot::source(self.document, index, self.sheet.book) {
            None => self.leave_out(index),
            Some(source) => source.set(self.document, index, &mut self.edits),
        }
    }
}

/// What the formulas of a rule are relative to.
#[derive(Clone, Copy)]
struct Base {
    place: Place,
    /// How far the first cell that is left is from the first cell.
    rows: i32,
    columns: i32,
}

fn distance(to: u32, from: u32) -> i32 {
    i32::try_from(i64::from(to) - i64::from(from)).unwrap_or_default()
}
