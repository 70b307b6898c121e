//! One run of a job: reads inputs and secrets, runs the pipeline in a task of its own, reports by channels.
//!
//! Hazard: a run may panic, hang or be cancelled at any moment, and the job must still end once. So the task owns
//! nothing of the actor. It sends what it made; when it ends without sending, the closed channel shows that.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::clock::Timestamp;
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::format_opts::{self, Key, OptionLimits, PageOptions, Reading, Secrets};
use crate::engines::catalog::Catalog;
use crate::engines::plan::Plan;
use crate::jobs::context::JobContext;
use crate::jobs::run::notices::RunSlot;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::store::secrets;
use crate::jobs::view::Output;
use crate::pipeline::{self, InlineInputs, PipelineContext, RunEnd, RunInput, StoredDocument};
use crate::slots::meter::CostMeter;
use crate::storage::index::IndexError;
use crate::telemetry::JobPhase;
use crate::templates::cache::source::TemplateUse;

/// A run under way.
pub(super) struct Attempt {
    /// Aborts the run when it is dropped.
    pub task: AbortOnDropHandle<()>,
    /// The document, as soon as it is in the store; it may have to be delivered after that.
    pub published: oneshot::Receiver<StoredDocument>,
    /// How the run ended; closed without a report when it panicked or was aborted.
    pub ended: oneshot::Receiver<RunEnd>,
}

impl Attempt {
    /// Starts a run of the job on the actor's thread.
    pub fn start(
        context: &JobContext,
        record: &JobRecord,
        inline: InlineInputs,
        mut slot: Option<RunSlot>,
    ) -> Self {
        let queue_ms = context.clock.now().since_ms(record.started_at.unwrap_or(record.created_at));
        let span = record.span();
        span.record("job.attempt", record.attempts).record("job.queue_ms", queue_ms);
        context.pipeline.metrics.phases.took(JobPhase::Queue, Duration::from_millis(queue_ms));
        let meter = slot.as_mut().map_or_else(|| CostMeter::new(record.account), RunSlot::begin);
        let (pipeline, journal, record) = (context.pipeline.clone(), context.journal.clone(), record.clone());
        let (publish, published) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let work = async move {
            let published = move |document| {
                // A delivery uses no tab and no core: the next job may run.
                drop(slot);
                let _ = publish.send(document);
            };
            let _ = end.send(run((&pipeline, &journal), &record, (inline, meter), published).await);
        };
        let task = AbortOnDropHandle::new(tokio::task::spawn_local(work.instrument(span)));
        Self { task, published, ended }
    }
}

async fn run(
    (pipeline, journal): (&PipelineContext, &Journal),
    record: &JobRecord,
    (inline, meter): (InlineInputs, CostMeter),
    published: impl FnOnce(StoredDocument),
) -> RunEnd {
    let inline = match journal.load_inputs(record, inline).await {
        Ok(inline) => inline,
        Err(error) => return unreadable(&error),
    };
    let mut options = read_options(record).map_or_else(PageOptions::default, |reading| reading.options);
    match secrets::load(pipeline.store.as_ref(), record, &options.secrets()).await {
        Ok(Secrets { passwords, requests }) => {
            options.protection.passwords = passwords;
            options.requests = requests;
        }
        Err(error) => return RunEnd::failed(error),
    }
    let JobRecord { account, preview, .. } = *record;
    let input = RunInput {
        account,
        meter,
        job: record.id,
        kind: record.kind,
        target: record.target,
        options,
        inline,
        given: record.given,
        template: record.template.map(|template| TemplateUse { account, template, preview }),
        deliver_to: record.deliver_to.clone(),
    };
    pipeline::run(pipeline, input, published).await
}

/// A document made at `now`, as the record keeps it.
pub(super) fn output(record: &JobRecord, document: StoredDocument, now: Timestamp) -> Output {
    let StoredDocument { file, bytes, pages, content } = document;
    let run_at = record.run_at.unwrap_or(now);
    let started_at = record.started_at.unwrap_or(run_at);
    let (render_ms, queue_ms) = (now.since_ms(run_at), run_at.since_ms(started_at));
    Output { file: Some(file), bytes, pages, render_ms, queue_ms, content }
}

/// Warnings of options that had no effect. By the plan that ran: where a missing engine was replaced by another route,
/// that route's options count.
pub(super) fn ignored_options(record: &JobRecord, plan: Option<Plan>, catalog: &Catalog) -> Warnings {
    let mut warnings = Warnings::default();
    let JobRecord { kind, target, .. } = *record;
    if let Some(reading) = read_options(record) {
        let route = plan.or_else(|| catalog.route(kind, target, &reading.options));
        let heeds = |key: Key| route.as_ref().is_some_and(|route| route.heeds(key));
        reading.warnings((kind, target), heeds).iter().for_each(|warning| warnings.push(warning));
    }
    warnings
}

pub(super) fn panicked() -> RunEnd {
    let sentence = "the service met an internal error while it rendered the job";
    RunEnd::failed(JobError::new(ErrorCode::Internal, sentence))
}

fn read_options(record: &JobRecord) -> Option<Reading> {
    Some(format_opts::read(record.format_opts.as_deref()?, &OptionLimits::ADMITTED))
}

fn unreadable(error: &IndexError) -> RunEnd {
    tracing::error!(error = %error, "the job's inputs cannot be read");
    let sentence = "the service could not read the job's inputs";
    RunEnd::failed(JobError::new(ErrorCode::Internal, sentence))
}
