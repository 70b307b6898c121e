//! One job's run: Fetch, Assemble, Render, Publish, Deliver. Plain asynchronous functions, each repeatable; what
//! goes wrong is a [`JobFault`], a sentence for the template's author.

mod banners;
mod deliver;
mod deliveries;
mod fetch;
mod publish;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::config::TemplatesConfig;
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::domain::format_opts::PageOptions;
use crate::domain::ids::{AccountId, JobId, ObjectId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::assemble::ejs::Assembler;
use crate::engines::render::html;
use crate::engines::render::page::{PageEngine, PageOrder};
use crate::engines::{self, Rendering, thread};
use crate::outbound::Outbound;
use crate::storage::ObjectStore;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::{self, StepMetrics};
use crate::templates::source::{Loaded, TemplateSource, TemplateUse};

pub use deliveries::Deliveries;

/// Why, where it is the store's fault.
const STORE_SILENT: &str = ": its object store does not answer; render it again later";

/// What a run works with.
pub struct Parts {
    /// Where inputs come from and the document goes.
    pub store: Arc<dyn ObjectStore>,
    /// Where saved templates come from; nowhere, for who has none.
    pub templates: Option<TemplateSource>,
    /// Uploaded archives unpacked at once: each is held in memory.
    pub unpacking: Arc<Semaphore>,
    /// Template and data to page.
    pub assembler: Assembler,
    /// Page to file.
    pub pages: PageEngine,
    /// Where documents are delivered by.
    pub outbound: Outbound,
    /// Who delivers at the moment.
    pub deliveries: Deliveries,
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
    /// Which job.
    pub job: JobId,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
    /// How the page is made.
    pub options: PageOptions,
    /// Inputs that are in memory still.
    pub held: Held,
    /// Which inputs came with the request, and must be there.
    pub given: InputSet,
    /// The template to use, where it does not come with the job.
    pub template: Option<TemplateUse>,
    /// Where the document is to be delivered; the address opens its store, so it is in no log.
    pub deliver_to: Option<String>,
}

/// Inputs that came with the request and need not be read from the store.
#[derive(Clone, Debug, Default)]
pub struct Held {
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
pub struct Document {
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
    pub document: Option<Document>,
    /// Why there is none, or why it was not delivered.
    pub fault: Option<JobFault>,
    /// What the run survived.
    pub warnings: Warnings,
}

impl RunEnd {
    /// A run that ended without a document before it could warn.
    #[must_use]
    pub fn failed(fault: JobFault) -> Self {
        Self { document: None, fault: Some(fault), warnings: Warnings::default() }
    }
}

/// Where a run is; the deadline of the whole run names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Inputs are read.
    Fetch,
    /// Template and data become a page.
    Assemble,
    /// The page becomes a file.
    Render,
    /// The file is made durable.
    Publish,
    /// The file goes to the caller's address.
    Deliver,
}

impl Step {
    const ALL: [Self; 5] = [Self::Fetch, Self::Assemble, Self::Render, Self::Publish, Self::Deliver];

    /// The step's name in spans and errors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Assemble => "assemble",
            Self::Render => "render",
            Self::Publish => "publish",
            Self::Deliver => "deliver",
        }
    }

    /// What it is measured as; rendering is measured in its own steps (`engines/render`).
    fn measured(self) -> Option<telemetry::Step> {
        match self {
            Self::Fetch => Some(telemetry::Step::Fetch),
            Self::Assemble => Some(telemetry::Step::Assemble),
            Self::Render => None,
            Self::Publish => Some(telemetry::Step::Publish),
            Self::Deliver => Some(telemetry::Step::Deliver),
        }
    }
}

struct Progress<'a> {
    present: AtomicU8,
    metrics: &'a StepMetrics,
}

impl Progress<'_> {
    async fn step<T>(&self, step: Step, work: impl Future<Output = T>) -> T {
        self.present.store(step as u8, Ordering::Relaxed);
        let _timer = step.measured().map(|measured| self.metrics.begin(measured));
        work.instrument(tracing::info_span!("step", step.name = step.name())).await
    }

    fn present(&self) -> Step {
        Step::ALL[usize::from(self.present.load(Ordering::Relaxed)).min(Step::ALL.len() - 1)]
    }
}

/// Runs a job from its inputs to its durable document, and delivers it. `published` is called when the
/// document is there: what is left to do then takes no tab, only somebody else's time.
pub async fn run(parts: &Parts, input: RunInput, published: impl FnOnce(Document)) -> RunEnd {
    let progress = Progress { present: AtomicU8::default(), metrics: &parts.metrics.steps };
    let mut warnings = Warnings::default();
    let limit = Duration::from_secs(parts.limits.run_timeout_s);
    let steps = steps(parts, &input, &progress, &mut warnings);
    let result = tokio::time::timeout(limit, steps).await.unwrap_or_else(|_| {
        let (step, limit_s) = (progress.present().name(), parts.limits.run_timeout_s);
        Err(JobFault::new(
            FaultCode::RunTimeout,
            format!(
                "the job was not done within {limit_s} s (jobs.run_timeout_s); it was in the step '{step}'"
            ),
        ))
    });
    let document = match result {
        Ok(document) => document,
        Err(fault) => return RunEnd { warnings, ..RunEnd::failed(fault) },
    };
    published(document);
    // The document is there: what may still go wrong has a deadline of its own and takes nothing away.
    let delivered = match &input.deliver_to {
        Some(address) => progress.step(Step::Deliver, deliver::deliver(parts, &input, address)).await,
        None => Ok(()),
    };
    RunEnd { document: Some(document), fault: delivered.err(), warnings }
}

async fn steps(
    parts: &Parts,
    input: &RunInput,
    progress: &Progress<'_>,
    warnings: &mut Warnings,
) -> Result<Document, JobFault> {
    let chain = engines::plan(input.kind, input.target).ok_or_else(|| impossible(input))?;
    let (template, data) = progress.step(Step::Fetch, fetch::fetch(parts, input)).await?;
    let Loaded { site, reach, version: content, .. } = template;
    let of_content = |document| Document { content, ..document };
    let assembled = Box::pin(async {
        let page = parts.assembler.assemble(input.account, &site, &data, warnings).await?;
        Ok((page, banners::assemble(parts, input, &site, &data).await?))
    });
    let (page, options) = progress.step(Step::Assemble, assembled).await?;
    let unshown = input.options.unshown_warnings();
    // What refers to files of its own would not open by itself: the browser puts them in.
    let is_file = chain.rendering == Rendering::Page
        && (!site.has_assets() || (unshown.is_empty() && html::opens_by_itself(&page).await?));
    if is_file {
        for warning in &unshown {
            warnings.push(warning);
        }
        let length = page.len() + data.len();
        let document = thread::by_size(length, move || html::with_data(&page, &data)).await?;
        return progress.step(Step::Publish, publish::bytes(parts, input, document)).await.map(of_content);
    }
    let order = PageOrder {
        account: input.account,
        site: site.with_page(page),
        data,
        target: input.target,
        limit_bytes: parts.limits.output_limit_bytes,
        options,
        reach,
        alone: false,
    };
    // It is much larger than all that goes on around it.
    let rendering = Box::pin(publish::render(parts, order, warnings));
    let staged = progress.step(Step::Render, rendering).await?;
    progress.step(Step::Publish, publish::commit(staged, input)).await.map(of_content)
}

/// Init refuses such a pair; a job of a version that could do it may still be in the journal.
fn impossible(input: &RunInput) -> JobFault {
    let (kind, target) = (input.kind.name(), input.target.name());
    JobFault::new(FaultCode::Internal, format!("this version cannot make {target} of {kind}"))
}
