//! The tabs that are kept for a further page of their account: which one it gets, and which go first.
//!
//! ```text
//!  put ──> Used ──(next_to_reset)──> Resetting ──(reset_done)──> Clean ──(take)──> leased
//!   │        ^└──────────── plan: the least lately used first ──┘^
//!   └────────┼─────────────────(is ready)─────────────────────────────┤
//!            └─────────────────(require_reset)───────────────────────────────┘
//! ```
//!
//! Pure: it knows neither browsers nor the time.

use std::collections::{HashMap, VecDeque};

use crate::domain::ids::AccountId;
use crate::domain::lane::{Lane, PerLane};

/// Kept tabs, those first that were used least lately.
pub(in crate::browser) struct ReusableTabs<T> {
    entries: VecDeque<Entry<T>>,
    last_ticket: u64,
}

struct Entry<T> {
    account: AccountId,
    ticket: u64,
    state: State<T>,
}

enum State<T> {
    /// As its page left it.
    Used(T),
    /// Whoever resets it has it.
    Resetting,
    /// As if it were new, or its page leaves nothing to the one that takes its place.
    Clean(T),
}

/// What there is for leases, beside what is kept.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct TabCapacity {
    /// Tabs that may be there at once and are not leased.
    pub places: usize,
    /// Fresh ones that are there.
    pub spare: PerLane<usize>,
    /// Fresh ones that are being made.
    pub making: PerLane<usize>,
    /// How many fresh ones of each lane are wanted where nobody waits.
    pub ahead: usize,
}

/// What is to be done so that those who wait get their tabs.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::browser) struct Plan<T> {
    /// Fresh tabs to be made.
    pub make: PerLane<usize>,
    /// Fresh ones that must go for that.
    pub spares_gone: PerLane<usize>,
    /// Kept ones that must go for that.
    pub gone: Vec<T>,
}

impl<T> State<T> {
    fn into_tab(self) -> Option<T> {
        match self {
            Self::Used(tab) | Self::Clean(tab) => Some(tab),
            Self::Resetting => None,
        }
    }
}

impl<T> ReusableTabs<T> {
    pub(in crate::browser) fn new() -> Self {
        Self { entries: VecDeque::new(), last_ticket: 0 }
    }

    /// Keeps a tab that a page of `account` was in; unless it `is_ready`, nobody gets it before it is reset.
    pub(in crate::browser) fn put(&mut self, account: AccountId, tab: T, is_ready: bool) {
        self.last_ticket += 1;
        let state = if is_ready { State::Clean(tab) } else { State::Used(tab) };
        self.entries.push_back(Entry { account, ticket: self.last_ticket, state });
    }

    /// Has those tabs reset of which `holds` holds.
    pub(in crate::browser) fn require_reset(&mut self, holds: impl Fn(&T) -> bool) {
        let is_it = |entry: &&mut Entry<T>| matches!(&entry.state, State::Clean(tab) if holds(tab));
        for entry in self.entries.iter_mut().filter(is_it) {
            if let Some(tab) = std::mem::replace(&mut entry.state, State::Resetting).into_tab() {
                entry.state = State::Used(tab);
            }
        }
    }

    /// A tab that is to be reset, with the ticket under which it comes back.
    pub(in crate::browser) fn next_to_reset(&mut self) -> Option<(u64, T)> {
        let entry = self.entries.iter_mut().find(|entry| matches!(entry.state, State::Used(_)))?;
        let tab = std::mem::replace(&mut entry.state, State::Resetting).into_tab()?;
        Some((entry.ticket, tab))
    }

    /// The reset is over: the tab is clean, or there is none any more.
    pub(in crate::browser) fn reset_done(&mut self, ticket: u64, tab: Option<T>) {
        let Some(at) = self.entries.iter().position(|entry| entry.ticket == ticket) else { return };
        match tab {
            Some(tab) => self.entries[at].state = State::Clean(tab),
            None => drop(self.entries.remove(at)),
        }
    }

    /// The clean tab that `account` used last.
    pub(in crate::browser) fn take(&mut self, account: AccountId) -> Option<T> {
        let is_it = |entry: &Entry<T>| entry.account == account && matches!(entry.state, State::Clean(_));
        let at = self.entries.iter().rposition(is_it)?;
        self.entries.remove(at)?.state.into_tab()
    }

    /// How many tabs of `account` will be clean in a moment.
    pub(in crate::browser) fn being_reset(&self, account: AccountId) -> usize {
        let is_clean = |entry: &Entry<T>| matches!(entry.state, State::Clean(_));
        self.entries.iter().filter(|entry| entry.account == account && !is_clean(entry)).count()
    }

    /// Tabs that nobody resets at the moment.
    pub(in crate::browser) fn idle(&self) -> usize {
        self.entries.iter().filter(|entry| !matches!(entry.state, State::Resetting)).count()
    }

    /// Takes out the idle tabs of `account`.
    pub(in crate::browser) fn extract_of(&mut self, account: AccountId) -> Vec<T> {
        self.remove(|entry| entry.account == account && !matches!(entry.state, State::Resetting))
    }

    /// Takes out all idle tabs of which `leaves` holds.
    pub(in crate::browser) fn extract(&mut self, leaves: impl Fn(&T) -> bool) -> Vec<T> {
        self.remove(|entry| match &entry.state {
            State::Used(tab) | State::Clean(tab) => leaves(tab),
            State::Resetting => false,
        })
    }

    fn remove(&mut self, leaves: impl Fn(&Entry<T>) -> bool) -> Vec<T> {
        let (left, rest): (VecDeque<_>, _) = std::mem::take(&mut self.entries).into_iter().partition(leaves);
        self.entries = rest;
        left.into_iter().filter_map(|entry| entry.state.into_tab()).collect()
    }

    /// Which fresh tabs are to be made for those who wait, first come first served, and which ones must go for
    /// that: none that is for somebody who came earlier.
    pub(in crate::browser) fn plan(
        &mut self,
        waiting: impl Iterator<Item = (AccountId, Lane)>,
        room: TabCapacity,
    ) -> Plan<T> {
        let mut claims: HashMap<AccountId, usize> = HashMap::new();
        let (mut claimed, mut wanted, mut nobody) = (0, PerLane::default(), true);
        for (account, lane) in waiting {
            nobody = false;
            if claimed + wanted.sum() >= room.places {
                break;
            }
            let claim = claims.entry(account).or_default();
            if lane == Lane::Static && *claim < self.of(account) {
                *claim += 1;
                claimed += 1;
            } else {
                *wanted.of_mut(lane) += 1;
            }
        }
        if nobody {
            wanted = self.ahead(room);
        }
        let fresh = room.spare.with(room.making, |spare, making| spare + making);
        let mut surplus =
            (self.entries.len() + wanted.with(fresh, usize::max).sum()).saturating_sub(room.places);
        let idle = fresh.with(wanted, usize::saturating_sub).with(room.spare, usize::min);
        // A spare that nobody waits for goes first where only room for others is wanted, last where a page is.
        let mut spares_gone = PerLane::default();
        if nobody {
            spares_gone = share_out(&mut surplus, idle);
        }
        let gone = self.evict(&mut surplus, &claims);
        if !nobody {
            spares_gone = share_out(&mut surplus, idle);
        }
        let kept = self.entries.len() + fresh.sum() - spares_gone.sum();
        let mut left = room.places.saturating_sub(kept);
        let make = share_out(&mut left, wanted.with(fresh, usize::saturating_sub));
        Plan { make, spares_gone, gone }
    }

    /// A page with script always needs a fresh tab, one without only where its account has none: for that no
    /// other account loses its own.
    fn ahead(&self, room: TabCapacity) -> PerLane<usize> {
        let scripted = room.ahead.min(room.places);
        let unscripted = room.ahead.min(room.places.saturating_sub(scripted + self.entries.len()));
        PerLane { unscripted, scripted }
    }

    fn of(&self, account: AccountId) -> usize {
        self.entries.iter().filter(|entry| entry.account == account).count()
    }

    fn evict(&mut self, surplus: &mut usize, claims: &HashMap<AccountId, usize>) -> Vec<T> {
        let mut gone = Vec::new();
        let mut at = 0;
        while *surplus > 0 && at < self.entries.len() {
            let entry = &self.entries[at];
            let is_claimed = self.of(entry.account) <= claims.get(&entry.account).copied().unwrap_or(0);
            if is_claimed || matches!(entry.state, State::Resetting) {
                at += 1;
                continue;
            }
            gone.extend(self.entries.remove(at).and_then(|entry| entry.state.into_tab()));
            *surplus -= 1;
        }
        gone
    }
}

/// As many of `most` as there are of `all`, those of pages with script first.
fn share_out(all: &mut usize, most: PerLane<usize>) -> PerLane<usize> {
    let scripted = most.scripted.min(*all);
    let unscripted = most.unscripted.min(*all - scripted);
    *all -= scripted + unscripted;
    PerLane { unscripted, scripted }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tabs = ReusableTabs<&'static str>;

    fn accounts() -> [AccountId; 3] {
        [AccountId::generate(), AccountId::generate(), AccountId::generate()]
    }

    /// Clean tabs, the first one used least lately.
    fn clean(tabs: &[(AccountId, &'static str)]) -> Tabs {
        let mut kept = Tabs::new();
        for &(account, tab) in tabs {
            kept.put(account, tab, false);
            let (ticket, tab) = kept.next_to_reset().unwrap();
            kept.reset_done(ticket, Some(tab));
        }
        kept
    }

    /// No fresh tab is there.
    fn room(places: usize) -> TabCapacity {
        TabCapacity { places, spare: PerLane::default(), making: PerLane::default(), ahead: 0 }
    }

    /// Fresh tabs of pages without script, and of those with.
    fn of(unscripted: usize, scripted: usize) -> PerLane<usize> {
        PerLane { unscripted, scripted }
    }

    /// What is done for those who wait: fresh tabs made, spares and kept tabs that go.
    fn plan(kept: &mut Tabs, waiting: &[(AccountId, Lane)], room: TabCapacity) -> [String; 3] {
        let Plan { make, spares_gone, gone } = kept.plan(waiting.iter().copied(), room);
        let names = |lanes: PerLane<usize>| lanes.each().map(Lane::name).collect::<Vec<_>>().join(" ");
        [names(make), names(spares_gone), gone.join(" ")]
    }

    #[test]
    fn an_account_gets_its_own_tab_that_it_used_last_and_no_other() {
        let [one, two, three] = accounts();
        let mut kept = clean(&[(one, "a"), (two, "b"), (one, "c")]);
        assert_eq!(kept.take(three), None);
        assert_eq!([kept.take(one), kept.take(one), kept.take(one)], [Some("c"), Some("a"), None]);
        assert_eq!((kept.take(two), kept.idle()), (Some("b"), 0));
    }

    #[test]
    fn a_used_tab_is_nobody_s_before_it_is_reset() {
        let [one, ..] = accounts();
        let mut kept = Tabs::new();
        kept.put(one, "a", false);
        assert_eq!((kept.take(one), kept.being_reset(one), kept.idle()), (None, 1, 1));
        let (ticket, tab) = kept.next_to_reset().unwrap();
        assert_eq!((kept.take(one), kept.being_reset(one), kept.idle()), (None, 1, 0));
        assert!(kept.next_to_reset().is_none());
        kept.reset_done(ticket, Some(tab));
        assert_eq!((kept.being_reset(one), kept.take(one)), (0, Some("a")));
        kept.put(one, "b", false);
        let (ticket, _) = kept.next_to_reset().unwrap();
        kept.reset_done(ticket, None);
        assert_eq!((kept.being_reset(one), kept.take(one)), (0, None));
    }

    #[test]
    fn a_tab_that_needs_no_reset_is_there_at_once_and_is_reset_later() {
        let [one, ..] = accounts();
        let mut kept = Tabs::new();
        kept.put(one, "a", true);
        assert!(kept.next_to_reset().is_none());
        kept.require_reset(|tab| *tab == "a");
        assert_eq!((kept.take(one), kept.being_reset(one)), (None, 1));
        assert!(kept.next_to_reset().is_some());
    }

    #[test]
    fn who_waits_takes_the_place_of_the_tab_used_least_lately() {
        let [one, two, three] = accounts();
        let mut kept = clean(&[(one, "a"), (two, "b")]);
        let page = [(three, Lane::Static)];
        assert_eq!(plan(&mut kept, &page, room(3)), ["static", "", ""]);
        assert_eq!(plan(&mut kept, &page, room(2)), ["static", "", "a"]);
        assert_eq!(plan(&mut kept, &page, TabCapacity { making: of(1, 0), ..room(2) }), ["", "", ""]);
        assert_eq!(plan(&mut kept, &[(two, Lane::Scripted)], room(1)), ["scripted", "", "b"]);
    }

    #[test]
    fn what_is_for_somebody_who_came_earlier_stays() {
        let [one, two, three] = accounts();
        let tabs = [(one, "a"), (two, "b")];
        let waiting = [(one, Lane::Static), (three, Lane::Scripted), (two, Lane::Static)];
        assert_eq!(plan(&mut clean(&tabs), &waiting, room(2)), ["scripted", "", "b"]);
        let waiting = [(one, Lane::Static), (two, Lane::Static), (three, Lane::Scripted)];
        assert_eq!(plan(&mut clean(&tabs), &waiting, room(2)), ["", "", ""]);
        let waiting = [(one, Lane::Static), (one, Lane::Static)];
        assert_eq!(plan(&mut clean(&tabs), &waiting, room(2)), ["static", "", "b"]);
    }

    #[test]
    fn a_tab_that_is_being_reset_stays_and_nothing_is_made_in_its_place() {
        let [one, two, _] = accounts();
        let mut kept = Tabs::new();
        kept.put(one, "a", false);
        let (ticket, tab) = kept.next_to_reset().unwrap();
        let page = [(two, Lane::Static)];
        assert_eq!(plan(&mut kept, &page, room(1)), ["", "", ""]);
        kept.reset_done(ticket, Some(tab));
        assert_eq!(plan(&mut kept, &page, room(1)), ["static", "", "a"]);
    }

    #[test]
    fn a_spare_of_the_other_lane_goes_for_a_page_when_nothing_else_can() {
        let [one, two, _] = accounts();
        let spare = of(1, 0);
        let page = [(two, Lane::Scripted)];
        assert_eq!(plan(&mut Tabs::new(), &page, TabCapacity { spare, ..room(2) }), ["scripted", "", ""]);
        assert_eq!(
            plan(&mut Tabs::new(), &page, TabCapacity { spare, ..room(1) }),
            ["scripted", "static", ""]
        );
        assert_eq!(
            plan(&mut clean(&[(one, "a")]), &page, TabCapacity { spare, ..room(2) }),
            ["scripted", "", "a"]
        );
        // One that is being made cannot go yet, and nothing is made beside it.
        assert_eq!(plan(&mut Tabs::new(), &page, TabCapacity { making: spare, ..room(1) }), ["", "", ""]);
    }

    #[test]
    fn where_nobody_waits_each_lane_has_its_spares() {
        let ahead = TabCapacity { ahead: 1, ..room(2) };
        assert_eq!(plan(&mut Tabs::new(), &[], ahead), ["scripted static", "", ""]);
        assert_eq!(plan(&mut Tabs::new(), &[], TabCapacity { places: 1, ..ahead }), ["scripted", "", ""]);
        assert_eq!(
            plan(&mut Tabs::new(), &[], TabCapacity { making: of(0, 1), ..ahead }),
            ["static", "", ""]
        );
        assert_eq!(plan(&mut Tabs::new(), &[], TabCapacity { spare: of(1, 1), ..ahead }), ["", "", ""]);
    }

    #[test]
    fn kept_tabs_leave_the_place_of_the_spare_with_script_and_take_that_of_the_other() {
        let [one, two, _] = accounts();
        let tabs = [(one, "a"), (two, "b")];
        let ahead = TabCapacity { ahead: 1, ..room(3) };
        assert_eq!(plan(&mut clean(&tabs), &[], ahead), ["scripted", "", ""]);
        assert_eq!(
            plan(&mut clean(&tabs), &[], TabCapacity { places: 4, ..ahead }),
            ["scripted static", "", ""]
        );
        assert_eq!(plan(&mut clean(&tabs), &[], TabCapacity { places: 2, ..ahead }), ["scripted", "", "a"]);
        assert_eq!(
            plan(&mut clean(&tabs), &[], TabCapacity { spare: of(1, 1), ..ahead }),
            ["", "static", ""]
        );
        assert_eq!(
            plan(&mut clean(&tabs[1..]), &[], TabCapacity { places: 1, spare: of(0, 1), ..ahead }),
            ["", "", "b"]
        );
    }

    #[test]
    fn those_of_an_account_are_taken_out() {
        let [one, two, _] = accounts();
        let mut kept = clean(&[(one, "a1"), (two, "b1"), (one, "a2")]);
        assert_eq!(kept.extract_of(one), ["a1", "a2"]);
        assert_eq!((kept.take(one), kept.take(two)), (None, Some("b1")));
    }

    #[test]
    fn those_of_a_browser_that_goes_are_taken_out() {
        let [one, two, _] = accounts();
        let mut kept = clean(&[(one, "a1"), (two, "b1"), (one, "a2")]);
        kept.put(two, "b2", false);
        assert_eq!(kept.extract(|tab| tab.ends_with('1')), ["a1", "b1"]);
        assert_eq!((kept.take(two), kept.take(one)), (None, Some("a2")));
        assert_eq!(kept.next_to_reset().map(|(_, tab)| tab), Some("b2"));
    }
}
