//! The queue of started jobs: bounded, and fair between accounts by what their jobs cost. Called by the registry alone.
//!
//! - **Place**: what a started job has in the queue, from before its start is journaled until its turn begins.
//! - **Turn**: what a job has while it runs, from [`FairQueue::next_turn`] to [`FairQueue::end_turn`].
//! - **Slot**: what a turn takes of the service, which runs a number of jobs at once; engines have slots too (`engines`).
//! - **Charge**: what the jobs of an account have cost that have ended; estimates of jobs under way are not in it.
//!
//! Hazard: one account's jobs run for a minute each, another's for 20 ms. If accounts took turns job by job, the first would
//! have the machine. So the next turn goes to the account whose charge, together with the estimates of its jobs under way, is
//! the least. Jobs of one account keep their order. The queue's virtual time says how far the waiting accounts are: it is the
//! least charge, without estimates, among the accounts that could have had the last turn, and it only grows.
//!
//! **No credit.** When an account begins to wait, its charge is raised to the virtual time. Otherwise it would come back with
//! hours that it did not use, and keep all others waiting for as long. When a turn ends of an account at its running limit, its
//! charge is raised to the virtual time less the estimates of its jobs under way, which are charged when they end. An account
//! that is skipped because its engine is busy keeps its charge among those that wait for the same engine; it is raised when its
//! next job needs another engine.
//!
//! **A debt of seconds.** An account that returns while others work keeps its charge, but at most [`DEBT_LIMIT`] beyond the
//! virtual time: it may have used capacity that was idle, which the queue cannot tell from capacity that others waited for.
//! Without the limit it would wait for minutes, until all others had used as much. The limit holds also for its turns that
//! began before the return. An account that always waits is charged in full.
//!
//! Estimates are averages over all accounts, so one account's jobs can make another's look expensive until they end. They
//! decide who is next and are never charged. Were they part of the virtual time, one expensive estimate would raise the
//! charge of every account to it and cancel all debts.
//!
//! An account is skipped while it is at its running limit, so that turns are left for accounts that come while its jobs run,
//! and while its next job needs a busy engine (`engines`). A place is taken before the job is journaled, so that the limits
//! hold while the write is under way.

pub(super) mod cost;
mod engines;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use self::cost::{CostEstimates, DEBT_LIMIT, JobKind, LEAST_COST};
use self::engines::EngineTurns;
use crate::domain::ids::{AccountId, JobId};
use crate::telemetry::Gauge;

pub use self::engines::{EngineLimits, FullTurns};

/// Why a job gets no place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// The whole queue is full (`jobs.queue_limit`).
    QueueFull,
    /// The account's part of the queue is full (`jobs.queue_account_limit`).
    AccountFull,
}

impl AdmissionError {
    /// The reason's name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::AccountFull => "account_full",
        }
    }
}

#[derive(Debug)]
pub struct FairQueue {
    /// The metric of jobs with a place.
    gauge: Gauge,
    limits: QueueLimits,
    /// The accounts with a place, a turn or a debt.
    accounts: HashMap<AccountId, AccountJobs>,
    estimates: CostEstimates,
    /// Turns under way that need a heavy engine.
    engines: EngineTurns,
    /// The least charge, without estimates, among the accounts that could have had the last turn; it only grows.
    virtual_time: Duration,
    /// The clock by which accounts of the same charge and estimates are ordered: it counts jobs that were enqueued and turns
    /// that began.
    arrivals: u64,
    /// Places taken.
    total: usize,
    /// Turns under way.
    running: usize,
}

/// The limits of a queue, in jobs.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Places.
    pub all: usize,
    /// Places of one account.
    pub account: usize,
    /// Turns of one account at once.
    pub running: usize,
}

/// A job's turn, from [`FairQueue::next_turn`] to [`FairQueue::end_turn`].
#[derive(Debug, PartialEq, Eq)]
pub struct Turn {
    pub account: AccountId,
    pub job: JobId,
    kind: JobKind,
    /// What the job was expected to cost.
    estimate: Duration,
    /// When the turn began, in arrivals.
    began: u64,
    /// Whether its job made way: the turn is not counted any more, except for its account.
    has_made_way: bool,
}

impl Turn {
    /// Whether its job made way for other accounts.
    pub fn has_made_way(&self) -> bool {
        self.has_made_way
    }
}

/// An account that waits for a turn which others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starved {
    pub account: AccountId,
    pub full: FullTurns,
}

#[derive(Debug, Default)]
struct AccountJobs {
    /// In the order of their starts.
    waiting: VecDeque<(JobId, JobKind)>,
    /// Places: jobs that wait, and jobs whose start is being written.
    places: usize,
    running: usize,
    /// Its charge: the virtual time when its first job came, plus the costs of its jobs that ended since; see the module for
    /// when it is raised or limited.
    charged: Duration,
    /// What its jobs under way are expected to cost.
    expected: Duration,
    /// When it began to wait or got its last turn, in arrivals: of accounts with the same charge and estimates the earliest is
    /// next.
    arrival: u64,
    /// When it last began to wait, in arrivals: [`DEBT_LIMIT`] holds for turns that began before.
    returned: u64,
}

impl AccountJobs {
    /// Raises the charge to the virtual time, less the estimates of its jobs under way, whose costs are charged when they end.
    fn raise_to_virtual_time(&mut self, virtual_time: Duration) {
        self.charged = self.charged.max(virtual_time.saturating_sub(self.expected));
    }
}

impl FairQueue {
    /// An empty queue; `gauge` shows how many jobs have a place.
    pub fn new(limits: QueueLimits, engines: EngineLimits, gauge: Gauge) -> Self {
        Self {
            gauge,
            limits,
            accounts: HashMap::new(),
            estimates: CostEstimates::default(),
            engines: EngineTurns::new(engines),
            virtual_time: Duration::ZERO,
            arrivals: 0,
            total: 0,
            running: 0,
        }
    }

    /// Takes a place for a job of `account`, before its start is written.
    pub fn take_place(&mut self, account: AccountId) -> Result<(), AdmissionError> {
        if self.total >= self.limits.all {
            return Err(AdmissionError::QueueFull);
        }
        if self.accounts.get(&account).is_some_and(|jobs| jobs.places >= self.limits.account) {
            return Err(AdmissionError::AccountFull);
        }
        self.occupy(account);
        Ok(())
    }

    /// Frees the place of a job that will not be enqueued: its start was not written, or it has ended meanwhile.
    pub fn give_up_place(&mut self, account: AccountId) {
        self.vacate(account);
        self.forget_idle();
    }

    /// Enqueues a job that has a place.
    pub fn enqueue(&mut self, account: AccountId, job: JobId, kind: JobKind) {
        self.arrivals += 1;
        let jobs = self.accounts.entry(account).or_default();
        if jobs.waiting.is_empty() {
            let limit = self.virtual_time.saturating_add(DEBT_LIMIT);
            jobs.charged = jobs.charged.clamp(self.virtual_time, limit);
            (jobs.arrival, jobs.returned) = (self.arrivals, self.arrivals);
        }
        jobs.waiting.push_back((job, kind));
    }

    /// Enqueues a job whose start was acknowledged before a restart or a panic: it has a place whatever the limits are.
    pub fn enqueue_resumed(&mut self, account: AccountId, job: JobId, kind: JobKind) {
        self.occupy(account);
        self.enqueue(account, job, kind);
    }

    /// Begins the next turn, if an account may have one. The job's place is free from now on, and the job counts as running
    /// until [`end_turn`](Self::end_turn).
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
        self.note_new_first_job(account, kind);
        self.vacate(account);
        Some(Turn { account, job, kind, estimate, began: self.arrivals, has_made_way: false })
    }

    /// The accounts that wait for turns which others hold, by what they were charged; `is_full`: all turns of the service are
    /// taken.
    pub fn starved(&self, is_full: bool) -> Vec<Starved> {
        let waits = |account: AccountId, jobs: &AccountJobs| {
            let (_, kind) = jobs.waiting.front().filter(|_| jobs.running < self.limits.running)?;
            if self.engines.has_share(account, *kind) {
                return None;
            }
            let full = self.engines.full_for(*kind).or(is_full.then_some(FullTurns::Any))?;
            Some(Starved { account, full })
        };
        let starved =
            self.accounts.iter().filter_map(|(account, jobs)| Some((jobs.charged, waits(*account, jobs)?)));
        let mut starved: Vec<_> = starved.collect();
        starved.sort_by_key(|(charged, _)| *charged);
        starved.into_iter().map(|(_, starved)| starved).collect()
    }

    /// The heavy engine that the job of a turn needs.
    pub fn engine_of(&self, turn: &Turn) -> Option<&'static str> {
        self.engines.engine_of(turn.kind)
    }

    /// The job of a turn made way: another one may have its turn.
    pub fn make_way(&mut self, turn: &mut Turn) {
        if !std::mem::replace(&mut turn.has_made_way, true) {
            self.engines.make_way(turn.kind);
        }
    }

    /// Ends a turn and charges what its job cost; `None` where the job did not run.
    #[expect(clippy::needless_pass_by_value, reason = "a turn ends once")]
    pub fn end_turn(&mut self, turn: Turn, cost: Option<Duration>) {
        let Turn { account, kind, estimate, began, has_made_way, .. } = turn;
        let cost = cost.map(|cost| cost.max(LEAST_COST));
        self.running = self.running.saturating_sub(1);
        self.engines.end(account, kind, has_made_way);
        if let Some(jobs) = self.accounts.get_mut(&account) {
            if jobs.running >= self.limits.running {
                jobs.raise_to_virtual_time(self.virtual_time);
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

    /// Removes a job that ended while it waited, and frees its place; does nothing for a job that does not wait.
    pub fn remove(&mut self, account: AccountId, job: JobId) {
        let Some(jobs) = self.accounts.get_mut(&account) else { return };
        let Some(at) = jobs.waiting.iter().position(|(waiting, _)| *waiting == job) else { return };
        if let Some((_, kind)) = jobs.waiting.remove(at)
            && at == 0
        {
            self.note_new_first_job(account, kind);
        }
        self.vacate(account);
        self.forget_idle();
    }

    /// To be called when the account's first waiting job, one of kind `before`, has left the queue. If the next one needs
    /// another engine, the account loses the credit that it gathered while it waited for the engine of the first.
    fn note_new_first_job(&mut self, account: AccountId, before: JobKind) {
        let Some(jobs) = self.accounts.get_mut(&account) else { return };
        let Some(&(_, kind)) = jobs.waiting.front() else { return };
        if self.engines.engine_of(kind) != self.engines.engine_of(before) {
            jobs.raise_to_virtual_time(self.virtual_time);
        }
    }

    fn occupy(&mut self, account: AccountId) {
        self.total += 1;
        self.accounts.entry(account).or_default().places += 1;
        self.update_gauge();
    }

    fn vacate(&mut self, account: AccountId) {
        self.total = self.total.saturating_sub(1);
        if let Some(jobs) = self.accounts.get_mut(&account) {
            jobs.places = jobs.places.saturating_sub(1);
        }
        self.update_gauge();
    }

    /// Forgets accounts with neither job nor debt. Where the queue has no job at all it forgets all accounts: nobody waits to
    /// whom a debt is owed.
    fn forget_idle(&mut self) {
        if self.total == 0 && self.running == 0 {
            self.accounts.clear();
            self.virtual_time = Duration::ZERO;
        }
        let past = self.virtual_time;
        self.accounts.retain(|_, jobs| jobs.places > 0 || jobs.running > 0 || jobs.charged > past);
    }

    fn update_gauge(&self) {
        self.gauge.set(i64::try_from(self.total).unwrap_or(i64::MAX));
    }
}

#[cfg(test)]
mod tests;
