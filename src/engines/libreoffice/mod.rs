//! Converts Office files to PDF and HTML with LibreOffice. Servers of ours keep it loaded and fork a child for each document
//! (`workers/libreoffice`). Outside, `ENGINE` and its version are used.

mod errors;
mod export;
mod fonts;
mod needs;

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt as _;

use self::errors::Diagnosis;
use self::export::Export;
use self::fonts::InstalledFonts;
use super::document::Document;
use super::error::EngineError;
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use super::{Engine, EngineContext};
use crate::config::{OfficeConfig, Start};
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::domain::office_format::OfficeFormat;
use crate::slots::engines::EngineSlots;
use crate::workers::libreoffice::{ConvertJob, Converted, Remarks, ServerOptions, server_child};
use crate::workers::{Bounds, Job, Pool, PoolSettings, ServerSettings};

pub use self::needs::{INSTALL, OLDEST_TESTED, version};

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "libreoffice",
    abilities: export::ABILITIES,
    requires: needs::NEEDS,
    reads_files: true,
    // Two servers with the one reserved for other accounts; each takes some 110 MB.
    slots: Some(1),
    start: |context| Box::new(LibreOffice::start(context)),
};

/// A server ends its document at the deadline; this much later the pool ends a server that did not.
const GRACE: Duration = Duration::from_secs(5);

/// A PDF/UA must have a title (ISO 14289-1, 7.1), and LibreOffice does not invent one.
const UNTITLED: &str =
    "formatOpts.pdfua: the document has no title, which PDF/UA wants; give formatOpts.metadata.title";

struct LibreOffice {
    pool: Pool,
    slots: EngineSlots,
    config: OfficeConfig,
    /// The locale of workbooks without one of their own (`assemble.locale`).
    locale: String,
    bounds: Bounds,
    fonts: InstalledFonts,
}

#[async_trait(?Send)]
impl StepRunner for LibreOffice {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let kind = step.file()?;
        let Some(export) = Export::of(step.from, kind) else {
            return Err(EngineError::internal("LibreOffice was to make what it does not"));
        };
        let chunks = input.into_chunks()?.try_collect::<Vec<Bytes>>().await;
        let chunks = chunks.map_err(|error| EngineError::internal(&error.to_string()))?;
        let is_filled = job.plan.steps().iter().any(|step| step.kind == StepKind::Assemble);
        let options = if kind == FileKind::Pdf { export::pdf_options(job.options) } else { String::new() };
        let convert = ConvertJob {
            extension: Cow::Borrowed(format_of(export.from, &chunks).extension()),
            commands: export::commands(export.from, job.options, is_filled),
            format: Cow::Borrowed(export.format),
            options: Cow::Owned(options),
            html: export.html(self.bounds.scratch_bytes),
            // HTML of text and tables names fonts that its reader may have; all else is drawn with this machine's.
            fonts: kind != FileKind::Html || export.from == FileKind::Pptx,
            locale: export::locale(export.from, job.options, &self.locale),
            first_page: export::first_page(kind, job.options),
            metadata: export::metadata(kind, job.options),
        };
        let (remarks, made) = self.convert(job, convert, chunks).await?;
        job.warnings.push_all(remarks.warnings.into_iter().chain(self.fonts.warning(&remarks.fonts).await));
        let pages = (kind == FileKind::Pdf).then(|| pdf_metadata::pages(&made)).flatten();
        job.warnings.push_all(pages.and_then(|pages| short_range_warning(job.options, pages)));
        let is_given = job.options.extras.metadata.title.is_some();
        if job.options.conversion.pdfua && !is_given && pdf_metadata::has_title(&made) == Some(false) {
            job.warnings.push(UNTITLED);
        }
        let mut sink = job.outlet.open().await?;
        sink.write(made).await?;
        sink.finish(kind, pages).await
    }
}

impl LibreOffice {
    fn start(context: &EngineContext<'_>) -> Self {
        let (config, bounds) = (&context.config.office, context.programs.bounds());
        let servers = context.budget.slot_count(ENGINE.name, ENGINE.slots.unwrap_or(1));
        let is_here = needs::NEEDS.iter().all(|needed| needed.installed().is_some());
        let is_eager = config.start == Start::Eager && is_here && super::can_confine_files(context.config);
        let options = ServerOptions {
            programs: needs::programs(),
            read: needs::readable(),
            deadline_ms: config.timeout_ms,
            memory_bytes: config.memory_limit_mb << 20,
            file_bytes: bounds.scratch_bytes,
        };
        // Memory that a child shares with its server is counted for both.
        let memory_mb = config.memory_limit_mb + 2 * config.server_memory_limit_mb;
        let settings = PoolSettings {
            name: ENGINE.name,
            spec: server_child(context.starter.executable().to_owned(), &options),
            spares: if is_eager { servers } else { 0 },
            kept: servers,
            child_jobs: config.server_documents,
            processes: servers,
            // An account's share is one of the slots.
            share: context.share.made_whole(),
            waiting: 1,
            start_timeout: Duration::from_millis(config.start_timeout_ms),
            undisturbed: bounds.undisturbed,
            deadline: Duration::from_millis(config.timeout_ms) + GRACE,
            still: bounds.still,
            answer_limit_bytes: bounds.scratch_bytes,
            resident_limit_bytes: Some(config.server_memory_limit_mb << 20),
            server: Some(ServerSettings {
                programs: context.programs.clone(),
                profile: needs::profile(),
                bounds: Bounds { memory_bytes: memory_mb << 20, ..bounds },
            }),
        };
        Self {
            pool: Pool::new(context.starter.clone(), settings, context.metrics.children.clone()),
            slots: context.budget.slots_of(ENGINE.name, ENGINE.slots.unwrap_or(1)),
            config: config.clone(),
            locale: context.config.assemble.locale.clone(),
            bounds,
            fonts: InstalledFonts::of(context.starter.clone()),
        }
    }

    /// Converts in a task of its own. Hazard: dropping a server's job kills the server, which takes seconds to start again. So the
    /// document is finished, or ended by its deadline, even when its job was cancelled meanwhile.
    async fn convert(
        &self,
        job: &StepContext<'_>,
        convert: ConvertJob<'static>,
        document: Vec<Bytes>,
    ) -> Result<(Remarks, Bytes), EngineError> {
        let slot = self.slots.acquire(job.meter, 1).await;
        let (pool, meter) = (self.pool.clone(), job.meter.clone());
        let converting = tokio::spawn(async move {
            let no_files = |_: &str| None;
            let work = Job { header: &convert, body: &document, files: &no_files, environment: &[] };
            let converted = pool.run(&meter, work).await;
            drop(slot);
            converted
        });
        let converted = converting.await.map_err(|error| EngineError::internal(&error.to_string()))?;
        let diagnosis = Diagnosis { config: &self.config, bounds: self.bounds, options: job.options };
        let (converted, made) = converted.map_err(|error| diagnosis.of_server(error))?;
        if let Converted::Made(remarks) = converted {
            Ok((remarks, made))
        } else {
            Err(diagnosis.of_document(converted))
        }
    }
}

/// The warning for a page range beyond the document's end, of which `made` pages exist.
fn short_range_warning(options: &PageOptions, made: u32) -> Option<String> {
    let (first, last) = (options.from_page.unwrap_or(1), options.to_page?);
    let end = first.saturating_add(made).saturating_sub(1);
    (end < last).then(|| {
        format!("the document ends with page {end}, and formatOpts.toPage is {last}: it has no more pages")
    })
}

/// The document's format by its first bytes: LibreOffice goes by the file extension.
fn format_of(kind: FileKind, chunks: &[Bytes]) -> OfficeFormat {
    let (template, usual) = match kind {
        FileKind::Xlsx => (TemplateKind::Xlsx, OfficeFormat::Xlsx),
        FileKind::Pptx => (TemplateKind::Pptx, OfficeFormat::Pptx),
        FileKind::Docx | FileKind::Jpg | FileKind::Png | FileKind::Html | FileKind::Pdf | FileKind::Zip => {
            (TemplateKind::Docx, OfficeFormat::Docx)
        }
    };
    let start = chunks.first().map(Bytes::as_ref).unwrap_or_default();
    OfficeFormat::of_start(template, start).unwrap_or(usual)
}
