//! The handlers of the registry's messages that create, start, watch and resume jobs, and take their uploads.

use actix::prelude::*;

use crate::accounts::Reservation;
use crate::accounts::actor::ReserveDocument;
use crate::domain::ids::AccountId;
use crate::domain::kinds::TemplateKind;
use crate::jobs::messages::{CloseUpload, InitJob, InputPart, OpenUpload, StartJob, WatchJob};
use crate::jobs::registry::{ActiveJob, Found, JobRegistry, ViewReply, actor_lost};
use crate::jobs::run::actor::upload_closed;
use crate::jobs::run::messages::{CommitUpload, Create, Start};
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::secrets;
use crate::jobs::store::stored_inputs::CountedInputs;
use crate::jobs::view::WireStatus;
use crate::pipeline::{InlineInputs, PipelineContext};
use crate::problem::{Code, Problem};
use crate::storage::CountedUpload;
use crate::templates::package::Package;
use crate::thread;

/// Resumes the jobs that an earlier run of the service left unfinished; answers how many those are.
#[derive(Message)]
#[rtype(result = "usize")]
pub struct ResumeJobs(pub Vec<JobRecord>);

impl Handler<InitJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: InitJob, _: &mut Self::Context) -> Self::Result {
        match message.idempotency {
            Some(idempotency) => self.create_once(idempotency, message),
            None => self.create(message),
        }
    }
}

impl JobRegistry {
    /// Creates a job after the checks, and starts it if the message says so.
    pub(super) fn create(&mut self, mut message: InitJob) -> ResponseActFuture<Self, ViewReply> {
        let (account, start) = (message.account, message.start);
        let refusal = message.refusal.take().map_or(Ok(()), Err);
        let admitted = refusal
            .and_then(|()| self.check_not_stopping())
            .and_then(|()| if start { self.admit(account) } else { Ok(()) });
        if let Err(problem) = admitted {
            return Box::pin(fut::ready(Err(problem)));
        }
        let counts = !message.spec.preview;
        let reserved = self.context.reserve.send(ReserveDocument { account, counts }).into_actor(self);
        let written = reserved.then(move |reservation, registry, _| {
            let reservation = reservation.map_err(|_| Problem::stopping()).and_then(|reserved| reserved);
            match reservation {
                Ok(reservation) => registry.begin(message, reservation),
                Err(problem) => Box::pin(fut::ready(Err(problem))),
            }
        });
        Box::pin(written.map(move |reply, registry, ctx| {
            match &reply {
                Ok(view) if start => registry.enqueue(view, ctx),
                Err(_) if start => registry.dispatcher.queue.give_up_place(account),
                Ok(_) | Err(_) => {}
            }
            reply
        }))
    }

    /// Starts the job's actor, which writes record, inputs and the reserved document in one batch: a crash leaves all of
    /// them or none.
    fn begin(&mut self, message: InitJob, reservation: Reservation) -> ResponseActFuture<Self, ViewReply> {
        let (record, create) = match self.prepare(message, &reservation) {
            Ok(prepared) => prepared,
            Err(problem) => return Box::pin(fut::ready(Err(problem))),
        };
        let (account, job) = (record.account, record.id);
        let active = self.spawn(record);
        Box::pin(active.addr.send(create).into_actor(self).map(move |created, registry, _| {
            match created.map_err(|_| actor_lost()).and_then(|created| created) {
                Ok(()) => {
                    reservation.confirm();
                    Ok(active.view)
                }
                Err(problem) => {
                    registry.evict(job);
                    registry.context.open_jobs.remove(account, job);
                    Err(problem)
                }
            }
        }))
    }

    /// The record of a new job, and what its actor is to write with it.
    fn prepare(&self, message: InitJob, reservation: &Reservation) -> Result<(JobRecord, Create), Problem> {
        let InitJob { account, spec, data, template, start, deliver_to, idempotency, request_id, .. } =
            message;
        let (secret_half, secret) = secrets::split(&spec.secrets).map_err(Problem::internal)?;
        let mut record = JobRecord::new(account, spec, self.context.clock.now());
        record.secret = secret_half;
        record.request_id = request_id;
        record.deliver_to = deliver_to.map(|address| address.secret().to_owned());
        record.usage = reservation.usage().cloned();
        let batch = self.key_entries(&record, idempotency)?.and(reservation.batch());
        let inline = InlineInputs { data, template };
        let counted = if start {
            // Bounded by its place in the queue; the account's count of open jobs bounds those that wait for their start.
            CountedInputs::default()
        } else {
            let counted = self.context.stored.count_inline(account, &inline)?;
            self.context.open_jobs.insert(account, record.id, self.context.limits.start_window_s)?;
            counted
        };
        Ok((record, Create { inline, batch, start, counted, secret }))
    }

    /// Starts an initialized job, and enqueues it once its start is durable.
    fn start(
        &mut self,
        account: AccountId,
        active: ActiveJob,
        start: Start,
    ) -> ResponseActFuture<Self, ViewReply> {
        if let Err(problem) = self.check_not_stopping().and_then(|()| self.admit(account)) {
            return Box::pin(fut::ready(Err(problem)));
        }
        let started = active.addr.send(start).into_actor(self);
        Box::pin(started.map(move |started, registry, ctx| {
            let started = started.map_err(|_| actor_lost()).and_then(|started| started);
            match started {
                Ok(true) => registry.enqueue(&active.view, ctx),
                Ok(false) | Err(_) => registry.dispatcher.queue.give_up_place(account),
            }
            started.map(|_| active.view)
        }))
    }

    fn check_not_stopping(&self) -> Result<(), Problem> {
        if self.dispatcher.is_stopping { Err(Problem::stopping()) } else { Ok(()) }
    }
}

impl Handler<StartJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: StartJob, _: &mut Self::Context) -> Self::Result {
        let (account, job) = (message.account, message.job);
        Box::pin(self.find(account, job).then(move |found, registry, _| match found {
            Ok(Found::Active(active)) if active.view.borrow().status == WireStatus::Initialized => {
                let StartJob { deliver_to, warnings, .. } = message;
                registry.start(account, active, Start { deliver_to, warnings })
            }
            Ok(found) => Box::pin(fut::ready(Ok(found.view()))),
            Err(problem) => Box::pin(fut::ready(Err(problem))),
        }))
    }
}

impl Handler<WatchJob> for JobRegistry {
    type Result = ResponseActFuture<Self, ViewReply>;

    fn handle(&mut self, message: WatchJob, _: &mut Self::Context) -> Self::Result {
        Box::pin(self.find(message.account, message.job).map(|found, _, _| found.map(Found::view)))
    }
}

impl Handler<OpenUpload> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<CountedUpload, Problem>>;

    fn handle(&mut self, message: OpenUpload, _: &mut Self::Context) -> Self::Result {
        let OpenUpload { account, job, part, limit_bytes } = message;
        Box::pin(self.find(account, job).then(move |found, registry, _| {
            let context = registry.context.clone();
            let staged = async move {
                let view = found?.view().borrow().clone();
                if view.status != WireStatus::Initialized {
                    return Err(upload_closed(&view));
                }
                let staged = context.pipeline.store.stage(limit_bytes).await?;
                Ok(CountedUpload::new(staged, context.stored.begin_upload(account, job, part)))
            };
            staged.into_actor(registry)
        }))
    }
}

impl Handler<CloseUpload> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<(), Problem>>;

    fn handle(&mut self, mut message: CloseUpload, _: &mut Self::Context) -> Self::Result {
        Box::pin(self.find(message.account, message.job).then(move |found, registry, _| {
            let context = registry.context.clone();
            let committed = async move {
                match found? {
                    Found::Ended(view) => Err(upload_closed(&view.borrow())),
                    Found::Active(active) => {
                        if message.part == InputPart::Template {
                            let kind = active.view.borrow().kind;
                            check_office(&context.pipeline, (message.account, kind), &mut message.upload)
                                .await?;
                        }
                        let commit = CommitUpload { part: message.part, upload: message.upload };
                        active.addr.send(commit).await.map_err(|_| actor_lost())?
                    }
                }
            };
            committed.into_actor(registry)
        }))
    }
}

impl Handler<ResumeJobs> for JobRegistry {
    type Result = usize;

    fn handle(&mut self, message: ResumeJobs, ctx: &mut Self::Context) -> usize {
        let count = message.0.len();
        for record in message.0 {
            self.resume(record, ctx);
        }
        count
    }
}

/// Refuses an Office file that breaks the limits of archives, and for a job whose `kind` is an Office file also an archive
/// behind other bytes. All other templates, and uploads that a bucket takes without the service, are checked when the job
/// runs.
async fn check_office(
    pipeline: &PipelineContext,
    (account, kind): (AccountId, TemplateKind),
    upload: &mut CountedUpload,
) -> Result<(), Problem> {
    if !kind.is_office() && !Package::may_be_office(upload.start()) {
        return Ok(());
    }
    // Unpacking takes memory, so this acquires one of the slots under which runs unpack too.
    let slot = pipeline.unpacking.acquire(account).await;
    let content = upload.content().await?;
    let limits = pipeline.limits.templates.clone();
    let checked = thread::on_blocking_thread(move || {
        let checked = Package::check_office(&content, &limits);
        // Held by the thread and not by this future, for the thread goes on unpacking when the caller has gone.
        drop(slot);
        checked
    });
    checked.await?.map_err(|error| {
        Problem::new(Code::TemplateArchiveInvalid, format!("The upload is refused: {error}."))
    })
}
