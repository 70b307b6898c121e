//! Changes to a part's bytes, collected and applied at once.

use std::ops::Range;

/// Changes in any order; those at the same place are applied in the order in which they were added.
#[derive(Default)]
pub(super) struct Edits {
    all: Vec<(Range<usize>, String)>,
    /// How many bytes are put in.
    pub added: usize,
}

impl Edits {
    /// Replaces `range`, which may be empty, by `text`.
    pub(super) fn replace(&mut self, range: Range<usize>, text: String) {
        self.added = self.added.saturating_add(text.len());
        self.all.push((range, text));
    }

    pub(super) fn applied(mut self, xml: &[u8]) -> Vec<u8> {
        self.all.sort_by_key(|(range, _)| range.start);
        let mut out = Vec::with_capacity(xml.len() + self.added);
        let mut from = 0;
        for (range, text) in self.all {
            out.extend_from_slice(xml.get(from..range.start).unwrap_or_default());
            out.extend_from_slice(text.as_bytes());
            from = from.max(range.end);
        }
        out.extend_from_slice(xml.get(from..).unwrap_or_default());
        out
    }
}
