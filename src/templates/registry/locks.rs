//! The locks of templates, each with its queue, and how many changes each account has under way.
//!
//! Plain maps: the registry alone decides, one message after the other.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::{Code, Problem};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The lock of a template.
    Template(TemplateId),
    /// One of the changes that an account may have under way.
    Change(AccountId),
}

/// A lock or a counted change; dropping it releases it.
///
/// Hazard: a drop can neither wait nor be refused, and a lock that is not released locks its template until the service ends.
/// So a dropped guard is reported through a channel without a bound and not through the mailbox, which may be full. The
/// channel stays short: it never has more entries than there are guards.
#[derive(Debug)]
pub(in crate::templates) struct Guard {
    held: Held,
    released: UnboundedSender<Held>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It fails only where the registry has stopped, and its locks with it.
        let _ = self.released.send(self.held);
    }
}

/// The locks of a change. Clones share them: they are released when the last clone is dropped.
pub(in crate::templates) type TemplateLock = Arc<Vec<Guard>>;

/// The templates that are locked, and how many changes each account has under way.
#[derive(Debug)]
pub(in crate::templates) struct ChangeLocks {
    /// The locked templates, each with those that wait for its lock, in order.
    queues: HashMap<TemplateId, VecDeque<oneshot::Sender<Guard>>>,
    changes: HashMap<AccountId, u64>,
    account_limit: u64,
    released: UnboundedSender<Held>,
    incoming: UnboundedReceiver<Held>,
}

impl ChangeLocks {
    /// Nothing is locked; an account may have `account_limit` changes under way.
    pub fn new(account_limit: u64) -> Self {
        let (released, incoming) = mpsc::unbounded_channel();
        Self { queues: HashMap::new(), changes: HashMap::new(), account_limit, released, incoming }
    }

    /// Lets a change of `account` begin; it is under way until the guard is dropped.
    ///
    /// # Errors
    /// `rate_limited` when the account has as many under way as it may have.
    pub fn admit(&mut self, account: AccountId) -> Result<Guard, Problem> {
        // A caller may ask again as soon as it is answered. The guard of the answered change is dropped by then, but the actor
        // may not have been polled for it yet, and the change would still count.
        self.release_dropped();
        let count = self.changes.get(&account).copied().unwrap_or(0);
        if count >= self.account_limit {
            let limit = self.account_limit;
            let detail = format!(
                "This account has {limit} changes of templates under way (templates.changes_account_limit); wait for \
                 some to end."
            );
            return Err(Problem::new(Code::RateLimited, detail));
        }
        self.changes.insert(account, count + 1);
        Ok(self.guard(Held::Change(account)))
    }

    /// The lock of `template`, as soon as those who asked for it before have released it. Where the receiver was dropped
    /// meanwhile, the lock goes to the next one at once.
    pub fn lock(&mut self, template: TemplateId) -> oneshot::Receiver<Guard> {
        let (grant, granted) = oneshot::channel();
        if let Some(queue) = self.queues.get_mut(&template) {
            queue.push_back(grant);
        } else {
            self.queues.insert(template, VecDeque::new());
            // It cannot fail: the receiver is in hand.
            let _ = grant.send(self.guard(Held::Template(template)));
        }
        granted
    }

    /// Releases what dropped guards held; never ready, so that it is polled again.
    pub fn poll_released(&mut self, task: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(Some(held)) = self.incoming.poll_recv(task) {
            self.release(held);
        }
        Poll::Pending
    }

    /// Releases what the guards held that have been dropped so far.
    fn release_dropped(&mut self) {
        while let Ok(held) = self.incoming.try_recv() {
            self.release(held);
        }
    }

    fn release(&mut self, held: Held) {
        match held {
            Held::Template(template) => self.grant_next(template),
            Held::Change(account) => {
                if let Entry::Occupied(mut count) = self.changes.entry(account) {
                    *count.get_mut() -= 1;
                    if *count.get() == 0 {
                        count.remove();
                    }
                }
            }
        }
    }

    /// Gives the lock to the first who still waits for it.
    fn grant_next(&mut self, template: TemplateId) {
        while let Some(next) = self.queues.get_mut(&template).and_then(VecDeque::pop_front) {
            // A guard sent to a closed receiver would be dropped, and the lock released twice.
            if !next.is_closed() {
                let _ = next.send(self.guard(Held::Template(template)));
                return;
            }
        }
        self.queues.remove(&template);
    }

    fn guard(&self, held: Held) -> Guard {
        Guard { held, released: self.released.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_granted_in_order_and_skips_waiters_that_gave_up() {
        let mut locks = ChangeLocks::new(1);
        let (one, other) = (TemplateId::generate(), TemplateId::generate());
        let held = locks.lock(one).try_recv().unwrap();
        let (gone, mut next, mut last) = (locks.lock(one), locks.lock(one), locks.lock(one));
        assert!(locks.lock(other).try_recv().is_ok(), "another template has a lock of its own");
        assert!(next.try_recv().is_err());
        drop(gone);
        drop(held);
        locks.release_dropped();
        let held = next.try_recv().unwrap();
        assert!(last.try_recv().is_err());
        drop(held);
        locks.release_dropped();
        // Granted, and never taken out of the channel.
        drop(last);
        locks.release_dropped();
        assert!(locks.queues.is_empty(), "a lock that nobody holds is forgotten");
    }

    #[test]
    fn changes_under_way_are_limited_for_each_account() {
        let mut locks = ChangeLocks::new(2);
        let (one, other) = (AccountId::generate(), AccountId::generate());
        let held = [locks.admit(one).unwrap(), locks.admit(one).unwrap()];
        assert_eq!(locks.admit(one).unwrap_err().code, Code::RateLimited);
        drop(locks.admit(other).unwrap());
        drop(held);
        drop(locks.admit(one).expect("what was given back counts no more, polled or not"));
        locks.release_dropped();
        assert!(locks.changes.is_empty());
    }
}
