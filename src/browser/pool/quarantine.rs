//! Quarantine: accounts in whose pages' browser a browser died, apart from everybody else for a while.
//!
//! Hazard: a page can fill or crash Chromium's own process, which ends every page in it, and nothing tells whose
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
//! Rooms are few (`browser.quarantine_processes`), so who waits for one is served in order: an account that holds a
//! room gets no further page while an earlier one of another account waits for any.
//!
//! Pure: it knows neither browsers nor the time.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::messages::LeaseTab;
use crate::domain::ids::AccountId;
use crate::domain::lane::Lane;

/// Who is in quarantine, and which rooms they hold.
pub(in crate::browser) struct Quarantine {
    stay: Duration,
    until: HashMap<(AccountId, Lane), Instant>,
    holders: Vec<Option<AccountId>>,
}

/// A room as it is now.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::browser) struct Room {
    /// Pages in it.
    pub pages: usize,
    /// Its page may not have company.
    pub is_alone: bool,
}

/// One walk over those who wait, in their order.
pub(in crate::browser) struct Walk {
    rooms: Vec<Room>,
    /// Pages of one room at once.
    most: usize,
    /// Accounts of which an earlier page waits to be alone.
    held_back: HashSet<AccountId>,
    /// An earlier page waits for a room: no later one gets ahead of it.
    is_closed: bool,
}

impl Quarantine {
    /// Nobody yet; `rooms` of them, each stay as long as `stay`.
    pub(in crate::browser) fn new(rooms: usize, stay: Duration) -> Self {
        Self { stay, until: HashMap::new(), holders: vec![None; rooms] }
    }

    /// A browser died under a page of that account and lane.
    pub(in crate::browser) fn admit(&mut self, account: AccountId, lane: Lane, now: Instant) {
        self.until.insert((account, lane), now + self.stay);
    }

    /// Releases those whose time is over.
    pub(in crate::browser) fn release(&mut self, now: Instant) {
        self.until.retain(|_, until| *until > now);
    }

    /// How many accounts' lanes are in quarantine.
    pub(in crate::browser) fn count(&self) -> usize {
        self.until.len()
    }

    /// Whether its page goes to a room.
    pub(in crate::browser) fn holds(&self, asked: LeaseTab) -> bool {
        asked.alone || self.until.contains_key(&(asked.account, asked.lane))
    }

    /// Begins a walk over those who wait; `rooms` as they are now, in their order.
    pub(in crate::browser) fn walk(rooms: Vec<Room>, most: usize) -> Walk {
        Walk { rooms, most, held_back: HashSet::new(), is_closed: false }
    }

    /// The room for the next one who waits, and counts its page there; `None` when there is none for it now.
    pub(in crate::browser) fn place(&mut self, asked: LeaseTab, walk: &mut Walk) -> Option<usize> {
        if walk.is_closed || walk.held_back.contains(&asked.account) {
            return None;
        }
        let own = self.holders.iter().position(|holder| *holder == Some(asked.account));
        let Some(at) = own.or_else(|| self.assign(asked.account, walk)) else {
            walk.is_closed = true;
            return None;
        };
        let room = walk.rooms.get_mut(at)?;
        if room.is_alone || (asked.alone && room.pages > 0) {
            // Its later pages would keep the room from ever being empty.
            walk.held_back.insert(asked.account);
            return None;
        }
        if room.pages >= walk.most {
            return None;
        }
        room.pages += 1;
        room.is_alone = asked.alone;
        Some(at)
    }

    /// An empty room: one that nobody holds, or one of somebody who has no page now.
    fn assign(&mut self, account: AccountId, walk: &Walk) -> Option<usize> {
        let is_empty = |at: &usize| walk.rooms.get(*at).is_some_and(|room| room.pages == 0);
        let mut empty = (0..self.holders.len()).filter(is_empty);
        let free = empty.clone().find(|at| self.holders[*at].is_none());
        let at = free.or_else(|| empty.next())?;
        self.holders[at] = Some(account);
        Some(at)
    }

    /// Whether nobody needs the room: its holder is out of quarantine.
    pub(in crate::browser) fn is_unneeded(&self, at: usize) -> bool {
        let holder = self.holders.get(at).copied().flatten();
        !holder.is_some_and(|holder| self.until.keys().any(|(account, _)| *account == holder))
    }

    /// The room was closed.
    pub(in crate::browser) fn vacate(&mut self, at: usize) {
        if let Some(holder) = self.holders.get_mut(at) {
            *holder = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(account: AccountId, alone: bool) -> LeaseTab {
        LeaseTab { account, lane: Lane::Scripted, alone }
    }

    fn places(quarantine: &mut Quarantine, rooms: &[Room], line: &[LeaseTab]) -> Vec<Option<usize>> {
        let mut walk = Quarantine::walk(rooms.to_vec(), 2);
        line.iter().map(|asked| quarantine.place(*asked, &mut walk)).collect()
    }

    #[test]
    fn a_stay_ends_and_begins_anew_with_each_death() {
        let (account, now) = (AccountId::generate(), Instant::now());
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        quarantine.admit(account, Lane::Scripted, now);
        assert!(quarantine.holds(asked(account, false)));
        assert!(!quarantine.holds(LeaseTab { lane: Lane::Static, ..asked(account, false) }));
        quarantine.admit(account, Lane::Scripted, now + Duration::from_mins(4));
        quarantine.release(now + Duration::from_mins(6));
        assert_eq!(quarantine.count(), 1);
        quarantine.release(now + Duration::from_mins(9));
        assert!(!quarantine.holds(asked(account, false)) && quarantine.holds(asked(account, true)));
    }

    #[test]
    fn no_two_accounts_share_a_room() {
        let [one, two, three] = [(); 3].map(|()| AccountId::generate());
        let mut quarantine = Quarantine::new(2, Duration::from_mins(5));
        let empty = [Room::default(); 2];
        let line = [one, two, one, three, two].map(|account| asked(account, false));
        // Nobody gets ahead of the one who waits for a room.
        assert_eq!(places(&mut quarantine, &empty, &line), [Some(0), Some(1), Some(0), None, None]);
        // The third gets the first room that has no page.
        let rooms = [Room { pages: 1, is_alone: false }, Room::default()];
        assert_eq!(
            places(&mut quarantine, &rooms, &[asked(three, false), asked(two, false)]),
            [Some(1), None]
        );
    }

    #[test]
    fn a_room_has_so_many_pages_at_once() {
        let account = AccountId::generate();
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        let line = [asked(account, false); 3];
        assert_eq!(places(&mut quarantine, &[Room::default()], &line), [Some(0), Some(0), None]);
    }

    #[test]
    fn a_page_that_is_to_be_alone_has_no_company_and_is_not_overtaken() {
        let account = AccountId::generate();
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        let line = [asked(account, false), asked(account, true), asked(account, false)];
        assert_eq!(places(&mut quarantine, &[Room::default()], &line), [Some(0), None, None]);
        assert_eq!(places(&mut quarantine, &[Room::default()], &line[1..]), [Some(0), None]);
        let taken = [Room { pages: 1, is_alone: true }];
        assert_eq!(places(&mut quarantine, &taken, &line), [None, None, None]);
    }

    #[test]
    fn a_room_is_unneeded_when_its_holder_is_released() {
        let (account, now) = (AccountId::generate(), Instant::now());
        let mut quarantine = Quarantine::new(1, Duration::from_mins(5));
        quarantine.admit(account, Lane::Scripted, now);
        places(&mut quarantine, &[Room::default()], &[asked(account, false)]);
        assert!(!quarantine.is_unneeded(0) && quarantine.holders == [Some(account)]);
        quarantine.release(now + Duration::from_mins(5));
        assert!(quarantine.is_unneeded(0));
        quarantine.vacate(0);
        assert_eq!(quarantine.holders, [None]);
    }
}
