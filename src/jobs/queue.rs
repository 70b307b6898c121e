//! The one queue of started jobs: bounded, and fair between accounts by what their jobs cost.
//!
//! Hazard: one account's job holds what it needs for a minute, another's for 20 ms. Where accounts take turns job by
//! job, the first has the machine. So each account that is in the queue has a virtual time, what its jobs have cost and
//! an estimate of those under way, and of those that wait the account with the least goes next; jobs of one account
//! keep their order.
//!
//! **Nobody saves up.** An account that begins to wait has paid at least as much as the least of those that might have
//! got the last turn: whoever was away, or had nothing to wait for, does not come back with hours that it did not use.
//! **Nobody sheds a debt** by going away while others have work: it is kept until they have paid as much. It is about
//! what the account's jobs under way cost, for only who is least gets a turn.
//!
//! Estimates are of all accounts, so one account's jobs can make another's seem dear until these end. They decide who
//! goes next and nothing that lasts. Were they part of what newcomers begin with, dear estimates would raise everybody,
//! and those who owe something would owe it no more.
//!
//! An account that runs as many jobs as it may is passed over, so that slots are left when others come while its jobs
//! take long. A place is admitted before the job is journaled, so that the bound holds while the write is under way.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::cost::{CostEstimates, JobSort, LEAST_COST};
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
    limits: QueueLimits,
    /// The accounts that have a place or a turn, or a debt.
    lines: HashMap<AccountId, Line>,
    estimates: CostEstimates,
    /// What of those that might have got the last turn the one had paid that had paid the least; it only grows.
    floor: Duration,
    /// How often an account came last in line.
    comings: u64,
    total: usize,
    running: usize,
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

/// A job's turn, from [`FairQueue::next`] to [`FairQueue::ended`].
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    sort: JobSort,
    /// What it was expected to cost.
    estimate: Duration,
}

/// The jobs of one account.
#[derive(Debug, Default)]
struct Line {
    /// First come, first.
    waiting: VecDeque<(JobId, JobSort)>,
    /// Jobs that have a place: those that wait, and those about to.
    admitted: usize,
    running: usize,
    /// What its jobs have cost, on top of where it began: at the queue's `floor`.
    paid: Duration,
    /// What those that run are expected to cost.
    expected: Duration,
    /// When it came last in line: of accounts that are equal, who came first is served first.
    came: u64,
}

impl FairQueue {
    /// An empty queue; `level` tells how many jobs there are in it.
    #[must_use]
    pub fn new(limits: QueueLimits, level: Level) -> Self {
        Self {
            level,
            limits,
            lines: HashMap::new(),
            estimates: CostEstimates::default(),
            floor: Duration::ZERO,
            comings: 0,
            total: 0,
            running: 0,
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
        if self.total >= self.limits.all {
            return Err(NoPlace::QueueFull);
        }
        if self.lines.get(&account).is_some_and(|line| line.admitted >= self.limits.account) {
            return Err(NoPlace::AccountFull);
        }
        self.occupy(account);
        Ok(())
    }

    /// Gives the place of a job back that was admitted and not entered.
    pub fn release(&mut self, account: AccountId) {
        self.vacate(account);
        self.forget_idle();
    }

    /// Enters a job that was admitted.
    pub fn enter(&mut self, account: AccountId, job: JobId, sort: JobSort) {
        self.comings += 1;
        let (floor, comings) = (self.floor, self.comings);
        let line = self.lines.entry(account).or_default();
        if line.waiting.is_empty() {
            line.paid = line.paid.max(floor);
            line.came = comings;
        }
        line.waiting.push_back((job, sort));
    }

    /// Enters a job that was acknowledged in an earlier life of the service: it has a place whatever
    /// the limits say.
    pub fn readmit(&mut self, account: AccountId, job: JobId, sort: JobSort) {
        self.occupy(account);
        self.enter(account, job, sort);
    }

    /// The next job whose turn it is; its place is free from now on, and it counts as running until its turn is
    /// [ended](Self::ended).
    pub fn next(&mut self) -> Option<Turn> {
        let may_run = |line: &Line| !line.waiting.is_empty() && line.running < self.limits.running;
        let least = self.lines.values().filter(|line| may_run(line)).map(|line| line.paid).min()?;
        let lines = self.lines.iter_mut().filter(|(_, line)| may_run(line));
        let (&account, line) =
            lines.min_by_key(|(_, line)| (line.paid.saturating_add(line.expected), line.came))?;
        let (job, sort) = line.waiting.pop_front()?;
        let estimate = self.estimates.of(sort);
        self.comings += 1;
        self.floor = self.floor.max(least);
        line.came = self.comings;
        line.expected = line.expected.saturating_add(estimate);
        line.running += 1;
        self.running += 1;
        self.vacate(account);
        Some(Turn { account, job, sort, estimate })
    }

    /// A job that had its turn runs no more, and cost this much; nothing where it never ran.
    #[expect(clippy::needless_pass_by_value, reason = "a turn ends once")]
    pub fn ended(&mut self, turn: Turn, cost: Option<Duration>) {
        let Turn { account, sort, estimate, .. } = turn;
        let cost = cost.map(|cost| cost.max(LEAST_COST));
        self.running = self.running.saturating_sub(1);
        if let Some(line) = self.lines.get_mut(&account) {
            line.running = line.running.saturating_sub(1);
            line.expected = line.expected.saturating_sub(estimate);
            line.paid = line.paid.saturating_add(cost.unwrap_or_default());
        }
        if let Some(cost) = cost {
            self.estimates.learn(sort, cost);
        }
        self.forget_idle();
    }

    /// Takes a job out that ended while it waited; of one that does not wait nothing changes.
    pub fn remove(&mut self, account: AccountId, job: JobId) {
        let Some(line) = self.lines.get_mut(&account) else { return };
        let before = line.waiting.len();
        line.waiting.retain(|(waiting, _)| *waiting != job);
        if line.waiting.len() < before {
            self.release(account);
        }
    }

    fn occupy(&mut self, account: AccountId) {
        self.total += 1;
        self.lines.entry(account).or_default().admitted += 1;
        self.tell();
    }

    fn vacate(&mut self, account: AccountId) {
        self.total = self.total.saturating_sub(1);
        if let Some(line) = self.lines.get_mut(&account) {
            line.admitted = line.admitted.saturating_sub(1);
        }
        self.tell();
    }

    /// Forgets accounts that have neither job nor debt. When nobody has a job, nobody has to be fair to anybody.
    fn forget_idle(&mut self) {
        if self.total == 0 && self.running == 0 {
            self.lines.clear();
            self.floor = Duration::ZERO;
        }
        let floor = self.floor;
        self.lines.retain(|_, line| line.admitted > 0 || line.running > 0 || line.paid > floor);
    }

    fn tell(&self) {
        self.level.set(i64::try_from(self.total).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests;
