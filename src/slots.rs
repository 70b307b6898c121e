//! Slots of one resource, shared fairly between accounts.
//!
//! Hazard: an account that holds every slot (tabs, turns of static pages, template processes) until its deadline keeps all
//! others waiting until then. So one account gets a share that leaves some slots free, and of the waiting accounts the one
//! that holds the fewest is served first.
//!
//! Plain types with a lock, which engines and the browser's pool hold: a slot is freed by `Drop`, which cannot wait for an
//! actor. `meter` measures what a job costs. `engines` has the slots of engines that run heavy programs, and the budget of
//! cores that they share.

pub mod engines;
pub mod meter;

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::domain::ids::AccountId;

/// An account's share leaves one slot in so many to other accounts.
const LEFT_TO_OTHERS: usize = 4;

/// How many slots of a resource one account may hold (`jobs.running_account_limit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountShare {
    /// The configured number; `None` for a part of the slots.
    limit: Option<usize>,
}

/// The slots of one resource. Clones share them.
#[derive(Clone, Debug)]
pub struct AccountSlots {
    inner: Arc<Inner>,
}

/// One slot, or several that were acquired at once; free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    inner: Arc<Inner>,
    account: AccountId,
    count: usize,
}

#[derive(Debug)]
struct Inner {
    share: usize,
    state: Mutex<State>,
    /// Notified when a slot may be free.
    freed: Notify,
}

#[derive(Debug)]
struct State {
    free: usize,
    held: HashMap<AccountId, usize>,
    /// The account that got the last slot. It comes behind others that hold as many, so that with one slot accounts
    /// alternate.
    last: Option<AccountId>,
    waiters: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    account: AccountId,
    count: usize,
    grant: oneshot::Sender<Slot>,
}

/// Serves the waiters when a wait ends or is cancelled.
///
/// Hazard: a waiter for several slots that is first keeps free ones from those behind it. When it is cancelled, no slot is
/// freed that would wake the others, and they would wait beside free slots for ever.
struct WaitGuard<'a> {
    inner: &'a Arc<Inner>,
}

impl AccountShare {
    /// At most `configured` slots of any resource; 0: all but a quarter, at least one free.
    pub fn new(configured: u64) -> Self {
        Self { limit: usize::try_from(configured).ok().filter(|limit| *limit > 0) }
    }

    /// Every slot, where there is one account only.
    pub fn whole() -> Self {
        Self { limit: Some(usize::MAX) }
    }

    /// What one account may hold of `slots`; one at least, for a single slot cannot be shared.
    pub fn of(self, slots: usize) -> usize {
        let by_slots = slots.saturating_sub((slots / LEFT_TO_OTHERS).max(1));
        self.limit.map_or(by_slots, |limit| limit.min(slots)).max(1)
    }
}

impl AccountSlots {
    /// `count` slots, at least one, of which an account gets its `share`.
    pub fn new(count: usize, share: AccountShare) -> Self {
        let free = count.max(1);
        let state = State { free, held: HashMap::new(), last: None, waiters: VecDeque::new() };
        let inner = Inner { share: share.of(free), state: Mutex::new(state), freed: Notify::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Waits for a slot. Dropping the future cancels the wait.
    pub async fn acquire(&self, account: AccountId) -> Slot {
        self.acquire_many(account, 1).await
    }

    /// Waits for `count` slots and takes them at once: two jobs that each hold a part of what they need would wait for each
    /// other for ever. A count above the account's share is lowered to it, or it would never be served.
    pub async fn acquire_many(&self, account: AccountId, count: usize) -> Slot {
        let count = count.clamp(1, self.inner.share);
        // Declared before the receiver below, and so dropped after it: when the guard serves the queue, this waiter's channel
        // is closed, and the waiter is skipped.
        let _guard = WaitGuard { inner: &self.inner };
        loop {
            let (grant, granted) = oneshot::channel();
            self.inner.state.lock().waiters.push_back(Waiter { account, count, grant });
            self.inner.serve();
            // The sender is dropped unused only if its waiter was removed from the queue, which does not happen while this
            // future lives. Should it happen all the same, join the queue again.
            if let Ok(slot) = granted.await {
                return slot;
            }
        }
    }

    /// Waits for an unclaimed slot, as [`try_acquire`](Self::try_acquire). For work that must not delay those in the queue.
    pub async fn acquire_unclaimed(&self, account: AccountId) -> Slot {
        loop {
            let mut freed = pin!(self.inner.freed.notified());
            // Registered before the attempt: a slot that is freed after the attempt and before the wait must end the wait.
            freed.as_mut().enable();
            if let Some(slot) = self.try_acquire(account) {
                return slot;
            }
            freed.await;
        }
    }

    /// A free slot that is unclaimed: no account that waits in the queue may have it within its share, not even once more slots
    /// are free.
    pub fn try_acquire(&self, account: AccountId) -> Option<Slot> {
        let is_taken = self.inner.state.lock().take_unclaimed(account, self.inner.share);
        is_taken.then(|| Slot { inner: Arc::clone(&self.inner), account, count: 1 })
    }
}

impl Inner {
    /// Gives free slots to waiters. The lock is released before each slot is sent: a slot that cannot be delivered is dropped,
    /// and its `Drop` takes the lock.
    fn serve(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().next(self.share);
            let Some(Waiter { account, count, grant }) = next else { break };
            drop(grant.send(Slot { inner: Arc::clone(self), account, count }));
        }
    }
}

impl State {
    /// Takes a free slot that is unclaimed.
    fn take_unclaimed(&mut self, account: AccountId, share: usize) -> bool {
        self.first(share).is_none() && self.take(account, 1, share)
    }

    fn take(&mut self, account: AccountId, count: usize, share: usize) -> bool {
        let held = self.held(account);
        let is_free = self.free >= count && held + count <= share;
        if is_free {
            self.free -= count;
            self.held.insert(account, held + count);
            self.last = Some(account);
        }
        is_free
    }

    /// Takes out the waiter that is served next, if as many slots are free as it asked for. If not, none behind it is served
    /// first: requests for single slots would otherwise keep one for several waiting for ever.
    fn next(&mut self, share: usize) -> Option<Waiter> {
        let at = self.first(share)?;
        let Waiter { account, count, .. } = *self.waiters.get(at)?;
        if self.take(account, count, share) { self.waiters.remove(at) } else { None }
    }

    /// The waiter that is served next: of accounts below their share the one that holds the fewest slots, its earliest
    /// waiter.
    fn first(&mut self, share: usize) -> Option<usize> {
        self.waiters.retain(|waiter| !waiter.grant.is_closed());
        let waiters =
            self.waiters.iter().enumerate().map(|(at, waiter)| (at, waiter, self.held(waiter.account)));
        let allowed = waiters.filter(|(_, waiter, held)| held + waiter.count <= share);
        let first = allowed.min_by_key(|(_, waiter, held)| (*held, self.last == Some(waiter.account)));
        first.map(|(at, ..)| at)
    }

    fn held(&self, account: AccountId) -> usize {
        self.held.get(&account).copied().unwrap_or(0)
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.inner.serve();
        self.inner.freed.notify_waiters();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.inner.state.lock();
            state.free += self.count;
            if let Some(held) = state.held.get_mut(&self.account) {
                *held -= self.count;
                if *held == 0 {
                    state.held.remove(&self.account);
                }
            }
        }
        self.inner.serve();
        self.inner.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use tokio::time::timeout;

    use super::*;

    /// The future, which waits.
    #[track_caller]
    pub(super) fn pending<F: Future>(wait: F) -> Pin<Box<F>> {
        let mut wait = Box::pin(wait);
        assert!(wait.as_mut().now_or_never().is_none());
        wait
    }

    #[test]
    fn a_share_leaves_a_quarter_and_at_least_one_slot_free() {
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
        let mut fourth = pending(slots.acquire(many));
        let theirs = slots.acquire(other).now_or_never();
        assert!(theirs.is_some());
        drop(theirs);
        assert!(fourth.as_mut().now_or_never().is_none(), "a slot that is free is not the account's");
        held.pop();
        drop(fourth.await);
    }

    #[tokio::test]
    async fn the_account_with_the_fewest_slots_is_served_first_and_cancelled_waits_are_skipped() {
        let slots = AccountSlots::new(2, AccountShare::whole());
        let (many, other) = (AccountId::generate(), AccountId::generate());
        let (first, second) = (slots.acquire(many).await, slots.acquire(many).await);
        let mut next = pending(slots.acquire(many));
        drop(pending(slots.acquire(other)));
        let mut late = pending(slots.acquire(other));
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
        let mut second = pending(slots.acquire(many));
        let late = pending(slots.acquire(other));
        drop(held);
        assert!(second.as_mut().now_or_never().is_none());
        drop(late.await);
        drop(second.await);
    }

    #[tokio::test]
    async fn acquire_unclaimed_takes_no_slot_that_a_waiter_may_have() {
        let slots = AccountSlots::new(1, AccountShare::new(0));
        let (one, two) = (AccountId::generate(), AccountId::generate());
        let held = slots.acquire(one).await;
        let mut aside = pending(slots.acquire_unclaimed(one));
        let waiting = pending(slots.acquire(two));
        drop(held);
        assert!(aside.as_mut().now_or_never().is_none());
        drop(waiting.now_or_never());
        drop(aside.await);
    }

    #[tokio::test]
    async fn several_slots_are_acquired_at_once_and_single_requests_do_not_overtake() {
        let slots = AccountSlots::new(3, AccountShare::whole());
        let (wide, narrow) = (AccountId::generate(), AccountId::generate());
        let (first, second) = (slots.acquire(narrow).await, slots.acquire(narrow).await);
        let both = pending(slots.acquire_many(wide, 2));
        // One is free, and it is not its turn.
        let mut late = pending(slots.acquire(narrow));
        let aside = pending(slots.acquire_unclaimed(narrow));
        drop(first);
        let both = both.now_or_never();
        assert!(both.is_some() && late.as_mut().now_or_never().is_none());
        drop(both);
        assert!(late.now_or_never().is_some() && aside.now_or_never().is_some());
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_the_first_wait_serves_those_behind_it() {
        let slots = AccountSlots::new(3, AccountShare::whole());
        let (wide, narrow) = (AccountId::generate(), AccountId::generate());
        let held = slots.acquire_many(narrow, 2).await;
        let first = pending(slots.acquire_many(wide, 2));
        let behind = tokio::spawn({
            let slots = slots.clone();
            async move { slots.acquire(narrow).await }
        });
        tokio::task::yield_now().await;
        assert!(!behind.is_finished(), "one is free, and it is not its turn");
        drop(first);
        let served = timeout(Duration::from_secs(1), behind).await;
        assert!(served.is_ok(), "nothing else would wake it: no slot was given back");
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_the_first_wait_wakes_acquire_unclaimed() {
        let slots = AccountSlots::new(2, AccountShare::whole());
        let (wide, narrow) = (AccountId::generate(), AccountId::generate());
        let held = slots.acquire(narrow).await;
        let first = pending(slots.acquire_many(wide, 2));
        let aside = tokio::spawn({
            let slots = slots.clone();
            async move { slots.acquire_unclaimed(narrow).await }
        });
        tokio::task::yield_now().await;
        assert!(!aside.is_finished());
        drop(first);
        assert!(timeout(Duration::from_secs(1), aside).await.is_ok());
        drop(held);
    }

    #[tokio::test]
    async fn a_request_above_the_share_gets_the_share() {
        let slots = AccountSlots::new(4, AccountShare::new(0));
        let wide = slots.acquire_many(AccountId::generate(), 9).now_or_never();
        assert_eq!(wide.map(|slot| slot.count), Some(3));
    }
}
