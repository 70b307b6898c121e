//! The queue's side of the registry: places, turns, and the jobs that run.

use std::collections::HashMap;

use actix::prelude::*;
use tokio::sync::watch;

use crate::config::as_count;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::context::JobContext;
use crate::jobs::queue::cost::JobKind;
use crate::jobs::queue::{AdmissionError, EngineLimits, FairQueue, QueueLimits, Turn};
use crate::jobs::registry::JobRegistry;
use crate::jobs::run::actor::JobActor;
use crate::jobs::run::messages::Assigned;
use crate::jobs::run::notices::RunSlot;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::slots::AccountShare;
use crate::telemetry::Gauge;

/// Which jobs wait, which have a turn, and which run.
pub(super) struct Dispatcher {
    pub queue: FairQueue,
    /// How many turns there may be at once.
    slots: usize,
    /// The number of the slot that was given out last; the next one gets the next number, and none is used twice.
    last_slot_number: u64,
    /// The turns under way, by the number of their slot.
    pub turns: HashMap<u64, Turn>,
    /// The actors of the jobs that were dispatched and have not ended. A job whose document is being delivered has given its
    /// slot back and is still here.
    pub running: HashMap<JobId, Addr<JobActor>>,
    /// The number of `running`, for which the shutdown waits.
    pub running_count: watch::Sender<usize>,
    /// The same number as a metric.
    running_gauge: Gauge,
    /// The service stops: nothing is dispatched any more.
    pub is_stopping: bool,
}

impl Dispatcher {
    /// Dispatches at most `slots` jobs at once.
    pub fn new(context: &JobContext, slots: usize) -> Self {
        let (limits, pipeline) = (&context.limits, &context.pipeline);
        let bounds = QueueLimits {
            all: as_count(limits.queue_limit),
            account: as_count(limits.queue_account_limit),
            running: AccountShare::new(limits.running_account_limit).of(slots),
        };
        let engines = EngineLimits::of(&pipeline.catalog, &pipeline.budget, slots);
        Self {
            queue: FairQueue::new(bounds, engines, pipeline.metrics.jobs.waiting.clone()),
            slots,
            last_slot_number: 0,
            turns: HashMap::new(),
            running: HashMap::new(),
            running_count: watch::channel(0).0,
            running_gauge: pipeline.metrics.jobs.running.clone(),
            is_stopping: false,
        }
    }

    /// Stops counting a job as running: it has ended, or its actor has stopped.
    pub fn remove_running(&mut self, job: JobId) {
        self.running.remove(&job);
        self.update_running();
    }

    fn update_running(&self) {
        self.running_gauge.set(i64::try_from(self.running.len()).unwrap_or(i64::MAX));
        self.running_count.send_replace(self.running.len());
    }
}

impl JobRegistry {
    /// Takes a place in the queue for a job of the account.
    pub(super) fn admit(&mut self, account: AccountId) -> Result<(), Problem> {
        let limits = &self.context.limits;
        let admitted = self.dispatcher.queue.take_place(account);
        let outcome = admitted.map_or_else(AdmissionError::name, |()| "admitted");
        self.context.pipeline.metrics.jobs.admissions.of([outcome]).inc();
        admitted.map_err(|reason| match reason {
            AdmissionError::QueueFull => {
                let limit = limits.queue_limit;
                let detail = format!("{limit} jobs are waiting (jobs.queue_limit); try again later");
                Problem::new(Code::Overloaded, detail)
            }
            AdmissionError::AccountFull => {
                let limit = limits.queue_account_limit;
                let detail = format!(
                    "this account has {limit} jobs waiting (jobs.queue_account_limit); wait for some to end"
                );
                Problem::new(Code::RateLimited, detail)
            }
        })
    }

    /// Enqueues a started job that has a place.
    ///
    /// Hazard: a cancel can end the job before this is called. Its notice has then been handled already, and an entry made
    /// now would stay in the queue for ever; so a job that is done gives its place back.
    pub(super) fn enqueue(&mut self, view: &watch::Receiver<JobView>, ctx: &mut Context<Self>) {
        let (account, job, kind, is_done) = {
            let view = view.borrow();
            let kind = JobKind { kind: view.kind, target: view.target };
            (view.account, view.id, kind, view.is_done())
        };
        if is_done {
            return self.dispatcher.queue.give_up_place(account);
        }
        self.dispatcher.queue.enqueue(account, job, kind);
        self.dispatch(ctx);
    }

    /// Gives the free slots to the next jobs of the queue.
    pub(super) fn dispatch(&mut self, ctx: &mut Context<Self>) {
        let Self { dispatcher, active, notices, .. } = self;
        while !dispatcher.is_stopping && dispatcher.turns.len() < dispatcher.slots {
            let Some(turn) = dispatcher.queue.next_turn() else { return };
            let (account, job) = (turn.account, turn.job);
            let Some(active) = active.get(&job) else {
                dispatcher.queue.end_turn(turn, None);
                continue;
            };
            dispatcher.running.insert(job, active.addr.clone());
            dispatcher.update_running();
            dispatcher.last_slot_number += 1;
            dispatcher.turns.insert(dispatcher.last_slot_number, turn);
            let slot = RunSlot::new((account, job), dispatcher.last_slot_number, notices.clone());
            // The result does not matter: an actor that has stopped drops the slot, and the drop sends the notice that the slot
            // is free.
            ctx.spawn(fut::wrap_future(active.addr.send(Assigned(slot))).map(|_, _: &mut Self, _| ()));
        }
    }
}
