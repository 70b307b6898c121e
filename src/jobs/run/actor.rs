//! The actor of one job: asks the state machine, writes the record, then acts.
//!
//! Writing holds the mailbox (`AtomicResponse`, `ctx.wait`), so two starts, or a start and an upload, are
//! decided one after the other against what is on disk. What runs is a task of its own: a panic there
//! is a failed job. When the actor itself dies, its [`Departure`] tells the registry, which makes a new
//! one from the record.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::job::{JobEvent, JobState, Verdict};
use crate::jobs::context::Deps;
use crate::jobs::messages::InputPart;
use crate::jobs::run::attempt::End;
use crate::jobs::run::notices::{Departure, Notice, Slot};
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::stored_inputs::Counted;
use crate::jobs::view::JobView;
use crate::outbound::Admitted;
use crate::pipeline::Held;
use crate::problem::{Code, Problem};
use crate::storage::deletion_log;
use crate::storage::index::WriteBatch;
use crate::storage::{CountedUpload, StorageKey};

/// The actor of one job.
pub struct JobActor {
    pub(in crate::jobs) deps: Arc<Deps>,
    pub(in crate::jobs) record: JobRecord,
    view: watch::Sender<JobView>,
    pub(in crate::jobs) held: Held,
    pub(in crate::jobs) run: Option<AbortOnDropHandle<()>>,
    pub(in crate::jobs) slot: Option<Slot>,
    pub(in crate::jobs) timer: Option<SpawnHandle>,
    pub(in crate::jobs) parked: bool,
    /// The end that the index has not taken yet: for everybody else the job is as it was.
    pub(in crate::jobs) unwritten: Option<End>,
    departure: Departure,
}

/// Writes a new job, with its inputs and `change`; started at once when `start`.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct Begin {
    pub held: Held,
    pub change: WriteBatch,
    pub start: bool,
    pub counted: Counted,
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
pub(in crate::jobs) struct Assigned(pub Slot);

/// Makes a staged upload an input of the job.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct TakeUpload {
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
        deps: Arc<Deps>,
        record: JobRecord,
        view: watch::Sender<JobView>,
        departure: Departure,
    ) -> Self {
        Self {
            deps,
            record,
            view,
            held: Held::default(),
            run: None,
            slot: None,
            timer: None,
            parked: false,
            unwritten: None,
            departure,
        }
    }

    /// The record as it will be after a start.
    fn queued(&self) -> JobRecord {
        let mut record = self.record.clone();
        record.state = JobState::Queued;
        record.started_at = record.started_at.or_else(|| Some(self.deps.clock.now()));
        record
    }

    /// Takes `record` over as the truth and does what its state asks for.
    pub(in crate::jobs) fn enter(&mut self, record: JobRecord, ctx: &mut Context<Self>) {
        self.record = record;
        self.view.send_replace(self.record.view());
        if self.record.state != JobState::Initialized {
            self.deps.open.leave(self.record.account, self.record.id);
        }
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        let limits = &self.deps.limits;
        match self.record.state {
            JobState::Initialized => self.wait_for_start(ctx),
            JobState::Queued => {
                // From now on: the time in which there was no service is not the caller's fault.
                let limit = Duration::from_secs(limits.queue_timeout_s);
                self.timer = Some(ctx.run_later(limit, Self::queue_timed_out));
            }
            JobState::Running => self.begin_run(ctx),
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => self.leave(),
        }
    }

    /// An initialized job that nobody asks for leaves memory; it comes back when somebody does.
    fn wait_for_start(&mut self, ctx: &mut Context<Self>) {
        let idle = Duration::from_secs(self.deps.limits.initialized_idle_s);
        let timer = ctx.run_later(idle, |actor, ctx| {
            // The registry has one; every other receiver is somebody who waits for the job.
            if actor.view.receiver_count() > 1 {
                actor.wait_for_start(ctx);
            } else {
                actor.departure.tell(Notice::Idle);
            }
        });
        if let Some(earlier) = self.timer.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }

    /// The job ended: what ran stops, its inputs go, the registry forgets it.
    fn leave(&mut self) {
        self.run = None;
        self.slot = None;
        self.held = Held::default();
        self.deps.stored.end(self.record.id);
        self.unwritten = None;
        let (deps, gone) = (
            self.deps.clone(),
            (self.record.id.0, inputs::leftovers(&self.record, self.deps.upload_staging())),
        );
        actix::spawn(async move {
            deletion_log::clear(deps.journal.index(), deps.parts.store.as_ref(), &[gone]).await;
        });
        self.departure.tell(Notice::Ended);
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

impl Handler<Begin> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: Begin, _: &mut Self::Context) -> Self::Result {
        let mut record = if message.start { self.queued() } else { self.record.clone() };
        let (deps, held, counted) = (self.deps.clone(), message.held, message.counted);
        record.stored_bytes = counted.bytes();
        record.given.data = held.data.is_some();
        record.given.template = held.template.is_some();
        let limit_bytes = self.deps.limits.journaled_input_limit_bytes;
        let mut placed = inputs::place(&mut record, &held, message.change, limit_bytes);
        let secret = message.secret.map(|half| (StorageKey::JobSecret(record.account, record.id), half));
        placed.objects.extend(secret);
        if message.start {
            self.held = inputs::small(&held, limit_bytes);
        }
        let written = async move {
            let keys: Vec<_> = placed.objects.iter().map(|(key, _)| *key).collect();
            // The record comes last: what it says is there must be there.
            let objects = placed.objects.into_iter().map(|(key, bytes)| put(&deps, key, bytes));
            let stored = futures_util::future::try_join_all(objects).await;
            let committed = match stored {
                Ok(_) => deps.journal.commit(&record, placed.change).await.map_err(Problem::from),
                Err(problem) => Err(problem),
            };
            if committed.is_err() {
                inputs::delete(deps.parts.store.as_ref(), &keys).await;
            }
            committed.map(|()| {
                deps.stored.begun(record.id, counted);
                record
            })
        };
        AtomicResponse::new(Box::pin(
            written.into_actor(self).map(|record, actor, ctx| record.map(|record| actor.enter(record, ctx))),
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
            let written = self.expiring();
            return AtomicResponse::new(Box::pin(written.map(|written, _, _| Ok(written.map(|()| false)?))));
        }
        let (deps, mut record) = (self.deps.clone(), self.queued());
        record.deliver_to = message.deliver_to.map(|address| address.secret().to_owned());
        let written = async move {
            let limit_bytes = deps.parts.limits.input_limit_bytes;
            inputs::take_uploads(&deps, &record, limit_bytes).await?;
            record.stored_bytes = deps.stored.bytes(record.id);
            deps.journal.commit(&record, WriteBatch::new()).await.map(|()| record).map_err(Problem::from)
        };
        AtomicResponse::new(Box::pin(written.into_actor(self).map(|record, actor, ctx| {
            record.map(|record| {
                actor.enter(record, ctx);
                true
            })
        })))
    }
}

impl Handler<Resume> for JobActor {
    type Result = bool;

    fn handle(&mut self, _: Resume, ctx: &mut Self::Context) -> bool {
        let limit = self.deps.limits.attempt_limit;
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
                self.enter(record, ctx);
                true
            }
            Verdict::Ignore | Verdict::Refuse(_) => {
                self.enter(self.record.clone(), ctx);
                false
            }
        }
    }
}

impl Handler<Assigned> for JobActor {
    type Result = ();

    fn handle(&mut self, message: Assigned, ctx: &mut Self::Context) {
        let Verdict::Move(state) = self.record.state.on(JobEvent::Assigned) else { return };
        if self.unwritten.is_some() {
            // It waited too long, which is only not written: it must not run.
            return;
        }
        let mut record = self.record.clone();
        record.state = state;
        record.attempts += 1;
        record.run_at = Some(self.deps.clock.now());
        let (journal, slot) = (self.deps.journal.clone(), message.0);
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
            actor.enter(record, ctx);
        }));
    }
}

impl Handler<TakeUpload> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: TakeUpload, _: &mut Self::Context) -> Self::Result {
        if let Verdict::Refuse(_) = self.record.state.on(JobEvent::Upload) {
            return AtomicResponse::new(Box::pin(actix::fut::ready(Err(upload_closed(&self.record.view())))));
        }
        if message.part == InputPart::Data && self.record.given.data {
            // What came with init wins: an upload beside it is accepted and not looked at.
            return AtomicResponse::new(Box::pin(actix::fut::ready(Ok(()))));
        }
        let key = inputs::object(self.record.account, self.record.id, message.part);
        let (key, deps, job) = (self.deps.upload_staging().of(&key), self.deps.clone(), self.record.id);
        let stored = async move {
            let stored = message.upload.commit(&key).await?;
            deps.stored.put(job, message.part, stored);
            Ok(())
        };
        AtomicResponse::new(Box::pin(stored.into_actor(self)))
    }
}

impl Handler<Cancel> for JobActor {
    type Result = AtomicResponse<Self, Result<JobView, Problem>>;

    fn handle(&mut self, _: Cancel, _: &mut Self::Context) -> Self::Result {
        // One that has ended, which is only not written, ends as it did.
        let end = self.unwritten.clone().unwrap_or_else(|| {
            let mut record = self.record.clone();
            record.fault = Some(JobFault::new(FaultCode::Cancelled, "the job was cancelled"));
            End { record, event: JobEvent::Cancel }
        });
        let written = self.ending(end);
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
            self.expiring()
                .map(|written, actor, _| written.is_ok() && actor.record.state == JobState::Expired),
        ))
    }
}

impl Handler<Park> for JobActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, _: Park, _: &mut Self::Context) -> Self::Result {
        self.parked = true;
        self.run = None;
        if let Some(end) = self.unwritten.take() {
            // The next life runs it again if the index refuses still.
            let job = self.record.id;
            return AtomicResponse::new(Box::pin(self.ending(end).map(move |written, _, _| {
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
        let deps = self.deps.clone();
        let written = async move {
            if parked && let Err(error) = deps.journal.commit(&record, WriteBatch::new()).await {
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

async fn put(deps: &Deps, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
    deps.parts.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
}
