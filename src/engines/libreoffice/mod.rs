//! Office files into PDF and HTML, by LibreOffice in servers of our own: each holds it loaded, and makes a child for each document.

mod export;
mod fonts;
mod needs;

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt as _;

use self::export::Export;
use self::fonts::InstalledFonts;
use super::document::Document;
use super::step::{Step, StepContext, StepFault, StepKind, StepRunner};
use super::{Basis, Engine};
use crate::config::{OfficeConfig, OfficeStart};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::ids::AccountId;
use crate::domain::kinds::{FileKind, TemplateKind};
use crate::domain::office_format::OfficeFormat;
use crate::slots::AccountShare;
use crate::slots::engines::EngineSlots;
use crate::workers::libreoffice::{ConvertJob, Converted, Remarks, ServerOrder, server_child};
use crate::workers::{Bounds, Housing, Job, Pool, PoolSettings, WorkerFault};

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "libreoffice",
    abilities: export::ABILITIES,
    requires: needs::NEEDS,
    fenced: true,
    // With the one that is left to other accounts, two: each takes some 110 MB of its own.
    slots: Some(1),
    start: |basis| Box::new(LibreOffice::start(basis)),
};

/// The servers keep the deadline of their documents; the pool's is the net under that.
const GRACE: Duration = Duration::from_secs(5);

/// A PDF/UA has a title (ISO 14289-1, 7.1), and LibreOffice makes up none.
const UNTITLED: &str =
    "formatOpts.pdfua: the document has no title, which PDF/UA wants; give formatOpts.metadata.title";

/// Makes documents by LibreOffice.
struct LibreOffice {
    pool: Pool,
    slots: EngineSlots,
    config: OfficeConfig,
    bounds: Bounds,
    fonts: InstalledFonts,
}

#[async_trait(?Send)]
impl StepRunner for LibreOffice {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, StepFault> {
        let kind = step.file()?;
        let Some(export) = Export::of(step.from, kind) else {
            return Err(StepFault::internal("LibreOffice was to make what it does not"));
        };
        let chunks = input.into_chunks()?.try_collect::<Vec<Bytes>>().await;
        let chunks = chunks.map_err(|error| StepFault::internal(&error.to_string()))?;
        let is_filled = job.plan.steps().iter().any(|step| step.kind == StepKind::Assemble);
        let convert = ConvertJob {
            extension: Cow::Borrowed(format_of(export.from, &chunks).extension()),
            commands: export::commands(export.from, job.options, is_filled),
            format: Cow::Borrowed(export.format),
            options: Cow::Owned((export.options)(job.options)),
            html: export.html(self.bounds.scratch_bytes),
            fonts: export.shows_fonts(),
            metadata: export::metadata(kind, job.options),
        };
        let (remarks, made) = self.convert(job, convert, chunks).await?;
        for warning in remarks.warnings.into_iter().chain(self.fonts.warning(&remarks.fonts).await) {
            job.warnings.push(&warning);
        }
        let pages = (kind == FileKind::Pdf).then(|| pdf_metadata::pages(&made)).flatten();
        if job.options.conversion.pdfua && pdf_metadata::has_title(&made) == Some(false) {
            job.warnings.push(UNTITLED);
        }
        let mut sink = job.outlet.open().await?;
        sink.write(made).await?;
        sink.finish(kind, pages).await
    }
}

impl LibreOffice {
    fn start(basis: &Basis<'_>) -> Self {
        let (config, bounds) = (&basis.config.office, basis.programs.bounds());
        let servers = basis.budget.slot_count(ENGINE.name, ENGINE.slots.unwrap_or(1));
        let is_here = needs::NEEDS.iter().all(|needed| needed.installed().is_some());
        let is_eager = config.start == OfficeStart::Eager && is_here && super::is_fenced(basis.config);
        let order = ServerOrder {
            programs: needs::programs(),
            read: needs::readable(),
            deadline_ms: config.timeout_ms,
            memory_bytes: config.memory_limit_mb << 20,
            file_bytes: bounds.scratch_bytes,
        };
        let settings = PoolSettings {
            name: ENGINE.name,
            spec: server_child(basis.starter.executable().to_owned(), &order),
            spares: if is_eager { servers } else { 0 },
            kept: servers,
            child_jobs: config.server_documents,
            processes: servers,
            // An account's share is one of the slots.
            share: AccountShare::whole(),
            waiting: 1,
            start_timeout: Duration::from_millis(config.start_timeout_ms),
            undisturbed: Duration::MAX,
            deadline: Duration::from_millis(config.timeout_ms) + GRACE,
            answer_limit_bytes: bounds.scratch_bytes,
            resident_limit_bytes: Some(config.server_memory_limit_mb << 20),
        };
        // What a child shares with its server counts as its own, too.
        let memory_mb = config.memory_limit_mb + 2 * config.server_memory_limit_mb;
        let housing = Housing {
            programs: basis.programs.clone(),
            profile: needs::profile(),
            bounds: Bounds { memory_bytes: memory_mb << 20, ..bounds },
        };
        let metrics = basis.metrics.children.clone();
        Self {
            pool: Pool::of_servers(basis.starter.clone(), settings, metrics, housing),
            slots: basis.budget.slots_of(ENGINE.name, ENGINE.slots.unwrap_or(1)),
            config: config.clone(),
            bounds,
            fonts: InstalledFonts::of(basis.starter.clone()),
        }
    }

    /// Hazard: who drops a server's job kills the server, and one costs seconds to start. So the document is finished
    /// also where its job was cancelled meanwhile, which the deadline bounds.
    async fn convert(
        &self,
        job: &StepContext<'_>,
        convert: ConvertJob<'static>,
        document: Vec<Bytes>,
    ) -> Result<(Remarks, Bytes), StepFault> {
        let slot = self.slots.acquire(job.meter, 1).await;
        let (pool, account) = (self.pool.clone(), job.meter.account());
        let converting = tokio::spawn(async move {
            let converted = run(&pool, account, &convert, &document).await;
            drop(slot);
            converted
        });
        let converted = converting.await.map_err(|error| StepFault::internal(&error.to_string()))?;
        let (converted, made) = converted.map_err(|fault| self.server_fault(fault))?;
        let (from, to) = (job.options.from_page, job.options.to_page);
        if let Converted::Made(remarks) = converted {
            Ok((remarks, made))
        } else if matches!(converted, Converted::Unwritable(_)) && from.or(to).is_some() {
            Err(outside(from, to))
        } else {
            Err(self.fault(converted))
        }
    }

    /// Why a document did not become another.
    fn fault(&self, converted: Converted) -> StepFault {
        let (code, sentence) = match converted {
            Converted::Made(_) => return StepFault::internal("a document was made and is not there"),
            Converted::Broken(cause) => return StepFault::internal(&cause),
            // Where it says nothing at all, it was often refused memory in one large piece.
            Converted::Unreadable(why) if why.is_empty() => {
                let limit = self.config.memory_limit_mb;
                let sentence = format!(
                    "LibreOffice could not read the document: it is broken, or needs more than {limit} MB of memory \
                     (office.memory_limit_mb)"
                );
                (FaultCode::TemplateInvalid, sentence)
            }
            Converted::Unreadable(why) => {
                let sentence = format!(
                    "LibreOffice could not read the document{}; open it in its program and save it anew",
                    told(&why)
                );
                (FaultCode::TemplateInvalid, sentence)
            }
            Converted::Unwritable(why) => (
                FaultCode::TemplateInvalid,
                format!(
                    "LibreOffice read the document and could not make anything of it{}; a document without pages cannot become \
                     any",
                    told(&why)
                ),
            ),
            Converted::NoHtml(why) => (
                FaultCode::TemplateLimit,
                format!("the document did not become html{}; have less in it", told(&why)),
            ),
            Converted::Late => {
                let limit = self.config.timeout_ms;
                let sentence = format!(
                    "LibreOffice did not finish the document within {limit} ms (office.timeout_ms); have less in it"
                );
                (FaultCode::TemplateLimit, sentence)
            }
            Converted::OutOfMemory => return self.out_of_memory(),
            Converted::TooLong => return self.too_long(),
            Converted::Crashed(signal) => (
                FaultCode::TemplateInvalid,
                format!(
                    "LibreOffice crashed on the document (signal {signal}); open it in its program and save it anew, or have \
                     less in it"
                ),
            ),
        };
        JobFault::new(code, sentence).into()
    }

    /// Why a server did not answer.
    fn server_fault(&self, fault: WorkerFault) -> StepFault {
        match fault {
            WorkerFault::Deadline => self.fault(Converted::Late),
            WorkerFault::TooLong => self.too_long(),
            WorkerFault::TooMuch(_) => self.out_of_memory(),
            WorkerFault::NotStarted(cause) => StepFault::NotStarted(cause),
            fault @ (WorkerFault::Died { .. } | WorkerFault::Astray(_)) => {
                StepFault::internal(&format!("LibreOffice: {fault}"))
            }
        }
    }

    fn out_of_memory(&self) -> StepFault {
        let limit = self.config.memory_limit_mb;
        let sentence = format!(
            "LibreOffice needs more than {limit} MB of memory for the document (office.memory_limit_mb); have less in it"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence).into()
    }

    fn too_long(&self) -> StepFault {
        let limit = self.bounds.scratch_bytes >> 20;
        let sentence =
            format!("LibreOffice writes more than {limit} MB for the document (workers.scratch_limit_mb)");
        JobFault::new(FaultCode::OutputTooLarge, sentence).into()
    }
}

/// That is the usual reason why a part of a document cannot be written.
fn outside(from: Option<u32>, to: Option<u32>) -> StepFault {
    let end = to.map(|to| to.to_string()).unwrap_or_default();
    let sentence = format!(
        "the document has no pages {}-{end} (formatOpts.fromPage, toPage); ask for pages that it has",
        from.unwrap_or(1)
    );
    JobFault::new(FaultCode::OptionsInvalid, sentence).into()
}

/// A server that ends under a document did so for no reason of the document's, which has a process of its own: another
/// one tries it once more.
async fn run(
    pool: &Pool,
    account: AccountId,
    convert: &ConvertJob<'static>,
    document: &[Bytes],
) -> Result<(Converted, Bytes), WorkerFault> {
    let no_files = |_: &str| None;
    let job = || Job { header: convert, body: document, files: &no_files, environment: &[] };
    match pool.run(account, job()).await {
        Err(fault @ WorkerFault::Died { .. }) => {
            tracing::warn!(error = %fault, "LibreOffice ended; another one takes the document");
            pool.run(account, job()).await
        }
        done => done,
    }
}

/// What LibreOffice knows the document by.
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

/// What LibreOffice says of it, where that is for people: not where it names classes and paths.
fn told(why: &str) -> String {
    let why = why.trim().trim_end_matches('.');
    let is_sentence = why.contains(char::is_whitespace)
        && !["::", "://", "loadComponent"].iter().any(|word| why.contains(word));
    if is_sentence { format!(" ({why})") } else { String::new() }
}
