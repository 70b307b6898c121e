//! Fields: a begin mark, the code, a separator, the result and an end mark, each in a run of its own.

/// Where the fields of a part begin, go on and end.
#[derive(Default)]
pub(crate) struct Fields {
    /// Offsets, and the number of the innermost half of a field (code or result) from there on; 0 is outside of all fields.
    changes: Vec<(u32, u32)>,
    open: Vec<u32>,
    count: u32,
}

impl Fields {
    /// Adds a `w:fldChar` of this kind.
    pub(super) fn add(&mut self, at: u32, kind: &str) {
        match kind {
            "begin" => {}
            "separate" | "end" => {
                if self.open.pop().is_none() {
                    return;
                }
            }
            _ => return,
        }
        if kind != "end" {
            self.count = self.count.saturating_add(1);
            self.open.push(self.count);
        }
        self.changes.push((at, self.open.last().copied().unwrap_or_default()));
    }

    /// The number of the innermost half of a field around an offset. Between two offsets in the same half there are only whole
    /// fields.
    pub(crate) fn around(&self, at: usize) -> u32 {
        let behind = self.changes.partition_point(|&(from, _)| (from as usize) < at);
        behind.checked_sub(1).and_then(|last| self.changes.get(last)).map_or(0, |&(_, half)| half)
    }
}
