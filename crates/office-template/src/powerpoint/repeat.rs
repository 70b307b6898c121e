//! `{:slides list}`: a slide for each item of the list, with parts of its own.

use std::collections::BTreeMap;

use super::copies::{Names, Original};
use super::deck::Deck;
use super::presentation;
use crate::error::Error;
use crate::limits::Limit;
use crate::package::Package;

/// Repeats the slides of a deck, and counts them.
pub(crate) struct Repeats<'d> {
    deck: &'d Deck,
    /// The copies' parts behind each repeated slide; `None` of a slide that is dropped.
    made: BTreeMap<usize, Option<Vec<String>>>,
    /// How many slides there are so far.
    count: u64,
    /// How many slides are still to be repeated; each of them may yet be dropped.
    waiting: u64,
    limit: Limit,
}

impl<'d> Repeats<'d> {
    /// For a deck of which `repeated` slides are repeated.
    pub(crate) fn new(deck: &'d Deck, repeated: usize, limit: Limit) -> Self {
        let count = deck.slides.len() as u64;
        Self { deck, made: BTreeMap::new(), count, waiting: repeated as u64, limit }
    }

    /// Makes `count` slides of the slide with the index `at`; returns the names of each one's parts. The first is the slide
    /// itself.
    pub(crate) fn begin(
        &mut self,
        at: usize,
        count: usize,
        package: &mut Package<'_>,
    ) -> Result<Vec<Names>, Error> {
        let Some(slide) = self.deck.slides.get(at) else { return Ok(Vec::new()) };
        self.count = (self.count + count as u64).saturating_sub(1);
        self.waiting = self.waiting.saturating_sub(1);
        // A template may itself have more slides than the limit, but not grow beyond them.
        let most = self.limit.value.max(self.deck.slides.len() as u64);
        if self.count.saturating_sub(self.waiting) > most {
            return Err(Error::limit(&self.limit, "the presentation would have more slides than the limit"));
        }
        let Some(copies) = count.checked_sub(1) else {
            self.made.insert(at, None);
            return Ok(Vec::new());
        };
        let mut names = vec![Names::new()];
        if copies > 0 {
            // Read before the slide itself and its charts' workbooks are filled.
            let originals = Original::all(slide, package)?;
            for _ in 0..copies {
                names.push(Original::copied(&originals, package)?);
            }
        }
        let of_slide = |names: &Names| names.get(&slide.name).cloned();
        self.made.insert(at, Some(names.iter().filter_map(of_slide).collect()));
        Ok(names)
    }

    /// Updates the presentation for its new slides.
    pub(crate) fn finish(self, package: &mut Package<'_>) -> Result<(), Error> {
        presentation::rewrite(self.deck, &self.made, package)
    }
}
