//! Quarantine: accounts in whose pages' browser a browser died, apart from all others for a while.
//!
//! Hazard: a page can fill or crash Chromium's own process, which ends every page in it, and nothing shows whose
//! page it was. Rendered again beside others it would end theirs as well. So the lane of each account that had a
//! page there goes to a browser that it shares with no other account, for `browser.quarantine_s`. If that one dies
//! too, each of its pages is rendered alone, and only a death while it is alone counts against a page.
//! The lane of an account whose page was ended because it made too much there (`excess.rs`) goes the same way.
//!
//! ```text
//!  shared ──(its browser died, or its page made too much)──> quarantine ──(no death for a while)──> shared
//!                                  │      ^
//!                                  └─(died)┘   the page: alone ──(died)──> failed
//! ```
//!
//! Quarantine browsers are few (`browser.quarantine_processes`), so waiters for one are served in order: an account that
//! holds one gets no further page while an earlier page of another account waits for any.
//!
//! Pure: it knows neither processes nor the time. A quarantine browser is the number of its slot, from 0.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::browser::tab::lease::LeaseTab;
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;

/// Who is in quarantine, and which account holds each of its browsers.
pub(super) struct Quarantine {
    stay: Duration,
    until: HashMap<(AccountId, Lane), Instant>,
    holders: Vec<Option<AccountId>>,
}

/// What is in a quarantine browser now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occupancy {
    pub pages: usize,
    /// Its page may have no other beside it.
    pub is_alone: bool,
}

/// One pass over the waiters, in their order.
pub(super) struct WaiterPass {
    browsers: Vec<Occupancy>,
    /// Most pages of one browser at once.
    pages_limit: usize,
    /// Accounts of which an earlier page waits to be alone.
    held_back: HashSet<AccountId>,
    /// An earlier page waits for a browser: no later one gets ahead of it.
    is_closed: bool,
}

impl Quarantine {
    /// Empty; so many browsers, and each stay as long as `stay`.
    pub(super) fn new(browsers: usize, stay: Duration) -> Self {
        Self { stay, until: HashMap::new(), holders: vec![None; browsers] }
    }

    /// A browser died under a page of that account and lane.
    pub(super) fn admit(&mut self, account: AccountId, lane: Lane, now: Instant) {
        self.until.insert((account, lane), now + self.stay);
    }

    /// Releases those whose time is over.
    pub(super) fn release(&mut self, now: Instant) {
        self.until.retain(|_, until| *until > now);
    }

    /// How many accounts' lanes are in quarantine.
    pub(super) fn count(&self) -> usize {
        self.until.len()
    }

    /// Whether its page goes to a quarantine browser.
    pub(super) fn holds(&self, request: LeaseTab) -> bool {
        request.alone || self.until.contains_key(&(request.account, request.lane))
    }

    /// Begins a pass over the waiters; `browsers` as they are now, in their order.
    pub(super) fn pass(browsers: Vec<Occupancy>, pages_limit: usize) -> WaiterPass {
        WaiterPass { browsers, pages_limit, held_back: HashSet::new(), is_closed: false }
    }

    /// The browser for the next waiter, and counts its page there; `None` when there is none for it now.
    pub(super) fn assign(&mut self, request: LeaseTab, pass: &mut WaiterPass) -> Option<usize> {
        if pass.is_closed || pass.held_back.contains(&request.account) {
            return None;
        }
        let own = self.holders.iter().position(|holder| *holder == Some(request.account));
        let Some(at) = own.or_else(|| self.claim(request.account, pass)) else {
            pass.is_closed = true;
            return None;
        };
        let browser = pass.browsers.get_mut(at)?;
        if browser.is_alone || (request.alone && browser.pages > 0) {
            // Its later pages would keep the browser from ever being empty.
            pass.held_back.insert(request.account);
            return None;
        }
        if browser.pages >= pass.pages_limit {
            return None;
        }
        browser.pages += 1;
        browser.is_alone = request.alone;
        Some(at)
    }

    /// Gives the account an empty browser: one without a holder, or else one whose holder has no page now.
    fn claim(&mut self, account: AccountId, pass: &WaiterPass) -> Option<usize> {
        let is_empty = |at: &usize| pass.browsers.get(*at).is_some_and(|browser| browser.pages == 0);
        let mut empty = (0..self.holders.len()).filter(is_empty);
        let free = empty.clone().find(|at| self.holders[*at].is_none());
        let at = free.or_else(|| empty.next())?;
        self.holders[at] = Some(account);
        Some(at)
    }

    /// Whether the browser is not needed: its holder is out of quarantine.
    pub(super) fn is_unneeded(&self, at: usize) -> bool {
        let holder = self.holders.get(at).copied().flatten();
        !holder.is_some_and(|holder| self.until.keys().any(|(account, _)| *account == holder))
    }

    /// The browser was ended.
    pub(super) fn vacate(&mut self, at: usize) {
        if let Some(holder) = self.holders.get_mut(at) {
            *holder = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(account: AccountId, alone: bool) -> LeaseTab {
        LeaseTab { alone, ..LeaseTab::new(account, Lane::Scripted) }
    }

    fn assigned(
        quarantine: &mut Quarantine,
        browsers: &[Occupancy],
        line: &[LeaseTab],
    ) -> Vec<Option<usize>> {
        let mut pass = Quarantine::pass(browsers.to_vec(), 2);
        line.iter().map(|request| quarantine.assign(*request, &mut pass)).collect()
    }

    #[test]
    fn a_stay_ends_and_begins_anew_with_each_death() {
        let (account, now) = (AccountId::generate(), Instant::now());
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        quarantine.admit(account, Lane::Scripted, now);
        assert!(quarantine.holds(request(account, false)));
        assert!(!quarantine.holds(LeaseTab { lane: Lane::Static, ..request(account, false) }));
        quarantine.admit(account, Lane::Scripted, now + Duration::from_mins(4));
        quarantine.release(now + Duration::from_mins(6));
        assert_eq!(quarantine.count(), 1);
        quarantine.release(now + Duration::from_mins(9));
        assert!(!quarantine.holds(request(account, false)) && quarantine.holds(request(account, true)));
    }

    #[test]
    fn no_two_accounts_share_a_quarantine_browser() {
        let [one, two, three] = [(); 3].map(|()| AccountId::generate());
        let mut quarantine = Quarantine::new(2, Duration::from_mins(5));
        let empty = [Occupancy::default(); 2];
        let line = [one, two, one, three, two].map(|account| request(account, false));
        // The third waits for a browser: no later page gets ahead of it.
        assert_eq!(assigned(&mut quarantine, &empty, &line), [Some(0), Some(1), Some(0), None, None]);
        // It gets the first browser without a page.
        let browsers = [Occupancy { pages: 1, is_alone: false }, Occupancy::default()];
        assert_eq!(
            assigned(&mut quarantine, &browsers, &[request(three, false), request(two, false)]),
            [Some(1), None]
        );
    }

    #[test]
    fn a_quarantine_browser_has_so_many_pages_or_one_alone_that_is_not_overtaken() {
        let account = AccountId::generate();
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        let others = [request(account, false); 3];
        assert_eq!(assigned(&mut quarantine, &[Occupancy::default()], &others), [Some(0), Some(0), None]);
        let line = [request(account, false), request(account, true), request(account, false)];
        assert_eq!(assigned(&mut quarantine, &[Occupancy::default()], &line), [Some(0), None, None]);
        assert_eq!(assigned(&mut quarantine, &[Occupancy::default()], &line[1..]), [Some(0), None]);
        let taken = [Occupancy { pages: 1, is_alone: true }];
        assert_eq!(assigned(&mut quarantine, &taken, &line), [None, None, None]);
    }

    #[test]
    fn a_quarantine_browser_is_unneeded_when_its_holder_is_released() {
        let (account, now) = (AccountId::generate(), Instant::now());
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        quarantine.admit(account, Lane::Scripted, now);
        assigned(&mut quarantine, &[Occupancy::default()], &[request(account, false)]);
        assert!(!quarantine.is_unneeded(0) && quarantine.holders == [Some(account)]);
        quarantine.release(now + Duration::from_mins(5));
        assert!(quarantine.is_unneeded(0));
        quarantine.vacate(0);
        assert_eq!(quarantine.holders, [None]);
    }
}
