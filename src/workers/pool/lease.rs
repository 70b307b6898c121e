//! A child of a pool while it does a job.

use std::pin::pin;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Pool;
use super::state::PoolState;
use crate::domain::ids::AccountId;
use crate::workers::job_slots::JobSlot;
use crate::workers::priority::{processor_time, yield_processor};
use crate::workers::work_clock::WorkClock;
use crate::workers::worker::{Job, Worker, WorkerError};

/// A working child and its slot. However the job ends, the child is made ready again for its account, or killed, reaped and
/// replaced.
pub(super) struct ChildLease {
    held: Option<(Worker, JobSlot, WorkingCount)>,
    pool: Pool,
    account: AccountId,
    answered: bool,
    /// The child has been made nice, which cannot be undone.
    has_yielded: bool,
    /// How the job ended, as the metric's label.
    pub end: &'static str,
}

impl ChildLease {
    /// A lease of the child from now on.
    pub fn new(
        pool: Pool,
        account: AccountId,
        (worker, count): (Worker, WorkingCount),
        mut job_slot: JobSlot,
    ) -> Self {
        job_slot.begin_work();
        Self {
            held: Some((worker, job_slot, count)),
            pool,
            account,
            answered: false,
            has_yielded: false,
            end: "abandoned",
        }
    }

    /// Has the child do the job. After `undisturbed` of processor time it yields the processor to all other processes.
    pub async fn work_and_yield<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        clock: &WorkClock,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        if self.pool.inner.servers.is_some() {
            // The server's child computes; it yields from its start if its profile says so.
            return self.work(job, clock).await;
        }
        let undisturbed = self.pool.inner.settings.undisturbed;
        let process = self.held.as_ref().and_then(|(worker, ..)| worker.process());
        let used = || process.and_then(processor_time).unwrap_or_default();
        let before = used();
        let done = {
            let mut work = pin!(self.work(job, clock));
            loop {
                if let Ok(done) = timeout(undisturbed, &mut work).await {
                    return done;
                }
                if used() >= before + undisturbed {
                    break;
                }
            }
            process.inspect(|process| yield_processor(*process));
            work.await
        };
        self.has_yielded = true;
        done
    }

    async fn work<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        clock: &WorkClock,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let limit = self.pool.inner.settings.answer_limit_bytes;
        let Some((worker, job_slot, _)) = &mut self.held else {
            return Err(WorkerError::NotStarted("the child is gone already".to_owned()));
        };
        let answer = worker.work(job, (clock, job_slot), limit).await;
        self.answered = matches!(answer, Ok(Some(_)));
        answer
    }
}

impl Drop for ChildLease {
    fn drop(&mut self) {
        let Some((worker, mut job_slot, count)) = self.held.take() else { return };
        job_slot.end_work();
        self.pool.count_end(self.end);
        let (pool, account, answered) = (self.pool.clone(), self.account, self.answered && !self.has_yielded);
        if !answered {
            worker.kill();
        }
        let Ok(runtime) = Handle::try_current() else { return };
        // The spare is started only after this child is retired: its start would compete with the rest of the job for cores.
        runtime.spawn(async move {
            pool.retire(account, (worker, count), answered).await;
            drop(job_slot);
            pool.refill();
        });
    }
}

/// Counts a job's child in [`PoolState::working`], from when it is taken or its start begins until this is dropped. Without the
/// count a refill meanwhile would start one too many.
pub(super) struct WorkingCount {
    pool: Option<Pool>,
}

impl WorkingCount {
    /// Counts one more child of the pool, whose state is locked already.
    pub fn new(pool: &Pool, state: &mut PoolState) -> Self {
        state.working += 1;
        Self { pool: Some(pool.clone()) }
    }

    /// Ends the count under the lock under which the child goes back into `state`.
    pub fn give_up(mut self, state: &mut PoolState) {
        self.pool = None;
        state.working -= 1;
    }
}

impl Drop for WorkingCount {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.inner.state.lock().working -= 1;
        }
    }
}
