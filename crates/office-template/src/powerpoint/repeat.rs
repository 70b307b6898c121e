//! `{:slides list}`: a slide as often as the list has items, each with parts of its own.

use std::collections::BTreeMap;

use super::copies::Original;
use super::deck::{Deck, Slide};
use super::presentation;
use crate::error::Error;
use crate::limits::Limit;
use crate::package::Package;

/// The names that a copy's parts have, by those of the slide's.
pub(crate) type Names = BTreeMap<String, String>;

/// What became of the slides of a deck.
pub(crate) struct Repeats<'d> {
    deck: &'d Deck,
    /// The copies' parts behind each repeated slide; `None` of a slide that is dropped.
    made: BTreeMap<usize, Option<Vec<String>>>,
    /// So many slides may be there beside those of the template.
    left: u64,
    limit: Limit,
}

impl<'d> Repeats<'d> {
    pub(crate) fn new(deck: &'d Deck, limit: Limit) -> Self {
        let slides = deck.slides.len() as u64;
        Self { deck, made: BTreeMap::new(), left: limit.value.saturating_sub(slides), limit }
    }

    /// Makes so many of the slide with this place: the names of each one's parts. The first is the slide itself.
    pub(crate) fn begin(
        &mut self,
        at: usize,
        count: usize,
        package: &mut Package<'_>,
    ) -> Result<Vec<Names>, Error> {
        let Some(slide) = self.deck.slides.get(at) else { return Ok(Vec::new()) };
        let Some(copies) = count.checked_sub(1) else {
            self.made.insert(at, None);
            self.left += 1;
            return Ok(Vec::new());
        };
        let what = "the presentation would have more slides than the limit";
        self.left = self.left.checked_sub(copies as u64).ok_or_else(|| Error::limit(&self.limit, what))?;
        let mut names = vec![Names::new()];
        if copies > 0 {
            // Before the slide itself is filled, and its charts' workbooks with it.
            let originals = Original::all(slide, package)?;
            for _ in 0..copies {
                names.push(Original::copied(&originals, package)?);
            }
        }
        let of_slide = |names: &Names| names.get(&slide.name).cloned();
        self.made.insert(at, Some(names.iter().filter_map(of_slide).collect()));
        Ok(names)
    }

    /// Tells the presentation what became of its slides.
    pub(crate) fn finish(self, package: &mut Package<'_>) -> Result<(), Error> {
        presentation::rewrite(self.deck, &self.made, package)
    }
}

/// The slides that stay, as they were.
pub(super) fn kept<'d>(
    deck: &'d Deck,
    made: &BTreeMap<usize, Option<Vec<String>>>,
) -> impl Iterator<Item = &'d Slide> {
    let dropped = made.iter().filter(|(_, made)| made.is_none()).map(|(at, _)| *at).collect::<Vec<_>>();
    deck.slides.iter().enumerate().filter(move |(at, _)| !dropped.contains(at)).map(|(_, slide)| slide)
}
