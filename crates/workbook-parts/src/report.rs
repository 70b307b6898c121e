//! What the author of a workbook should know of its references.

/// How many places are named of each kind.
const NAMED: usize = 10;

/// What became of references that could not simply be moved, by the places that have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// References to cells that were all dropped: `#REF!` is in their stead.
    pub lost: Found,
    /// Ranges around cells that are apart in too many places: they include what is between.
    pub widened: Found,
    /// What was left out: its cells are gone, or Excel allows no more of it.
    pub dropped: Found,
}

/// What was found of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// How many.
    pub count: usize,
    /// Where the first of them are.
    pub places: Vec<String>,
}

impl Found {
    pub(crate) fn add(&mut self, count: usize, place: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        self.count += count;
        if self.places.len() < NAMED {
            let place = place();
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
    }

    fn sentence(&self, one: &str, several: &str) -> Option<String> {
        let places = self.places.join(", ");
        let more = if self.places.len() < NAMED { "" } else { ", …" };
        match self.count {
            0 => None,
            1 => Some(format!("{one}: {places}")),
            count => Some(format!("{count} {several}: {places}{more}")),
        }
    }
}

impl Report {
    /// The same in sentences, one for each kind.
    pub fn sentences(&self) -> Vec<String> {
        let lost = self.lost.sentence(
            "a reference is #REF!, for all of its cells are gone",
            "references are #REF!, for all of their cells are gone",
        );
        let widened = self.widened.sentence(
            "a list of ranges would be too long, so one range is around all of them",
            "lists of ranges would be too long, so one range is around all of each",
        );
        let dropped = self.dropped.sentence("left out", "were left out");
        [lost, widened, dropped].into_iter().flatten().collect()
    }
}
