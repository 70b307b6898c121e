//! One job at work in a child of the pool.

use std::pin::pin;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Pool;
use super::shelf::Shelf;
use crate::domain::ids::AccountId;
use crate::workers::place::Place;
use crate::workers::priority::{processor_time, yield_processor};
use crate::workers::waits::Waits;
use crate::workers::worker::{Job, Worker, WorkerFault};

/// A child at work and its turn: however the job ends, the child is made ready again for its account, or
/// killed, reaped and replaced.
pub(super) struct Lease {
    rest: Option<(Worker, Place, Claim)>,
    pool: Pool,
    account: AccountId,
    answered: bool,
    /// It computed for so long that it goes last in line for the processor.
    has_yielded: bool,
    /// How the job ended, for the count of them.
    pub end: &'static str,
}

impl Lease {
    /// The child has a job from now on.
    pub fn new(pool: Pool, account: AccountId, (worker, claim): (Worker, Claim), mut place: Place) -> Self {
        place.begin_work();
        Self {
            rest: Some((worker, place, claim)),
            pool,
            account,
            answered: false,
            has_yielded: false,
            end: "abandoned",
        }
    }

    /// Has the child do the job. One that computes for long goes on when nobody else has use for the processor.
    pub async fn work_in_turn<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        waits: &Waits,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        if self.pool.inner.quarters.is_some() {
            // What computes is the server's child; who shall yield does so from its start.
            return self.work(job, waits).await;
        }
        let undisturbed = self.pool.inner.settings.undisturbed;
        let process = self.rest.as_ref().and_then(|(worker, ..)| worker.process());
        let used = || process.and_then(processor_time).unwrap_or_default();
        let before = used();
        let done = {
            let mut work = pin!(self.work(job, waits));
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
        // That cannot be taken back.
        self.has_yielded = true;
        done
    }

    async fn work<H: Serialize, R: DeserializeOwned>(
        &mut self,
        job: &Job<'_, H>,
        waits: &Waits,
    ) -> Result<Option<(R, Bytes)>, WorkerFault> {
        let limit = self.pool.inner.settings.answer_limit_bytes;
        let Some((worker, place, _)) = &mut self.rest else {
            return Err(WorkerFault::NotStarted("the child is gone already".to_owned()));
        };
        let answer = worker.work(job, (waits, place), limit).await;
        self.answered = matches!(answer, Ok(Some(_)));
        answer
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((worker, mut place, claim)) = self.rest.take() else { return };
        place.end_work();
        self.pool.count_end(self.end);
        let (pool, account, answered) = (self.pool.clone(), self.account, self.answered && !self.has_yielded);
        if !answered {
            worker.kill();
        }
        let Ok(runtime) = Handle::try_current() else { return };
        // The next child starts when this one is done with: until then the cores belong to the job's page.
        runtime.spawn(async move {
            pool.retire(account, (worker, claim), answered).await;
            drop(place);
            pool.refill();
        });
    }
}

/// A job's child, counted ([`Shelf::working`]) from when the job takes it or begins to start one: whoever looks meanwhile how
/// many there are would else start one too many. Dropped, it is not counted any more.
pub(super) struct Claim {
    pool: Option<Pool>,
}

impl Claim {
    /// Counts one more child of the pool, whose shelf this is.
    pub fn new(pool: &Pool, stock: &mut Shelf) -> Self {
        stock.working += 1;
        Self { pool: Some(pool.clone()) }
    }

    /// Gives it up with the shelf in hand, on which the child is put.
    pub fn give_up(mut self, stock: &mut Shelf) {
        self.pool = None;
        stock.working -= 1;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.shelf().working -= 1;
        }
    }
}
