//! The one queue of started jobs: bounded, and fair between accounts by what their jobs cost.
//!
//! Hazard: one account's job holds its turn for a minute, another's for 20 ms. Where accounts take turns job by job, the
//! first has the machine. So each account that is in the queue is charged what its jobs cost, and of those that wait the
//! one goes next that was charged the least, with an estimate of its jobs under way; jobs of one account keep their
//! order. The queue's virtual time is the least charge of those that might have got the last turn; it only grows.
//!
//! **Nobody saves up.** An account that begins to wait is charged the virtual time at least: whoever was away does not
//! come back with hours that it did not use. The same holds for one that was at its running limit while others went on,
//! when one of its turns ends; what it is expected to cost still is left out, for that will be charged. Who is passed
//! over for the sake of its engine keeps its place among those that wait for the same engine, and has its charge raised
//! when its next job needs another.
//!
//! **A debt lasts for seconds.** An account that goes away while others have work comes back with what it was charged,
//! but at most [`DEBT_LIMIT`] beyond the virtual time: it may have had capacity that nobody wanted then, and the queue
//! cannot tell that from what others waited for. Without the bound it would wait for minutes, until everybody had as
//! much. The same goes for its jobs that are under way when it comes back. Whoever waits all the time is charged all.
//!
//! Estimates are of all accounts, so one account's jobs can make another's seem dear until these end. They decide who
//! goes next and nothing that lasts. Were they part of the virtual time, dear estimates would raise everybody, and those
//! who owe something would owe it no more.
//!
//! An account that runs as many jobs as it may is passed over, so that turns are left when others come while its jobs
//! take long; so is one whose next job is of an engine that has as many runs as it can use (`engines`). A place is
//! admitted before the job is journaled, so that the bound holds while the write is under way.

pub(super) mod cost;
mod engines;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use self::cost::{CostEstimates, DEBT_LIMIT, JobKind, LEAST_COST};
use self::engines::EngineRuns;
use crate::domain::ids::{AccountId, JobId};
use crate::telemetry::instruments::Level;

pub use self::engines::EngineLimits;

/// Why there is no place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// The whole queue is full (`jobs.queue_limit`).
    QueueFull,
    /// The account has as many jobs waiting as it may have (`jobs.queue_account_limit`).
    AccountFull,
}

impl AdmissionError {
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
    accounts: HashMap<AccountId, AccountJobs>,
    estimates: CostEstimates,
    /// The runs of heavy engines under way.
    engines: EngineRuns,
    /// What the least of those that might have got the last turn was charged; it only grows.
    virtual_time: Duration,
    /// How often an account came last in line, or was given a turn.
    arrivals: u64,
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

/// A job's turn, from [`FairQueue::next_turn`] to [`FairQueue::end_turn`].
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    kind: JobKind,
    /// What it was expected to cost.
    estimate: Duration,
    /// When it began, in arrivals.
    began: u64,
}

/// The jobs of one account.
#[derive(Debug, Default)]
struct AccountJobs {
    /// First come, first.
    waiting: VecDeque<(JobId, JobKind)>,
    /// Jobs that have a place: those that wait, and those about to.
    admitted: usize,
    running: usize,
    /// What its jobs have cost, on top of where it began: at the queue's virtual time.
    charged: Duration,
    /// What those that run are expected to cost.
    expected: Duration,
    /// When it came last in line: of accounts that are equal, who came first is served first.
    arrival: u64,
    /// When it came with nothing waiting: for turns that began before, the bound of a debt holds.
    returned: u64,
}

impl AccountJobs {
    /// What it did not use by now is no credit: its charge is raised to the queue's, less what its jobs under way are
    /// expected to cost, which it pays when they end.
    fn lose_credit(&mut self, virtual_time: Duration) {
        self.charged = self.charged.max(virtual_time.saturating_sub(self.expected));
    }
}

impl FairQueue {
    /// An empty queue; `level` tells how many jobs there are in it.
    #[must_use]
    pub fn new(limits: QueueLimits, engines: EngineLimits, level: Level) -> Self {
        Self {
            level,
            limits,
            accounts: HashMap::new(),
            estimates: CostEstimates::default(),
            engines: EngineRuns::new(engines),
            virtual_time: Duration::ZERO,
            arrivals: 0,
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
    pub fn admit(&mut self, account: AccountId) -> Result<(), AdmissionError> {
        if self.total >= self.limits.all {
            return Err(AdmissionError::QueueFull);
        }
        if self.accounts.get(&account).is_some_and(|jobs| jobs.admitted >= self.limits.account) {
            return Err(AdmissionError::AccountFull);
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
    pub fn enqueue(&mut self, account: AccountId, job: JobId, kind: JobKind) {
        self.arrivals += 1;
        let jobs = self.accounts.entry(account).or_default();
        if jobs.waiting.is_empty() {
            let most = self.virtual_time.saturating_add(DEBT_LIMIT);
            jobs.charged = jobs.charged.clamp(self.virtual_time, most);
            (jobs.arrival, jobs.returned) = (self.arrivals, self.arrivals);
        }
        jobs.waiting.push_back((job, kind));
    }

    /// Enters a job that was acknowledged in an earlier life of the service: it has a place whatever
    /// the limits say.
    pub fn enqueue_resumed(&mut self, account: AccountId, job: JobId, kind: JobKind) {
        self.occupy(account);
        self.enqueue(account, job, kind);
    }

    /// The next job whose turn it is; its place is free from now on, and it counts as running until its turn is
    /// [ended](Self::end_turn).
    pub fn next_turn(&mut self) -> Option<Turn> {
        let (limit, engines) = (self.limits.running, &self.engines);
        let may_run = |account: &AccountId, jobs: &AccountJobs| {
            let first = jobs.waiting.front();
            jobs.running < limit && first.is_some_and(|(_, kind)| engines.may_begin(*account, *kind))
        };
        let allowed = self.accounts.iter().filter(|(account, jobs)| may_run(account, jobs));
        let least = allowed.map(|(_, jobs)| jobs.charged).min()?;
        let allowed = self.accounts.iter_mut().filter(|(account, jobs)| may_run(account, jobs));
        let (&account, jobs) =
            allowed.min_by_key(|(_, jobs)| (jobs.charged.saturating_add(jobs.expected), jobs.arrival))?;
        let (job, kind) = jobs.waiting.pop_front()?;
        let estimate = self.estimates.of(kind);
        self.arrivals += 1;
        self.virtual_time = self.virtual_time.max(least);
        jobs.arrival = self.arrivals;
        jobs.expected = jobs.expected.saturating_add(estimate);
        jobs.running += 1;
        self.running += 1;
        self.engines.begin(account, kind);
        self.first_changed(account, kind);
        self.vacate(account);
        Some(Turn { account, job, kind, estimate, began: self.arrivals })
    }

    /// A job that had its turn runs no more, and cost this much; nothing where it never ran.
    #[expect(clippy::needless_pass_by_value, reason = "a turn ends once")]
    pub fn end_turn(&mut self, turn: Turn, cost: Option<Duration>) {
        let Turn { account, kind, estimate, began, .. } = turn;
        let cost = cost.map(|cost| cost.max(LEAST_COST));
        self.running = self.running.saturating_sub(1);
        self.engines.end(account, kind);
        if let Some(jobs) = self.accounts.get_mut(&account) {
            if jobs.running >= self.limits.running {
                jobs.lose_credit(self.virtual_time);
            }
            jobs.running = jobs.running.saturating_sub(1);
            jobs.expected = jobs.expected.saturating_sub(estimate);
            let charged = jobs.charged.saturating_add(cost.unwrap_or_default());
            jobs.charged = if began < jobs.returned {
                charged.min(self.virtual_time.saturating_add(DEBT_LIMIT)).max(jobs.charged)
            } else {
                charged
            };
        }
        if let Some(cost) = cost {
            self.estimates.learn(kind, cost);
        }
        self.forget_idle();
    }

    /// Takes a job out that ended while it waited; of one that does not wait nothing changes.
    pub fn remove(&mut self, account: AccountId, job: JobId) {
        let Some(jobs) = self.accounts.get_mut(&account) else { return };
        let Some(at) = jobs.waiting.iter().position(|(waiting, _)| *waiting == job) else { return };
        if let Some((_, kind)) = jobs.waiting.remove(at)
            && at == 0
        {
            self.first_changed(account, kind);
        }
        self.release(account);
    }

    /// The first job that waits is another one than the one of kind `before`. Where it needs another engine, what the
    /// account did not use while it waited for that one is no credit here.
    fn first_changed(&mut self, account: AccountId, before: JobKind) {
        let Some(jobs) = self.accounts.get_mut(&account) else { return };
        let Some(&(_, kind)) = jobs.waiting.front() else { return };
        if self.engines.engine_of(kind) != self.engines.engine_of(before) {
            jobs.lose_credit(self.virtual_time);
        }
    }

    fn occupy(&mut self, account: AccountId) {
        self.total += 1;
        self.accounts.entry(account).or_default().admitted += 1;
        self.update_gauge();
    }

    fn vacate(&mut self, account: AccountId) {
        self.total = self.total.saturating_sub(1);
        if let Some(jobs) = self.accounts.get_mut(&account) {
            jobs.admitted = jobs.admitted.saturating_sub(1);
        }
        self.update_gauge();
    }

    /// Forgets accounts that have neither job nor debt. When nobody has a job, nobody has to be fair to anybody.
    fn forget_idle(&mut self) {
        if self.total == 0 && self.running == 0 {
            self.accounts.clear();
            self.virtual_time = Duration::ZERO;
        }
        let past = self.virtual_time;
        self.accounts.retain(|_, jobs| jobs.admitted > 0 || jobs.running > 0 || jobs.charged > past);
    }

    fn update_gauge(&self) {
        self.level.set(i64::try_from(self.total).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests;
