//! The queue's side of the registry: places, turns, and the jobs that run.

use std::collections::HashMap;
use std::time::Duration;

use actix::prelude::*;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::config::as_count;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::context::JobContext;
use crate::jobs::queue::cost::JobKind;
use crate::jobs::queue::{AdmissionError, EngineLimits, FairQueue, FullTurns, QueueLimits, Starved, Turn};
use crate::jobs::registry::JobRegistry;
use crate::jobs::run::actor::JobActor;
use crate::jobs::run::messages::Assigned;
use crate::jobs::run::notices::RunSlot;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::slots::AccountShare;
use crate::slots::way::{LOOK_PAUSE, Way, longest};
use crate::telemetry::Gauge;

/// Which jobs wait, which have a turn, and which run.
pub(super) struct Dispatcher {
    pub queue: FairQueue,
    /// How many turns there may be at once.
    slots: usize,
    /// The number of the slot that was given out last; the next one gets the next number, and none is used twice.
    last_slot_number: u64,
    /// The turns under way, by the number of their slot.
    pub turns: HashMap<u64, RunningTurn>,
    /// How many of them made way.
    made_way: usize,
    /// A look at who waits is due.
    is_looking: bool,
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

/// A turn under way.
pub(super) struct RunningTurn {
    turn: Turn,
    since: Instant,
    /// How its job makes way.
    way: Way,
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
            made_way: 0,
            is_looking: false,
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

    /// Ends the turn of this slot, whose run cost so much.
    pub fn end_turn(&mut self, slot: u64, cost: Option<Duration>) {
        let Some(RunningTurn { turn, .. }) = self.turns.remove(&slot) else { return };
        self.made_way -= usize::from(turn.has_made_way());
        self.queue.end_turn(turn, cost);
    }

    /// The run of this slot made way: another job may have its turn. It goes on beside the others, at most as many as there
    /// are turns.
    pub fn make_way(&mut self, slot: u64) {
        if self.made_way < self.slots
            && let Some(RunningTurn { turn, .. }) = self.turns.get_mut(&slot)
        {
            self.made_way += 1;
            self.queue.make_way(turn);
        }
    }

    fn is_full(&self) -> bool {
        self.turns.len() - self.made_way >= self.slots
    }

    /// Has a job make way for an account that waits for a turn; false where none waits.
    fn ask_for_way(&mut self) -> bool {
        let starved = self.queue.starved(self.is_full());
        if self.made_way < self.slots
            && let Some(slot) = starved.iter().find_map(|starved| self.way_for(starved))
            && let Some(RunningTurn { way, .. }) = self.turns.get(&slot)
        {
            // A job that only waits for a slot or a tab gives up its turn, and goes on as any other when it gets one.
            if way.has_made_way() || way.holds_nothing() {
                self.make_way(slot);
            } else {
                way.make();
            }
        }
        !starved.is_empty()
    }

    /// The slot of the turn that is to make way.
    fn way_for(&self, starved: &Starved) -> Option<u64> {
        let turns = self.turns.iter().filter(|(_, it)| match starved.full {
            FullTurns::Any => true,
            FullTurns::Heavy => self.queue.engine_of(&it.turn).is_some(),
            FullTurns::Of(engine) => self.queue.engine_of(&it.turn) == Some(engine),
        });
        let turns: Vec<_> = turns.collect();
        // One whose job made way when there was no room for it.
        let left = turns.iter().find(|(_, it)| it.way.has_made_way() && !it.turn.has_made_way());
        // Turns that made way count for their accounts, and do not make way again.
        let since = |it: &RunningTurn| if it.turn.has_made_way() { Instant::now() } else { it.since };
        let way = longest(starved.account, turns.iter().map(|(_, it)| (since(it), &it.way)));
        let chosen = || turns.iter().find(|(_, it)| way.is_some_and(|way| way.is(&it.way)));
        left.or_else(chosen).map(|(slot, _)| **slot)
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
        self.begin_turns(ctx);
        self.look_for_way(ctx);
    }

    /// Looks from time to time, as long as an account waits for a turn, whether a long job makes way.
    fn look_for_way(&mut self, ctx: &mut Context<Self>) {
        let dispatcher = &mut self.dispatcher;
        if dispatcher.is_looking || dispatcher.is_stopping || !dispatcher.ask_for_way() {
            return;
        }
        dispatcher.is_looking = true;
        self.begin_turns(ctx);
        ctx.run_later(LOOK_PAUSE, |registry, ctx| {
            registry.dispatcher.is_looking = false;
            registry.look_for_way(ctx);
        });
    }

    fn begin_turns(&mut self, ctx: &mut Context<Self>) {
        let Self { dispatcher, active, notices, context, .. } = self;
        let make_way_after = context.pipeline.budget.make_way_after();
        while !dispatcher.is_stopping && !dispatcher.is_full() {
            let Some(turn) = dispatcher.queue.next_turn() else { return };
            let (account, job) = (turn.account, turn.job);
            let Some(active) = active.get(&job) else {
                dispatcher.queue.end_turn(turn, None);
                continue;
            };
            dispatcher.running.insert(job, active.addr.clone());
            dispatcher.update_running();
            dispatcher.last_slot_number += 1;
            let number = dispatcher.last_slot_number;
            let slot = RunSlot::new((account, job), number, notices.clone(), make_way_after);
            let turn = RunningTurn { turn, since: Instant::now(), way: slot.way().clone() };
            dispatcher.turns.insert(number, turn);
            // The result does not matter: an actor that has stopped drops the slot, and the drop sends the notice that the slot
            // is free.
            ctx.spawn(fut::wrap_future(active.addr.send(Assigned(slot))).map(|_, _: &mut Self, _| ()));
        }
    }
}
