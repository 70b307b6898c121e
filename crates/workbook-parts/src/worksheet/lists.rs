//! Lists with an element for each turn: hyperlinks and page breaks.

use cell_references::{LAST_COLUMN, LAST_ROW, Lines, Meaning, Range};

use super::Writer;
use crate::error::Error;
use crate::xml::rewritten;

/// The most hyperlinks of a sheet (Microsoft, "Excel specifications and limits").
pub const HYPERLINKS: usize = 65_530;

/// The most page breaks of a sheet in one direction (Microsoft, "Excel specifications and limits").
const BREAKS: usize = 1_026;

impl Writer<'_, '_> {
    pub(super) fn hyperlinks(&mut self, index: usize) -> Result<(), Error> {
        let document = self.document;
        let (mut text, mut links, mut beyond) = (String::new(), 0, 0);
        for child in document.children(index) {
            if document.foreign(child, "id").is_some_and(|id| self.dropped.contains(&&*id)) {
                continue;
            }
            let Some(range) = document.value(child, "ref").and_then(|text| Range::parse(&text)) else {
                text.push_str(&rewritten(document, child, |_| {}));
                continue;
            };
            let location = document.value(child, "location").unwrap_or_default();
            let (sign, target) = location.split_at(usize::from(location.starts_with('#')));
            let target = self.sheet.parse(target, Meaning::Value);
            for (turn, (place, now)) in self.sheet.moves.turns(range).enumerate() {
                if links == HYPERLINKS {
                    beyond += 1;
                    continue;
                }
                links += 1;
                self.sheet.check(links, "hyperlinks")?;
                let target = if target.is_constant() {
                    None
                } else {
                    Some(self.sheet.write(&target, place, self.report, "a hyperlink")?)
                };
                let piece = rewritten(document, child, |edits| {
                    edits.set(document, child, "ref", &now.to_string());
                    if let Some(target) = target {
                        edits.set(document, child, "location", &format!("{sign}{target}"));
                    }
                    if turn > 0 {
                        edits.unset_foreign(document, child, "uid");
                    }
                });
                self.sheet.book.take(&piece)?;
                text.push_str(&piece);
            }
        }
        self.report.dropped.add(beyond, || self.sheet.told("hyperlinks beyond the 65,530 that Excel allows"));
        if text.is_empty() {
            self.leave_out(index);
        } else {
            self.edits.replace(document.elements[index].inner.clone(), text);
        }
        Ok(())
    }

    /// Writes page breaks, each behind a row or column, for each turn of the blocks around it.
    pub(super) fn breaks(&mut self, index: usize, are_rows: bool) -> Result<(), Error> {
        let document = self.document;
        let mut breaks: Vec<(u32, usize)> = Vec::new();
        let (mut is_still, mut beyond) = (true, 0);
        let limit = if are_rows { LAST_ROW } else { LAST_COLUMN };
        for child in document.children(index) {
            let Some(line) = document.number(child, "id").filter(|line| (1..=limit).contains(line)) else {
                continue;
            };
            let lines = Lines::new(line, line);
            let range = if are_rows {
                Range { rows: lines, columns: Lines::ALL_COLUMNS }
            } else {
                Range { rows: Lines::ALL_ROWS, columns: lines }
            };
            let before = breaks.len();
            for now in self.sheet.moves.copies(range) {
                if breaks.len() - before > BREAKS {
                    beyond += 1;
                } else {
                    breaks.push((if are_rows { now.rows.last } else { now.columns.last }, child));
                }
            }
            is_still &= matches!(breaks[before..], [(now, _)] if now == line);
        }
        if is_still {
            return Ok(());
        }
        breaks.sort_unstable();
        breaks.dedup_by_key(|(line, _)| *line);
        beyond += breaks.len().saturating_sub(BREAKS);
        breaks.truncate(BREAKS);
        self.report.dropped.add(beyond, || self.sheet.told("page breaks beyond the 1,026 that Excel allows"));
        if breaks.is_empty() {
            self.leave_out(index);
            return Ok(());
        }
        let is_manual = |child: usize| matches!(document.value(child, "man").as_deref(), Some("1" | "true"));
        let manual = breaks.iter().filter(|(_, child)| is_manual(*child)).count();
        let mut text = String::new();
        for (line, child) in &breaks {
            let piece =
                rewritten(document, *child, |edits| edits.set(document, *child, "id", &line.to_string()));
            self.sheet.book.take(&piece)?;
            text.push_str(&piece);
        }
        self.edits.set(document, index, "count", &breaks.len().to_string());
        self.edits.set(document, index, "manualBreakCount", &manual.to_string());
        self.edits.replace(document.elements[index].inner.clone(), text);
        Ok(())
    }
}
