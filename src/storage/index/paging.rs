//! Fills one page of a list: newest first, reading a bounded number of records, with the id to continue from.

use crate::config::as_count;

/// Records read at a time while a filter is looking for what it shows.
const PORTION: usize = 128;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<Id, Item> {
    /// What the list shows, newest first.
    pub items: Vec<Item>,
    /// The last record read, behind which the next page begins; `None` at the end of the list.
    pub next: Option<Id>,
}

/// A page being filled.
#[derive(Clone, Debug)]
pub struct Search<Id, Item> {
    before: Option<Id>,
    limit: usize,
    filtered: bool,
    found: Vec<Item>,
    /// Records that may still be read.
    left: usize,
}

impl<Id: Copy, Item> Search<Id, Item> {
    /// A page of at most `limit` items (at least one) behind `before`; whatever a filter leaves out, at most
    /// `scan_limit` records are read for it.
    pub fn new(before: Option<Id>, limit: usize, filtered: bool, scan_limit: u64) -> Self {
        let left = as_count(scan_limit);
        Self { before, limit, filtered, found: Vec::new(), left }
    }

    /// The record behind which to read on.
    pub fn before(&self) -> Option<Id> {
        self.before
    }

    /// Records to read next: an unfiltered page needs one more than it shows, to know whether it is the last.
    pub fn portion(&self) -> usize {
        let wanted = if self.filtered { PORTION } else { self.limit - self.found.len() + 1 };
        wanted.min(self.left)
    }

    /// Adds a portion of records, of which `wanted` were asked for (`None` for one that cannot be read), as far as `shows`
    /// accepts them. Returns the page once it is complete.
    pub fn take(
        &mut self,
        portion: Vec<(Id, Option<Item>)>,
        wanted: usize,
        shows: impl Fn(&Item) -> bool,
    ) -> Option<Page<Id, Item>> {
        let count = portion.len();
        for (at, (id, item)) in portion.into_iter().enumerate() {
            self.before = Some(id);
            self.left -= 1;
            self.found.extend(item.filter(&shows));
            let more = at + 1 < count || count == wanted;
            if self.found.len() == self.limit {
                return Some(self.page(more));
            }
        }
        (count < wanted || self.left == 0).then(|| self.page(count == wanted))
    }

    fn page(&mut self, more: bool) -> Page<Id, Item> {
        Page { items: std::mem::take(&mut self.found), next: self.before.filter(|_| more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages over the numbers below `count`, as their lengths, and how many records each has read.
    fn pages(
        count: usize,
        shows: Option<fn(&usize) -> bool>,
        limit: usize,
        left: u64,
    ) -> Vec<(usize, usize)> {
        let mut pages = Vec::new();
        let mut before = None;
        loop {
            let mut search = Search::new(before, limit, shows.is_some(), left);
            let page = loop {
                let (wanted, from) = (search.portion(), search.before().unwrap_or(count));
                assert!(wanted > 0, "a portion of nothing would go on for ever");
                let portion = (0..from).rev().take(wanted).map(|at| (at, Some(at))).collect();
                if let Some(page) = search.take(portion, wanted, shows.unwrap_or(|_| true)) {
                    break page;
                }
            };
            pages.push((page.items.len(), usize::try_from(left).unwrap() - search.left));
            before = page.next;
            if before.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn pages_are_full_and_the_last_one_is_known() {
        assert_eq!(pages(40, None, 100, 1_000), [(40, 40)]);
        assert_eq!(pages(40, None, 40, 1_000), [(40, 40)]);
        assert_eq!(pages(40, None, 20, 1_000), [(20, 20), (20, 20)]);
        assert_eq!(pages(40, None, 39, 1_000), [(39, 39), (1, 1)]);
        assert_eq!(pages(40, None, 30, 30), [(30, 30), (10, 10)], "the bound is as large as the page");
    }

    #[test]
    fn an_unreadable_record_does_not_end_the_list() {
        let mut search = Search::new(None, 3, false, 100);
        let page = search.take(vec![(3, Some('a')), (2, None), (1, Some('b'))], 4, |_| true).unwrap();
        assert_eq!((page.items, page.next), (vec!['a', 'b'], None));
    }

    #[test]
    fn a_filter_reads_no_more_than_the_bound_and_finds_everything() {
        let some: fn(&usize) -> bool = |at| [999, 499, 498, 0].contains(at);
        assert_eq!(pages(1_000, Some(some), 20, 300), [(1, 300), (2, 300), (0, 300), (1, 100)]);
        assert_eq!(pages(1_000, Some(some), 2, 1_000), [(2, 501), (2, 499)]);
        assert_eq!(pages(1_000, Some(some), 20, 1_000), [(4, 1_000), (0, 0)]);
        assert_eq!(pages(1_000, Some(|_| false), 20, 400), [(0, 400), (0, 400), (0, 200)]);
    }
}
