//! The actor of one job: asks the state machine, writes the record, then acts.
//!
//! Hazard: two starts, or a start and an upload, arrive together and are both decided against the same record. So every
//! write holds the mailbox (`AtomicResponse`, `ctx.wait`): the next message is decided against what is on disk.
//!
//! Hazard: the actor panics. Its [`ActorGuard`] then sends a notice to the registry, which starts a new actor from the
//! record. A run is a task of its own ([`Attempt`]), so a panic there fails the job and not the actor.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::domain::error::{ErrorCode, JobError};
use crate::domain::job::{JobEvent, JobState, Verdict};
use crate::jobs::context::JobContext;
use crate::jobs::messages::InputPart;
use crate::jobs::run::attempt::{self, Attempt};
use crate::jobs::run::messages::{Assigned, Cancel, CommitUpload, Create, Expire, Park, Resume, Start};
use crate::jobs::run::notices::{ActorGuard, Notice, RunSlot};
use crate::jobs::store::inputs;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::pipeline::{InlineInputs, RunEnd};
use crate::problem::{Code, Problem};
use crate::storage::StorageKey;
use crate::storage::deletion_log;
use crate::storage::index::{IndexError, WriteBatch};

/// How long until the final record is tried again after the index refused it.
const FINAL_RETRY: Duration = Duration::from_secs(1);

pub struct JobActor {
    context: Arc<JobContext>,
    record: JobRecord,
    view: watch::Sender<JobView>,
    /// Small inputs that came with the request: the run need not read them from the journal.
    inline: InlineInputs,
    /// Aborts the run when it is dropped.
    run: Option<AbortOnDropHandle<()>>,
    /// The idle timer or the queue timeout, whichever the state has.
    timer: Option<SpawnHandle>,
    parked: bool,
    /// The end that the index has refused so far; record and view do not show it yet.
    unwritten_end: Option<End>,
    guard: ActorGuard,
}

/// How a job is to end.
#[derive(Clone)]
struct End {
    record: JobRecord,
    event: JobEvent,
}

impl JobActor {
    /// An actor for the job of `record`, which publishes its changes to `view`.
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
            timer: None,
            parked: false,
            unwritten_end: None,
            guard,
        }
    }

    fn started_record(&self) -> JobRecord {
        let mut record = self.record.clone();
        record.state = JobState::Queued;
        record.started_at = record.started_at.or_else(|| Some(record.not_before(self.context.clock.now())));
        record
    }

    /// Takes over a record that is durable, publishes it, and does what its state asks for. `slot` is that of a job that
    /// runs from now on.
    fn enter_state(&mut self, record: JobRecord, slot: Option<RunSlot>, ctx: &mut Context<Self>) {
        self.record = record;
        self.view.send_replace(self.record.view());
        if self.record.state != JobState::Initialized {
            self.context.open_jobs.remove(self.record.account, self.record.id);
        }
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        match self.record.state {
            JobState::Initialized => self.await_start(ctx),
            JobState::Queued => {
                // Counted from now, not from the caller's start: time in which the service was down must not use it up.
                let limit = Duration::from_secs(self.context.limits.queue_timeout_s);
                self.timer = Some(ctx.run_later(limit, Self::on_queue_timeout));
            }
            JobState::Running => self.begin_run(slot, ctx),
            JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => self.clean_up(),
        }
    }

    /// Asks the registry to evict the job when no caller has asked for it for a while; the record brings it back. Without
    /// this, jobs that are never started would fill the memory for their whole start window.
    fn await_start(&mut self, ctx: &mut Context<Self>) {
        let idle = Duration::from_secs(self.context.limits.initialized_idle_s);
        let timer = ctx.run_later(idle, |actor, ctx| {
            // The registry holds one receiver; every other one is a caller that waits for the job.
            if actor.view.receiver_count() > 1 {
                actor.await_start(ctx);
            } else {
                actor.guard.notify(Notice::Idle);
            }
        });
        if let Some(earlier) = self.timer.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }

    fn begin_run(&mut self, slot: Option<RunSlot>, ctx: &mut Context<Self>) {
        let Attempt { task, published, ended } =
            Attempt::start(&self.context, &self.record, self.inline.clone(), slot);
        self.run = Some(task);
        // A published document stays, even when the job is cancelled during its delivery.
        ctx.spawn(published.into_actor(self).map(|document, actor, _| {
            if let Ok(document) = document
                && actor.runs()
            {
                let now = actor.context.clock.now();
                actor.record.output = Some(attempt::output(&actor.record, document, now));
            }
        }));
        ctx.spawn(ended.into_actor(self).map(|end, actor, ctx| {
            if actor.runs() {
                actor.end_run(end.unwrap_or_else(|_| attempt::panicked()), ctx);
            }
        }));
    }

    /// Whether a report of the run still counts: it may come after a cancel or while the service stops.
    fn runs(&self) -> bool {
        self.record.state == JobState::Running && !self.parked
    }

    fn end_run(&mut self, end: RunEnd, ctx: &mut Context<Self>) {
        let event = if end.error.is_none() { JobEvent::Succeeded } else { JobEvent::Failed };
        let (mut record, now) = (self.record.clone(), self.context.clock.now());
        record.warnings.extend(&end.warnings);
        let ignored = attempt::ignored_options(&record, end.plan, &self.context.pipeline.catalog);
        record.warnings.extend(&ignored);
        record.error = end.error;
        record.output = record.output.or_else(|| Some(attempt::output(&self.record, end.document?, now)));
        self.finish(End { record, event }, ctx);
    }

    fn on_queue_timeout(&mut self, ctx: &mut Context<Self>) {
        let limit_s = self.context.limits.queue_timeout_s;
        self.timer = None;
        let sentence =
            format!("no turn came within {limit_s} s (jobs.queue_timeout_s): the service is overloaded");
        self.finish(self.ended_by(ErrorCode::QueueTimeout, sentence, JobEvent::Failed), ctx);
    }

    /// The end of the job without a document.
    fn ended_by(&self, code: ErrorCode, sentence: impl Into<String>, event: JobEvent) -> End {
        let mut record = self.record.clone();
        record.error = Some(JobError::new(code, sentence));
        End { record, event }
    }

    fn is_expired(&self) -> bool {
        let window_ms = self.context.limits.start_window_s.saturating_mul(1_000);
        self.context.clock.now().since_ms(self.record.created_at) >= window_ms
    }

    /// Ends a job that was not started in time.
    fn write_expiry(&self) -> ResponseActFuture<Self, Result<(), IndexError>> {
        let window_s = self.context.limits.start_window_s;
        let sentence = format!("the job was not started within {window_s} s (jobs.start_window_s)");
        self.write_end(self.ended_by(ErrorCode::Expired, sentence, JobEvent::Expire))
    }

    /// Writes the final record, again and again until the index takes it, and then enters the final state. Between two
    /// tries the mailbox is open: a full disk may last for hours, and a cancel must be answered meanwhile.
    fn finish(&mut self, end: End, ctx: &mut Context<Self>) {
        ctx.wait(self.write_end(end.clone()).map(move |written, actor, ctx| {
            let Err(error) = written else { return };
            if actor.unwritten_end.replace(end).is_none() {
                let _in_job = actor.record.span().entered();
                tracing::error!(error = %error, "the end of the job is not in the journal; trying until it is");
            }
            ctx.run_later(FINAL_RETRY, |actor, ctx| {
                if let Some(end) = actor.unwritten_end.clone() {
                    actor.finish(end, ctx);
                }
            });
        }));
    }

    /// Writes the final record once and enters the final state; does nothing where the state machine does not let the job
    /// end so. When the index fails, the job stays as it is.
    fn write_end(&self, end: End) -> ResponseActFuture<Self, Result<(), IndexError>> {
        let End { mut record, event } = end;
        let Verdict::Move(state) = self.record.state.on(event) else { return Box::pin(fut::ready(Ok(()))) };
        record.state = state;
        record.finished_at = Some(record.not_before(self.context.clock.now()));
        // A presigned URL gives write access to the caller's store, so it is deleted when it is not needed any more.
        record.deliver_to = None;
        let context = self.context.clone();
        let written = async move {
            // Without this half the half in the object is random bytes, even in a backup that still has that object.
            record.secret = record.secret.erased();
            let gone = deletion_log::log_entry(
                record.id.0,
                &inputs::unnamed_objects(&record, context.upload_staging()),
            );
            let with = JobContext::give_back(&record).and(inputs::removal(&record)).and(gone);
            context.journal.commit(&record, with).await?;
            context.report_given_back(&record);
            report_end(&context, &record);
            Ok(record)
        };
        Box::pin(
            written
                .into_actor(self)
                .map(|record, actor, ctx| record.map(|record| actor.enter_state(record, None, ctx))),
        )
    }

    /// The job has ended: stops what runs, deletes the inputs, and lets the registry evict it.
    fn clean_up(&mut self) {
        self.run = None;
        self.inline = InlineInputs::default();
        self.context.stored.remove(self.record.id);
        self.unwritten_end = None;
        let context = self.context.clone();
        let gone = (self.record.id.0, inputs::unnamed_objects(&self.record, context.upload_staging()));
        actix::spawn(async move {
            deletion_log::clear(context.journal.index(), context.pipeline.store.as_ref(), &[gone]).await;
        });
        self.guard.notify(Notice::Ended);
    }
}

impl Actor for JobActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        if self.record.state == JobState::Initialized {
            self.await_start(ctx);
        }
    }
}

impl Handler<Create> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: Create, _: &mut Self::Context) -> Self::Result {
        let Create { inline, batch, start, counted, secret } = message;
        let mut record = if start { self.started_record() } else { self.record.clone() };
        record.stored_bytes = counted.bytes();
        record.given.data = inline.data.is_some();
        record.given.template = inline.template.is_some();
        let limit_bytes = self.context.limits.journaled_input_limit_bytes;
        let mut placed = inputs::place(&mut record, &inline, batch, limit_bytes);
        let secret = secret.map(|half| (StorageKey::JobSecret(record.account, record.id), half));
        placed.objects.extend(secret);
        if start {
            self.inline = inputs::copy_small(&inline, limit_bytes);
        }
        let context = self.context.clone();
        let written = async move {
            let keys: Vec<_> = placed.objects.iter().map(|(key, _)| *key).collect();
            // The record comes last: a record that is seen after a crash must find the objects that it names.
            let objects = placed.objects.into_iter().map(|(key, bytes)| put(&context, key, bytes));
            // All of them: a write that is dropped goes on in its thread, and would come behind the deletion.
            let stored = futures_util::future::join_all(objects).await;
            let stored: Result<Vec<()>, Problem> = stored.into_iter().collect();
            let (committed, is_unwritten) = match stored {
                Ok(_) => {
                    let committed = context.journal.commit(&record, placed.batch).await;
                    let is_unwritten = committed.as_ref().is_err_and(IndexError::left_nothing);
                    (committed.map_err(Problem::from), is_unwritten)
                }
                Err(problem) => (Err(problem), true),
            };
            // Hazard: an index that fails may have written the record all the same, and the next start finds it. Without its
            // inputs that job could only fail. Where there is no record, the sweep deletes them.
            if is_unwritten {
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
                .map(|record, actor, ctx| record.map(|record| actor.enter_state(record, None, ctx))),
        ))
    }
}

impl Handler<Start> for JobActor {
    type Result = AtomicResponse<Self, Result<bool, Problem>>;

    fn handle(&mut self, message: Start, _: &mut Self::Context) -> Self::Result {
        if self.record.state.on(JobEvent::Start) != Verdict::Move(JobState::Queued) {
            return ready(Ok(false));
        }
        if self.is_expired() {
            let written = self.write_expiry();
            return AtomicResponse::new(Box::pin(written.map(|written, _, _| Ok(written.map(|()| false)?))));
        }
        let (context, mut record) = (self.context.clone(), self.started_record());
        record.deliver_to = message.deliver_to.map(|address| address.secret().to_owned());
        record.warnings.extend(&message.warnings);
        let written = async move {
            let (stored, limit_bytes) = (&context.stored, context.pipeline.limits.input_limit_bytes);
            stored.take_uploads(context.pipeline.store.as_ref(), &record, limit_bytes).await?;
            record.stored_bytes = stored.bytes(record.id);
            context.journal.commit(&record, WriteBatch::new()).await.map(|()| record).map_err(Problem::from)
        };
        AtomicResponse::new(Box::pin(written.into_actor(self).map(|record, actor, ctx| {
            record.map(|record| {
                actor.enter_state(record, None, ctx);
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
            self.finish(self.ended_by(ErrorCode::AttemptsExhausted, sentence, JobEvent::Failed), ctx);
            return false;
        }
        let (mut record, verdict) = (self.record.clone(), self.record.state.on(JobEvent::Resumed));
        if let Verdict::Move(state) = verdict {
            record.state = state;
        }
        self.enter_state(record, None, ctx);
        matches!(verdict, Verdict::Move(_))
    }
}

impl Handler<Assigned> for JobActor {
    type Result = ();

    fn handle(&mut self, message: Assigned, ctx: &mut Self::Context) {
        let Verdict::Move(state) = self.record.state.on(JobEvent::Assigned) else { return };
        if self.unwritten_end.is_some() {
            // The queue timeout has ended the job, and the index has not taken that record yet: a run would change its
            // end.
            return;
        }
        let mut record = self.record.clone();
        record.state = state;
        record.attempts += 1;
        record.run_at = Some(record.not_before(self.context.clock.now()));
        let (journal, slot) = (self.context.journal.clone(), message.0);
        let written = async move {
            // Unsynced: the count matters only when the run crashes the service. A crash within half a second (the interval at
            // which sled hands its log to the kernel) is not counted; to wait for the disk at every run would cost more. The
            // mailbox waits for the write all the same: one that overtakes the job's end would bring the job back.
            if let Err(error) = journal.write_unsynced(&record).await {
                let _in_job = record.span().entered();
                tracing::warn!(error = %error, "the beginning of a run is not in the journal");
            }
            record
        };
        ctx.wait(
            written.into_actor(self).map(|record, actor, ctx| actor.enter_state(record, Some(slot), ctx)),
        );
    }
}

impl Handler<CommitUpload> for JobActor {
    type Result = AtomicResponse<Self, Result<(), Problem>>;

    fn handle(&mut self, message: CommitUpload, _: &mut Self::Context) -> Self::Result {
        let CommitUpload { part, upload } = message;
        if let Verdict::Refuse(_) = self.record.state.on(JobEvent::Upload) {
            return ready(Err(upload_closed(&self.record.view())));
        }
        if part == InputPart::Data && self.record.given.data {
            // Data that came with init wins: an upload beside it is accepted and dropped.
            return ready(Ok(()));
        }
        let key = part.storage_key(self.record.account, self.record.id);
        let (key, context, job) =
            (self.context.upload_staging().of(&key), self.context.clone(), self.record.id);
        let stored = async move {
            let store = context.pipeline.store.as_ref();
            Ok(context.stored.place(store, (job, part), upload, &key).await?)
        };
        AtomicResponse::new(Box::pin(stored.into_actor(self)))
    }
}

impl Handler<Cancel> for JobActor {
    type Result = AtomicResponse<Self, Result<JobView, Problem>>;

    fn handle(&mut self, _: Cancel, _: &mut Self::Context) -> Self::Result {
        // A job that has ended keeps that end, also while the index refuses to write it.
        let end = self.unwritten_end.clone();
        let end = end.unwrap_or_else(|| {
            self.ended_by(ErrorCode::Cancelled, "the job was cancelled", JobEvent::Cancel)
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
            return ready(false);
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
            // If the index still refuses, the record says that the job runs, and the next start resumes it.
            return AtomicResponse::new(Box::pin(self.write_end(end).map(|written, actor, _| {
                if let Err(error) = written {
                    let _in_job = actor.record.span().entered();
                    tracing::warn!(error = %error, "a job that has ended runs again with the service");
                }
            })));
        }
        if self.record.state != JobState::Running {
            return ready(());
        }
        let (mut record, context) = (self.record.clone(), self.context.clone());
        record.state = JobState::Queued;
        record.output = None;
        record.attempts = record.attempts.saturating_sub(1);
        let written = async move {
            if let Err(error) = context.journal.commit(&record, WriteBatch::new()).await {
                let _in_job = record.span().entered();
                tracing::warn!(error = %error, "a parked job counts an attempt");
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

/// An answer that needs no write.
fn ready<T: 'static>(answer: T) -> AtomicResponse<JobActor, T> {
    AtomicResponse::new(Box::pin(fut::ready(answer)))
}

async fn put(context: &JobContext, key: StorageKey, bytes: Bytes) -> Result<(), Problem> {
    context.pipeline.store.put(&key, bytes).await.map(drop).map_err(Problem::from)
}

fn report_end(context: &JobContext, record: &JobRecord) {
    let _in_job = record.span().entered();
    tracing::info!(
        job.state = ?record.state,
        job.error_code = record.error.as_ref().map(|error| error.code.name()),
        render.ms = record.output.as_ref().map(|output| output.render_ms),
        "the job ended"
    );
    let code = record.error.as_ref().map(|error| error.code);
    context.pipeline.metrics.jobs.ended(record.kind, record.target, code);
}
