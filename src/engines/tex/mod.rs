//! TeX: turns a LaTeX source into a PDF. Runs TeX Live's programs in the sandbox, each document in a folder of its own.
//!
//! The rest of the service uses `ENGINE` and `EXTRAS` alone. `passes.rs` runs TeX until nothing changes, `lists.rs` the programs
//! between its runs; `formats` and `cache` save work that documents share; `diagnose.rs` and `log.rs` write errors and warnings.

mod bibliography;
mod cache;
mod choice;
mod diagnose;
mod errors;
mod facts;
mod first_file;
mod folder;
mod formats;
mod hash;
mod index;
mod list_program;
mod lists;
mod log;
mod needs;
mod origin;
mod passes;
mod session;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tex_log::Cause;

use self::cache::FontCache;
use self::errors::{SecondAttempt, TexError};
use self::facts::SourceFacts;
use self::folder::Folder;
use self::formats::{BaseFormat, PreambleFormats, PreambleRequest, PreloadedSource, RunSetting};
use self::passes::TypesetDocument;
use self::session::TexSession;
use super::document::{Document, DocumentKind};
use super::error::EngineError;
use super::plan::Ability;
use super::program::{ProgramSteps, output};
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use super::{Engine, EngineContext};
use crate::config::TexConfig;
use crate::domain::format_opts::{Key, KeySet, TexProgram};
use crate::domain::kinds::FileKind;
use crate::thread;
use crate::workers::{Bounds, OutputError, SandboxProfile, SharedFile};

pub use self::needs::EXTRAS;

const NAME: &str = "tex";
/// Documents at once, for one account.
const SLOTS: usize = 2;
/// The warning where somebody chose pdflatex for a document in Greek.
const GREEK_LETTERS: &str = "pdflatex prints Latin letters in Greek text (babel) as Greek letters; write \\textlatin{…} around \
                             them, or let lualatex make the document";

/// The engine.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[Ability::new(
        StepKind::Convert,
        (DocumentKind::Source, DocumentKind::File(FileKind::Pdf)),
        2,
        KeySet::of(&[Key::Engine, Key::Timezone, Key::Metadata]),
    )],
    requires: needs::NEEDS,
    reads_files: true,
    slots: Some(SLOTS),
    start: |context| Box::new(Tex::start(context)),
};

struct Tex {
    steps: ProgramSteps,
    profile: Arc<SandboxProfile>,
    config: TexConfig,
    /// The time zone of documents that name none.
    zone: String,
    fonts: FontCache,
    /// Those of the programs, in the order of [`TexProgram`].
    formats: [BaseFormat; 3],
    preamble_formats: PreambleFormats,
}

#[async_trait(?Send)]
impl StepRunner for Tex {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (kind, source) = (step.file()?, input.into_source()?);
        let site = &source.site;
        let facts = SourceFacts::of(site, job.options.tex).await?;
        job.warnings.push_all(facts.unknown_program.clone());
        let folder = Folder::named(site, facts.name.clone());
        let _slot = self.steps.slot(job, 1).await;
        let (made, tried) = match self.make(job, &folder, &facts).await {
            Ok(made) => made,
            Err(error) => return Err(diagnose::error_of(error, source).await),
        };
        let pages = made.report.pages;
        job.warnings.push_all(diagnose::warnings_of(&source, tried, made.report, made.remarks).await?);
        if made.is_unsettled {
            let limit = self.config.runs_limit;
            job.warnings.push(&format!(
                "references may be wrong: they still changed after {limit} runs of TeX (tex.runs_limit)"
            ));
        }
        let pages = pages.filter(|pages| *pages > 0).ok_or_else(errors::no_pages)?;
        let name = format!("{}.pdf", folder.name);
        if matches!(made.finished.open(&name, u64::MAX), Err(OutputError::Missing)) {
            return Err(errors::no_file());
        }
        output(&made.finished, &name, &job.outlet, (kind, Some(pages))).await
    }
}

impl Tex {
    fn start(context: &EngineContext<'_>) -> Self {
        let slots = context.budget.slots_of(NAME, SLOTS);
        Self {
            steps: ProgramSteps { programs: context.programs.clone(), slots },
            profile: Arc::new(needs::profile()),
            config: context.config.tex.clone(),
            zone: context.config.assemble.timezone.clone(),
            fonts: FontCache::new(context.caches),
            formats: <[BaseFormat; 3]>::default(),
            preamble_formats: PreambleFormats::new(
                context.config.tex.formats_limit_mb << 20,
                context.metrics.tex.clone(),
            ),
        }
    }

    /// Makes the document with the chosen program, and where that lacks something, with another one. The deadline counts from
    /// here, not from the wait for a slot.
    async fn make(
        &self,
        job: &mut StepContext<'_>,
        folder: &Folder<'_>,
        facts: &SourceFacts,
    ) -> Result<(TypesetDocument, Option<SecondAttempt>), TexError> {
        let choice = facts.choice;
        if choice.is_greek && choice.program == TexProgram::Pdflatex {
            job.warnings.push(GREEK_LETTERS);
        }
        let deadline = Instant::now() + Duration::from_millis(self.config.limits.timeout_ms);
        let request = TypesetRequest { folder, facts, deadline };
        let before = match self.make_by(job, choice.program, choice.is_greek, &request).await {
            Err(TexError::Document(error)) => error,
            done => return Ok((done?, None)),
        };
        let Some(second) =
            choice.other(&before.cause).filter(|program| needs::of(*program).installed().is_some())
        else {
            return Err(TexError::Document(before));
        };
        let is_for_letters = choice.is_greek || matches!(before.cause, Cause::Character(_));
        let tried = SecondAttempt { first: choice.program, before, second };
        match self.make_by(job, second, is_for_letters, &request).await {
            Ok(made) => Ok((made, Some(tried))),
            Err(error) => Err(error.of_second(tried)),
        }
    }

    /// Makes the document with `program`; `is_for_letters`: it has letters that TeX's usual font lacks.
    async fn make_by(
        &self,
        job: &mut StepContext<'_>,
        program: TexProgram,
        is_for_letters: bool,
        &TypesetRequest { folder, facts, deadline }: &TypesetRequest<'_>,
    ) -> Result<TypesetDocument, TexError> {
        if needs::of(program).installed().is_none() {
            return Err(errors::missing_program(needs::of(program)).into());
        }
        let asked = Instant::now();
        let cache = &self.fonts.files(self, program).await;
        let base = self.base(program).await;
        // Caches for all documents may just have been filled: that does not count against this one's deadline.
        let deadline = deadline + asked.elapsed();
        let zone = job.options.emulation.timezone.as_deref().unwrap_or(&self.zone).to_owned();
        let metadata = job.options.extras.metadata.clone();
        let way = job.meter.way();
        let content = |prelude| first_file::content(prelude, &folder.source_name(), &metadata);
        let prelude = first_file::prelude(program, is_for_letters || facts.has_foreign_letters);
        let preloaded = self.preloaded(program, job, folder, (prelude, base.as_ref())).await?;
        if let Some((format, left)) = preloaded {
            let site = folder.site().clone().with_page(left);
            let folder = Folder::named(&site, folder.name.clone());
            let session = self.session(&zone, &folder, deadline).with_way(way).with_format(Some(format));
            match passes::make(&session, program, content(first_file::AFTER_FORMAT), cache).await {
                // The format was tested with sample pages only. A document that fails with it may succeed without.
                Err(TexError::Document(error)) if !matches!(error.cause, Cause::Character(_)) => {}
                done => return done,
            }
        }
        passes::make(
            &self.session(&zone, folder, deadline).with_way(way).with_format(base),
            program,
            content(prelude),
            cache,
        )
        .await
    }

    /// The format of the document's preamble, where one was dumped before, and the source without that preamble.
    async fn preloaded(
        &self,
        program: TexProgram,
        job: &mut StepContext<'_>,
        folder: &Folder<'_>,
        (prelude, base): (&'static str, Option<&Arc<SharedFile>>),
    ) -> Result<Option<PreloadedSource>, EngineError> {
        if program != TexProgram::Pdflatex {
            return Ok(None);
        }
        let setting = RunSetting {
            programs: self.steps.programs.clone(),
            profile: Arc::clone(&self.profile),
            bounds: self.bounds(),
            prelude,
            base: base.cloned(),
        };
        let (site, name) = (folder.site().clone(), folder.name.clone());
        let bytes = site.looked_at_bytes();
        let request = PreambleRequest { account: job.meter.account(), site, name, setting };
        let formats = self.preamble_formats.clone();
        let (preloaded, early_tag) = thread::by_size(bytes, move || formats.preloaded(&request)).await?;
        tracing::Span::current().record("tex.format", if preloaded.is_some() { "preamble" } else { "own" });
        job.warnings.push_all(early_tag.map(|tag| log::early_tag(tag, folder.entry())));
        Ok(preloaded)
    }

    fn bounds(&self) -> Bounds {
        // A document may sleep by itself, in the Lua of LuaTeX or by what biber reads.
        let bounds = Bounds { still: Duration::MAX, ..self.steps.programs.bounds() };
        errors::limits(&self.config).bounds(bounds)
    }

    fn session<'a>(&'a self, zone: &'a str, folder: &'a Folder<'a>, deadline: Instant) -> TexSession<'a> {
        let config = &self.config;
        let bounds = self.bounds();
        let profile = Arc::clone(&self.profile);
        let programs = &self.steps.programs;
        TexSession { programs, config, bounds, profile, format: None, folder, zone, deadline, way: None }
    }

    async fn base(&self, program: TexProgram) -> Option<Arc<SharedFile>> {
        self.formats[program as usize].file(&self.steps.programs, program).await
    }
}

struct TypesetRequest<'a> {
    folder: &'a Folder<'a>,
    facts: &'a SourceFacts,
    deadline: Instant,
}
