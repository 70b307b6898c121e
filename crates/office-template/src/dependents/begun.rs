//! Which bookmarks the turns of sections begin.

use std::collections::BTreeMap;

/// The turns of sections around a place, the outermost first: the tag that opens each section, and the turn's index.
pub(crate) type Turns = Vec<(usize, usize)>;

/// The turns of the sections around a bookmark, among those that are being written.
pub(crate) fn turns_around(around: &[usize], turns: impl Iterator<Item = (usize, usize)>) -> Turns {
    turns.filter(|(tag, _)| around.contains(tag)).collect()
}

/// The bookmarks that turns begin.
#[derive(Default)]
pub(crate) struct Begun {
    /// By a bookmark's key and turns, the turns around the first bookmark of this key that begins within them.
    first: BTreeMap<String, BTreeMap<Turns, Turns>>,
    /// How many bookmarks of turns there are, those of the same name in a turn as one.
    count: usize,
}

impl Begun {
    /// The turns around the first bookmark of this key that begins within `turns`.
    pub(crate) fn first(&self, key: &str, turns: &[(usize, usize)]) -> Option<&Turns> {
        self.first.get(key)?.get(turns)
    }

    /// Whether a document with all these bookmarks has more than `room` bytes.
    pub(super) fn are_more_than(&self, room: usize) -> bool {
        /// The shortest start and end of a bookmark have a few bytes more.
        const SHORTEST: usize = 50;
        self.count > room / SHORTEST
    }

    /// Notes a bookmark in these turns. `may_be_first`: references from outside of all sections may lead to it.
    pub(super) fn add(&mut self, key: String, turns: &Turns, may_be_first: bool) {
        let known = self.first.entry(key).or_default();
        self.count += usize::from(!turns.is_empty() && !known.contains_key(turns));
        for length in usize::from(!may_be_first)..=turns.len() {
            let around = turns.get(..length).unwrap_or_default();
            // A bookmark outside of all sections has its name whatever stands before it.
            if turns.is_empty() || !known.contains_key(around) {
                known.insert(around.to_vec(), turns.clone());
            }
        }
    }
}
