//! One job's run: Fetch, the steps of its plan, Publish, Deliver. Plain asynchronous functions, each repeatable; what
//! goes wrong is a [`JobFault`], a sentence for the template's author.

mod deliver;
mod deliveries;
mod fetch;
mod make;
mod publish;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::config::TemplatesConfig;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::ids::{AccountId, JobId, ObjectId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::engines::Runners;
use crate::engines::catalog::Catalog;
use crate::engines::plan::Plan;
use crate::engines::step::StepKind;
use crate::engines::work::WorkPlace;
use crate::outbound::Outbound;
use crate::slots::engines::EngineBudget;
use crate::slots::meter::CostMeter;
use crate::storage::ObjectStore;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::{self, StepMetrics};
use crate::templates::cache::source::{TemplateSource, TemplateUse};

pub use deliveries::DeliveryLimits;

/// Why, where it is the store's fault.
const STORE_UNAVAILABLE: &str = ": its object store does not answer; render it again later";

/// What a run works with.
pub struct PipelineContext {
    /// Where inputs come from and the document goes.
    pub store: Arc<dyn ObjectStore>,
    /// Where saved templates come from; nowhere, for who has none.
    pub templates: Option<TemplateSource>,
    /// Uploaded archives unpacked at once: each is inline in memory.
    pub unpacking: Arc<Semaphore>,
    /// What can become what, and by whom.
    pub catalog: Arc<Catalog>,
    /// Who takes the steps.
    pub runners: Runners,
    /// How many programs of heavy engines run at once.
    pub budget: EngineBudget,
    /// Where documents are between two steps.
    pub work: WorkPlace,
    /// Where documents are delivered by.
    pub outbound: Outbound,
    /// Who delivers at the moment.
    pub deliveries: DeliveryLimits,
    /// The limits of a run.
    pub limits: RunLimits,
    /// Where it is counted.
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
    /// Whose job.
    pub account: AccountId,
    /// What the job pays by.
    pub meter: CostMeter,
    /// Which job.
    pub job: JobId,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
    /// How the page is made.
    pub options: PageOptions,
    /// Inputs that are in memory still.
    pub inline: InlineInputs,
    /// Which inputs came with the request, and must be there.
    pub given: InputSet,
    /// The template to use, where it does not come with the job.
    pub template: Option<TemplateUse>,
    /// Where the document is to be delivered; the address opens its store, so it is in no log.
    pub deliver_to: Option<String>,
}

/// Inputs that came with the request and need not be read from the store.
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
    /// What it is.
    pub file: FileKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many pages it has, if it has pages.
    pub pages: Option<u32>,
    /// The version of the saved template's content that it was made of, if it was made of one.
    pub content: Option<ObjectId>,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// The document, if there is one.
    pub document: Option<StoredDocument>,
    /// Why there is none, or why it was not delivered.
    pub fault: Option<JobFault>,
    /// What the run survived.
    pub warnings: Warnings,
    /// How it was to go, if it came so far.
    pub plan: Option<Plan>,
}

impl RunEnd {
    /// A run that ended without a document before it could warn.
    #[must_use]
    pub fn failed(fault: JobFault) -> Self {
        Self { document: None, fault: Some(fault), warnings: Warnings::default(), plan: None }
    }
}

/// Where a run is; the deadline of the whole run names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Inputs are read.
    Fetch,
    /// A step of the plan.
    Make(StepKind),
    /// The file is made durable.
    Publish,
    /// The file goes to the caller's address.
    Deliver,
}

impl Step {
    /// The step's name in spans and errors.
    fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Make(StepKind::Print | StepKind::Picture | StepKind::Snapshot) => "render",
            Self::Make(
                kind @ (StepKind::Assemble | StepKind::Convert | StepKind::Raster | StepKind::Finish),
            ) => kind.name(),
            Self::Publish => "publish",
            Self::Deliver => "deliver",
        }
    }

    /// What it is measured as; what the browser does is measured in its own steps (`engines/page`).
    fn measured(self) -> Option<telemetry::Step> {
        match self {
            Self::Fetch => Some(telemetry::Step::Fetch),
            Self::Make(StepKind::Assemble) => Some(telemetry::Step::Assemble),
            Self::Make(StepKind::Convert) => Some(telemetry::Step::Convert),
            Self::Make(StepKind::Raster) => Some(telemetry::Step::Raster),
            Self::Make(StepKind::Finish) => Some(telemetry::Step::Finish),
            Self::Make(StepKind::Print | StepKind::Picture | StepKind::Snapshot) => None,
            Self::Publish => Some(telemetry::Step::Publish),
            Self::Deliver => Some(telemetry::Step::Deliver),
        }
    }
}

struct Progress<'a> {
    present: Cell<Step>,
    metrics: &'a StepMetrics,
}

impl Progress<'_> {
    async fn step<T>(&self, step: Step, work: impl Future<Output = T>) -> T {
        self.present.set(step);
        let _timer = step.measured().map(|measured| self.metrics.begin(measured));
        work.instrument(tracing::info_span!("step", step.name = step.name(), tex.format = Empty)).await
    }
}

/// Runs a job from its inputs to its durable document, and delivers it. `published` is called when the
/// document is there: what is left to do then takes no tab, only somebody else's time.
pub async fn run(
    context: &PipelineContext,
    input: RunInput,
    published: impl FnOnce(StoredDocument),
) -> RunEnd {
    let progress = Progress { present: Cell::new(Step::Fetch), metrics: &context.metrics.steps };
    let mut warnings = Warnings::default();
    // A program that was replaced since may be too old, or new enough.
    context.catalog.renew().await;
    let plan = match make::plan(context, &input) {
        Ok(plan) => plan,
        Err(fault) => return RunEnd::failed(fault),
    };
    let limit = Duration::from_secs(context.limits.run_timeout_s);
    let steps = steps(context, (&input, &plan), &progress, &mut warnings);
    let result = tokio::time::timeout(limit, steps).await.unwrap_or_else(|_| {
        let (step, limit_s) = (progress.present.get().name(), context.limits.run_timeout_s);
        Err(JobFault::new(
            FaultCode::RunTimeout,
            format!(
                "the job was not done within {limit_s} s (jobs.run_timeout_s); it was in the step '{step}'"
            ),
        ))
    });
    let document = match result {
        Ok(document) => document,
        Err(fault) => return RunEnd { warnings, plan: Some(plan), ..RunEnd::failed(fault) },
    };
    published(document);
    // The document is there: what may still go wrong has a deadline of its own and takes nothing away.
    let delivered = match &input.deliver_to {
        Some(address) => {
            progress.step(Step::Deliver, deliver::deliver(context, (&input, document.file), address)).await
        }
        None => Ok(()),
    };
    RunEnd { document: Some(document), fault: delivered.err(), warnings, plan: Some(plan) }
}

async fn steps(
    context: &PipelineContext,
    (input, plan): (&RunInput, &Plan),
    progress: &Progress<'_>,
    warnings: &mut Warnings,
) -> Result<StoredDocument, JobFault> {
    let (template, data) = progress.step(Step::Fetch, fetch::fetch(context, input)).await?;
    let content = template.version;
    let made = make::make(context, (input, plan), (template, data), (progress, warnings)).await?;
    let stored = progress.step(Step::Publish, publish::publish(context, input, made)).await?;
    Ok(StoredDocument { content, ..stored })
}
