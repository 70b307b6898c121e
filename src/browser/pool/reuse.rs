//! Reusable tabs: which one the next page gets, and which are evicted first.
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
use crate::domain::site::ContentHash;

/// Which pages may follow one another in a tab: those of one account, with script those of one template's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReuseKey {
    pub account: AccountId,
    /// `None` for pages without script.
    pub content: Option<ContentHash>,
}

/// Reusable tabs, least recently used first.
pub(super) struct ReusableTabs<T> {
    entries: VecDeque<Entry<T>>,
    last_ticket: u64,
}

struct Entry<T> {
    key: ReuseKey,
    ticket: u64,
    state: State<T>,
}

enum State<T> {
    /// As its page left it.
    Used(T),
    /// Taken out to be reset.
    Resetting,
    /// Ready: like a new one, or with a page that the next one can replace.
    Clean(T),
}

/// What there is for leases, beside the reusable tabs.
#[derive(Clone, Copy, Debug)]
pub(super) struct TabCapacity {
    /// Tabs that may be there at once and are not leased.
    pub limit: usize,
    /// Warm tabs that are there.
    pub warm: PerLane<usize>,
    /// Warm tabs that are being made.
    pub making: PerLane<usize>,
    /// How many warm ones of each lane are wanted where no job waits.
    pub ahead: usize,
}

/// What is to be done so that waiters get their tabs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan<T> {
    /// Tabs to be made.
    pub make: PerLane<usize>,
    /// Warm tabs that are evicted for that.
    pub evict_warm: PerLane<usize>,
    /// Reusable tabs that are evicted for that.
    pub evict: Vec<T>,
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
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), last_ticket: 0 }
    }

    /// Adds a tab for pages of `key`; unless it `is_ready`, it is reset before it is leased.
    pub(super) fn put(&mut self, key: ReuseKey, tab: T, is_ready: bool) {
        self.last_ticket += 1;
        let state = if is_ready { State::Clean(tab) } else { State::Used(tab) };
        self.entries.push_back(Entry { key, ticket: self.last_ticket, state });
    }

    /// Requires a reset of those ready tabs that `is_wanted` names.
    pub(super) fn require_reset(&mut self, is_wanted: impl Fn(&T) -> bool) {
        let is_it = |entry: &&mut Entry<T>| matches!(&entry.state, State::Clean(tab) if is_wanted(tab));
        for entry in self.entries.iter_mut().filter(is_it) {
            if let Some(tab) = std::mem::replace(&mut entry.state, State::Resetting).into_tab() {
                entry.state = State::Used(tab);
            }
        }
    }

    /// A tab that is to be reset, with the ticket under which it comes back.
    pub(super) fn next_to_reset(&mut self) -> Option<(u64, T)> {
        let entry = self.entries.iter_mut().find(|entry| matches!(entry.state, State::Used(_)))?;
        let tab = std::mem::replace(&mut entry.state, State::Resetting).into_tab()?;
        Some((entry.ticket, tab))
    }

    /// The reset is over: the tab is clean, or gone.
    pub(super) fn reset_done(&mut self, ticket: u64, tab: Option<T>) {
        let Some(at) = self.entries.iter().position(|entry| entry.ticket == ticket) else { return };
        match tab {
            Some(tab) => self.entries[at].state = State::Clean(tab),
            None => drop(self.entries.remove(at)),
        }
    }

    /// The reset was not enough: the tab is reset once more.
    pub(super) fn reset_again(&mut self, ticket: u64, tab: T) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.state = State::Used(tab);
        }
    }

    /// The clean tab for `key` that was used last.
    pub(super) fn take(&mut self, key: ReuseKey) -> Option<T> {
        let is_it = |entry: &Entry<T>| entry.key == key && matches!(entry.state, State::Clean(_));
        let at = self.entries.iter().rposition(is_it)?;
        self.entries.remove(at)?.state.into_tab()
    }

    /// How many tabs for `key` will be clean in a moment.
    pub(super) fn being_reset(&self, key: ReuseKey) -> usize {
        let is_clean = |entry: &Entry<T>| matches!(entry.state, State::Clean(_));
        self.entries.iter().filter(|entry| entry.key == key && !is_clean(entry)).count()
    }

    /// Tabs that are not being reset.
    pub(super) fn idle(&self) -> usize {
        self.entries.iter().filter(|entry| !matches!(entry.state, State::Resetting)).count()
    }

    /// Takes out the idle tabs for `key`.
    pub(super) fn extract_of(&mut self, key: ReuseKey) -> Vec<T> {
        self.remove(|entry| entry.key == key && !matches!(entry.state, State::Resetting))
    }

    /// Takes out all idle tabs that `is_wanted` names.
    pub(super) fn extract(&mut self, is_wanted: impl Fn(&T) -> bool) -> Vec<T> {
        self.remove(|entry| match &entry.state {
            State::Used(tab) | State::Clean(tab) => is_wanted(tab),
            State::Resetting => false,
        })
    }

    fn remove(&mut self, is_wanted: impl Fn(&Entry<T>) -> bool) -> Vec<T> {
        let entries = std::mem::take(&mut self.entries).into_iter();
        let (removed, rest): (VecDeque<_>, _) = entries.partition(is_wanted);
        self.entries = rest;
        removed.into_iter().filter_map(|entry| entry.state.into_tab()).collect()
    }

    /// Which tabs are to be made for the waiters, first come first served, and which ones are evicted for that: none that
    /// an earlier waiter gets.
    pub(super) fn plan(
        &mut self,
        waiting: impl Iterator<Item = (Option<ReuseKey>, Lane)>,
        capacity: TabCapacity,
    ) -> Plan<T> {
        let mut claims: HashMap<ReuseKey, usize> = HashMap::new();
        let (mut claimed, mut wanted, mut is_idle) = (0, PerLane::default(), true);
        for (key, lane) in waiting {
            is_idle = false;
            if claimed + wanted.sum() >= capacity.limit {
                break;
            }
            match key.map(|key| (self.of(key), claims.entry(key).or_default())) {
                Some((there, claim)) if *claim < there => {
                    *claim += 1;
                    claimed += 1;
                }
                _ => *wanted.of_mut(lane) += 1,
            }
        }
        if is_idle {
            wanted = self.ahead(capacity);
        }
        let fresh = capacity.warm.with(capacity.making, |warm, making| warm + making);
        let mut surplus =
            (self.entries.len() + wanted.with(fresh, usize::max).sum()).saturating_sub(capacity.limit);
        let idle = fresh.with(wanted, usize::saturating_sub).with(capacity.warm, usize::min);
        // Where no job waits, warm tabs beyond those wanted are evicted before reusable ones; where one waits, after them.
        let mut evict_warm = PerLane::default();
        if is_idle {
            evict_warm = share_out(&mut surplus, idle);
        }
        let evict = self.evict(&mut surplus, &claims);
        if !is_idle {
            evict_warm = share_out(&mut surplus, idle);
        }
        let there = self.entries.len() + fresh.sum() - evict_warm.sum();
        let mut left = capacity.limit.saturating_sub(there);
        let make = share_out(&mut left, wanted.with(fresh, usize::saturating_sub));
        Plan { make, evict_warm, evict }
    }

    /// Warm tabs that are wanted where no job waits. A scripted page needs a new tab more often than a static one, which
    /// needs it only where its account has none: for that no other account loses a tab.
    fn ahead(&self, capacity: TabCapacity) -> PerLane<usize> {
        let scripted = capacity.ahead.min(capacity.limit);
        let static_ = capacity.ahead.min(capacity.limit.saturating_sub(scripted + self.entries.len()));
        PerLane { static_, scripted }
    }

    fn of(&self, key: ReuseKey) -> usize {
        self.entries.iter().filter(|entry| entry.key == key).count()
    }

    fn evict(&mut self, surplus: &mut usize, claims: &HashMap<ReuseKey, usize>) -> Vec<T> {
        let mut evicted = Vec::new();
        let mut at = 0;
        while *surplus > 0 && at < self.entries.len() {
            let entry = &self.entries[at];
            let is_claimed = self.of(entry.key) <= claims.get(&entry.key).copied().unwrap_or(0);
            if is_claimed || matches!(entry.state, State::Resetting) {
                at += 1;
                continue;
            }
            evicted.extend(self.entries.remove(at).and_then(|entry| entry.state.into_tab()));
            *surplus -= 1;
        }
        evicted
    }
}

/// As many of `most` as `all` allows, scripted ones first.
fn share_out(all: &mut usize, most: PerLane<usize>) -> PerLane<usize> {
    let scripted = most.scripted.min(*all);
    let static_ = most.static_.min(*all - scripted);
    *all -= scripted + static_;
    PerLane { static_, scripted }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tabs = ReusableTabs<&'static str>;

    fn of_account(account: AccountId) -> ReuseKey {
        ReuseKey { account, content: None }
    }

    /// Of pages without script of three accounts.
    fn keys() -> [ReuseKey; 3] {
        [(); 3].map(|()| of_account(AccountId::generate()))
    }

    /// Clean tabs, least recently used first.
    fn clean(used: &[(ReuseKey, &'static str)]) -> Tabs {
        let mut tabs = Tabs::new();
        for &(key, tab) in used {
            tabs.put(key, tab, false);
            let (ticket, tab) = tabs.next_to_reset().unwrap();
            tabs.reset_done(ticket, Some(tab));
        }
        tabs
    }

    fn limited_to(limit: usize) -> TabCapacity {
        TabCapacity { limit, warm: PerLane::default(), making: PerLane::default(), ahead: 0 }
    }

    /// So many of pages without script, and of those with.
    fn of(static_: usize, scripted: usize) -> PerLane<usize> {
        PerLane { static_, scripted }
    }

    /// What is done for the waiters: tabs made, warm and reusable ones evicted.
    fn plan(tabs: &mut Tabs, waiting: &[(Option<ReuseKey>, Lane)], capacity: TabCapacity) -> [String; 3] {
        let Plan { make, evict_warm, evict } = tabs.plan(waiting.iter().copied(), capacity);
        let names = |lanes: PerLane<usize>| lanes.each().map(Lane::name).collect::<Vec<_>>().join(" ");
        [names(make), names(evict_warm), evict.join(" ")]
    }

    #[test]
    fn an_account_gets_its_own_tab_that_it_used_last_and_no_other() {
        let [one, two, three] = keys();
        let mut tabs = clean(&[(one, "a"), (two, "b"), (one, "c")]);
        assert_eq!(tabs.take(three), None);
        assert_eq!([tabs.take(one), tabs.take(one), tabs.take(one)], [Some("c"), Some("a"), None]);
        assert_eq!((tabs.take(two), tabs.idle()), (Some("b"), 0));
    }

    #[test]
    fn a_page_with_script_gets_a_tab_of_the_same_template_and_account_only() {
        let [plain, other, _] = keys();
        let with = |key: ReuseKey, byte| ReuseKey { content: Some(ContentHash([byte; 32])), ..key };
        let mut tabs = clean(&[(with(plain, 1), "a"), (plain, "b")]);
        assert_eq!((tabs.take(with(plain, 2)), tabs.take(with(other, 1))), (None, None));
        let waiting = [(Some(with(plain, 1)), Lane::Scripted), (Some(with(plain, 2)), Lane::Scripted)];
        assert_eq!(plan(&mut tabs, &waiting, limited_to(3)), ["scripted", "", ""]);
        assert_eq!((tabs.take(with(plain, 1)), tabs.take(plain)), (Some("a"), Some("b")));
    }

    #[test]
    fn a_used_tab_is_not_leased_before_it_is_reset() {
        let [one, ..] = keys();
        let mut tabs = Tabs::new();
        tabs.put(one, "a", false);
        assert_eq!((tabs.take(one), tabs.being_reset(one), tabs.idle()), (None, 1, 1));
        let (ticket, tab) = tabs.next_to_reset().unwrap();
        assert_eq!((tabs.take(one), tabs.being_reset(one), tabs.idle()), (None, 1, 0));
        assert!(tabs.next_to_reset().is_none());
        tabs.reset_done(ticket, Some(tab));
        assert_eq!((tabs.being_reset(one), tabs.take(one)), (0, Some("a")));
        tabs.put(one, "b", false);
        let (ticket, _) = tabs.next_to_reset().unwrap();
        tabs.reset_done(ticket, None);
        assert_eq!((tabs.being_reset(one), tabs.take(one)), (0, None));
    }

    #[test]
    fn a_tab_for_in_place_reuse_is_ready_at_once_and_reset_later() {
        let [one, ..] = keys();
        let mut tabs = Tabs::new();
        tabs.put(one, "a", true);
        assert!(tabs.next_to_reset().is_none());
        tabs.require_reset(|tab| *tab == "a");
        assert_eq!((tabs.take(one), tabs.being_reset(one)), (None, 1));
        assert!(tabs.next_to_reset().is_some());
    }

    #[test]
    fn a_tab_that_is_being_reset_stays_and_nothing_is_made_in_its_place() {
        let [one, two, _] = keys();
        let mut tabs = Tabs::new();
        tabs.put(one, "a", false);
        let (ticket, tab) = tabs.next_to_reset().unwrap();
        let page = [(Some(two), Lane::Static)];
        assert_eq!(plan(&mut tabs, &page, limited_to(1)), ["", "", ""]);
        tabs.reset_done(ticket, Some(tab));
        assert_eq!(plan(&mut tabs, &page, limited_to(1)), ["static", "", "a"]);
    }

    #[test]
    fn tabs_are_made_and_evicted_as_the_waiters_need() {
        let [one, two, three] = keys();
        let (a, b) = ((one, "a"), (two, "b"));
        let [of_one, of_two, of_three] = [one, two, three].map(|key| (Some(key), Lane::Static));
        let script = (None, Lane::Scripted);
        let warm = |limit, warm| TabCapacity { warm, ..limited_to(limit) };
        let making = |limit, making| TabCapacity { making, ..limited_to(limit) };
        let ahead = |limit| TabCapacity { ahead: 1, ..limited_to(limit) };
        for (name, tabs, waiting, capacity, wanted) in [
            ("there is room", &[a, b][..], &[of_three][..], limited_to(3), ["static", "", ""]),
            ("the tab used least lately goes", &[a, b], &[of_three], limited_to(2), ["static", "", "a"]),
            ("one is being made", &[b], &[of_three], making(2, of(1, 0)), ["", "", ""]),
            ("for the other lane", &[b], &[script], limited_to(1), ["scripted", "", "b"]),
            ("one has its own", &[a, b], &[of_one, script, of_two], limited_to(2), ["scripted", "", "b"]),
            ("both have their own", &[a, b], &[of_one, of_two, script], limited_to(2), ["", "", ""]),
            ("two pages of one account", &[a, b], &[of_one; 2], limited_to(2), ["static", "", "b"]),
            ("a warm one of the other lane stays", &[], &[script], warm(2, of(1, 0)), ["scripted", "", ""]),
            ("it goes", &[], &[script], warm(1, of(1, 0)), ["scripted", "static", ""]),
            ("it goes last", &[a], &[script], warm(2, of(1, 0)), ["scripted", "", "a"]),
            ("it is being made, and cannot go", &[], &[script], making(1, of(1, 0)), ["", "", ""]),
            ("no job waits", &[], &[], ahead(2), ["scripted static", "", ""]),
            ("the scripted one first", &[], &[], ahead(1), ["scripted", "", ""]),
            ("it is being made", &[], &[], TabCapacity { making: of(0, 1), ..ahead(2) }, ["static", "", ""]),
            ("both are there", &[], &[], TabCapacity { warm: of(1, 1), ..ahead(2) }, ["", "", ""]),
            ("a static one has no room", &[a, b], &[], ahead(3), ["scripted", "", ""]),
            ("both have room", &[a, b], &[], ahead(4), ["scripted static", "", ""]),
            ("a reusable one goes", &[a, b], &[], ahead(2), ["scripted", "", "a"]),
            ("a warm one goes", &[a, b], &[], TabCapacity { warm: of(1, 1), ..ahead(3) }, ["", "static", ""]),
            ("the scripted one stays", &[b], &[], TabCapacity { warm: of(0, 1), ..ahead(1) }, ["", "", "b"]),
        ] {
            assert_eq!(plan(&mut clean(tabs), waiting, capacity), wanted, "{name}");
        }
    }

    #[test]
    fn tabs_of_an_account_or_of_a_browser_are_extracted() {
        let [one, two, _] = keys();
        let mut tabs = clean(&[(one, "a1"), (two, "b1"), (one, "a2"), (one, "a3")]);
        tabs.put(two, "b2", false);
        assert_eq!(tabs.extract(|tab| tab.ends_with('1')), ["a1", "b1"]);
        assert_eq!((tabs.extract_of(one), tabs.take(one)), (vec!["a2", "a3"], None));
        assert_eq!(tabs.next_to_reset().map(|(_, tab)| tab), Some("b2"));
    }
}
