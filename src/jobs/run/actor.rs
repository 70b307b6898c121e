//! The actor of one job: asks the state machine, writes the record, then acts.
//!
//! Writing holds the mailbox (`AtomicResponse`, `ctx.wait`), so two starts, or a start and an upload, are
//! decided one after the other against what is on disk. What runs is a task of its own: a panic there
//! is a failed job. When the actor itself dies, its [`ActorGuard`] tells the registry, which makes a new
//! one from the record.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::job::{JobEvent, JobState, Verdict};
use crate::jobs::context::JobContext;
use crate::jobs::messages::InputPart;
use crate::jobs::run::attempt::End;
use crate::jobs::run::notices::{ActorGuard, Notice, RunSlot};
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::stored_inputs::CountedInputs;
use crate::jobs::view::JobView;
use crate::outbound::Admitted;
use crate::pipeline::InlineInputs;
use crate::problem::{Code, Problem};
use crate::storage::index::Change;
use crate::storage::leftovers;
use crate::storage::{CountedUpload, StorageKey};

/// The actor of one job.
pub struct JobActor {
    pub(in crate::jobs) context: Arc<JobContext>,
    pub(in crate::jobs) record: JobRecord,
    view: watch::Sender<JobView>,
    pub(in crate::jobs) inline: InlineInputs,
    pub(in crate::jobs) run: Option<AbortOnDropHandle<()>>,
    pub(in crate::jobs) slot: Option<RunSlot>,
    pub(in crate::jobs) timer: Option<SpawnHandle>,
    pub(in crate::jobs) parked: bool,
    /// The end that the index has not taken yet: for everybody else the job is as it was.
    pub(in crate::jobs) unwritten_end: Option<End>,
    guard: ActorGuard,
}

/// Writes a new job, with its inputs and `change`; started at once when `start`.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct Create {
    pub inline: InlineInputs,
    pub change: Change,
    pub start: bool,
    pub counted: CountedInputs,
    /// The half of its passwords that is an object.
    pub secret: Option<Bytes>,
}

/// Starts an initialized job; answers whether it entered the queue by this.
#[derive(Message)]
#[rtype(result = "Result<bool, Problem>")]
pub(in crate::jobs) struct Start {
    pub deliver_to: Option<Admitted>,
}

/// Takes up a job from the journal; answers whether it wants a place in the queue.
#[derive(Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct Resume;

/// The job's turn has come.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::jobs) struct Assigned(pub RunSlot);

/// Makes a staged upload an input of the job.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct CommitUpload {
    pub part: InputPart,
    pub upload: CountedUpload,
}

/// Its owner wants it no more; answers the job as it then is.
#[derive(Message)]
#[rtype(result = "Result<JobView, Problem>")]
pub(in crate::jobs) struct Cancel;

/// Ends if it was not started in time; answers whether it did.
#[derive(Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct Expire;

/// The service stops: what runs goes back into the queue of the next life.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::jobs) struct Park;

impl JobActor {
    /// An actor for `record`, and the view that follows it.
    pub(in crate::jobs) fn new(
        context: Arc<JobContext>,
        record: JobRecord,
        view: watch::Sender<JobView>,
        guard: ActorGuard,
    ) -> Self {
        Self {
            context,
            record,
            view,
            inline: InlineInputs::default(),
            run: None,
            slot: None,
            timer: None,
            parked: false,
            unwritten_end: None,
            guard,
        }
    }

    /// The record as it will be after a start.
    fn started_record(&self) -> JobRecord {
        let mut record = self.record.clone();
        record.state = JobState::Queued;
        record.started_at = record.started_at.or_else(|| Some(self.context.clock.now()));
        record
    }

    /// Takes `record` over as the truth and does what its state asks for.
    pub(in crate::jobs) fn enter_state(&mut self, record: JobRecord, ctx: &mut Context<Self>) {
        self.record = record;
        self.view.send_replace(self.record.view());
        if self.record.state != JobState::Initialized {
            self.context.open.leave(self.record.account, self.record.id);
        }
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        let limits = &self.context.limits;
        match self.record.state {
            JobState::Initialized => self.wait_for_start(ctx),
            JobState::Queued => {
                // From now on: the time in which there was no service is not the caller's fault.
                let limit = Duration::from_secs(limits.queue_timeout_s);
                self.timer = Some(ctx.run_later(limit, Self::on_queue_timeout));
            }
            JobState::Running => self.begin_run(ctx),
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => self.clean_up(),
        }
    }

    /// An initialized job that nobody asks for leaves memory; it comes back when somebody does.
    fn wait_for_start(&mut self, ctx: &mut Context<Self>) {
        let idle = Duration::from_secs(self.context.limits.initialized_idle_s);
        let timer = ctx.run_later(idle, |actor, ctx| {
            // The registry has one; every other receiver is somebody who waits for the job.
            if actor.view.receiver_count() > 1 {
                actor.wait_for_start(ctx);
            } else {
                actor.guard.notify(Notice::Idle);
            }
        });
        if let Some(earlier) = self.timer.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }

    /// The job ended: what ran stops, its inputs go, the registry forgets it.
    fn clean_up(&mut self) {
        self.run = None;
        self.slot = None;
        self.inline = InlineInputs::default();
        self.context.stored.remove(self.record.id);
        self.unwritten_end = None;
        let (context, gone) = (
            self.context.clone(),
            (self.record.id.0, inputs::leftovers(&self.record, self.context.landing())),
        );
        actix::spawn(async move {
            leftovers::clear(context.journal.index(), context.pipeline.store.as_ref(), &[gone]).await;
        });
        self.guard.notify(Notice::Ended);
    }
}

impl Actor for JobActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        if self.record.state == JobState::Initialized {
            self.wait_for_start(ctx);
        }
    }
}

impl Handler<Create> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: Create, _: &mut Self::Context) -> Self::Result {
        let mut record = if message.start { self.started_record() } else { self.record.clone() };
        let (context, inline, counted) = (self.context.clone(), message.inline, message.counted);
        record.stored_bytes = counted.bytes();
        record.given.data = inline.data.is_some();
        record.given.template = inline.template.is_some();
        let limit_bytes = self.context.limits.journaled_input_limit_bytes;
        let mut placed = inputs::place(&mut record, &inline, message.change, limit_bytes);
        let secret = message.secret.map(|half| (StorageKey::JobSecret(record.account, record.id), half));
        placed.objects.extend(secret);
        if message.start {
            self.inline = inputs::small(&inline, limit_bytes);
        }
        let written = async move {
            let keys: Vec<_> = placed.objects.iter().map(|(key, _)| *key).collect();
            // The record comes last: what it says is there must be there.
            let objects = placed.objects.into_iter().map(|(key, bytes)| put(&context, key, bytes));
            let stored = futures_util::future::try_join_all(objects).await;
            let committed = match stored {
                Ok(_) => context.journal.commit(&record, placed.change).await.map_err(Problem::from),
                Err(problem) => Err(problem),
            };
            if committed.is_err() {
                inputs::delete(context.pipeline.store.as_ref(), &keys).await;
            }
            committed.map(|()| {
                context.stored.insert(record.id, counted);
                record
            })
        };
        AtomicResponse::new(Box::pin(
            written
                .into_actor(self)
                .map(|record, actor, ctx| record.map(|record| actor.enter_state(record, ctx))),
        ))
    }
}

impl Handler<Start> for JobActor {
    type Result = AtomicResponse<Self, Result<bool, Problem>>;

    fn handle(&mut self, message: Start, _: &mut Self::Context) -> Self::Result {
        if self.record.state.on(JobEvent::Start) != Verdict::Move(JobState::Queued) {
            return AtomicResponse::new(Box::pin(actix::fut::ready(Ok(false))));
        }
        if self.is_expired() {
            let written = self.write_expiry();
            return AtomicResponse::new(Box::pin(written.map(|written, _, _| Ok(written.map(|()| false)?))));
        }
        let (context, mut record) = (self.context.clone(), self.started_record());
        record.deliver_to = message.deliver_to.map(|address| address.secret().to_owned());
        let written = async move {
            let limit_bytes = context.pipeline.limits.input_limit_bytes;
            inputs::take_uploads(&context, &record, limit_bytes).await?;
            record.stored_bytes = context.stored.bytes(record.id);
            context.journal.commit(&record, Change::new()).await.map(|()| record).map_err(Problem::from)
        };
        AtomicResponse::new(Box::pin(written.into_actor(self).map(|record, actor, ctx| {
            record.map(|record| {
                actor.enter_state(record, ctx);
                true
            })
        })))
    }
}

impl Handler<Resume> for JobActor {
    type Result = bool;

    fn handle(&mut self, _: Resume, ctx: &mut Self::Context) -> bool {
        let limit = self.context.limits.attempt_limit;
        if self.record.state == JobState::Running && self.record.attempts >= limit {
            let sentence =
                format!("the service went down during this job {limit} times (jobs.attempt_limit)");
            self.fail(FaultCode::AttemptsExhausted, sentence, ctx);
            return false;
        }
        match self.record.state.on(JobEvent::Resumed) {
            Verdict::Move(state) => {
                let mut record = self.record.clone();
                record.state = state;
                self.enter_state(record, ctx);
                true
            }
            Verdict::Ignore | Verdict::Refuse(_) => {
                self.enter_state(self.record.clone(), ctx);
                false
            }
        }
    }
}

impl Handler<Assigned> for JobActor {
    type Result = ();

    fn handle(&mut self, message: Assigned, ctx: &mut Self::Context) {
        let Verdict::Move(state) = self.record.state.on(JobEvent::Assigned) else { return };
        if self.unwritten_end.is_some() {
            // It waited too long, which is only not written: it must not run.
            return;
        }
        let mut record = self.record.clone();
        record.state = state;
        record.attempts += 1;
        record.run_at = Some(self.context.clock.now());
        let (journal, slot) = (self.context.journal.clone(), message.0);
        let written = async move {
            // Unsynced: only a run that took the machine down with it must count an attempt. The mailbox
            // waits for it all the same: written later, it could come behind the job's end.
            if let Err(error) = journal.write_unsynced(&record).await {
                tracing::warn!(job.id = %record.id, error = %error, "the beginning of a run is not in the journal");
            }
            record
        };
        ctx.wait(written.into_actor(self).map(|record, actor, ctx| {
            actor.slot = Some(slot);
            actor.enter_state(record, ctx);
        }));
    }
}

impl Handler<CommitUpload> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: CommitUpload, _: &mut Self::Context) -> Self::Result {
        if let Verdict::Refuse(_) = self.record.state.on(JobEvent::Upload) {
            return AtomicResponse::new(Box::pin(actix::fut::ready(Err(upload_closed(&self.record.view())))));
        }
        if message.part == InputPart::Data && self.record.given.data {
            // What came with init wins: an upload beside it is accepted and not looked at.
            return AtomicResponse::new(Box::pin(actix::fut::ready(Ok(()))));
        }
        let key = inputs::object(self.record.account, self.record.id, message.part);
        let (key, context, job) = (self.context.landing().of(&key), self.context.clone(), self.record.id);
        let stored = async move {
            let stored = message.upload.commit(&key).await?;
            context.stored.set(job, message.part, stored);
            Ok(())
        };
        AtomicResponse::new(Box::pin(stored.into_actor(self)))
    }
}

impl Handler<Cancel> for JobActor {
    type Result = AtomicResponse<Self, Result<JobView, Problem>>;

    fn handle(&mut self, _: Cancel, _: &mut Self::Context) -> Self::Result {
        // One that has ended, which is only not written, ends as it did.
        let end = self.unwritten_end.clone().unwrap_or_else(|| {
            let mut record = self.record.clone();
            record.fault = Some(JobFault::new(FaultCode::Cancelled, "the job was cancelled"));
            End { record, event: JobEvent::Cancel }
        });
        let written = self.write_end(end);
        AtomicResponse::new(Box::pin(
            written.map(|written, actor, _| Ok(written.map(|()| actor.record.view())?)),
        ))
    }
}

impl Handler<Expire> for JobActor {
    type Result = AtomicResponse<Self, bool>;

    fn handle(&mut self, _: Expire, _: &mut Self::Context) -> Self::Result {
        if self.record.state != JobState::Initialized || !self.is_expired() {
            return AtomicResponse::new(Box::pin(actix::fut::ready(false)));
        }
        AtomicResponse::new(Box::pin(
            self.write_expiry()
                .map(|written, actor, _| written.is_ok() && actor.record.state == JobState::Expired),
        ))
    }
}

impl Handler<Park> for JobActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, _: Park, _: &mut Self::Context) -> Self::Result {
        self.parked = true;
        self.run = None;
        if let Some(end) = self.unwritten_end.take() {
            // The next life runs it again if the index refuses still.
            let job = self.record.id;
            return AtomicResponse::new(Box::pin(self.write_end(end).map(move |written, _, _| {
                if let Err(error) = written {
                    tracing::warn!(job.id = %job, error = %error, "a job that has ended runs again with the service");
                }
            })));
        }
        let mut record = self.record.clone();
        let parked = record.state == JobState::Running;
        if parked {
            record.state = JobState::Queued;
            record.output = None;
            record.attempts = record.attempts.saturating_sub(1);
        }
        let context = self.context.clone();
        let written = async move {
            if parked && let Err(error) = context.journal.commit(&record, Change::new()).await {
                tracing::warn!(job.id = %record.id, error = %error, "a parked job counts an attempt");
            }
        };
        AtomicResponse::new(Box::pin(written.into_actor(self)))
    }
}

/// The answer to an upload that comes after the start.
pub(in crate::jobs) fn upload_closed(view: &JobView) -> Problem {
    let detail = format!(
        "job {} is {} and takes no uploads any more; initialize a new job",
        view.id,
        view.status.name()
    );
    Problem::new(Code::UploadClosed, detail)
}

async fn put(context: &JobContext, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
    context.pipeline.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
}
