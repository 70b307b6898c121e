//! Slots of one resource, shared fairly between accounts.
//!
//! Hazard: an account that holds every slot (tabs, turns of static pages, template processes) until its deadline keeps all
//! others waiting until then. So one account gets a share that leaves some slots free, and of the waiting accounts the one
//! that holds the fewest is served first.
//!
//! Plain types with a lock, which engines and the browser's pool hold: a slot is freed by `Drop`, which cannot wait for an
//! actor. `meter` measures what a job costs. `engines` has the slots of engines that run heavy programs, and the budget of
//! cores that they share. By `way` a long job makes way: its slot is moved to the overflow slots, and is free for others.

pub mod engines;
pub mod meter;
pub mod way;

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};

use self::way::{LOOK_PAUSE, MakesWay, Way, longest};
use crate::domain::ids::AccountId;

/// An account's share leaves one slot in so many to other accounts.
const LEFT_TO_OTHERS: usize = 4;

/// How many slots of a resource one account may hold (`jobs.running_account_limit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountShare {
    /// The configured number; `None` for a part of the slots.
    limit: Option<usize>,
    /// Jobs that made way and go on beside the slots (`engines.overflow_slots`); `None`: as many as there are slots.
    overflow: Option<usize>,
}

/// The slots of one resource. Clones share them.
#[derive(Clone, Debug)]
pub struct AccountSlots {
    inner: Arc<Inner>,
}

/// One slot, or several that were acquired at once; free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    held: Arc<Held>,
}

/// What a slot stands for. Its job may make way with it.
#[derive(Debug)]
struct Held {
    inner: Arc<Inner>,
    account: AccountId,
    count: usize,
    /// Changed under the lock of the slots.
    is_beside: AtomicBool,
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
    /// Free overflow slots, into which jobs that make way move theirs.
    overflow: usize,
    /// What an account holds, overflow slots included.
    held: HashMap<AccountId, usize>,
    /// Slots that are held, with their jobs, which can make way.
    holders: Vec<(Weak<Held>, Instant, Way)>,
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
        Self { limit: usize::try_from(configured).ok().filter(|limit| *limit > 0), overflow: None }
    }

    /// With so many overflow slots; 0: as many as there are slots.
    #[must_use]
    pub fn with_overflow(self, configured: u64) -> Self {
        Self { overflow: usize::try_from(configured).ok().filter(|count| *count > 0), ..self }
    }

    /// Every slot, where there is one account only.
    pub fn whole() -> Self {
        Self { limit: Some(usize::MAX), overflow: None }
    }

    /// This overflow, and every slot for whoever comes.
    #[must_use]
    pub fn made_whole(self) -> Self {
        Self { limit: Some(usize::MAX), ..self }
    }

    /// How many jobs that made way go on beside so many slots.
    pub fn overflow_of(self, slots: usize) -> usize {
        self.overflow.unwrap_or(slots)
    }

    /// What one account may hold of `slots`; one at least, for a single slot cannot be shared.
    pub fn of(self, slots: usize) -> usize {
        let by_slots = slots.saturating_sub((slots / LEFT_TO_OTHERS).max(1));
        self.limit.map_or(by_slots, |limit| limit.min(slots)).max(1)
    }
}

impl AccountSlots {
    /// `count` slots, at least one, of which an account gets its `share`, and its overflow slots.
    pub fn new(count: usize, share: AccountShare) -> Self {
        let free = count.max(1);
        let overflow = share.overflow_of(free);
        let state = State {
            free,
            overflow,
            held: HashMap::new(),
            holders: Vec::new(),
            last: None,
            waiters: VecDeque::new(),
        };
        let inner = Inner { share: share.of(free), state: Mutex::new(state), freed: Notify::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Whether anybody holds one.
    fn is_any_held(&self) -> bool {
        !self.inner.state.lock().held.is_empty()
    }

    /// Waits for a slot. Dropping the future cancels the wait.
    pub async fn acquire(&self, account: AccountId) -> Slot {
        self.acquire_many(account, 1).await
    }

    /// Waits for `count` slots for a job. It makes way with them when others wait, and while it waits others make way for it.
    pub async fn acquire_for(&self, way: &Way, count: usize) -> Slot {
        let slot = {
            let mut slot = pin!(self.acquire_many(way.account(), count));
            loop {
                match timeout(LOOK_PAUSE, &mut slot).await {
                    Ok(slot) => break slot,
                    Err(_) => self.inner.ask_for_way(way.account()),
                }
            }
        };
        slot.make_way_with(way);
        slot
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
        is_taken.then(|| Slot::new(&self.inner, account, 1))
    }
}

impl Slot {
    fn new(inner: &Arc<Inner>, account: AccountId, count: usize) -> Self {
        let is_beside = AtomicBool::new(false);
        Self { held: Arc::new(Held { inner: Arc::clone(inner), account, count, is_beside }) }
    }

    /// How many slots it is.
    fn count(&self) -> usize {
        self.held.count
    }

    /// Lets the job make way with it.
    fn make_way_with(&self, way: &Way) {
        {
            let mut state = self.held.inner.state.lock();
            // Counted, not upgraded: whoever drops the last one needs the lock.
            state.holders.retain(|(held, ..)| held.strong_count() > 0);
            state.holders.push((Arc::downgrade(&self.held), Instant::now(), way.clone()));
        }
        way.hold(&self.held);
    }
}

impl Held {
    /// Whether it is an overflow slot.
    fn is_beside(&self) -> bool {
        self.is_beside.load(Ordering::Relaxed)
    }
}

impl MakesWay for Held {
    /// Moves it to the overflow slots, if there are free ones and it is none yet.
    fn make_way(&self) {
        {
            let mut state = self.inner.state.lock();
            let Some(left) = state.overflow.checked_sub(self.count).filter(|_| !self.is_beside()) else {
                return;
            };
            (state.overflow, state.free) = (left, state.free + self.count);
            self.is_beside.store(true, Ordering::Relaxed);
        }
        self.inner.serve();
        self.inner.freed.notify_waiters();
    }
}

impl Inner {
    /// Gives free slots to waiters. The lock is released before each slot is sent: a slot that cannot be delivered is dropped,
    /// and its `Drop` takes the lock.
    fn serve(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().next(self.share);
            let Some(Waiter { account, count, grant }) = next else { break };
            drop(grant.send(Slot::new(self, account, count)));
        }
    }

    /// Has a job of another account make way, if `waiting` is the account that is served next and there is room.
    fn ask_for_way(&self, waiting: AccountId) {
        // Dropped after the lock is free: the last one takes it.
        let living: Vec<(Arc<Held>, Instant, Way)>;
        let way = {
            let mut state = self.state.lock();
            let next = state.first(self.share).and_then(|at| state.waiters.get(at));
            if state.overflow == 0 || next.is_none_or(|waiter| waiter.account != waiting) {
                return;
            }
            let held = state.holders.iter();
            living =
                held.filter_map(|(held, since, way)| Some((held.upgrade()?, *since, way.clone()))).collect();
            longest(waiting, living.iter().map(|(_, since, way)| (*since, way))).cloned()
        };
        // One whose job made way when there was no room for it.
        let left = living
            .iter()
            .find(|(held, _, way)| way.account() != waiting && way.has_made_way() && !held.is_beside());
        match (left, way) {
            (Some((held, ..)), _) => held.make_way(),
            (None, Some(way)) => way.make(),
            (None, None) => {}
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

impl Drop for Held {
    fn drop(&mut self) {
        {
            let mut state = self.inner.state.lock();
            if self.is_beside() {
                state.overflow += self.count;
            } else {
                state.free += self.count;
            }
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
mod tests;
