//! The tabs that are kept for a further page of their account: which one it gets, and which go first.
//!
//! ```text
//!  put ──> Used ──(next_used)──> Resetting ──(reset_done)──> Clean ──(take)──> leased
//!            └──────────── make_room: the least lately used first ──┘
//! ```
//!
//! Pure: it knows neither browsers nor the time.

use std::collections::{HashMap, VecDeque};

use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;

/// Kept tabs, those first that were used least lately.
pub(super) struct KeptTabs<T> {
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
    /// As if it were new.
    Clean(T),
}

/// What there is for leases, beside what is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Tabs that may be there at once and are not leased.
    pub places: usize,
    /// Fresh ones, those being made included.
    pub fresh: usize,
    /// How many of those are wanted where nobody waits.
    pub ahead: usize,
}

impl<T> State<T> {
    fn into_tab(self) -> Option<T> {
        match self {
            Self::Used(tab) | Self::Clean(tab) => Some(tab),
            Self::Resetting => None,
        }
    }
}

impl<T> KeptTabs<T> {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), last_ticket: 0 }
    }

    /// Keeps a tab that a page of `account` was in; nobody gets it before it is reset.
    pub(super) fn put(&mut self, account: AccountId, tab: T) {
        self.last_ticket += 1;
        self.entries.push_back(Entry { account, ticket: self.last_ticket, state: State::Used(tab) });
    }

    /// A tab that is to be reset, with the ticket under which it comes back.
    pub(super) fn next_used(&mut self) -> Option<(u64, T)> {
        let entry = self.entries.iter_mut().find(|entry| matches!(entry.state, State::Used(_)))?;
        let tab = std::mem::replace(&mut entry.state, State::Resetting).into_tab()?;
        Some((entry.ticket, tab))
    }

    /// The reset is over: the tab is clean, or there is none any more.
    pub(super) fn reset_done(&mut self, ticket: u64, tab: Option<T>) {
        let Some(at) = self.entries.iter().position(|entry| entry.ticket == ticket) else { return };
        match tab {
            Some(tab) => self.entries[at].state = State::Clean(tab),
            None => drop(self.entries.remove(at)),
        }
    }

    /// The clean tab that `account` used last.
    pub(super) fn take(&mut self, account: AccountId) -> Option<T> {
        let is_it = |entry: &Entry<T>| entry.account == account && matches!(entry.state, State::Clean(_));
        let at = self.entries.iter().rposition(is_it)?;
        self.entries.remove(at)?.state.into_tab()
    }

    /// How many tabs of `account` will be clean in a moment.
    pub(super) fn coming(&self, account: AccountId) -> usize {
        let is_clean = |entry: &Entry<T>| matches!(entry.state, State::Clean(_));
        self.entries.iter().filter(|entry| entry.account == account && !is_clean(entry)).count()
    }

    /// Tabs that nobody resets at the moment.
    pub(super) fn idle(&self) -> usize {
        self.entries.iter().filter(|entry| !matches!(entry.state, State::Resetting)).count()
    }

    /// Takes out the idle tabs of `account`.
    pub(super) fn extract_of(&mut self, account: AccountId) -> Vec<T> {
        self.remove(|entry| entry.account == account && !matches!(entry.state, State::Resetting))
    }

    /// Takes out all idle tabs of which `leaves` holds.
    pub(super) fn extract(&mut self, leaves: impl Fn(&T) -> bool) -> Vec<T> {
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

    /// How many fresh tabs are to be made for those who wait, first come first served, and which of the kept
    /// ones must go for that: none that is for somebody who came earlier.
    pub(super) fn make_room(
        &mut self,
        waiting: impl Iterator<Item = (AccountId, Lane)>,
        room: Room,
    ) -> (usize, Vec<T>) {
        let mut claims: HashMap<AccountId, usize> = HashMap::new();
        let (mut claimed, mut wanted, mut nobody) = (0, 0, true);
        for (account, lane) in waiting {
            nobody = false;
            if claimed + wanted >= room.places {
                break;
            }
            let claim = claims.entry(account).or_default();
            if lane == Lane::Static && *claim < self.of(account) {
                *claim += 1;
                claimed += 1;
            } else {
                wanted += 1;
            }
        }
        if nobody {
            wanted = room.ahead.min(room.places);
        }
        let surplus = (self.entries.len() + wanted.max(room.fresh)).saturating_sub(room.places);
        let gone = self.evict(surplus, &claims);
        let left = room.places.saturating_sub(self.entries.len() + room.fresh);
        (wanted.saturating_sub(room.fresh).min(left), gone)
    }

    fn of(&self, account: AccountId) -> usize {
        self.entries.iter().filter(|entry| entry.account == account).count()
    }

    fn evict(&mut self, mut surplus: usize, claims: &HashMap<AccountId, usize>) -> Vec<T> {
        let mut gone = Vec::new();
        let mut at = 0;
        while surplus > 0 && at < self.entries.len() {
            let entry = &self.entries[at];
            let is_claimed = self.of(entry.account) <= claims.get(&entry.account).copied().unwrap_or(0);
            if is_claimed || matches!(entry.state, State::Resetting) {
                at += 1;
                continue;
            }
            gone.extend(self.entries.remove(at).and_then(|entry| entry.state.into_tab()));
            surplus -= 1;
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tabs = KeptTabs<&'static str>;

    fn accounts() -> [AccountId; 3] {
        [AccountId::generate(), AccountId::generate(), AccountId::generate()]
    }

    /// Clean tabs, the first one used least lately.
    fn clean(tabs: &[(AccountId, &'static str)]) -> Tabs {
        let mut kept = Tabs::new();
        for &(account, tab) in tabs {
            kept.put(account, tab);
            let (ticket, tab) = kept.next_used().unwrap();
            kept.reset_done(ticket, Some(tab));
        }
        kept
    }

    fn room(places: usize, fresh: usize, ahead: usize) -> Room {
        Room { places, fresh, ahead }
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
        kept.put(one, "a");
        assert_eq!((kept.take(one), kept.coming(one), kept.idle()), (None, 1, 1));
        let (ticket, tab) = kept.next_used().unwrap();
        assert_eq!((kept.take(one), kept.coming(one), kept.idle()), (None, 1, 0));
        assert!(kept.next_used().is_none());
        kept.reset_done(ticket, Some(tab));
        assert_eq!((kept.coming(one), kept.take(one)), (0, Some("a")));
        kept.put(one, "b");
        let (ticket, _) = kept.next_used().unwrap();
        kept.reset_done(ticket, None);
        assert_eq!((kept.coming(one), kept.take(one)), (0, None));
    }

    #[test]
    fn who_waits_takes_the_place_of_the_tab_used_least_lately() {
        let [one, two, three] = accounts();
        let mut kept = clean(&[(one, "a"), (two, "b")]);
        assert_eq!(kept.make_room([(three, Lane::Static)].into_iter(), room(3, 0, 0)), (1, vec![]));
        assert_eq!(kept.make_room([(three, Lane::Static)].into_iter(), room(2, 0, 0)), (1, vec!["a"]));
        assert_eq!(kept.make_room([(three, Lane::Static)].into_iter(), room(2, 1, 0)), (0, vec![]));
        assert_eq!(kept.make_room([(two, Lane::Scripted)].into_iter(), room(1, 0, 0)), (1, vec!["b"]));
    }

    #[test]
    fn what_is_for_somebody_who_came_earlier_stays() {
        let [one, two, three] = accounts();
        let tabs = [(one, "a"), (two, "b")];
        let waiting = [(one, Lane::Static), (three, Lane::Scripted), (two, Lane::Static)];
        assert_eq!(clean(&tabs).make_room(waiting.into_iter(), room(2, 0, 0)), (1, vec!["b"]));
        let waiting = [(one, Lane::Static), (two, Lane::Static), (three, Lane::Scripted)];
        assert_eq!(clean(&tabs).make_room(waiting.into_iter(), room(2, 0, 0)), (0, vec![]));
        let waiting = [(one, Lane::Static), (one, Lane::Static)];
        assert_eq!(clean(&tabs).make_room(waiting.into_iter(), room(2, 0, 0)), (1, vec!["b"]));
    }

    #[test]
    fn a_tab_that_is_being_reset_stays_and_nothing_is_made_in_its_place() {
        let [one, two, _] = accounts();
        let mut kept = Tabs::new();
        kept.put(one, "a");
        let (ticket, tab) = kept.next_used().unwrap();
        assert_eq!(kept.make_room([(two, Lane::Static)].into_iter(), room(1, 0, 0)), (0, vec![]));
        kept.reset_done(ticket, Some(tab));
        assert_eq!(kept.make_room([(two, Lane::Static)].into_iter(), room(1, 0, 0)), (1, vec!["a"]));
    }

    #[test]
    fn kept_tabs_leave_the_places_of_spares() {
        let [one, two, _] = accounts();
        let mut kept = clean(&[(one, "a"), (two, "b")]);
        assert_eq!(kept.make_room([].into_iter(), room(3, 0, 1)), (1, vec![]));
        assert_eq!(kept.make_room([].into_iter(), room(2, 0, 1)), (1, vec!["a"]));
        assert_eq!(kept.make_room([].into_iter(), room(1, 1, 1)), (0, vec!["b"]));
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
        kept.put(two, "b2");
        assert_eq!(kept.extract(|tab| tab.ends_with('1')), ["a1", "b1"]);
        assert_eq!((kept.take(two), kept.take(one)), (None, Some("a2")));
        assert_eq!(kept.next_used().map(|(_, tab)| tab), Some("b2"));
    }
}
