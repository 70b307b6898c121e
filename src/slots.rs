//! Slots of one resource, shared fairly between accounts.
//!
//! Hazard: whoever holds every slot (tabs, turns of static pages, template processes) until a deadline stops
//! everybody else for as long. So one account gets a share that leaves some free, and of those who wait the account
//! that holds the fewest is served first.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

use crate::domain::ids::AccountId;

/// The part of a resource that is left to other accounts: one slot in so many.
const LEFT_TO_OTHERS: usize = 4;

/// How many slots of a resource one account may hold (`jobs.running_account_limit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountShare {
    /// As configured; `None`: by the number of slots.
    limit: Option<usize>,
}

/// The slots of one resource. Clones share them.
#[derive(Clone, Debug)]
pub struct AccountSlots {
    inner: Arc<Inner>,
}

/// One slot; free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    inner: Arc<Inner>,
    account: AccountId,
}

#[derive(Debug)]
struct Inner {
    share: usize,
    state: Mutex<State>,
    /// Told when a slot is free that nobody waits for.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    free: usize,
    held: HashMap<AccountId, usize>,
    /// Who got the last slot: of accounts that hold as many the others are served first.
    last: Option<AccountId>,
    line: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    account: AccountId,
    grant: oneshot::Sender<Slot>,
}

impl AccountShare {
    /// At most `configured` slots of any resource; 0: all but a quarter, at least one free.
    #[must_use]
    pub fn new(configured: u64) -> Self {
        Self { limit: usize::try_from(configured).ok().filter(|limit| *limit > 0) }
    }

    /// Every slot: for who is alone.
    #[must_use]
    pub fn whole() -> Self {
        Self { limit: Some(usize::MAX) }
    }

    /// What one account may hold of `slots`: one at least, for with one slot there is nothing to share.
    #[must_use]
    pub fn of(self, slots: usize) -> usize {
        let by_slots = slots.saturating_sub((slots / LEFT_TO_OTHERS).max(1));
        self.limit.map_or(by_slots, |limit| limit.min(slots)).max(1)
    }
}

impl AccountSlots {
    /// `count` slots, at least one, of which an account gets its `share`.
    #[must_use]
    pub fn new(count: usize, share: AccountShare) -> Self {
        let free = count.max(1);
        let state = State { free, held: HashMap::new(), last: None, line: VecDeque::new() };
        let inner = Inner { share: share.of(free), state: Mutex::new(state), freed: Notify::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Waits for a slot. Dropping the future gives the place in line up.
    pub async fn acquire(&self, account: AccountId) -> Slot {
        loop {
            let granted = {
                let mut state = self.inner.state();
                if state.take(account, self.inner.share) {
                    return self.slot(account);
                }
                let (grant, granted) = oneshot::channel();
                state.line.push_back(Waiter { account, grant });
                granted
            };
            // Nobody drops a waiter that still waits; if somebody did, it would ask again.
            if let Ok(slot) = granted.await {
                return slot;
            }
        }
    }

    /// Waits for a slot that nobody in line may have.
    pub async fn acquire_idle(&self, account: AccountId) -> Slot {
        loop {
            let mut freed = pin!(self.inner.freed.notified());
            // Heard from now on, also while the slots are looked at.
            freed.as_mut().enable();
            if self.inner.state().take(account, self.inner.share) {
                return self.slot(account);
            }
            freed.await;
        }
    }

    fn slot(&self, account: AccountId) -> Slot {
        Slot { inner: Arc::clone(&self.inner), account }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can stop half-way; a poisoned state is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free slots to those who wait. A slot that is dropped takes the lock, so none is while it is held.
    fn serve(self: &Arc<Self>) {
        loop {
            let next = self.state().next(self.share);
            let Some(Waiter { account, grant }) = next else { break };
            drop(grant.send(Slot { inner: Arc::clone(self), account }));
        }
        self.freed.notify_waiters();
    }
}

impl State {
    /// Takes a free slot. Those in line cannot have it, or they would: they have their share.
    fn take(&mut self, account: AccountId, share: usize) -> bool {
        let held = self.held.get(&account).copied().unwrap_or(0);
        let is_free = self.free > 0 && held < share;
        if is_free {
            self.free -= 1;
            self.held.insert(account, held + 1);
            self.last = Some(account);
        }
        is_free
    }

    /// Who gets the next slot: of those below their share the account that holds the fewest, who came first of it.
    fn next(&mut self, share: usize) -> Option<Waiter> {
        self.line.retain(|waiter| !waiter.grant.is_closed());
        let held = |waiter: &Waiter| self.held.get(&waiter.account).copied().unwrap_or(0);
        let line = self.line.iter().enumerate().map(|(at, waiter)| (at, held(waiter)));
        let (at, _) = line.filter(|(_, held)| *held < share).min_by_key(|(at, held)| {
            (*held, self.line.get(*at).is_some_and(|waiter| self.last == Some(waiter.account)))
        })?;
        let account = self.line.get(at)?.account;
        if self.take(account, share) { self.line.remove(at) } else { None }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.inner.state();
            state.free += 1;
            if let Some(held) = state.held.get_mut(&self.account) {
                *held -= 1;
                if *held == 0 {
                    state.held.remove(&self.account);
                }
            }
        }
        self.inner.serve();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_share_leaves_a_quarter_and_at_least_one() {
        let shares = [1, 2, 3, 4, 8, 9, 16].map(|slots| AccountShare::new(0).of(slots));
        assert_eq!(shares, [1, 1, 2, 3, 6, 7, 12]);
        assert_eq!([1, 3, 100].map(|slots| AccountShare::new(5).of(slots)), [1, 3, 5]);
        assert_eq!(AccountShare::whole().of(8), 8);
    }

    #[tokio::test]
    async fn no_account_holds_every_slot_while_others_may_come() {
        let slots = AccountSlots::new(4, AccountShare::new(0));
        let (many, other) = (AccountId::generate(), AccountId::generate());
        let mut held: Vec<_> = (0..3).filter_map(|_| slots.acquire(many).now_or_never()).collect();
        assert_eq!(held.len(), 3);
        let mut fourth = Box::pin(slots.acquire(many));
        assert!(fourth.as_mut().now_or_never().is_none());
        let theirs = slots.acquire(other).now_or_never();
        assert!(theirs.is_some());
        drop(theirs);
        assert!(fourth.as_mut().now_or_never().is_none(), "a slot that is free is not the account's");
        held.pop();
        drop(fourth.await);
    }

    #[tokio::test]
    async fn who_holds_fewest_is_served_first_and_who_left_is_passed_over() {
        let slots = AccountSlots::new(2, AccountShare::whole());
        let (many, other) = (AccountId::generate(), AccountId::generate());
        let (first, second) = (slots.acquire(many).await, slots.acquire(many).await);
        let mut next = Box::pin(slots.acquire(many));
        assert!(next.as_mut().now_or_never().is_none());
        {
            let mut gone = Box::pin(slots.acquire(other));
            assert!(gone.as_mut().now_or_never().is_none());
        }
        let mut late = Box::pin(slots.acquire(other));
        assert!(late.as_mut().now_or_never().is_none());
        drop(first);
        assert!(next.as_mut().now_or_never().is_none());
        let theirs = late.as_mut().now_or_never();
        assert!(theirs.is_some());
        drop(second);
        assert!(next.now_or_never().is_some());
    }

    #[tokio::test]
    async fn with_one_slot_accounts_take_turns() {
        let slots = AccountSlots::new(1, AccountShare::new(0));
        let (many, other) = (AccountId::generate(), AccountId::generate());
        let held = slots.acquire(many).await;
        let mut second = Box::pin(slots.acquire(many));
        assert!(second.as_mut().now_or_never().is_none());
        let mut late = Box::pin(slots.acquire(other));
        assert!(late.as_mut().now_or_never().is_none());
        drop(held);
        assert!(second.as_mut().now_or_never().is_none());
        drop(late.await);
        drop(second.await);
    }

    #[tokio::test]
    async fn work_aside_takes_no_slot_that_somebody_waits_for() {
        let slots = AccountSlots::new(1, AccountShare::new(0));
        let (one, two) = (AccountId::generate(), AccountId::generate());
        let held = slots.acquire(one).await;
        let mut aside = Box::pin(slots.acquire_idle(one));
        assert!(aside.as_mut().now_or_never().is_none());
        let mut waiting = Box::pin(slots.acquire(two));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(held);
        assert!(aside.as_mut().now_or_never().is_none());
        drop(waiting.now_or_never());
        drop(aside.await);
    }
}
