//! The job registry: admits jobs, hands out turns, supervises the job actors.
//!
//! It holds the address and the view of every job in memory. A job whose actor died is made anew from its
//! record; one that ended leaves memory, and its record answers.

pub mod delete;
pub mod list;
pub mod requests;
pub mod shutdown;
mod uploads;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use tokio::sync::{mpsc, watch};

use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::context::Deps;
use crate::jobs::queue::cost::JobKind;
use crate::jobs::queue::{EngineLimits, FairQueue, NoPlace, QueueLimits, Turn};
use crate::jobs::run::actor::{self, JobActor};
use crate::jobs::run::notices::{Departure, Notice, Slot, Telling};
use crate::jobs::store::idempotency::{HeldKey, KeyLine};
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::{JobView, WireStatus};
use crate::outbound::Admitted;
use crate::problem::{Code, Problem};
use crate::slots::AccountShare;

pub(in crate::jobs) type ViewReply = Result<watch::Receiver<JobView>, Problem>;

/// Seconds after which a caller may try a full queue again.
const RETRY_AFTER_S: u64 = 2;

/// The job registry.
pub struct JobRegistry {
    pub(in crate::jobs) deps: Arc<Deps>,
    arbiters: Vec<ArbiterHandle>,
    pub(in crate::jobs) live: HashMap<JobId, Live>,
    lives: u64,
    left: u64,
    pub(in crate::jobs) queue: FairQueue,
    /// The keys of requests that are being answered.
    pub(in crate::jobs) keys: HashMap<HeldKey, KeyLine>,
    slots: usize,
    turns: u64,
    /// The turns under way, by number.
    taken: HashMap<u64, Turn>,
    pub(in crate::jobs) running: HashMap<JobId, Addr<JobActor>>,
    notices: mpsc::UnboundedSender<Telling>,
    incoming: Option<mpsc::UnboundedReceiver<Telling>>,
    pub(in crate::jobs) stopping: bool,
    pub(in crate::jobs) stopped: watch::Sender<usize>,
}

#[derive(Clone)]
pub(in crate::jobs) struct Live {
    number: u64,
    pub(in crate::jobs) addr: Addr<JobActor>,
    pub(in crate::jobs) view: watch::Receiver<JobView>,
    /// Held by the map, and by every question to the actor that is not answered yet.
    held: Arc<()>,
}

impl JobRegistry {
    /// A registry that runs at most `slots` jobs at once and starts their actors on `arbiters`.
    #[must_use]
    pub fn new(deps: Arc<Deps>, slots: usize, arbiters: Vec<ArbiterHandle>) -> Self {
        let limits = &deps.limits;
        let bound = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let level = deps.parts.metrics.jobs.waiting.clone();
        let bounds = QueueLimits {
            all: bound(limits.queue_limit),
            account: bound(limits.queue_account_limit),
            running: AccountShare::new(limits.running_account_limit).of(slots),
        };
        let engines = EngineLimits::of(&deps.parts.catalog, &deps.parts.budget, slots);
        let queue = FairQueue::new(bounds, engines, level);
        let (notices, incoming) = mpsc::unbounded_channel();
        Self {
            deps,
            arbiters,
            live: HashMap::new(),
            lives: 0,
            left: 0,
            queue,
            keys: HashMap::new(),
            slots,
            turns: 0,
            taken: HashMap::new(),
            running: HashMap::new(),
            notices,
            incoming: Some(incoming),
            stopping: false,
            stopped: watch::channel(0).0,
        }
    }

    pub(in crate::jobs) fn spawn(&mut self, record: JobRecord) -> Live {
        self.lives += 1;
        let (job, number) = (record.id, self.lives);
        let (sender, view) = watch::channel(record.view());
        let (deps, departure) = (self.deps.clone(), Departure::new(job, number, self.notices.clone()));
        let at = usize::try_from(number).unwrap_or(0) % self.arbiters.len();
        let addr = JobActor::start_in_arbiter(&self.arbiters[at], move |_| {
            JobActor::new(deps, record, sender, departure)
        });
        let live = Live { number, addr, view, held: Arc::new(()) };
        self.live.insert(job, live.clone());
        live
    }

    /// The job in memory, brought back from its record if it has not ended.
    pub(in crate::jobs) fn find(
        &self,
        account: AccountId,
        job: JobId,
    ) -> ResponseActFuture<Self, Result<Found, Problem>> {
        if let Some(live) = self.live.get(&job) {
            return Box::pin(fut::ready(live.of(account).map(Found::Live)));
        }
        let (journal, left) = (self.deps.journal.clone(), self.left);
        let read = async move { journal.read(account, job).await };
        Box::pin(read.into_actor(self).then(move |record, registry, ctx| {
            if registry.left != left && !registry.live.contains_key(&job) {
                // Jobs left memory while this record was read: it may be older than their end.
                return registry.find(account, job);
            }
            Box::pin(fut::ready(registry.found(record.map_err(Problem::from), account, job, ctx)))
        }))
    }

    fn found(
        &mut self,
        record: Result<Option<JobRecord>, Problem>,
        account: AccountId,
        job: JobId,
        ctx: &mut Context<Self>,
    ) -> Result<Found, Problem> {
        if let Some(live) = self.live.get(&job) {
            return live.of(account).map(Found::Live);
        }
        let record = record?.ok_or_else(|| not_found(job))?;
        if record.state.is_final() {
            return Ok(Found::Ended(watch::channel(record.view()).1));
        }
        Ok(Found::Live(if record.state == JobState::Initialized {
            self.spawn(record)
        } else {
            self.resume(record, ctx)
        }))
    }

    pub(in crate::jobs) fn forget(&mut self, job: JobId) {
        self.live.remove(&job);
        self.left += 1;
    }

    /// A job that was given a turn has ended, or its actor has.
    fn runs_no_more(&mut self, job: JobId) {
        self.running.remove(&job);
        self.tell_running();
        self.stopped.send_replace(self.running.len());
    }

    pub(in crate::jobs) fn admit(&mut self, account: AccountId) -> Result<(), Problem> {
        let limits = &self.deps.limits;
        let admitted = self.queue.admit(account);
        let outcome = admitted.map_or_else(NoPlace::name, |()| "admitted");
        self.deps.parts.metrics.jobs.admissions.of([outcome]).inc();
        admitted.map_err(|reason| match reason {
            NoPlace::QueueFull => {
                let limit = limits.queue_limit;
                Problem::new(Code::Overloaded, format!("{limit} jobs are waiting (jobs.queue_limit); try again later"))
            }
            NoPlace::AccountFull => {
                let limit = limits.queue_account_limit;
                let detail = format!(
                    "this account has {limit} jobs waiting (jobs.queue_account_limit); wait for some to end"
                );
                Problem::new(Code::RateLimited, detail)
            }
        }.retry_after(RETRY_AFTER_S))
    }

    pub(in crate::jobs) fn refuse_when_stopping(&self) -> Result<(), Problem> {
        if self.stopping { Err(stopping()) } else { Ok(()) }
    }

    /// Starts an initialized job and puts it into the queue once its start is durable.
    pub(in crate::jobs) fn start(
        &mut self,
        account: AccountId,
        live: Live,
        deliver_to: Option<Admitted>,
    ) -> ResponseActFuture<Self, ViewReply> {
        if let Err(problem) = self.refuse_when_stopping().and_then(|()| self.admit(account)) {
            return Box::pin(fut::ready(Err(problem)));
        }
        let started = live.addr.send(actor::Start { deliver_to }).into_actor(self);
        Box::pin(started.map(move |started, registry, ctx| {
            let started = started.map_err(|_| actor_lost()).and_then(|started| started);
            match started {
                Ok(true) => registry.enter(&live.view, ctx),
                Ok(false) | Err(_) => registry.queue.release(account),
            }
            started.map(|_| live.view)
        }))
    }

    /// Puts a job that has a place and was started into the queue, unless it was cancelled meanwhile: its
    /// end may have been heard of before its start, and would not be heard of again.
    pub(in crate::jobs) fn enter(&mut self, view: &watch::Receiver<JobView>, ctx: &mut Context<Self>) {
        let (account, job, kind, is_done) = {
            let view = view.borrow();
            let kind = JobKind { kind: view.kind, target: view.target };
            (view.account, view.id, kind, view.is_done())
        };
        if is_done {
            return self.queue.release(account);
        }
        self.queue.enter(account, job, kind);
        self.dispatch(ctx);
    }

    /// Gives the free slots to the jobs whose turn it is.
    pub(in crate::jobs) fn dispatch(&mut self, ctx: &mut Context<Self>) {
        while !self.stopping && self.taken.len() < self.slots {
            let Some(turn) = self.queue.next() else { return };
            let (account, job) = (turn.account, turn.job);
            let Some(live) = self.live.get(&job) else {
                self.queue.ended(turn, None);
                continue;
            };
            let addr = live.addr.clone();
            self.running.insert(job, addr.clone());
            self.tell_running();
            self.turns += 1;
            self.taken.insert(self.turns, turn);
            let slot = Slot::new((account, job), self.turns, self.notices.clone());
            // A job that is gone drops the slot, which comes back as a notice.
            ctx.spawn(addr.send(actor::Assigned(slot)).into_actor(self).map(|_, _, _| ()));
        }
    }

    fn tell_running(&self) {
        let running = i64::try_from(self.running.len()).unwrap_or(i64::MAX);
        self.deps.parts.metrics.jobs.running.set(running);
    }

    /// Brings a job back whose actor died before the job ended.
    fn departed(&mut self, job: JobId, live: &Live, ctx: &mut Context<Self>) {
        let account = live.view.borrow().account;
        self.queue.remove(account, job);
        if self.stopping {
            return;
        }
        tracing::error!(job.id = %job, "a job's actor died; the job is taken up again");
        let journal = self.deps.journal.clone();
        let read = async move { journal.read(account, job).await };
        ctx.spawn(read.into_actor(self).map(move |record, registry, ctx| match record {
            Ok(Some(record)) if !record.state.is_final() && !registry.live.contains_key(&job) => {
                registry.resume(record, ctx);
            }
            Ok(record) => {
                // It ended, and its actor died before it could say so.
                if record.is_none_or(|record| record.state.is_final()) {
                    registry.deps.open.leave(account, job);
                    registry.deps.stored.end(job);
                }
            }
            Err(error) => tracing::error!(job.id = %job, error = %error, "the job cannot be taken up again"),
        }));
    }

    /// Takes a started job up where its record says it stands.
    pub(in crate::jobs) fn resume(&mut self, record: JobRecord, ctx: &mut Context<Self>) -> Live {
        let (account, job) = (record.account, record.id);
        let kind = JobKind { kind: record.kind, target: record.target };
        let live = self.spawn(record);
        ctx.spawn(live.addr.send(actor::Resume).into_actor(self).map(move |wants_place, registry, ctx| {
            if wants_place.unwrap_or(false) {
                registry.queue.readmit(account, job, kind);
                registry.dispatch(ctx);
            }
        }));
        live
    }
}

pub(in crate::jobs) enum Found {
    Live(Live),
    Ended(watch::Receiver<JobView>),
}

impl Found {
    pub(in crate::jobs) fn view(self) -> watch::Receiver<JobView> {
        match self {
            Self::Live(live) => live.view,
            Self::Ended(view) => view,
        }
    }
}

impl Live {
    /// This job, if it is the account's.
    fn of(&self, account: AccountId) -> Result<Self, Problem> {
        // One borrow: a second one beside it would wait for a writer that waits for the first.
        let (owner, job) = {
            let view = self.view.borrow();
            (view.account, view.id)
        };
        if owner == account { Ok(self.clone()) } else { Err(not_found(job)) }
    }
}

impl Actor for JobRegistry {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let limit = usize::try_from(self.deps.limits.mailbox_limit).unwrap_or(usize::MAX);
        ctx.set_mailbox_capacity(limit);
        if let Some(incoming) = self.incoming.take() {
            ctx.add_stream(futures_util::stream::unfold(incoming, |mut incoming| async {
                incoming.recv().await.map(|telling| (telling, incoming))
            }));
        }
    }
}

impl StreamHandler<Telling> for JobRegistry {
    fn handle(&mut self, (job, number, notice): Telling, ctx: &mut Self::Context) {
        if let Notice::SlotFree { cost } = notice {
            if let Some(turn) = self.taken.remove(&number) {
                self.queue.ended(turn, cost);
            }
            return self.dispatch(ctx);
        }
        let Some(live) = self.live.get(&job).filter(|live| live.number == number).cloned() else { return };
        let (account, status) = {
            let view = live.view.borrow();
            (view.account, view.status)
        };
        match notice {
            Notice::Ended => {
                self.queue.remove(account, job);
                self.forget(job);
                self.runs_no_more(job);
            }
            Notice::Idle if status != WireStatus::Initialized => {}
            // The map's, and the one in hand: nobody asks it anything now.
            Notice::Idle if Arc::strong_count(&live.held) <= 2 => self.forget(job),
            Notice::Idle => {
                let idle = Duration::from_secs(self.deps.limits.initialized_idle_s);
                ctx.run_later(idle, move |registry, _| {
                    let _ = registry.notices.send((job, number, Notice::Idle));
                });
            }
            Notice::Departed => {
                self.forget(job);
                self.runs_no_more(job);
                self.departed(job, &live, ctx);
            }
            Notice::SlotFree { .. } => {}
        }
    }
}

pub(in crate::jobs) fn not_found(job: JobId) -> Problem {
    Problem::new(Code::JobNotFound, format!("there is no job {job} in this account"))
}

pub(in crate::jobs) fn stopping() -> Problem {
    Problem::new(Code::Overloaded, "the service is shutting down; try again in a moment")
        .retry_after(RETRY_AFTER_S)
}

pub(in crate::jobs) fn actor_lost() -> Problem {
    Problem::internal("a job's actor was lost while it was asked")
}
