//! TeX: a source of LaTeX becomes a PDF. Programs of the system's in the cage, in a folder that one document has.

mod cache;
mod choice;
mod errors;
mod folder;
mod log;
mod needs;
mod opening;
mod origin;
mod runs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use self::cache::FontCache;
use self::choice::Choice;
use self::errors::TexError;
use self::folder::Folder;
use self::opening::opening;
use self::origin::Origins;
use self::runs::{Made, Runs};
use super::document::{Document, DocumentKind};
use super::plan::Ability;
use super::program::{ProgramSteps, output};
use super::step::{Step, StepContext, StepFault, StepKind, StepRunner};
use super::{Basis, Engine};
use crate::config::TexConfig;
use crate::domain::format_opts::TexProgram;
use crate::domain::kinds::FileKind;
use crate::workers::{Bounds, OutputError, Profile};

const NAME: &str = "tex";
/// What is told where another program than the usual one made the document.
const INSTEAD: &str = "pdflatex lacks letters of the document, so lualatex made it, which takes longer; ask for that by \
                       formatOpts.engine or % !TeX program = lualatex, with fonts that have them";
/// Documents at once, for one account.
const SLOTS: usize = 2;

/// The engine.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[Ability {
        step: StepKind::Convert,
        from: DocumentKind::Source,
        to: DocumentKind::File(FileKind::Pdf),
        cost: 2,
        heeds: &[&["engine", "timezone", "metadata"]],
        asked_by: None,
    }],
    requires: needs::NEEDS,
    fenced: true,
    slots: Some(SLOTS),
    start: |basis| Box::new(Tex::start(basis)),
};

/// Makes documents of LaTeX.
struct Tex {
    steps: ProgramSteps,
    profile: Arc<Profile>,
    config: TexConfig,
    /// Where no job says another one.
    zone: String,
    fonts: FontCache,
}

#[async_trait(?Send)]
impl StepRunner for Tex {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, StepFault> {
        let (kind, site) = (step.file()?, input.into_template()?);
        let folder = Folder::of(&site);
        let origins = Origins::of(&folder);
        warn_of_strangers(origins.source(), job);
        let _slot = self.steps.slot(job, 1).await;
        let made = self.make(job, &folder, origins.source()).await;
        let made = made.map_err(|error| errors::told(error, &origins))?;
        let undone = log::undone(&made.report, &folder);
        for warning in log::warnings(&made.report, &origins).into_iter().chain(undone) {
            job.warnings.push(&warning);
        }
        if made.is_unsettled {
            let limit = self.config.runs_limit;
            job.warnings.push(&format!(
                "references may be wrong: they still changed after {limit} runs of TeX (tex.runs_limit)"
            ));
        }
        let pages = made.report.pages.filter(|pages| *pages > 0).ok_or_else(errors::no_pages)?;
        let name = format!("{}.pdf", folder.name);
        if matches!(made.finished.open(&name, u64::MAX), Err(OutputError::Missing)) {
            return Err(errors::no_file());
        }
        output(&made.finished, &name, &job.outlet, (kind, Some(pages))).await
    }
}

impl Tex {
    fn start(basis: &Basis<'_>) -> Self {
        Self {
            steps: ProgramSteps::new(basis.programs.clone(), basis.budget.slots_of(NAME, SLOTS)),
            profile: Arc::new(needs::profile()),
            config: basis.config.tex.clone(),
            zone: basis.config.assemble.timezone.clone(),
            fonts: FontCache::default(),
        }
    }

    /// The document by the program that is asked for, or needed.
    async fn make(
        &self,
        job: &mut StepContext<'_>,
        folder: &Folder<'_>,
        source: &str,
    ) -> Result<Made, TexError> {
        let Choice { program, is_free } = Choice::of(job.options.tex, source);
        if needs::of(program).installed().is_none() {
            return Err(errors::missing(program).into());
        }
        let name = folder.source_name();
        let metadata = &job.options.extras.metadata;
        let before = |program, is_instead| opening(program, is_instead, (&name, source), metadata);
        let zone = job.options.scene.timezone.as_deref().unwrap_or(&self.zone);
        let cache = self.fonts.files(self, program).await;
        let deadline = Instant::now() + Duration::from_millis(self.config.timeout_ms);
        let runs = self.runs(zone, folder, deadline);
        match runs.make(program, before(program, false), cache).await {
            Err(TexError::Document(error)) if is_free && log::lacks_letters(&error) => {
                let program = TexProgram::Lualatex;
                let asked = Instant::now();
                let cache = self.fonts.files(self, program).await;
                // What is read of fonts for all documents is nobody's time.
                let runs = self.runs(zone, folder, deadline + asked.elapsed());
                let made = runs.make(program, before(program, true), cache).await?;
                job.warnings.push(INSTEAD);
                Ok(made)
            }
            done => done,
        }
    }

    fn runs<'a>(&'a self, zone: &'a str, folder: &'a Folder<'a>, deadline: Instant) -> Runs<'a> {
        let config = &self.config;
        let bounds = Bounds {
            memory_bytes: config.memory_limit_mb << 20,
            processor_s: config.processor_limit_s,
            scratch_bytes: config.files_limit_mb << 20,
            scratch_files: config.files_limit,
            printed_bytes: config.printed_limit_bytes,
            ..self.steps.bounds()
        };
        let profile = Arc::clone(&self.profile);
        Runs { programs: self.steps.programs(), config, bounds, profile, folder, zone, deadline }
    }
}

/// A program that the file names and that is none of ours is left out.
fn warn_of_strangers(source: &str, job: &mut StepContext<'_>) {
    let Some(name) = choice::named(source).filter(|name| TexProgram::from_name(name).is_none()) else {
        return;
    };
    let known = TexProgram::ALL.map(TexProgram::name).join(", ");
    job.warnings.push(&format!("% !TeX program = {name} was ignored; there are {known}"));
}
