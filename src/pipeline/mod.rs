//! One job's run: Fetch, the steps of its plan, Publish, Deliver.
//!
//! Plain asynchronous functions without an actor. Each can be repeated, so that a job whose run was lost with the service
//! begins again from Fetch. An error is a [`JobError`]: a sentence for the template's author.
//!
//! Called by `jobs::run` and by `platen render` ([`run`]); `app` makes the [`PipelineContext`].

mod deliver;
mod fetch;
mod make;
mod publish;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::config::TemplatesConfig;
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::ids::{AccountId, JobId, ObjectId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::engines::Runners;
use crate::engines::catalog::Catalog;
use crate::engines::plan::Plan;
use crate::engines::step::StepKind;
use crate::engines::work_files::WorkFolder;
use crate::outbound::Outbound;
use crate::slots::AccountSlots;
use crate::slots::engines::EngineBudget;
use crate::slots::meter::CostMeter;
use crate::storage::ObjectStore;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::{JobPhase, PhaseMetrics};
use crate::templates::cache::source::TemplateUse;
use crate::templates::registry::TemplateReader;

/// Added to an error whose cause is the store.
const STORE_UNAVAILABLE: &str = ": its object store does not answer; render it again later";

/// What all runs share.
pub struct PipelineContext {
    /// Uploads and documents.
    pub store: Arc<dyn ObjectStore>,
    /// Saved templates; none for `platen render`.
    pub templates: Option<TemplateReader>,
    /// Slots for unpacking archives that come with jobs, in all and of one account: each takes as much memory as it unpacks to,
    /// and those of one account must not keep all others waiting.
    pub unpacking: AccountSlots,
    /// Which engines there are, and the plans of jobs.
    pub catalog: Arc<Catalog>,
    /// The engines' runners.
    pub runners: Runners,
    /// Limits how many programs of heavy engines run at once.
    pub budget: EngineBudget,
    /// The folder of files between two steps.
    pub work: WorkFolder,
    /// Connects to addresses that documents are delivered to.
    pub outbound: Outbound,
    /// Deliveries at once, in all and of one account: a receiver that reads nothing holds its delivery until the timeout, and
    /// must not delay those of other accounts.
    pub deliveries: AccountSlots,
    /// The limits of a run.
    pub limits: RunLimits,
    /// The service's metrics.
    pub metrics: Metrics,
}

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct RunLimits {
    /// `jobs.run_timeout_s`.
    pub run_timeout_s: u64,
    /// `http.upload_limit_bytes`: largest input.
    pub input_limit_bytes: u64,
    /// `http.json_depth_limit`.
    pub json_depth_limit: u64,
    /// `storage.output_limit_bytes`.
    pub output_limit_bytes: u64,
    /// `outbound.delivery_tries`.
    pub delivery_tries: u64,
    /// `outbound.delivery_timeout_s`.
    pub delivery_timeout_s: u64,
    /// `templates.archive_…`: what an uploaded archive may hold.
    pub templates: TemplatesConfig,
}

/// What one run is to do.
#[derive(Clone, Debug)]
pub struct RunInput {
    /// The job's account.
    pub account: AccountId,
    /// Measures what the job costs.
    pub meter: CostMeter,
    /// Which job.
    pub job: JobId,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What is made of it.
    pub target: Target,
    /// `formatOpts`.
    pub options: PageOptions,
    /// Inputs that are in memory.
    pub inline: InlineInputs,
    /// Inputs that came with the request: without one of them the run fails.
    pub given: InputSet,
    /// The saved template to use; none where the template came with the job.
    pub template: Option<TemplateUse>,
    /// The address to deliver to. It gives write access to a customer's store, so it is in no log.
    pub deliver_to: Option<String>,
}

/// Inputs that are in memory and need not be read from the store.
#[derive(Clone, Debug, Default)]
pub struct InlineInputs {
    /// The data.
    pub data: Option<Bytes>,
    /// The template.
    pub template: Option<Bytes>,
}

/// Some of a job's two inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSet {
    /// The data.
    pub data: bool,
    /// The template.
    pub template: bool,
}

/// A document that is in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The kind of its file.
    pub file: FileKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its pages, if it has pages.
    pub pages: Option<u32>,
    /// The version of the saved template's content, if the template is a saved one.
    pub content: Option<ObjectId>,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// The document, if there is one.
    pub document: Option<StoredDocument>,
    /// Why there is none, or why it was not delivered.
    pub error: Option<JobError>,
    /// Warnings for the template's author.
    pub warnings: Warnings,
    /// The plan of the run, if one was found.
    pub plan: Option<Plan>,
}

impl RunEnd {
    /// A run that ended without a document and without warnings.
    pub fn failed(error: JobError) -> Self {
        Self { document: None, error: Some(error), warnings: Warnings::default(), plan: None }
    }
}

/// A part of a run, as spans, errors and metrics name it.
#[derive(Clone, Copy)]
struct Stage {
    name: &'static str,
    /// None for what the browser does: `engines/page` measures that in its own steps.
    measured: Option<JobPhase>,
}

impl Stage {
    const FETCH: Self = Self { name: "fetch", measured: Some(JobPhase::Fetch) };
    const PUBLISH: Self = Self { name: "publish", measured: Some(JobPhase::Publish) };
    const DELIVER: Self = Self { name: "deliver", measured: Some(JobPhase::Deliver) };

    fn of(kind: StepKind) -> Self {
        let measured = match kind {
            StepKind::Assemble => JobPhase::Assemble,
            StepKind::Convert => JobPhase::Convert,
            StepKind::Raster => JobPhase::Raster,
            StepKind::Finish => JobPhase::Finish,
            StepKind::Print | StepKind::Picture | StepKind::Snapshot => {
                return Self { name: "render", measured: None };
            }
        };
        Self { name: kind.name(), measured: Some(measured) }
    }
}

/// The stage that a run is in: the error of a run that takes too long names it.
struct Progress<'a> {
    present: Cell<Stage>,
    metrics: &'a PhaseMetrics,
}

impl Progress<'_> {
    async fn stage<T>(&self, stage: Stage, work: impl Future<Output = T>) -> T {
        self.present.set(stage);
        let _timer = stage.measured.map(|step| self.metrics.begin(step));
        work.instrument(tracing::info_span!("step", step.name = stage.name, tex.format = Empty)).await
    }
}

/// Runs a job from its inputs to its durable document, and delivers it. `published` is called when the document is durable:
/// a delivery uses no tab and no core, so the caller can give the slot of the run to the next job.
pub async fn run(
    context: &PipelineContext,
    input: RunInput,
    published: impl FnOnce(StoredDocument),
) -> RunEnd {
    let progress = Progress { present: Cell::new(Stage::FETCH), metrics: &context.metrics.phases };
    let mut warnings = Warnings::default();
    // A program that was replaced since the job's init may be too old, or new enough.
    context.catalog.recheck_versions().await;
    let plan = match make::plan(context, &input) {
        Ok(plan) => plan,
        Err(error) => return RunEnd::failed(error),
    };
    let limit = Duration::from_secs(context.limits.run_timeout_s);
    let steps = steps(context, (&input, &plan), &progress, &mut warnings);
    let result = tokio::time::timeout(limit, steps).await.unwrap_or_else(|_| {
        let (step, limit_s) = (progress.present.get().name, context.limits.run_timeout_s);
        Err(JobError::new(
            ErrorCode::RunTimeout,
            format!(
                "the job was not done within {limit_s} s (jobs.run_timeout_s); it was in the step '{step}'"
            ),
        ))
    });
    let document = match result {
        Ok(document) => document,
        Err(error) => return RunEnd { warnings, plan: Some(plan), ..RunEnd::failed(error) },
    };
    published(document);
    // Outside of the run's timeout: a delivery has its own, and must not take away a document that is durable.
    let delivered = match &input.deliver_to {
        Some(address) => {
            progress.stage(Stage::DELIVER, deliver::deliver(context, (&input, document.file), address)).await
        }
        None => Ok(()),
    };
    RunEnd { document: Some(document), error: delivered.err(), warnings, plan: Some(plan) }
}

async fn steps(
    context: &PipelineContext,
    (input, plan): (&RunInput, &Plan),
    progress: &Progress<'_>,
    warnings: &mut Warnings,
) -> Result<StoredDocument, JobError> {
    let (template, data) = progress.stage(Stage::FETCH, fetch::fetch(context, input, warnings)).await?;
    let content_id = template.version;
    let made = make::make(context, (input, plan), (template, data), (progress, warnings)).await?;
    let stored = progress.stage(Stage::PUBLISH, publish::publish(context, input, made)).await?;
    Ok(StoredDocument { content: content_id, ..stored })
}
