//! Children started ahead: each does one job and is gone, so that what hostile input makes of it meets
//! no other job.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::spec::ChildSpec;
use super::starter::Starter;
use super::worker::{Job, Worker, WorkerFault};

/// What a pool runs and within which bounds.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// What its children are, for the log.
    pub name: &'static str,
    /// Each child; it says `Ready` when it has loaded what every job needs.
    pub spec: ChildSpec,
    /// Children started ahead.
    pub spares: usize,
    /// Jobs at once; further ones wait.
    pub processes: usize,
    /// Until a started child is ready.
    pub start_timeout: Duration,
    /// Until a job is done; then its child is killed.
    pub deadline: Duration,
    /// Longest body of an answer.
    pub answer_limit_bytes: u64,
}

/// Runs jobs, each in a child of its own. Cloning shares the pool; its children end with the last clone.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    starter: Starter,
    settings: PoolSettings,
    slots: Arc<Semaphore>,
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    ready: VecDeque<Worker>,
    starting: usize,
}

impl Pool {
    /// A pool that begins to start its spares at once; must be called inside a runtime.
    #[must_use]
    pub fn new(starter: Starter, settings: PoolSettings) -> Self {
        let slots = Arc::new(Semaphore::new(settings.processes.max(1)));
        let pool = Self { inner: Arc::new(Inner { starter, settings, slots, shelf: Mutex::default() }) };
        pool.refill();
        pool
    }

    /// How many children wait for a job.
    #[must_use]
    pub fn spares(&self) -> usize {
        self.shelf().ready.len()
    }

    /// Runs a job: waits for a turn, then takes a spare or starts a child. The deadline counts from when
    /// a ready child gets the job. Dropping the future kills the child.
    ///
    /// # Errors
    /// See [`WorkerFault`].
    pub async fn run<H: Serialize, R: DeserializeOwned>(
        &self,
        job: Job<'_, H>,
    ) -> Result<(R, Bytes), WorkerFault> {
        let turn = Arc::clone(&self.inner.slots).acquire_owned().await;
        let turn = turn.map_err(|_| WorkerFault::NotStarted("the pool is closed".to_owned()))?;
        let worker = match self.take_spare() {
            Some(worker) => worker,
            None => self.start().await?,
        };
        let mut lease = Lease { rest: Some((worker, turn)), pool: self.clone() };
        let work = lease.work(&job);
        timeout(self.inner.settings.deadline, work).await.unwrap_or(Err(WorkerFault::Deadline))
    }

    fn take_spare(&self) -> Option<Worker> {
        loop {
            let mut worker = self.shelf().ready.pop_front()?;
            if worker.is_waiting() {
                return Some(worker);
            }
            tracing::warn!(pool.name = self.inner.settings.name, "a child process ended before it had a job");
        }
    }

    async fn start(&self) -> Result<Worker, WorkerFault> {
        let settings = &self.inner.settings;
        Worker::start(&self.inner.starter, settings.spec.clone(), settings.start_timeout).await
    }

    /// Starts as many children as are missing. A child that cannot start is not tried again here; the
    /// next job that needs one reports it.
    fn refill(&self) {
        let wanted = self.inner.settings.spares;
        let missing = {
            let mut stock = self.shelf();
            let missing = wanted.saturating_sub(stock.ready.len() + stock.starting);
            stock.starting += missing;
            missing
        };
        for _ in 0..missing {
            let pool = self.clone();
            tokio::spawn(async move {
                let started = pool.start().await;
                pool.put(started);
            });
        }
    }

    fn put(&self, started: Result<Worker, WorkerFault>) {
        let mut stock = self.shelf();
        stock.starting -= 1;
        match started {
            Ok(worker) => stock.ready.push_back(worker),
            Err(fault) => {
                tracing::warn!(pool.name = self.inner.settings.name, error = %fault, "no spare");
            }
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Nothing under this lock can stop half-way; a poisoned shelf is a whole one.
        self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child at work and its turn: however the job ends, the child is killed, reaped and replaced.
struct Lease {
    rest: Option<(Worker, OwnedSemaphorePermit)>,
    pool: Pool,
}

impl Lease {
    async fn work<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
    ) -> Result<(R, Bytes), WorkerFault> {
        let limit = self.pool.inner.settings.answer_limit_bytes;
        match &mut self.rest {
            Some((worker, _)) => worker.work(job, limit).await,
            None => Err(WorkerFault::NotStarted("the child is gone already".to_owned())),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((worker, turn)) = self.rest.take() else { return };
        worker.kill();
        let pool = self.pool.clone();
        let Ok(runtime) = Handle::try_current() else { return };
        // The next child starts when this one is gone: until then the cores belong to the job's page.
        runtime.spawn(async move {
            worker.end().await;
            drop(turn);
            pool.refill();
        });
    }
}
