//! How many tabs are used at once: fewer where more make each page slower and no page more.
//!
//! ```text
//!  Steady ──(a while under load)──> Trying fewer ──(as many documents as before)──> keeps them, tries fewer still
//!     ^  ^                              └──(clearly less)──> back ─┐
//!     │  └─────────────────────────────────────────────────────────┤
//!     └──(no better: back; better: kept, more still)── Trying more <┘ (the next time)
//! ```
//!
//! Only what happens under load is looked at: while all tabs are in use, pages ended a second are the machine's
//! throughput, and what a page takes is tabs by throughput. Pages are not alike, so a measurement takes many of them,
//! and a difference must be clear.

use std::time::{Duration, Instant};

/// A measurement takes so long at least.
const WINDOW: Duration = Duration::from_secs(10);
/// And so many documents.
const DOCUMENTS: u32 = 60;
/// Measurements between two trials.
const STEADY_WINDOWS: u32 = 6;
/// A difference of throughput that counts.
const CLEARLY: f64 = 0.06;
/// The part of the tabs that a trial adds or takes.
const STEP: usize = 4;

/// The number, and how it is found.
#[derive(Debug)]
pub(super) struct Tuning {
    fewest: usize,
    most: usize,
    tabs: usize,
    state: State,
    /// What the next trial tries.
    next: Towards,
    window: Option<Window>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// So many measurements were taken.
    Steady(u32),
    /// There were so many tabs before, which made so many documents a second.
    Trying(Towards, usize, f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Towards {
    Fewer,
    More,
}

#[derive(Debug)]
struct Window {
    begun: Instant,
    /// Documents that were under way when it began are not counted.
    ignored: usize,
    documents: u32,
}

impl Tuning {
    /// Between `fewest` and `most` tabs; it begins with `most`.
    pub fn new(fewest: usize, most: usize) -> Self {
        let fewest = fewest.min(most);
        Self { fewest, most, tabs: most, state: State::Steady(0), next: Towards::Fewer, window: None }
    }

    /// How many tabs may be in use.
    pub fn tabs(&self) -> usize {
        self.tabs
    }

    /// The most that there may ever be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// A page ended at `now`; `is_loaded` when all tabs were in use until then.
    pub fn ended(&mut self, now: Instant, is_loaded: bool) {
        if !is_loaded {
            self.window = None;
            return;
        }
        let ignored = self.tabs;
        let window = self.window.get_or_insert(Window { begun: now, ignored, documents: 0 });
        if window.ignored > 0 {
            window.ignored -= 1;
            window.begun = now;
            return;
        }
        window.documents += 1;
        let took = now.duration_since(window.begun);
        if took < WINDOW || window.documents < DOCUMENTS {
            return;
        }
        let rate = f64::from(window.documents) / took.as_secs_f64();
        self.window = None;
        self.decide(rate);
    }

    fn decide(&mut self, rate: f64) {
        match self.state {
            State::Steady(windows) if windows + 1 < STEADY_WINDOWS => self.state = State::Steady(windows + 1),
            State::Steady(_) => self.attempt(self.next, rate),
            State::Trying(towards, before, was) => {
                let is_good = match towards {
                    Towards::Fewer => rate >= was * (1.0 - CLEARLY),
                    Towards::More => rate >= was * (1.0 + CLEARLY),
                };
                if is_good {
                    return self.attempt(towards, rate);
                }
                self.tabs = before;
                self.rest(towards);
            }
        }
    }

    /// Tries a step; where there is none, it is the other direction's turn.
    fn attempt(&mut self, towards: Towards, rate: f64) {
        let step = (self.tabs / STEP).max(1);
        let tabs = match towards {
            Towards::Fewer => self.tabs.saturating_sub(step).max(self.fewest),
            Towards::More => (self.tabs + step).min(self.most),
        };
        if tabs == self.tabs {
            return self.rest(towards);
        }
        self.state = State::Trying(towards, self.tabs, rate);
        self.tabs = tabs;
    }

    fn rest(&mut self, tried: Towards) {
        self.state = State::Steady(0);
        self.next = match tried {
            Towards::Fewer => Towards::More,
            Towards::More => Towards::Fewer,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of tabs that a machine comes to which makes `rate(tabs)` documents a second, in turn.
    fn tabs_of(tuning: &mut Tuning, documents: u32, rate: impl Fn(f64) -> f64) -> Vec<usize> {
        let mut now = Instant::now();
        let mut seen = Vec::new();
        for document in 0..documents {
            // Pages are not alike: every other one takes three times as long.
            let weight = if document % 2 == 0 { 0.5 } else { 1.5 };
            now += Duration::from_secs_f64(weight / rate(f64::from(u16::try_from(tuning.tabs()).unwrap())));
            tuning.ended(now, true);
            seen.push(tuning.tabs());
        }
        seen
    }

    #[test]
    fn tabs_that_add_nothing_but_waiting_go() {
        let mut tuning = Tuning::new(2, 8);
        // Two cores, pages that only compute: from two tabs on nothing is gained, and a little is lost.
        tabs_of(&mut tuning, 10_000, |tabs| 20.0 - 0.2 * tabs);
        let last = tabs_of(&mut tuning, 10_000, |tabs| 20.0 - 0.2 * tabs);
        let many = last.iter().filter(|tabs| **tabs > 3).count();
        assert!(many < 500, "{many} of {} documents with more than three tabs", last.len());
    }

    #[test]
    fn tabs_that_wait_are_worth_having_and_come_back() {
        let mut tuning = Tuning::new(2, 8);
        tabs_of(&mut tuning, 10_000, |_| 20.0);
        assert!(tuning.tabs() <= 3);
        // Pages that wait most of their time: each tab adds as much as the others.
        tabs_of(&mut tuning, 10_000, |tabs| 2.0 * tabs);
        let last = tabs_of(&mut tuning, 10_000, |tabs| 2.0 * tabs);
        let few = last.iter().filter(|tabs| **tabs < 6).count();
        assert!(few < 500, "{few} of {} documents with less than six tabs", last.len());
    }

    #[test]
    fn without_load_nothing_is_learnt() {
        let mut tuning = Tuning::new(2, 8);
        let mut now = Instant::now();
        for document in 0..10_000 {
            now += Duration::from_millis(50);
            tuning.ended(now, document % 50 != 0);
            assert_eq!(tuning.tabs(), 8);
        }
    }

    #[test]
    fn the_bounds_hold() {
        for (fewest, most) in [(1, 1), (2, 1), (3, 4), (4, 64)] {
            let mut tuning = Tuning::new(fewest, most);
            for rate in [|_: f64| 9.0, |tabs: f64| tabs, |tabs: f64| 100.0 / tabs] {
                for tabs in tabs_of(&mut tuning, 5_000, rate) {
                    assert!((fewest.min(most)..=most).contains(&tabs), "{fewest} {most}: {tabs}");
                }
            }
        }
    }
}
