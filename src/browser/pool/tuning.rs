//! How many tabs are used at once: fewer where more make each page slower and no page more.
//!
//! ```text
//!  Steady ──(a while under load)──> Trying fewer ──(as many pages as before)──> keeps them, tries fewer still
//!     ^  ^                              └──(clearly less)──> back ─┐
//!     │  └─────────────────────────────────────────────────────────┤
//!     └──(no better: back; better: kept, more still)── Trying more <┘ (the next time)
//! ```
//!
//! Only what happens under load is looked at: while all tabs are in use, pages ended a second are the machine's
//! throughput, and what a page takes is tabs by throughput. Pages are not alike, so a measurement takes many of them,
//! and a difference must be clear. Pages that take so long that a measurement does not come about wait for something:
//! they get all tabs.

use std::time::{Duration, Instant};

/// A measurement takes so long at least.
const WINDOW: Duration = Duration::from_secs(15);
/// And so many pages.
const PAGES: u32 = 150;
/// Where so many did not end by then, there are as many tabs as there may be.
const WINDOW_LIMIT: Duration = Duration::from_mins(1);
/// Measurements between two trials.
const STEADY_WINDOWS: u32 = 6;
/// A difference of throughput that counts.
const CLEARLY: f64 = 0.03;
/// The part of the tabs that a trial adds or takes.
const STEP: usize = 4;

/// The number, and how it is found.
#[derive(Debug)]
pub(in crate::browser) struct Tuning {
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
    /// There were so many tabs before, and this throughput is to be kept, or exceeded.
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
    /// Pages that were under way when it began are not counted.
    ignored: usize,
    pages: u32,
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
            return self.give_up();
        }
        let ignored = self.tabs;
        let window = self.window.get_or_insert(Window { begun: now, ignored, pages: 0 });
        let took = now.duration_since(window.begun);
        if took > WINDOW_LIMIT && window.pages < PAGES {
            *self = Self::new(self.fewest, self.most);
            return;
        }
        if window.ignored > 0 {
            window.ignored -= 1;
            if window.ignored == 0 {
                window.begun = now;
            }
            return;
        }
        window.pages += 1;
        if took < WINDOW || window.pages < PAGES {
            return;
        }
        let rate = f64::from(window.pages) / took.as_secs_f64();
        self.window = None;
        self.decide(rate);
    }

    /// What was measured says nothing about other pages at another time.
    fn give_up(&mut self) {
        self.window = None;
        if let State::Trying(_, before, _) = self.state {
            self.tabs = before;
            self.state = State::Steady(0);
        }
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
                    // Step by step a little of what there was at first must not be lost each time.
                    return self.attempt(towards, was.max(rate));
                }
                self.tabs = before;
                self.rest(towards.other());
            }
        }
    }

    /// Tries a step; at a bound the next one goes the other way.
    fn attempt(&mut self, towards: Towards, rate: f64) {
        let step = (self.tabs / STEP).max(1);
        let tabs = match towards {
            Towards::Fewer => self.tabs.saturating_sub(step).max(self.fewest),
            Towards::More => (self.tabs + step).min(self.most),
        };
        if tabs == self.tabs {
            return self.rest(towards.other());
        }
        self.state = State::Trying(towards, self.tabs, rate);
        self.tabs = tabs;
    }

    fn rest(&mut self, next: Towards) {
        self.state = State::Steady(0);
        self.next = next;
    }
}

impl Towards {
    fn other(self) -> Self {
        match self {
            Self::Fewer => Self::More,
            Self::More => Self::Fewer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine and its time.
    struct Machine {
        tuning: Tuning,
        now: Instant,
    }

    impl Machine {
        fn new(fewest: usize, most: usize) -> Self {
            Self { tuning: Tuning::new(fewest, most), now: Instant::now() }
        }

        /// The numbers of tabs that it comes to when so many tabs make `rate(tabs)` pages a second.
        fn tabs_of(&mut self, pages: u32, rate: impl Fn(f64) -> f64) -> Vec<usize> {
            let mut seen = Vec::new();
            for page in 0..pages {
                // Pages are not alike: every other one takes three times as long.
                let weight = if page % 2 == 0 { 0.5 } else { 1.5 };
                let tabs = f64::from(u16::try_from(self.tuning.tabs()).unwrap());
                self.now += Duration::from_secs_f64(weight / rate(tabs));
                self.tuning.ended(self.now, true);
                seen.push(self.tuning.tabs());
            }
            seen
        }
    }

    #[test]
    fn tabs_that_add_nothing_but_waiting_go() {
        let mut machine = Machine::new(2, 8);
        // Two cores, pages that only compute: from two tabs on nothing is gained, and a little is lost.
        machine.tabs_of(20_000, |tabs| 20.0 - 0.2 * tabs);
        let last = machine.tabs_of(20_000, |tabs| 20.0 - 0.2 * tabs);
        let many = last.iter().filter(|tabs| **tabs > 3).count();
        assert!(many < 2_000, "{many} of {} pages with more than three tabs", last.len());
    }

    #[test]
    fn tabs_that_wait_are_worth_having_and_come_back() {
        let mut machine = Machine::new(2, 8);
        machine.tabs_of(20_000, |_| 20.0);
        assert!(machine.tuning.tabs() <= 3);
        // Pages that wait most of their time: each tab adds as much as the others.
        machine.tabs_of(20_000, |tabs| 2.0 * tabs);
        let last = machine.tabs_of(20_000, |tabs| 2.0 * tabs);
        let few = last.iter().filter(|tabs| **tabs < 6).count();
        assert!(few < 2_000, "{few} of {} pages with less than six tabs", last.len());
    }

    #[test]
    fn a_little_is_not_lost_again_and_again() {
        let mut machine = Machine::new(2, 8);
        // Each tab adds less than the one before, and something: the last ones may go, not more.
        let seen = machine.tabs_of(40_000, |tabs| 20.0 * tabs.powf(0.2));
        let few = seen.iter().filter(|tabs| **tabs < 5).count();
        assert!(few < 2_000, "{few} of {} pages with less than five tabs", seen.len());
    }

    #[test]
    fn pages_that_take_long_get_all_tabs_at_once() {
        let mut machine = Machine::new(2, 8);
        machine.tabs_of(20_000, |_| 20.0);
        assert!(machine.tuning.tabs() <= 3);
        let seen = machine.tabs_of(40, |tabs| tabs / 20.0);
        assert_eq!(seen.last(), Some(&8), "{seen:?}");
    }

    #[test]
    fn a_trial_ends_with_its_load() {
        let mut machine = Machine::new(2, 8);
        let mut now = Instant::now();
        while machine.tuning.tabs() == 8 {
            now += Duration::from_millis(50);
            machine.tuning.ended(now, true);
        }
        machine.tuning.ended(now, false);
        assert_eq!(machine.tuning.tabs(), 8);
    }

    #[test]
    fn without_load_nothing_is_learnt() {
        let mut machine = Machine::new(2, 8);
        let mut now = Instant::now();
        for document in 0..10_000 {
            now += Duration::from_millis(50);
            machine.tuning.ended(now, document % 50 != 0);
            assert_eq!(machine.tuning.tabs(), 8);
        }
    }

    #[test]
    fn the_bounds_hold() {
        for (fewest, most) in [(1, 1), (2, 1), (3, 4), (4, 64)] {
            let mut machine = Machine::new(fewest, most);
            for rate in [|_: f64| 9.0, |tabs: f64| tabs, |tabs: f64| 100.0 / tabs] {
                for tabs in machine.tabs_of(5_000, rate) {
                    assert!((fewest.min(most)..=most).contains(&tabs), "{fewest} {most}: {tabs}");
                }
            }
        }
    }
}
