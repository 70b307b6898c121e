//! Merged cells: a copy for each turn.

use std::collections::BTreeMap;

use cell_references::Range;

use super::Writer;
use crate::error::Error;
use crate::xml::rewritten;

impl Writer<'_, '_> {
    pub(super) fn merges(&mut self, index: usize) -> Result<(), Error> {
        let document = self.document;
        let mut merges: Vec<(Range, usize)> = Vec::new();
        let mut is_still = true;
        for child in document.children(index) {
            let Some(range) = document.value(child, "ref").and_then(|text| Range::parse(&text)) else {
                continue;
            };
            let before = merges.len();
            for now in self.sheet.moves.copies(range) {
                self.sheet.check(merges.len() + 1, "merged cells")?;
                // Excel takes a file for damaged in which a single cell is merged.
                if now.rows.count() > 1 || now.columns.count() > 1 {
                    merges.push((now, child));
                }
            }
            is_still &= matches!(merges[before..], [(now, _)] if now == range);
        }
        if is_still {
            return Ok(());
        }
        merges.sort_by_key(|(range, _)| *range);
        let mut met = Met::default();
        let all = merges.len();
        merges.retain(|(range, _)| met.is_free(*range));
        self.report.dropped.add(all - merges.len(), || self.sheet.told("merged cells that would overlap"));
        if merges.is_empty() {
            self.leave_out(index);
            return Ok(());
        }
        let mut text = String::with_capacity(merges.len() * 32);
        for (range, child) in &merges {
            let piece =
                rewritten(document, *child, |edits| edits.set(document, *child, "ref", &range.to_string()));
            self.sheet.book.take(&piece)?;
            text.push_str(&piece);
        }
        self.edits.set(document, index, "count", &merges.len().to_string());
        self.edits.replace(document.elements[index].inner.clone(), text);
        Ok(())
    }
}

/// The merged ranges so far, from the top down. Hazard: Excel takes a file for damaged if merged cells overlap. Where only some
/// columns moved ([`cell_references::Area::Cells`]), a range that crosses their edge may come to be over others.
#[derive(Default)]
struct Met {
    /// Last columns and last rows of ranges by their first columns. No two share columns: a range that ended above is removed for
    /// the next one.
    columns: BTreeMap<u32, (u32, u32)>,
}

impl Met {
    /// Whether a range overlaps none before it; then it is added. It must not begin higher than those.
    fn is_free(&mut self, range: Range) -> bool {
        let Range { rows, columns } = range;
        let mut ended = Vec::new();
        for (&first, &(last, last_row)) in self.columns.range(..=columns.last).rev() {
            if last < columns.first {
                break;
            }
            if last_row >= rows.first {
                return false;
            }
            ended.push(first);
        }
        for first in ended {
            self.columns.remove(&first);
        }
        self.columns.insert(columns.first, (columns.last, rows.last));
        true
    }
}
