//! Rules for areas (`sqref`) with their formulas: conditional formats, validations, sparklines; also Excel 2010's in `extLst`
//! ([MS-XLSX] 2.6).

use std::borrow::Cow;

use cell_references::{Cell, Meaning, Mention, Place, Range};

use super::Writer;
use crate::book::{Fate, first_of};
use crate::error::Error;
use crate::xml::{Document, rewritten};

impl Writer<'_, '_> {
    /// Moves a rule to all cells that its cells became. Its formulas are relative to the first cell of its areas: if that was
    /// dropped, they are shifted to the first one that is left. `goes_on`: beside a block it may be in each turn.
    pub(super) fn rule(&mut self, index: usize, goes_on: bool, what: &str) -> Result<(), Error> {
        let document = self.document;
        let holder = document.child(index, "sqref");
        let list = match holder {
            Some(holder) => Some(document.text(holder)),
            None => document.value(index, "sqref"),
        };
        let ranges = list.and_then(|list| Range::parse_list(&list)).unwrap_or_default();
        let Some(first) = ranges.first().copied().map(first_of) else { return Ok(()) };
        let is_list = document.value(index, "type").as_deref() == Some("list");
        let meaning = if is_list { Meaning::Cells } else { Meaning::Value };
        let (sheet, is_filled) = (self.sheet, self.is_filled);
        let are_rows = ranges.iter().any(|range| sheet.moves.is_beside_rows(*range));
        let goes_on = goes_on && ranges.iter().any(|range| sheet.moves.is_beside(*range));
        let takes = if goes_on { self.takes(index, meaning, (first, are_rows)) } else { Takes::Nothing };
        let is_in_each =
            |range: Range| goes_on && sheet.moves.is_beside(range) && takes.is_in_each(|| is_filled(range));
        match sheet.areas(&ranges, is_in_each, self.report, what) {
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
        let left = ranges.iter().find_map(|range| Some((*range, sheet.first_left(*range)?)));
        let (area, left) = left.map_or((first, first), |(range, cell)| (range, cell.into()));
        let place = if is_in_each(area) {
            sheet.moves.first_turn(left)
        } else {
            // What is there once beside a block sees all of its turns.
            sheet.moves.beside(left, sheet.first_place(left))
        };
        let base = Base {
            place,
            cell: left.first_cell(),
            rows: distance(left.rows.first, first.rows.first),
            columns: distance(left.columns.first, first.columns.first),
        };
        for (at, text) in formulas(document, index) {
            let Some(text) = self.relative(&text, meaning, base, what)? else { continue };
            if document.name(at) == "cfvo" {
                self.edits.set(document, at, "val", &text);
            } else {
                self.edits.set_text(document, at, &text);
            }
        }
        Ok(())
    }

    /// What the formulas of a rule take of a block of rows, or of columns, that it is beside. They are relative to the cell `first`.
    fn takes(&self, index: usize, meaning: Meaning, (first, are_rows): (Range, bool)) -> Takes {
        let moves = self.sheet.moves;
        let (row, column) = (first.rows.first, first.columns.first);
        let mut takes = Takes::Nothing;
        for (_, text) in formulas(self.document, index) {
            let formula = self.sheet.parse(&text, meaning);
            for mention in formula.mentions() {
                let (is_of_line, is_value) = if are_rows {
                    (mention.moving_rows() == [Some(row); 2], mention.is_taken_of_row(row))
                } else {
                    (mention.moving_columns() == [Some(column); 2], mention.is_taken_of_column(column))
                };
                if !is_of_line || !mention.is_of(self.sheet.at.sheet) || moves.is_beside(mention.range) {
                    continue;
                }
                // Cells to choose from that are those of one line.
                let across = if are_rows { mention.range.columns } else { mention.range.rows };
                if is_value || (meaning == Meaning::Cells && across.first < across.last) {
                    return Takes::Value;
                }
                takes = Takes::List;
            }
        }
        takes
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
        self.sheet.write_shared(&formula, (base.place, Some(base.cell)), self.report, what).map(Some)
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
                let place = if is_list { self.sheet.moves.beside_rows(range, place) } else { place };
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

/// The elements of a rule that have formulas, and these. The bounds of colour scales, bars and icons (`cfvo`) may be some.
fn formulas<'d>(document: &'d Document<'_>, index: usize) -> impl Iterator<Item = (usize, Cow<'d, str>)> {
    document.within(index).filter_map(|at| {
        let formula = match document.name(at) {
            "formula" | "formula1" | "formula2" | "f" if document.children(at).next().is_none() => {
                document.text(at)
            }
            "cfvo" => document.value(at, "val")?,
            _ => return None,
        };
        Some((at, formula))
    })
}

/// What the formulas of a rule take of a block that the rule is beside.
#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    /// A value of the turn, as a formula of a cell there takes it.
    Value,
    /// A list of all turns.
    List,
}

impl Takes {
    /// Whether the rule is in each turn. One that takes nothing of the block is there once if something stands in its cell.
    fn is_in_each(self, is_filled: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Nothing => !is_filled(),
            Self::Value => true,
            Self::List => false,
        }
    }
}

/// What the formulas of a rule are relative to.
#[derive(Clone, Copy)]
struct Base {
    place: Place,
    /// The first cell that is left.
    cell: Cell,
    /// How far the first cell that is left is from the first cell.
    rows: i32,
    columns: i32,
}

fn distance(to: u32, from: u32) -> i32 {
    i32::try_from(i64::from(to) - i64::from(from)).unwrap_or_default()
}
