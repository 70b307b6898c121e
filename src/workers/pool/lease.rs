//! A child of a pool while it does a job.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::Pool;
use super::state::PoolState;
use crate::domain::ids::AccountId;
use crate::slots::way::MakesWay;
use crate::workers::at_work::Working;
use crate::workers::job_slots::JobSlot;
use crate::workers::priority::{
    LONG_LOOK_PAUSE, LOWEST_AFTER, LoweredSession, processor_time, yield_processor, yield_to_all,
};
use crate::workers::work_clock::WorkClock;
use crate::workers::worker::{Job, Worker, WorkerError};

/// However soon a child is to have low priority, it is looked at no more often than this.
const SHORTEST_LOOK_PAUSE: Duration = Duration::from_millis(20);
/// How often a session is given its share again, and for how long: the kernel takes one change in 0.1 s, of all unprivileged users
/// together.
const RESTORE_PAUSE: Duration = Duration::from_millis(20);
const RESTORE_LIMIT: Duration = Duration::from_secs(5);

/// A working child and its slot. However the job ends, the child is made ready again for its account, or killed, reaped and
/// replaced.
pub(super) struct ChildLease {
    held: Option<(Worker, JobSlot, WorkingCount)>,
    pool: Pool,
    account: AccountId,
    answered: bool,
    /// The child has been made nice, which cannot be undone.
    has_yielded: bool,
    at_work: Arc<Working>,
    /// The session of a server that had a long document.
    lowered: Arc<OnceLock<LoweredSession>>,
    way: Arc<ChildWay>,
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
        let at_work = Arc::new(pool.inner.starter.begin_work());
        let way = Arc::new(ChildWay {
            pool: pool.clone(),
            process: worker.process(),
            phase: Mutex::new(Phase::Working),
        });
        job_slot.way().hold(&way);
        Self {
            held: Some((worker, job_slot, count)),
            pool,
            account,
            answered: false,
            has_yielded: false,
            at_work,
            lowered: Arc::default(),
            way,
            end: "abandoned",
        }
    }

    /// Has the child do the job. After `undisturbed` of processor time it has low priority, and later the lowest while another one
    /// works.
    pub async fn work_and_yield<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        clock: &WorkClock,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let undisturbed = self.pool.inner.settings.undisturbed;
        let process = self.held.as_ref().and_then(|(worker, ..)| worker.process());
        if let Some(server) = process.filter(|_| self.pool.inner.servers.is_some()) {
            return self.work_in_session((job, clock), server, undisturbed).await;
        }
        let used = || process.and_then(processor_time).unwrap_or_default();
        let before = used();
        let at_work = Arc::clone(&self.at_work);
        let longest = undisturbed.saturating_mul(LOWEST_AFTER);
        let pause = undisturbed.clamp(SHORTEST_LOOK_PAUSE, LONG_LOOK_PAUSE);
        let low: fn(i32) = yield_processor;
        let yields = [(undisturbed, false, low), (longest, true, yield_to_all)];
        let mut has_yielded = false;
        let done = 'done: {
            let mut work = pin!(self.work(job, clock));
            for (after, needs_company, yield_as) in yields {
                while used().saturating_sub(before) < after || needs_company && !at_work.has_company() {
                    if let Ok(done) = timeout(pause, &mut work).await {
                        break 'done done;
                    }
                }
                has_yielded = true;
                if let Some(process) = process {
                    spawn_blocking(move || yield_as(process));
                }
            }
            work.await
        };
        self.has_yielded = has_yielded;
        done
    }

    /// Has a server do the job. Its child computes, and is in its session. That gets the lowest priority after `undisturbed` of
    /// processor time, once another one works: unlike niceness it can be taken back, for the server's next document.
    async fn work_in_session<H: Serialize, R: DeserializeOwned>(
        &mut self,
        (job, clock): (&Job<'_, H>, &WorkClock),
        server: i32,
        undisturbed: Duration,
    ) -> Result<Option<(R, Bytes)>, WorkerError> {
        let (lowered, at_work) = (Arc::clone(&self.lowered), Arc::clone(&self.at_work));
        let mut work = pin!(self.work(job, clock));
        while lowered.get().is_none() {
            if let Ok(done) = timeout(LONG_LOOK_PAUSE, &mut work).await {
                return done;
            }
            if !at_work.has_company() {
                continue;
            }
            let look = move || LoweredSession::of_long_document(server, undisturbed);
            if let Ok(Some(session)) = spawn_blocking(look).await {
                let _ = lowered.set(session);
            }
        }
        work.await
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

/// Gives the session of a server what it had before its document; whether it has that.
async fn is_restored(lowered: &OnceLock<LoweredSession>) -> bool {
    let Some(session) = lowered.get() else { return true };
    let restored = timeout(RESTORE_LIMIT, async {
        while session.restore().is_err() {
            sleep(RESTORE_PAUSE).await;
        }
    });
    restored.await.is_ok()
}

impl Drop for ChildLease {
    fn drop(&mut self) {
        let Some((worker, mut job_slot, count)) = self.held.take() else { return };
        job_slot.end_work();
        self.pool.count_end(self.end);
        let made_way = self.way.end();
        let answered = self.answered && !self.has_yielded && !made_way;
        let (pool, account, lowered) = (self.pool.clone(), self.account, Arc::clone(&self.lowered));
        if !answered {
            worker.kill();
        }
        let Ok(runtime) = Handle::try_current() else { return };
        // The spare is started only after this child is retired: its start would compete with the rest of the job for cores.
        runtime.spawn(async move {
            let is_as_before = answered && is_restored(&lowered).await;
            pool.retire(account, (worker, count), is_as_before).await;
            drop(job_slot);
            pool.refill();
        });
    }
}

/// A working child whose job makes way: it yields to all others, which cannot be undone, and so ends with the job.
struct ChildWay {
    pool: Pool,
    process: Option<i32>,
    phase: Mutex<Phase>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    /// Its job made way.
    Leaving,
    /// Its job has ended.
    Over,
}

impl ChildWay {
    /// Its job has ended; whether it made way.
    fn end(&self) -> bool {
        let was_leaving = std::mem::replace(&mut *self.phase.lock(), Phase::Over) == Phase::Leaving;
        if was_leaving {
            self.pool.inner.state.lock().leaving -= 1;
        }
        was_leaving
    }
}

impl MakesWay for ChildWay {
    fn make_way(&self) {
        {
            let mut phase = self.phase.lock();
            if *phase != Phase::Working {
                return;
            }
            *phase = Phase::Leaving;
            self.pool.inner.state.lock().leaving += 1;
        }
        self.process.inspect(|process| yield_to_all(*process));
        self.pool.refill();
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
