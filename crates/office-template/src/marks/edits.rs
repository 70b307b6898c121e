//! Changes to a part's bytes, made at once.

use std::ops::Range;

/// Changes, in any order; those at one place are made in the order in which they came.
#[derive(Default)]
pub(super) struct Edits {
    all: Vec<(Range<usize>, String)>,
    /// The bytes of all that is put in.
    pub added: usize,
}

impl Edits {
    /// Puts `text` in the place of `range`, which may be empty.
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
