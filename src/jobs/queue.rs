//! The one queue of started jobs: bounded, and fair between accounts.
//!
//! Accounts take turns, jobs of one account keep their order: a flood from one account delays another's
//! single job by one job at most. An account that runs as many jobs as it may is passed over, so that slots are left
//! when others come while its jobs take long. A place is admitted before the job is journaled, so that the bound
//! holds while the write is under way.

use std::collections::{HashMap, VecDeque};

use crate::domain::ids::{AccountId, JobId};
use crate::telemetry::metrics::Level;

/// Why there is no place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// The whole queue is full (`jobs.queue_limit`).
    QueueFull,
    /// The account has as many jobs waiting as it may have (`jobs.queue_account_limit`).
    AccountFull,
}

impl NoPlace {
    /// The reason's name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::AccountFull => "account_full",
        }
    }
}

/// Jobs that wait for their turn.
#[derive(Debug)]
pub struct FairQueue {
    level: Level,
    limit: usize,
    account_limit: usize,
    turns: VecDeque<AccountId>,
    waiting: HashMap<AccountId, VecDeque<JobId>>,
    admitted: HashMap<AccountId, usize>,
    running: HashMap<AccountId, usize>,
    running_limit: usize,
    total: usize,
}

/// The bounds of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Jobs that have a place.
    pub all: usize,
    /// Those of one account.
    pub account: usize,
    /// Jobs of one account that run at once.
    pub running: usize,
}

impl FairQueue {
    /// An empty queue; `level` tells how many jobs there are in it.
    #[must_use]
    pub fn new(limits: QueueLimits, level: Level) -> Self {
        Self {
            level,
            limit: limits.all,
            account_limit: limits.account,
            running_limit: limits.running,
            running: HashMap::new(),
            turns: VecDeque::new(),
            waiting: HashMap::new(),
            admitted: HashMap::new(),
            total: 0,
        }
    }

    /// Jobs that have a place, waiting or about to.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.total
    }

    /// Takes a place for a job of `account` that is about to be journaled.
    ///
    /// # Errors
    /// When there is none.
    pub fn admit(&mut self, account: AccountId) -> Result<(), NoPlace> {
        if self.total >= self.limit {
            return Err(NoPlace::QueueFull);
        }
        if self.admitted.get(&account).copied().unwrap_or(0) >= self.account_limit {
            return Err(NoPlace::AccountFull);
        }
        self.occupy(account);
        Ok(())
    }

    /// Gives the place of a job back that was admitted and not entered.
    pub fn release(&mut self, account: AccountId) {
        self.total = self.total.saturating_sub(1);
        self.tell();
        if let Some(count) = self.admitted.get_mut(&account) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.admitted.remove(&account);
            }
        }
    }

    /// Enters a job that was admitted.
    pub fn enter(&mut self, account: AccountId, job: JobId) {
        let line = self.waiting.entry(account).or_default();
        if line.is_empty() {
            self.turns.push_back(account);
        }
        line.push_back(job);
    }

    /// Enters a job that was acknowledged in an earlier life of the service: it has a place whatever
    /// the limits say.
    pub fn readmit(&mut self, account: AccountId, job: JobId) {
        self.occupy(account);
        self.enter(account, job);
    }

    /// The next job whose turn it is, and whose it is; its place is free from now on, and it counts as running until
    /// [`Self::ended`].
    pub fn next(&mut self) -> Option<(AccountId, JobId)> {
        let may_run =
            |account: &AccountId| self.running.get(account).is_none_or(|it| *it < self.running_limit);
        let at = self.turns.iter().position(may_run)?;
        let account = self.turns.remove(at)?;
        let line = self.waiting.get_mut(&account)?;
        let job = line.pop_front();
        if line.is_empty() {
            self.waiting.remove(&account);
        } else {
            self.turns.push_back(account);
        }
        self.release(account);
        let job = job?;
        *self.running.entry(account).or_default() += 1;
        Some((account, job))
    }

    /// A job of `account` that had its turn runs no more.
    pub fn ended(&mut self, account: AccountId) {
        if let Some(count) = self.running.get_mut(&account) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&account);
            }
        }
    }

    /// Takes a job out that ended while it waited; of one that does not wait nothing changes.
    pub fn remove(&mut self, account: AccountId, job: JobId) {
        let Some(line) = self.waiting.get_mut(&account) else { return };
        let before = line.len();
        line.retain(|waiting| *waiting != job);
        if line.len() == before {
            return;
        }
        if line.is_empty() {
            self.waiting.remove(&account);
            self.turns.retain(|turn| *turn != account);
        }
        self.release(account);
    }

    fn occupy(&mut self, account: AccountId) {
        self.total += 1;
        *self.admitted.entry(account).or_default() += 1;
        self.tell();
    }

    fn tell(&self) {
        self.level.set(i64::try_from(self.total).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(all: usize, account: usize, running: usize) -> FairQueue {
        FairQueue::new(QueueLimits { all, account, running }, Level::default())
    }

    fn next(queue: &mut FairQueue) -> Option<JobId> {
        queue.next().map(|(_, job)| job)
    }

    fn put(queue: &mut FairQueue, account: AccountId) -> JobId {
        let job = JobId::generate();
        queue.admit(account).unwrap();
        queue.enter(account, job);
        job
    }

    #[test]
    fn accounts_take_turns_and_keep_their_order() {
        let mut queue = queue(100, 100, 100);
        let (flood, single) = (AccountId::generate(), AccountId::generate());
        let many: Vec<_> = (0..3).map(|_| put(&mut queue, flood)).collect();
        let one = put(&mut queue, single);
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue)).collect();
        assert_eq!(order, [many[0], one, many[1], many[2]]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn both_bounds_hold_and_places_come_back() {
        let mut queue = queue(3, 2, 9);
        let (first, second) = (AccountId::generate(), AccountId::generate());
        put(&mut queue, first);
        queue.admit(first).unwrap();
        assert_eq!(queue.admit(first), Err(NoPlace::AccountFull));
        put(&mut queue, second);
        assert_eq!(queue.admit(second), Err(NoPlace::QueueFull));
        queue.release(first);
        assert_eq!(queue.admit(second), Ok(()));
    }

    #[test]
    fn a_job_that_ended_while_it_waited_leaves_its_place() {
        let mut queue = queue(10, 10, 10);
        let account = AccountId::generate();
        let (first, second) = (put(&mut queue, account), put(&mut queue, account));
        queue.remove(account, first);
        queue.remove(account, first);
        assert_eq!(
            (queue.len(), next(&mut queue), next(&mut queue), queue.len()),
            (1, Some(second), None, 0)
        );
    }

    #[test]
    fn an_account_that_runs_as_many_as_it_may_is_passed_over() {
        let mut queue = queue(10, 10, 2);
        let (many, other) = (AccountId::generate(), AccountId::generate());
        let jobs: Vec<_> = (0..4).map(|_| put(&mut queue, many)).collect();
        assert_eq!(
            [next(&mut queue), next(&mut queue), next(&mut queue)],
            [Some(jobs[0]), Some(jobs[1]), None]
        );
        let late = put(&mut queue, other);
        assert_eq!([next(&mut queue), next(&mut queue)], [Some(late), None]);
        queue.ended(many);
        assert_eq!([next(&mut queue), next(&mut queue)], [Some(jobs[2]), None]);
    }
}
