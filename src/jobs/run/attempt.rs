//! A job's run and its end: the task that renders, the report it makes, the final record.

use std::time::Duration;

use actix::prelude::*;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::format_opts::{self, OptionLimits, PageOptions, Reading, Secrets};
use crate::domain::job::{JobEvent, JobState, Verdict};
use crate::engines::plan::Plan;
use crate::jobs::context::JobContext;
use crate::jobs::run::actor::JobActor;
use crate::jobs::run::notices::RunSlot;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::{inputs, secrets};
use crate::jobs::view::Output;
use crate::pipeline::{self, InlineInputs, RunEnd, RunInput, StoredDocument};
use crate::slots::meter::CostMeter;
use crate::storage::index::IndexError;
use crate::storage::leftovers;
use crate::telemetry::Step;
use crate::templates::cache::source::TemplateUse;

/// How long until the final record is tried again after the index refused it.
const FINAL_RETRY: Duration = Duration::from_secs(1);

impl JobActor {
    /// Starts the run in a task of its own, whose end is reported to this actor.
    pub(in crate::jobs) fn begin_run(&mut self, ctx: &mut Context<Self>) {
        let record = &self.record;
        let queue_ms = self.context.clock.now().since_ms(record.started_at.unwrap_or(record.created_at));
        let span = tracing::info_span!(
            "job", job.id = %record.id, account.id = %record.account,
            render.kind = record.kind.name(), render.target = record.target.name(),
            job.attempt = record.attempts, job.queue_ms = queue_ms,
        );
        self.context.pipeline.metrics.steps.took(Step::Queue, Duration::from_millis(queue_ms));
        let (parts, journal) = (self.context.pipeline.clone(), self.context.journal.clone());
        let mut slot = self.slot.take();
        let meter = slot.as_mut().map_or_else(|| CostMeter::new(record.account), RunSlot::begin);
        let (mut input, record, inline) = (self.run_input(meter), record.clone(), self.inline.clone());
        let (report, reported) = oneshot::channel();
        let (show, shown) = oneshot::channel();
        let work = async move {
            let given = input.options.secrets();
            let secrets = secrets::load(parts.store.as_ref(), &record, &given).await;
            let end = match (inputs::load(&journal, &record, inline).await, secrets) {
                (Ok(inline), Ok(Secrets { passwords, requests })) => {
                    input.options.protection.passwords = passwords;
                    input.options.requests = requests;
                    let published = move |document| {
                        drop(slot);
                        let _ = show.send(document);
                    };
                    pipeline::run(&parts, RunInput { inline, ..input }, published).await
                }
                (Err(error), _) => unreadable(&error),
                (Ok(_), Err(fault)) => RunEnd::failed(fault),
            };
            let _ = report.send(end);
        };
        self.run = Some(AbortOnDropHandle::new(tokio::task::spawn_local(work.instrument(span))));
        // What is delivered is there already: a cancellation from then on takes nothing away, and counts.
        ctx.spawn(shown.into_actor(self).map(|document, actor, _| {
            if let Ok(document) = document
                && actor.record.state == JobState::Running
                && !actor.parked
            {
                actor.record.output = Some(actor.output_of(document));
            }
        }));
        let reported = reported.into_actor(self).map(|end, actor, ctx| {
            // The sender is dropped without a report when the run panicked or was aborted.
            if actor.record.state == JobState::Running && !actor.parked {
                actor.run_ended(end.unwrap_or_else(|_| panicked()), ctx);
            }
        });
        ctx.spawn(reported);
    }

    fn run_input(&self, meter: CostMeter) -> RunInput {
        RunInput {
            account: self.record.account,
            meter,
            job: self.record.id,
            kind: self.record.kind,
            target: self.record.target,
            options: self.read_options().map_or_else(PageOptions::default, |reading| reading.options),
            inline: InlineInputs::default(),
            given: self.record.given,
            template: self.template_use(),
            deliver_to: self.record.deliver_to.clone(),
        }
    }

    fn template_use(&self) -> Option<TemplateUse> {
        let JobRecord { account, preview, .. } = self.record;
        Some(TemplateUse { account, template: self.record.template?, preview })
    }

    fn run_ended(&mut self, end: RunEnd, ctx: &mut Context<Self>) {
        let event = if end.fault.is_none() { JobEvent::Succeeded } else { JobEvent::Failed };
        let mut record = self.record.clone();
        record.warnings = end.warnings;
        record.warnings.extend(&self.ignored_options(end.plan));
        record.fault = end.fault;
        record.output = record.output.or_else(|| Some(self.output_of(end.document?)));
        self.finish(record, event, ctx);
    }

    /// A document that is made at this moment.
    fn output_of(&self, document: StoredDocument) -> Output {
        let StoredDocument { file, bytes, pages, content } = document;
        let now = self.context.clock.now();
        let run_at = self.record.run_at.unwrap_or(now);
        let started_at = self.record.started_at.unwrap_or(run_at);
        let (render_ms, queue_ms) = (now.since_ms(run_at), run_at.since_ms(started_at));
        Output { file: Some(file), bytes, pages, render_ms, queue_ms, content }
    }

    fn read_options(&self) -> Option<Reading> {
        let raw = self.record.format_opts.as_deref()?;
        Some(format_opts::read(raw, &OptionLimits::ADMITTED))
    }

    /// By the plan that ran: where a way around a missing engine was taken, that one's options did nothing.
    fn ignored_options(&self, plan: Option<Plan>) -> Warnings {
        let mut warnings = Warnings::default();
        let JobRecord { kind, target, .. } = self.record;
        if let Some(reading) = self.read_options() {
            let route = plan.or_else(|| self.context.pipeline.catalog.route(kind, target, &reading.options));
            let heeds = |key: &str| route.as_ref().is_some_and(|route| route.heeds(key));
            reading.warnings((kind, target), heeds).iter().for_each(|warning| warnings.push(warning));
        }
        warnings
    }

    /// No turn came in time.
    pub(in crate::jobs) fn on_queue_timeout(&mut self, ctx: &mut Context<Self>) {
        let limit_s = self.context.limits.queue_timeout_s;
        self.timer = None;
        let sentence =
            format!("no turn came within {limit_s} s (jobs.queue_timeout_s): the service is overloaded");
        self.fail(FaultCode::QueueTimeout, sentence, ctx);
    }

    /// Ends the job without a document.
    pub(in crate::jobs) fn fail(&mut self, code: FaultCode, sentence: String, ctx: &mut Context<Self>) {
        let mut record = self.record.clone();
        record.fault = Some(JobFault::new(code, sentence));
        self.finish(record, JobEvent::Failed, ctx);
    }

    pub(in crate::jobs) fn is_expired(&self) -> bool {
        let window_ms = self.context.limits.start_window_s.saturating_mul(1_000);
        self.context.clock.now().since_ms(self.record.created_at) >= window_ms
    }

    /// Ends a job that was not started in time.
    pub(in crate::jobs) fn write_expiry(&self) -> ResponseActFuture<Self, Result<(), IndexError>> {
        let window_s = self.context.limits.start_window_s;
        let mut record = self.record.clone();
        let sentence = format!("the job was not started within {window_s} s (jobs.start_window_s)");
        record.fault = Some(JobFault::new(FaultCode::Expired, sentence));
        self.write_end(End { record, event: JobEvent::Expire })
    }

    /// Writes the final record, for as long as it takes, and enters the final state then. Between two tries the
    /// mailbox is open: with a full disk this may take hours, and whoever cancels meanwhile is to be answered.
    pub(in crate::jobs) fn finish(&mut self, record: JobRecord, event: JobEvent, ctx: &mut Context<Self>) {
        let end = End { record, event };
        ctx.wait(self.write_end(end.clone()).map(move |written, actor, ctx| {
            let Err(error) = written else { return };
            if actor.unwritten_end.replace(end).is_none() {
                tracing::error!(job.id = %actor.record.id, error = %error, "the end of the job is not in the journal; trying until it is");
            }
            ctx.run_later(FINAL_RETRY, |actor, ctx| {
                if let Some(End { record, event }) = actor.unwritten_end.clone() {
                    actor.finish(record, event, ctx);
                }
            });
        }));
    }

    /// The writing of the final record and what follows; nothing when the job cannot end so. Where it cannot be
    /// written, the job stays as it is.
    pub(in crate::jobs) fn write_end(&self, end: End) -> ResponseActFuture<Self, Result<(), IndexError>> {
        let End { mut record, event } = end;
        let Verdict::Move(state) = self.record.state.on(event) else { return Box::pin(fut::ready(Ok(()))) };
        record.state = state;
        record.finished_at = Some(self.context.clock.now());
        // It opens somebody's store; nobody needs it any more.
        record.deliver_to = None;
        let context = self.context.clone();
        let written = async move {
            // What the object has without it is random.
            record.secret = record.secret.erased();
            let gone = leftovers::mark(record.id.0, &inputs::leftovers(&record, context.landing()));
            let with = JobContext::give_back(&record).and(inputs::removal(&record)).and(gone);
            context.journal.commit(&record, with).await?;
            context.returned(&record);
            report_end(&context, &record);
            Ok(record)
        };
        Box::pin(
            written
                .into_actor(self)
                .map(|record, actor, ctx| record.map(|record| actor.enter_state(record, ctx))),
        )
    }
}

/// How a job is to end, as far as it is not written.
#[derive(Clone)]
pub(in crate::jobs) struct End {
    pub record: JobRecord,
    pub event: JobEvent,
}

fn report_end(context: &JobContext, record: &JobRecord) {
    tracing::info!(
        job.id = %record.id, account.id = %record.account, job.state = ?record.state,
        job.error_code = record.fault.as_ref().map(|fault| fault.code.name()),
        render.ms = record.output.as_ref().map(|output| output.render_ms),
        "the job ended"
    );
    let code = record.fault.as_ref().map(|fault| fault.code);
    context.pipeline.metrics.jobs.ended(record.kind, record.target, code);
}

fn unreadable(error: &IndexError) -> RunEnd {
    tracing::error!(error = %error, "the job's inputs cannot be read");
    let sentence = "the service could not read the job's inputs";
    RunEnd::failed(JobFault::new(FaultCode::Internal, sentence))
}

fn panicked() -> RunEnd {
    let sentence = "the service met an internal error while it rendered the job";
    RunEnd::failed(JobFault::new(FaultCode::Internal, sentence))
}
