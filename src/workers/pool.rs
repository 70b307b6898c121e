//! Pools of children that are started ahead and do several jobs.
//!
//! Hazard: hostile input may take a child over. So each child works for one account only, and for a bounded number of jobs.
//! Servers fork a fresh child for each job and so work for all accounts.
//!
//! ```text
//! start ─► spare ─► at work ─► getting ready ─► kept for its account ─► at work …
//!                      │             └─► killed: it did its number of jobs (a server: is replaced), or did not get ready
//!                      └─► killed: no answer, or the job was cancelled
//! ```

mod lease;
mod state;
mod supply;

use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use self::lease::{ChildLease, WorkingCount};
use self::state::PoolState;
use super::hung::{Hung, Scope, hung};
use super::job_slots::{JobSlot, JobSlots, SlotGauges};
use super::priority::resident_bytes;
use super::program::Excess;
use super::server::{ServerFactory, ServerGuard, ServerSettings};
use super::spec::ChildSpec;
use super::starter::Starter;
use super::work_clock::WorkClock;
use super::worker::{Job, Worker, WorkerError};
use crate::domain::ids::AccountId;
use crate::slots::AccountShare;
use crate::slots::meter::CostMeter;
use crate::telemetry::ChildMetrics;

/// The pause between two checks of a working child's memory.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// What a pool runs and within which bounds.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// The children's name in logs and metrics.
    pub name: &'static str,
    /// The children. Each says `Ready` when it has loaded what every job needs, and again after each job, when it holds
    /// nothing of that job any more.
    pub spec: ChildSpec,
    /// Children started ahead. Of servers this is the number in all: one that ends is replaced at once.
    pub spares: usize,
    /// Most children that wait for a further job of their account.
    pub kept: usize,
    /// Most jobs of one child. A server continues until its replacement is ready.
    pub child_jobs: u64,
    /// Jobs at once; further ones wait.
    pub processes: usize,
    /// How many of them may be one account's, and how many jobs that made way go on beside them.
    pub share: AccountShare,
    /// Most children of one account that wait for files of other hosts, beside `processes`; of all accounts together four times
    /// as many.
    pub waiting: usize,
    /// How long a started child may take to be ready.
    pub start_timeout: Duration,
    /// Processor time after which a job yields the processor to other processes.
    pub undisturbed: Duration,
    /// How long a job may take; then its child is killed.
    pub deadline: Duration,
    /// How long a job's child may sleep without using the processor, unless it waits for a file; then it is killed. A stopped one
    /// is killed sooner.
    pub still: Duration,
    /// Longest body of an answer.
    pub answer_limit_bytes: u64,
    /// Most resident memory of a working child, its program included; above it is killed. For memory that its own limits do not
    /// see, such as address space reserved before they were set. A server above it after a job is replaced.
    pub resident_limit_bytes: Option<u64>,
    /// Makes the children servers, with these settings in place of the user, cage and limits of [`Self::spec`]. A server forks a
    /// child for every document, which cannot reach the server, so it works for all accounts.
    pub server: Option<ServerSettings>,
}

/// Runs jobs, each in a child that works for its account only. Cloning shares the pool; its children end
/// with the last clone.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    starter: Starter,
    /// Where spares and replacements are started: their pipes belong to it, whoever has them started.
    runtime: Handle,
    settings: PoolSettings,
    metrics: ChildMetrics,
    job_slots: JobSlots,
    state: Mutex<PoolState>,
    /// Notified when a server is ready, or its start has failed.
    arrival: Notify,
    /// `Some` for a pool of servers.
    servers: Option<ServerFactory>,
}

impl Pool {
    /// A pool that begins to start its spares at once and counts in `metrics`; must be called inside a
    /// runtime.
    pub fn new(starter: Starter, mut settings: PoolSettings, metrics: ChildMetrics) -> Self {
        let level = |state| metrics.children.of([settings.name, state]);
        let levels = SlotGauges { working: level("working"), waiting: level("waiting") };
        let job_slots = JobSlots::new((settings.processes, settings.share), settings.waiting, levels);
        let state = Mutex::default();
        // One more: a replacement is started before its server ends. And another one in place of a job's that made way.
        let overflow = settings.share.overflow_of(settings.processes);
        let count = settings.processes.max(settings.spares).saturating_add(overflow + 1);
        let servers = settings.server.take().map(|settings| ServerFactory::new(settings, count));
        let pool = Self {
            inner: Arc::new(Inner {
                starter,
                runtime: Handle::current(),
                settings,
                metrics,
                job_slots,
                state,
                arrival: Notify::new(),
                servers,
            }),
        };
        pool.refill();
        pool
    }

    /// How many children wait for a job.
    pub fn spares(&self) -> usize {
        self.inner.state.lock().ready.len()
    }

    /// How many children wait for a further job of their account.
    pub fn kept(&self) -> usize {
        self.inner.state.lock().kept.len()
    }

    /// Runs a job of the account of `meter`: waits for a slot, then takes a child that worked for the account, or a spare, or
    /// starts one. The wait is not charged. The deadline counts from when a ready child gets the job, without the time in which
    /// the child waits for files. A job that needs a file of another host, and has no permit to wait, begins again when it has
    /// one. Dropping the future kills the child.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn run<H: Serialize, R: DeserializeOwned>(
        &self,
        meter: impl Into<CostMeter>,
        job: Job<'_, H>,
    ) -> Result<(R, Bytes), WorkerError> {
        self.run_within(meter, job, self.inner.settings.deadline).await
    }

    /// As [`Self::run`], with a deadline for this job.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn run_within<H: Serialize, R: DeserializeOwned>(
        &self,
        meter: impl Into<CostMeter>,
        job: Job<'_, H>,
        deadline: Duration,
    ) -> Result<(R, Bytes), WorkerError> {
        let meter = meter.into();
        let account = meter.account();
        let is_shared = self.inner.servers.is_some();
        let mut permit = None;
        loop {
            let job_slot = self.inner.job_slots.acquire(&meter, permit).await;
            let pick = |state: &mut PoolState| state.pick(account, is_shared, job.environment);
            if let Some(done) = self.run_in((job_slot, deadline), account, &job, pick).await? {
                return Ok(done);
            }
            permit = Some(self.inner.job_slots.permit(&meter).await);
        }
    }

    /// Runs background work: in a slot that no job wants, and in a child that has run no job, so that no template can have
    /// tampered with the answer. It waits up to `limit` for a slot, and then has `limit` as its deadline. `None` when no slot
    /// was free, or a file of another host was needed.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn run_in_background<H: Serialize, R: DeserializeOwned>(
        &self,
        account: AccountId,
        job: Job<'_, H>,
        limit: Duration,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let meter = CostMeter::from(account);
        let Ok(job_slot) = timeout(limit, self.inner.job_slots.acquire_unclaimed(&meter)).await else {
            return Ok(None);
        };
        let run = self.run_in((job_slot, limit), account, &job, |state| state.ready.pop_front());
        // Ends the wait for a child that does not start in time; a started one meets its own deadline first.
        timeout(limit.saturating_mul(2), run).await.unwrap_or(Ok(None))
    }

    async fn run_in<H: Serialize, R: DeserializeOwned>(
        &self,
        (job_slot, deadline): (JobSlot, Duration),
        account: AccountId,
        job: &Job<'_, H>,
        pick: impl Fn(&mut PoolState) -> Option<Worker>,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let (worker, count) = self.take_or_await(pick).await;
        let worker = match worker {
            Some(worker) => worker,
            None => self.start(job.environment).await.inspect_err(|error| self.count_end(error.name()))?,
        };
        // A server's memory grows in its own child, which it watches itself.
        let limit = self.inner.settings.resident_limit_bytes.filter(|_| self.inner.servers.is_none());
        let (process, clock) = (worker.process(), WorkClock::default());
        let grown = outgrown(process, limit);
        let hung = self.hung(process, &clock);
        let mut lease = ChildLease::new(self.clone(), account, (worker, count), job_slot);
        let done = tokio::select! {
            // An answer that is there counts, however late it came.
            biased;
            done = lease.work_and_yield(job, &clock) => done,
            () = clock.reached(deadline) => Err(WorkerError::Deadline),
            () = grown => Err(WorkerError::TooMuch(Excess::Memory)),
            hung = hung => Err(WorkerError::Hung(hung)),
        };
        lease.end = match &done {
            Ok(Some(_)) => "answered",
            Ok(None) => "put_off",
            Err(error) => error.name(),
        };
        done
    }

    /// Completes when the process hangs.
    async fn hung(&self, process: Option<i32>, clock: &WorkClock) -> Hung {
        let Some(process) = process else { return pending().await };
        let scope = if self.inner.servers.is_some() { Scope::Leader } else { Scope::Whole };
        hung(process, scope, self.inner.settings.still, || clock.is_paused()).await
    }

    /// An idle child; skips those that have ended meanwhile.
    fn take(&self, pick: impl Fn(&mut PoolState) -> Option<Worker>) -> Option<(Worker, WorkingCount)> {
        loop {
            let (mut worker, count) = {
                let mut state = self.inner.state.lock();
                let worker = pick(&mut state)?;
                self.publish_levels(&state);
                (worker, WorkingCount::new(self, &mut state))
            };
            if worker.is_waiting() {
                return Some((worker, count));
            }
            tracing::warn!(pool.name = self.inner.settings.name, "a child process ended while it had no job");
        }
    }

    /// An idle child, or `None` where the caller is to start one. While servers are starting, it waits for one of them.
    async fn take_or_await(
        &self,
        pick: impl Fn(&mut PoolState) -> Option<Worker>,
    ) -> (Option<Worker>, WorkingCount) {
        loop {
            let mut arrival = pin!(self.inner.arrival.notified());
            arrival.as_mut().enable();
            if let Some((worker, count)) = self.take(&pick) {
                return (Some(worker), count);
            }
            {
                let mut state = self.inner.state.lock();
                if self.inner.servers.is_none() || state.starting == 0 {
                    return (None, WorkingCount::new(self, &mut state));
                }
            }
            arrival.await;
        }
    }

    async fn start(&self, environment: &[(&'static str, &str)]) -> Result<Worker, WorkerError> {
        let settings = &self.inner.settings;
        let (spec, mut guard) = match &self.inner.servers {
            None => (settings.spec.clone(), None),
            Some(servers) => {
                let prepared = timeout(settings.start_timeout, servers.prepare(settings.spec.clone())).await;
                let prepared =
                    prepared.map_err(|_| io::Error::other("no place for it came free in time")).flatten();
                let (spec, guard) = prepared.map_err(|error| WorkerError::NotStarted(error.to_string()))?;
                (spec, Some(guard))
            }
        };
        if let Some(gone) = guard.as_mut().map(ServerGuard::gone) {
            let pool = Arc::downgrade(&self.inner);
            tokio::spawn(async move {
                if gone.await.is_ok() {
                    Self::replace_gone(&pool).await;
                }
            });
        }
        Worker::start(&self.inner.starter, spec, environment, settings.start_timeout, guard).await
    }

    /// Waits until a child that answered is ready again, and keeps it for its account; any other is killed.
    async fn retire(&self, account: AccountId, (mut worker, count): (Worker, WorkingCount), answered: bool) {
        let (settings, is_server) = (&self.inner.settings, self.inner.servers.is_some());
        let did_enough = worker.jobs() >= settings.child_jobs;
        let useful = answered && settings.kept > 0 && (is_server || !did_enough);
        if !(useful && worker.wait_until_ready(settings.start_timeout).await) {
            worker.end().await;
            return;
        }
        if did_enough || self.is_overgrown(&worker) {
            worker.request_replacement();
        }
        let surplus = {
            let mut state = self.inner.state.lock();
            count.give_up(&mut state);
            let surplus = state.keep(account, worker, settings.kept);
            self.publish_levels(&state);
            surplus
        };
        // A job that waits for a starting server can take this one.
        self.inner.arrival.notify_waiters();
        self.start_replacement();
        if let Some(worker) = surplus {
            worker.end().await;
        }
    }

    /// Whether a server holds more than it may between two jobs.
    fn is_overgrown(&self, worker: &Worker) -> bool {
        let limit = self.inner.settings.resident_limit_bytes.filter(|_| self.inner.servers.is_some());
        let held = worker.process().and_then(resident_bytes);
        held.zip(limit).is_some_and(|(held, limit)| held > limit)
    }

    fn publish_levels(&self, state: &PoolState) {
        let levels = [("starting", state.starting), ("spare", state.ready.len()), ("kept", state.kept.len())];
        for (state, count) in levels {
            let level = self.inner.metrics.children.of([self.inner.settings.name, state]);
            level.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    fn count_end(&self, end: &'static str) {
        self.inner.metrics.jobs.of([self.inner.settings.name, end]).inc();
    }
}

/// Completes when the process holds more memory than the limit; never without a limit.
async fn outgrown(process: Option<i32>, limit_bytes: Option<u64>) {
    let (Some(process), Some(limit_bytes)) = (process, limit_bytes) else { return pending().await };
    while resident_bytes(process).is_none_or(|bytes| bytes <= limit_bytes) {
        sleep(LOOK_PAUSE).await;
    }
}
