//! Children started ahead: each works for one account only and for a bounded number of jobs, so that what
//! hostile input makes of it meets nobody else's job. Servers, which have a child of their own for each job,
//! work for everybody.
//!
//! ```text
//! start ─► spare ─► at work ─► renewing ─► kept for its account ─► at work …
//!                      │           └─► killed: it worked enough (a server: another one is ready), or did not get ready
//!                      └─► killed: no answer, or nobody waits for it any more
//! ```

mod lease;
mod shelf;
mod supply;

use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use self::lease::{Claim, Lease};
use self::shelf::Shelf;
use super::housing::{House, Housing, Quarters};
use super::place::{Levels, Place, Places};
use super::priority::resident_bytes;
use super::program::Excess;
use super::spec::ChildSpec;
use super::starter::Starter;
use super::waits::Waits;
use super::worker::{Job, Worker, WorkerFault};
use crate::domain::ids::AccountId;
use crate::slots::AccountShare;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;

/// Between two looks at the memory of a child at work.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// What a pool runs and within which bounds.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// What its children are, for the log.
    pub name: &'static str,
    /// Each child; it says `Ready` when it has loaded what every job needs, and again after each job
    /// when everything of that job is gone from it.
    pub spec: ChildSpec,
    /// Children started ahead. Of servers, which work for everybody, so many there are in all: one that ends is replaced
    /// at once.
    pub spares: usize,
    /// Children that wait for a further job of their account.
    pub kept: usize,
    /// Jobs that one child does. A server goes on until another one is ready in its place.
    pub child_jobs: u64,
    /// Jobs at once; further ones wait.
    pub processes: usize,
    /// How many of them may be one account's.
    pub share: AccountShare,
    /// One account's children that wait for files from elsewhere; they are not among `processes`. Of all accounts together
    /// four times as many may.
    pub waiting: usize,
    /// Until a started child is ready.
    pub start_timeout: Duration,
    /// Processor time after which a job yields to everybody else.
    pub undisturbed: Duration,
    /// Until a job is done; then its child is killed.
    pub deadline: Duration,
    /// Longest body of an answer.
    pub answer_limit_bytes: u64,
    /// Most memory that a child may hold at work, its program's own included; then it is killed. For what its own limits do
    /// not see, such as address space that was reserved before they were set. A server that holds more when its job is done
    /// is replaced in the same way.
    pub resident_limit_bytes: Option<u64>,
    /// Of servers: how they live, whatever user, cage and limits [`Self::spec`] names. Each makes a child of its own for every
    /// document and gives up to that what it must not have, so it works for all accounts.
    pub housing: Option<Housing>,
}

/// Runs jobs, each in a child that works for its account only. Cloning shares the pool; its children end
/// with the last clone.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    starter: Starter,
    settings: PoolSettings,
    metrics: ChildMetrics,
    places: Places,
    shelf: Mutex<Shelf>,
    /// A server is ready, or one that was started is not to be had.
    arrival: Notify,
    /// For servers, which work for everybody.
    quarters: Option<Quarters>,
}

impl Pool {
    /// A pool that begins to start its spares at once and counts in `metrics`; must be called inside a
    /// runtime.
    pub fn new(starter: Starter, mut settings: PoolSettings, metrics: ChildMetrics) -> Self {
        let level = |state| metrics.children.of([settings.name, state]);
        let levels = Levels { working: level("working"), waiting: level("waiting") };
        let places = Places::new((settings.processes, settings.share), settings.waiting, levels);
        let shelf = Mutex::default();
        // One is replaced by another that is ready before it ends.
        let count = settings.processes.max(settings.spares).saturating_add(1);
        let quarters = settings.housing.take().map(|housing| Quarters::new(housing, count));
        let pool = Self {
            inner: Arc::new(Inner {
                starter,
                settings,
                metrics,
                places,
                shelf,
                arrival: Notify::new(),
                quarters,
            }),
        };
        pool.refill();
        pool
    }

    /// How many children wait for a job.
    pub fn spares(&self) -> usize {
        self.shelf().ready.len()
    }

    /// How many children wait for a further job of their account.
    pub fn kept(&self) -> usize {
        self.shelf().kept.len()
    }

    /// Runs a job of the account of `meter`: waits for a turn, then takes a child that worked for the account, or a
    /// spare, or starts one. The job does not pay for its wait. The deadline counts from when a ready child gets the job,
    /// without the time in which the child waits for a file. A job that may not wait for one now begins again when it may.
    /// Dropping the future kills the child.
    ///
    /// # Errors
    /// See [`WorkerFault`].
    pub async fn run<H: Serialize, R: DeserializeOwned>(
        &self,
        meter: impl Into<CostMeter>,
        job: Job<'_, H>,
    ) -> Result<(R, Bytes), WorkerFault> {
        self.run_within(meter, job, self.inner.settings.deadline).await
    }

    /// The same with a deadline that goes by what there is to do.
    ///
    /// # Errors
    /// See [`WorkerFault`].
    pub async fn run_within<H: Serialize, R: DeserializeOwned>(
        &self,
        meter: impl Into<CostMeter>,
        job: Job<'_, H>,
        deadline: Duration,
    ) -> Result<(R, Bytes), WorkerFault> {
        let meter = meter.into();
        let account = meter.account();
        let is_shared = self.inner.quarters.is_some();
        let mut leave = None;
        loop {
            let place = self.inner.places.take(&meter, leave).await;
            let pick = |shelf: &mut Shelf| shelf.pick(account, is_shared, job.environment);
            if let Some(done) = self.run_in((place, deadline), account, &job, pick).await? {
                return Ok(done);
            }
            leave = Some(self.inner.places.leave(&meter).await);
        }
    }

    /// Runs what no job waits for: in a slot that no job wants, and in a child that had no job before, so that what
    /// it answers is not of an earlier job's making. `limit` is the deadline, and before it as long a wait for a
    /// slot; `None` when there was none, or a file would have to be waited for.
    ///
    /// # Errors
    /// See [`WorkerFault`].
    pub async fn run_aside<H: Serialize, R: DeserializeOwned>(
        &self,
        account: AccountId,
        job: Job<'_, H>,
        limit: Duration,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        let meter = CostMeter::from(account);
        let Ok(place) = timeout(limit, self.inner.places.take_idle(&meter)).await else { return Ok(None) };
        let run = self.run_in((place, limit), account, &job, |shelf| shelf.ready.pop_front());
        // The deadline comes first, unless no process is ready and none starts in time.
        timeout(limit.saturating_mul(2), run).await.unwrap_or(Ok(None))
    }

    async fn run_in<H: Serialize, R: DeserializeOwned>(
        &self,
        (place, deadline): (Place, Duration),
        account: AccountId,
        job: &Job<'_, H>,
        pick: impl Fn(&mut Shelf) -> Option<Worker>,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        let (worker, claim) = self.take_or_await(pick).await;
        let worker = match worker {
            Some(worker) => worker,
            None => self.start(job.environment).await.inspect_err(|fault| self.count_end(fault.name()))?,
        };
        // What grows in a server at work is its child, which it watches itself.
        let limit = self.inner.settings.resident_limit_bytes.filter(|_| self.inner.quarters.is_none());
        let grown = outgrown(worker.process(), limit);
        let mut lease = Lease::new(self.clone(), account, (worker, claim), place);
        let waits = Waits::default();
        let done = tokio::select! {
            done = lease.work_in_turn(job, &waits) => done,
            () = waits.outworked(deadline) => Err(WorkerFault::Deadline),
            () = grown => Err(WorkerFault::TooMuch(Excess::Memory)),
        };
        lease.end = match &done {
            Ok(Some(_)) => "answered",
            Ok(None) => "put_off",
            Err(fault) => fault.name(),
        };
        done
    }

    /// A child that waits; one that ended in the meantime is passed over.
    fn take(&self, pick: impl Fn(&mut Shelf) -> Option<Worker>) -> Option<(Worker, Claim)> {
        loop {
            let (mut worker, claim) = {
                let mut stock = self.shelf();
                let worker = pick(&mut stock)?;
                self.tell(&stock);
                (worker, Claim::new(self, &mut stock))
            };
            if worker.is_waiting() {
                return Some((worker, claim));
            }
            tracing::warn!(pool.name = self.inner.settings.name, "a child process ended while it had no job");
        }
    }

    /// The same, or the claim to one that is to be started for the job; while servers are on their way, it waits for one of
    /// them, rather than start one more.
    async fn take_or_await(&self, pick: impl Fn(&mut Shelf) -> Option<Worker>) -> (Option<Worker>, Claim) {
        loop {
            let mut arrival = pin!(self.inner.arrival.notified());
            arrival.as_mut().enable();
            if let Some((worker, claim)) = self.take(&pick) {
                return (Some(worker), claim);
            }
            {
                let mut stock = self.shelf();
                if self.inner.quarters.is_none() || stock.starting == 0 {
                    return (None, Claim::new(self, &mut stock));
                }
            }
            arrival.await;
        }
    }

    async fn start(&self, environment: &[(&'static str, &str)]) -> Result<Worker, WorkerFault> {
        let settings = &self.inner.settings;
        let (spec, mut house) = match &self.inner.quarters {
            None => (settings.spec.clone(), None),
            Some(quarters) => {
                let furnished =
                    timeout(settings.start_timeout, quarters.furnish(settings.spec.clone())).await;
                let furnished =
                    furnished.map_err(|_| io::Error::other("no place for it came free in time")).flatten();
                let (spec, house) = furnished.map_err(|error| WorkerFault::NotStarted(error.to_string()))?;
                (spec, Some(house))
            }
        };
        let spec = environment.iter().fold(spec, |spec, &(name, value)| spec.variable(name, value));
        if let Some(gone) = house.as_mut().map(House::gone) {
            let pool = Arc::downgrade(&self.inner);
            tokio::spawn(async move {
                if gone.await.is_ok() {
                    Self::replace_gone(&pool).await;
                }
            });
        }
        let worker = Worker::start(&self.inner.starter, spec, settings.start_timeout, house).await?;
        Ok(worker.marked(environment))
    }

    /// Makes a child that answered ready again and keeps it for its account; otherwise it is killed.
    async fn retire(&self, account: AccountId, (mut worker, claim): (Worker, Claim), answered: bool) {
        let (settings, is_server) = (&self.inner.settings, self.inner.quarters.is_some());
        let did_enough = worker.jobs() >= settings.child_jobs;
        let useful = answered && settings.kept > 0 && (is_server || !did_enough);
        if !(useful && worker.renew(settings.start_timeout).await) {
            worker.end().await;
            return;
        }
        if did_enough || self.is_overgrown(&worker) {
            worker.want_relief();
        }
        let surplus = {
            let mut stock = self.shelf();
            claim.give_up(&mut stock);
            let surplus = stock.keep(account, worker, settings.kept);
            self.tell(&stock);
            surplus
        };
        // Who waits for a server on its way is served by this one.
        self.inner.arrival.notify_waiters();
        self.relieve();
        if let Some(worker) = surplus {
            worker.end().await;
        }
    }

    /// Whether a server holds more than it may between two jobs.
    fn is_overgrown(&self, worker: &Worker) -> bool {
        let limit = self.inner.settings.resident_limit_bytes.filter(|_| self.inner.quarters.is_some());
        let held = worker.process().and_then(resident_bytes);
        held.zip(limit).is_some_and(|(held, limit)| held > limit)
    }

    fn tell(&self, stock: &Shelf) {
        let levels = [("starting", stock.starting), ("spare", stock.ready.len()), ("kept", stock.kept.len())];
        for (state, count) in levels {
            let level = self.inner.metrics.children.of([self.inner.settings.name, state]);
            level.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    fn count_end(&self, end: &'static str) {
        self.inner.metrics.jobs.of([self.inner.settings.name, end]).inc();
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Nothing under this lock can stop half-way; a poisoned shelf is a whole one.
        self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Comes when the process holds more memory than that; never where there is no limit.
async fn outgrown(process: Option<i32>, limit_bytes: Option<u64>) {
    let (Some(process), Some(limit_bytes)) = (process, limit_bytes) else { return pending().await };
    while resident_bytes(process).is_none_or(|bytes| bytes <= limit_bytes) {
        sleep(LOOK_PAUSE).await; // poll
    }
}
