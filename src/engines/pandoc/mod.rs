//! pandoc: turns a LaTeX source into HTML or a Word document. It keeps the content, not TeX's layout.
//!
//! A program in the sandbox, with the template's files and some of ours (`conversion`). It parses LaTeX itself, without TeX, and
//! not all of it: what it leaves out becomes a warning with file and line (`diagnose`, `crates/latex-pandoc`). Only `ENGINE` is
//! used outside.

mod conversion;
mod diagnose;
mod needs;
mod pictures;

use std::sync::Arc;

use async_trait::async_trait;

use self::conversion::{Conversion, Prepared};
use self::pictures::Pictures;
use super::document::{Document, DocumentKind};
use super::plan::Ability;
use super::program::{DocumentLimits, ProgramSteps, output};
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use super::{Engine, EngineContext};
use crate::config::ProgramLimits;
use crate::domain::format_opts::{Key, KeySet};
use crate::domain::kinds::FileKind;
use crate::workers::{ProgramRun, SandboxProfile};

/// Its name in routes, metrics and errors.
const NAME: &str = "pandoc";
const HEEDS: KeySet = KeySet::of(&[Key::Locale, Key::Timezone, Key::Metadata]);
/// Documents at once, for one account.
const SLOTS: usize = 1;

/// The engine.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[ability(FileKind::Html, HEEDS), ability(FileKind::Docx, HEEDS)],
    requires: &[needs::PANDOC],
    reads_files: true,
    slots: Some(SLOTS),
    start: |context| Box::new(Pandoc::start(context)),
};

const fn ability(to: FileKind, heeds: KeySet) -> Ability {
    Ability::new(StepKind::Convert, (DocumentKind::Source, DocumentKind::File(to)), 10, heeds)
}

/// Makes HTML and Word documents of LaTeX.
struct Pandoc {
    steps: ProgramSteps,
    pictures: Pictures,
    profile: Arc<SandboxProfile>,
    limits: ProgramLimits,
    /// Time zone and locale of jobs that name none.
    zone: String,
    locale: String,
}

#[async_trait(?Send)]
impl StepRunner for Pandoc {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (kind, source) = (step.file()?, input.into_source()?);
        let site = &source.site;
        let emulation = &job.options.emulation;
        let conversion = Conversion {
            site: site.clone(),
            kind,
            locale: emulation.locale.as_deref().unwrap_or(&self.locale).to_owned(),
            metadata: job.options.extras.metadata.clone(),
            // A quarter of the memory is for the program itself.
            heap_mb: self.limits.memory_limit_mb / 4 * 3,
        };
        let _slot = self.steps.slot(job, 1).await;
        let Prepared { texts, arguments, inputs } = conversion.prepared().await?;
        let pictures = self.pictures.of(job, site, &texts).await?;
        let run = ProgramRun {
            name: NAME,
            program: needs::PANDOC.path(),
            arguments,
            environment: needs::environment(emulation.timezone.as_deref().unwrap_or(&self.zone)),
            profile: Arc::clone(&self.profile),
            inputs: inputs.into_iter().chain(pictures).collect(),
            bounds: self.limits().bounds(self.steps.programs.bounds()),
            way: Some(job.meter.way().clone()),
        };
        let ran = self.steps.programs.run(run).await;
        let finished = ran.map_err(|error| self.limits().engine_error(NAME, &error))?;
        if !finished.status.success() {
            return Err(diagnose::failed(&finished, source, &self.limits()).await);
        }
        job.warnings.push_all(diagnose::warnings(&finished, source, Arc::clone(&texts)).await?);
        output(&finished, &Conversion::output(kind), &job.outlet, (kind, None)).await
    }
}

impl Pandoc {
    fn start(context: &EngineContext<'_>) -> Self {
        let assemble = &context.config.assemble;
        let slots = context.budget.slots_of(NAME, SLOTS);
        Self {
            steps: ProgramSteps { programs: context.programs.clone(), slots },
            pictures: Pictures::start(context),
            profile: Arc::new(needs::profile()),
            limits: context.config.pandoc.limits,
            zone: assemble.timezone.clone(),
            locale: assemble.locale.clone(),
        }
    }

    fn limits(&self) -> DocumentLimits {
        DocumentLimits {
            section: "pandoc",
            limits: self.limits,
            remedy: "a macro that does not end, or have less in it",
        }
    }
}
