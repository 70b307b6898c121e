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
use crate::jobs::context::JobContext;
use crate::jobs::queue::cost::JobKind;
use crate::jobs::queue::{AdmissionError, EngineLimits, FairQueue, QueueLimits, Turn};
use crate::jobs::run::actor::{self, JobActor};
use crate::jobs::run::notices::{ActorGuard, JobNotice, Notice, RunSlot};
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
    pub(in crate::jobs) context: Arc<JobContext>,
    arbiters: Vec<ArbiterHandle>,
    pub(in crate::jobs) active: HashMap<JobId, ActiveJob>,
    actors_started: u64,
    evictions: u64,
    pub(in crate::jobs) queue: FairQueue,
    /// The keys of requests that are being answered.
    pub(in crate::jobs) keys: HashMap<HeldKey, KeyLine>,
    slots: usize,
    turns: u64,
    /// The turns under way, by number.
    taken: HashMap<u64, Turn>,
    pub(in crate::jobs) running: HashMap<JobId, Addr<JobActor>>,
    notices: mpsc::UnboundedSender<JobNotice>,
    incoming: Option<mpsc::UnboundedReceiver<JobNotice>>,
    pub(in crate::jobs) stopping: bool,
    pub(in crate::jobs) stopped: watch::Sender<usize>,
}

#[derive(Clone)]
pub(in crate::jobs) struct ActiveJob {
    number: u64,
    pub(in crate::jobs) addr: Addr<JobActor>,
    pub(in crate::jobs) view: watch::Receiver<JobView>,
    /// Held by the map, and by every question to the actor that is not answered yet.
    held: Arc<()>,
}

impl JobRegistry {
    /// A registry that runs at most `slots` jobs at once and starts their actors on `arbiters`.
    #[must_use]
    pub fn new(context: Arc<JobContext>, slots: usize, arbiters: Vec<ArbiterHandle>) -> Self {
        let limits = &context.limits;
        let bound = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let level = context.pipeline.metrics.jobs.waiting.clone();
        let bounds = QueueLimits {
            all: bound(limits.queue_limit),
            account: bound(limits.queue_account_limit),
            running: AccountShare::new(limits.running_account_limit).of(slots),
        };
        let engines = EngineLimits::of(&context.pipeline.catalog, &context.pipeline.budget, slots);
        let queue = FairQueue::new(bounds, engines, level);
        let (notices, incoming) = mpsc::unbounded_channel();
        Self {
            context,
            arbiters,
            active: HashMap::new(),
            actors_started: 0,
            evictions: 0,
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

    pub(in crate::jobs) fn spawn(&mut self, record: JobRecord) -> ActiveJob {
        self.actors_started += 1;
        let (job, number) = (record.id, self.actors_started);
        let (sender, view) = watch::channel(record.view());
        let (context, guard) = (self.context.clone(), ActorGuard::new(job, number, self.notices.clone()));
        let at = usize::try_from(number).unwrap_or(0) % self.arbiters.len();
        let addr = JobActor::start_in_arbiter(&self.arbiters[at], move |_| {
            JobActor::new(context, record, sender, guard)
        });
        let active = ActiveJob { number, addr, view, held: Arc::new(()) };
        self.active.insert(job, active.clone());
        active
    }

    /// The job in memory, brought back from its record if it has not ended.
    pub(in crate::jobs) fn find(
        &self,
        account: AccountId,
        job: JobId,
    ) -> ResponseActFuture<Self, Result<Found, Problem>> {
        if let Some(active) = self.active.get(&job) {
            return Box::pin(fut::ready(active.of(account).map(Found::Active)));
        }
        let (journal, left) = (self.context.journal.clone(), self.evictions);
        let read = async move { journal.read(account, job).await };
        Box::pin(read.into_actor(self).then(move |record, registry, ctx| {
            if registry.evictions != left && !registry.active.contains_key(&job) {
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
        if let Some(active) = self.active.get(&job) {
            return active.of(account).map(Found::Active);
        }
        let record = record?.ok_or_else(|| not_found(job))?;
        if record.state.is_final() {
            return Ok(Found::Ended(watch::channel(record.view()).1));
        }
        Ok(Found::Active(if record.state == JobState::Initialized {
            self.spawn(record)
        } else {
            self.resume(record, ctx)
        }))
    }

    pub(in crate::jobs) fn evict(&mut self, job: JobId) {
        self.active.remove(&job);
        self.evictions += 1;
    }

    /// A job that was given a turn has ended, or its actor has.
    fn remove_running(&mut self, job: JobId) {
        self.running.remove(&job);
        self.update_running_gauge();
        self.stopped.send_replace(self.running.len());
    }

    pub(in crate::jobs) fn admit(&mut self, account: AccountId) -> Result<(), Problem> {
        let limits = &self.context.limits;
        let admitted = self.queue.admit(account);
        let outcome = admitted.map_or_else(AdmissionError::name, |()| "admitted");
        self.context.pipeline.metrics.jobs.admissions.of([outcome]).inc();
        admitted.map_err(|reason| match reason {
            AdmissionError::QueueFull => {
                let limit = limits.queue_limit;
                Problem::new(Code::Overloaded, format!("{limit} jobs are waiting (jobs.queue_limit); try again later"))
            }
            AdmissionError::AccountFull => {
                let limit = limits.queue_account_limit;
                let detail = format!(
                    "this account has {limit} jobs waiting (jobs.queue_account_limit); wait for some to end"
                );
                Problem::new(Code::RateLimited, detail)
            }
        }.retry_after(RETRY_AFTER_S))
    }

    pub(in crate::jobs) fn check_running(&self) -> Result<(), Problem> {
        if self.stopping { Err(stopping()) } else { Ok(()) }
    }

    /// Starts an initialized job and puts it into the queue once its start is durable.
    pub(in crate::jobs) fn start(
        &mut self,
        account: AccountId,
        active: ActiveJob,
        deliver_to: Option<Admitted>,
    ) -> ResponseActFuture<Self, ViewReply> {
        if let Err(problem) = self.check_running().and_then(|()| self.admit(account)) {
            return Box::pin(fut::ready(Err(problem)));
        }
        let started = active.addr.send(actor::Start { deliver_to }).into_actor(self);
        Box::pin(started.map(move |started, registry, ctx| {
            let started = started.map_err(|_| actor_lost()).and_then(|started| started);
            match started {
                Ok(true) => registry.enqueue(&active.view, ctx),
                Ok(false) | Err(_) => registry.queue.release(account),
            }
            started.map(|_| active.view)
        }))
    }

    /// Puts a job that has a place and was started into the queue, unless it was cancelled meanwhile: its
    /// end may have been heard of before its start, and would not be heard of again.
    pub(in crate::jobs) fn enqueue(&mut self, view: &watch::Receiver<JobView>, ctx: &mut Context<Self>) {
        let (account, job, kind, is_done) = {
            let view = view.borrow();
            let kind = JobKind { kind: view.kind, target: view.target };
            (view.account, view.id, kind, view.is_done())
        };
        if is_done {
            return self.queue.release(account);
        }
        self.queue.enqueue(account, job, kind);
        self.dispatch(ctx);
    }

    /// Gives the free slots to the jobs whose turn it is.
    pub(in crate::jobs) fn dispatch(&mut self, ctx: &mut Context<Self>) {
        while !self.stopping && self.taken.len() < self.slots {
            let Some(turn) = self.queue.next_turn() else { return };
            let (account, job) = (turn.account, turn.job);
            let Some(active) = self.active.get(&job) else {
                self.queue.end_turn(turn, None);
                continue;
            };
            let addr = active.addr.clone();
            self.running.insert(job, addr.clone());
            self.update_running_gauge();
            self.turns += 1;
            self.taken.insert(self.turns, turn);
            let slot = RunSlot::new((account, job), self.turns, self.notices.clone());
            // A job that is gone drops the slot, which comes back as a notice.
            ctx.spawn(addr.send(actor::Assigned(slot)).into_actor(self).map(|_, _, _| ()));
        }
    }

    fn update_running_gauge(&self) {
        let running = i64::try_from(self.running.len()).unwrap_or(i64::MAX);
        self.context.pipeline.metrics.jobs.running.set(running);
    }

    /// Brings a job back whose actor died before the job ended.
    fn recover(&mut self, job: JobId, active: &ActiveJob, ctx: &mut Context<Self>) {
        let account = active.view.borrow().account;
        self.queue.remove(account, job);
        if self.stopping {
            return;
        }
        tracing::error!(job.id = %job, "a job's actor died; the job is taken up again");
        let journal = self.context.journal.clone();
        let read = async move { journal.read(account, job).await };
        ctx.spawn(read.into_actor(self).map(move |record, registry, ctx| match record {
            Ok(Some(record)) if !record.state.is_final() && !registry.active.contains_key(&job) => {
                registry.resume(record, ctx);
            }
            Ok(record) => {
                // It ended, and its actor died before it could say so.
                if record.is_none_or(|record| record.state.is_final()) {
                    registry.context.open.leave(account, job);
                    registry.context.stored.remove(job);
                }
            }
            Err(error) => tracing::error!(job.id = %job, error = %error, "the job cannot be taken up again"),
        }));
    }

    /// Takes a started job up where its record says it stands.
    pub(in crate::jobs) fn resume(&mut self, record: JobRecord, ctx: &mut Context<Self>) -> ActiveJob {
        let (account, job) = (record.account, record.id);
        let kind = JobKind { kind: record.kind, target: record.target };
        let active = self.spawn(record);
        ctx.spawn(active.addr.send(actor::Resume).into_actor(self).map(move |wants_place, registry, ctx| {
            if wants_place.unwrap_or(false) {
                registry.queue.enqueue_resumed(account, job, kind);
                registry.dispatch(ctx);
            }
        }));
        active
    }
}

pub(in crate::jobs) enum Found {
    Active(ActiveJob),
    Ended(watch::Receiver<JobView>),
}

impl Found {
    pub(in crate::jobs) fn view(self) -> watch::Receiver<JobView> {
        match self {
            Self::Active(active) => active.view,
            Self::Ended(view) => view,
        }
    }
}

impl ActiveJob {
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
        let limit = usize::try_from(self.context.limits.mailbox_limit).unwrap_or(usize::MAX);
        ctx.set_mailbox_capacity(limit);
        if let Some(incoming) = self.incoming.take() {
            ctx.add_stream(futures_util::stream::unfold(incoming, |mut incoming| async {
                incoming.recv().await.map(|notice| (notice, incoming))
            }));
        }
    }
}

impl StreamHandler<JobNotice> for JobRegistry {
    fn handle(&mut self, (job, number, notice): JobNotice, ctx: &mut Self::Context) {
        if let Notice::SlotFree { cost } = notice {
            if let Some(turn) = self.taken.remove(&number) {
                self.queue.end_turn(turn, cost);
            }
            return self.dispatch(ctx);
        }
        let Some(active) = self.active.get(&job).filter(|active| active.number == number).cloned() else {
            return;
        };
        let (account, status) = {
            let view = active.view.borrow();
            (view.account, view.status)
        };
        match notice {
            Notice::Ended => {
                self.queue.remove(account, job);
                self.evict(job);
                self.remove_running(job);
            }
            Notice::Idle if status != WireStatus::Initialized => {}
            // The map's, and the one in hand: nobody asks it anything now.
            Notice::Idle if Arc::strong_count(&active.held) <= 2 => self.evict(job),
            Notice::Idle => {
                let idle = Duration::from_secs(self.context.limits.initialized_idle_s);
                ctx.run_later(idle, move |registry, _| {
                    let _ = registry.notices.send((job, number, Notice::Idle));
                });
            }
            Notice::ActorStopped => {
                self.evict(job);
                self.remove_running(job);
                self.recover(job, &active, ctx);
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
