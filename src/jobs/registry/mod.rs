//! The job registry: admits jobs, dispatches them from the queue (`dispatch`), supervises their actors.
//!
//! The one actor that owns which jobs are in memory, the queue, and the slots of runs. A job whose actor panicked gets a
//! new one from its record; one that ended, or that no caller asks for before its start, is evicted, and its record answers.
//!
//! `http` sends it the messages of `jobs::messages`, `delete` and `list`; `cleanup` sends `delete` and `expire`; `app`
//! starts it (`ResumeJobs`) and stops it (`StopJobs`).

pub mod delete;
mod dispatch;
pub(in crate::jobs) mod expire;
mod idempotency;
pub mod list;
pub mod requests;
pub mod shutdown;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use tokio::sync::{mpsc, watch};

use crate::config::as_count;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::context::JobContext;
use crate::jobs::queue::cost::JobKind;
use crate::jobs::registry::dispatch::Dispatcher;
use crate::jobs::run::actor::JobActor;
use crate::jobs::run::messages::Resume;
use crate::jobs::run::notices::{ActorGuard, JobNotice, Notice};
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::{JobView, WireStatus};
use crate::problem::{Code, Problem};

type ViewReply = Result<watch::Receiver<JobView>, Problem>;

/// The job registry.
pub struct JobRegistry {
    context: Arc<JobContext>,
    /// The threads of the job actors, which are started on each in turn.
    arbiters: Vec<ArbiterHandle>,
    active: HashMap<JobId, ActiveJob>,
    /// Actors started so far; the last one's number.
    actors: u64,
    /// Jobs evicted from memory so far.
    evictions: u64,
    dispatcher: Dispatcher,
    /// Idempotency keys of requests that are being answered.
    keys: HashMap<idempotency::AccountKey, idempotency::Waiters>,
    notices: mpsc::UnboundedSender<JobNotice>,
    /// The other end of `notices`, until the actor starts.
    incoming: Option<mpsc::UnboundedReceiver<JobNotice>>,
}

/// A job in memory. Clones are held while its actor is asked.
#[derive(Clone)]
struct ActiveJob {
    /// The number of its actor.
    number: u64,
    addr: Addr<JobActor>,
    view: watch::Receiver<JobView>,
    /// Counts the clones: an idle job is evicted only when no request is about to ask its actor.
    clones: Arc<()>,
}

impl JobRegistry {
    /// A registry that runs at most `slots` jobs at once and starts their actors on `arbiters`.
    pub fn new(context: Arc<JobContext>, slots: usize, arbiters: Vec<ArbiterHandle>) -> Self {
        let dispatcher = Dispatcher::new(&context, slots);
        let (notices, incoming) = mpsc::unbounded_channel();
        Self {
            context,
            arbiters,
            active: HashMap::new(),
            actors: 0,
            evictions: 0,
            dispatcher,
            keys: HashMap::new(),
            notices,
            incoming: Some(incoming),
        }
    }

    fn spawn(&mut self, record: JobRecord) -> ActiveJob {
        self.actors += 1;
        let (job, number) = (record.id, self.actors);
        let (sender, view) = watch::channel(record.view());
        let (context, guard) = (self.context.clone(), ActorGuard::new(job, number, self.notices.clone()));
        let at = usize::try_from(number).unwrap_or(0) % self.arbiters.len();
        let addr = JobActor::start_in_arbiter(&self.arbiters[at], move |_| {
            JobActor::new(context, record, sender, guard)
        });
        let active = ActiveJob { number, addr, view, clones: Arc::new(()) };
        self.active.insert(job, active.clone());
        active
    }

    /// The account's job; one that was evicted gets an actor again, unless it has ended.
    fn find(&self, account: AccountId, job: JobId) -> ResponseActFuture<Self, Result<Found, Problem>> {
        if let Some(active) = self.active.get(&job) {
            return Box::pin(fut::ready(active.of(account).map(Found::Active)));
        }
        let (journal, evictions) = (self.context.journal.clone(), self.evictions);
        let read = async move { journal.read(account, job).await };
        Box::pin(read.into_actor(self).then(move |record, registry, ctx| {
            if registry.evictions != evictions && !registry.active.contains_key(&job) {
                // Hazard: a job was evicted while this record was read, so the record may be older than the job's end. Used
                // as it is, it would start an ended job again.
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

    fn evict(&mut self, job: JobId) {
        self.active.remove(&job);
        self.evictions += 1;
    }

    /// Starts a new actor for a job whose actor stopped before the job ended.
    fn recover(&mut self, job: JobId, active: &ActiveJob, ctx: &mut Context<Self>) {
        let account = active.view.borrow().account;
        self.dispatcher.queue.remove(account, job);
        if self.dispatcher.is_stopping {
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
                // The job's end is durable, but its actor panicked before it removed the job from the account's counts.
                if record.is_none_or(|record| record.state.is_final()) {
                    registry.context.open_jobs.remove(account, job);
                    registry.context.stored.remove(job);
                }
            }
            Err(error) => tracing::error!(job.id = %job, error = %error, "the job cannot be taken up again"),
        }));
    }

    /// Starts an actor for a job that was started, and enqueues it if its record says that it waits or ran.
    fn resume(&mut self, record: JobRecord, ctx: &mut Context<Self>) -> ActiveJob {
        let (account, job) = (record.account, record.id);
        let kind = JobKind { kind: record.kind, target: record.target };
        let active = self.spawn(record);
        ctx.spawn(active.addr.send(Resume).into_actor(self).map(move |waits, registry, ctx| {
            if waits.unwrap_or(false) {
                registry.dispatcher.queue.enqueue_resumed(account, job, kind);
                registry.dispatch(ctx);
            }
        }));
        active
    }
}

/// A job that was asked for.
enum Found {
    Active(ActiveJob),
    /// It has ended and has no actor.
    Ended(watch::Receiver<JobView>),
}

impl Found {
    fn view(self) -> watch::Receiver<JobView> {
        match self {
            Self::Active(active) => active.view,
            Self::Ended(view) => view,
        }
    }
}

impl ActiveJob {
    /// This job, if it is one of the account.
    fn of(&self, account: AccountId) -> Result<Self, Problem> {
        // One borrow for both. A writer that came between two borrows would wait for the first one to end, and the second would
        // wait for the writer: a deadlock.
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
        let limit = as_count(self.context.limits.mailbox_limit);
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
            self.dispatcher.end_turn(number, cost);
            return self.dispatch(ctx);
        }
        if notice == Notice::MadeWay {
            self.context.pipeline.metrics.jobs.made_way.inc();
            self.dispatcher.make_way(number);
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
                self.dispatcher.queue.remove(account, job);
                self.evict(job);
                self.dispatcher.remove_running(job);
            }
            Notice::Idle if status != WireStatus::Initialized => {}
            // Two clones, the map's and this one: no request is about to ask the actor.
            Notice::Idle if Arc::strong_count(&active.clones) <= 2 => self.evict(job),
            Notice::Idle => {
                let idle = Duration::from_secs(self.context.limits.initialized_idle_s);
                ctx.run_later(idle, move |registry, _| {
                    let _ = registry.notices.send((job, number, Notice::Idle));
                });
            }
            Notice::ActorStopped => {
                self.evict(job);
                self.dispatcher.remove_running(job);
                self.recover(job, &active, ctx);
            }
            Notice::SlotFree { .. } | Notice::MadeWay => {}
        }
    }
}

fn not_found(job: JobId) -> Problem {
    Problem::new(Code::JobNotFound, format!("there is no job {job} in this account"))
}

fn actor_lost() -> Problem {
    Problem::internal("a job's actor was lost while it was asked")
}
