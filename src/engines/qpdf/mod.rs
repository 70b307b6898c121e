//! qpdf: who may open a PDF, and do what with it. It stands behind whatever makes the PDF.
//!
//! A program of the system's in the cage, with one argument that is always the same: what it shall do lies in a file of
//! its private folder (`order`), so that passwords are in no list of processes.

mod order;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use self::order::{INPUT, ORDER, OUTPUT, order};
use super::Engine;
use super::document::{Document, DocumentKind};
use super::error::EngineError;
use super::plan::Ability;
use super::program::{self, ProgramSteps};
use super::requirement::{Numbers, Part, Requirement, Version};
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use crate::domain::format_opts::{Passwords, Protection};
use crate::domain::kinds::FileKind;
use crate::workers::{Finished, Input, Profile, ProgramRun};

/// Its name in routes, metrics and errors.
const NAME: &str = "qpdf";
const PROGRAM: &str = "/usr/bin/qpdf";
const PDF: DocumentKind = DocumentKind::File(FileKind::Pdf);
/// Keys of `formatOpts`.
const HEEDS: &[&[&str]] = &[&["password", "userPassword", "ownerPassword", "permissions"]];
/// Programs at once, for one account: a document takes it some hundredths of a second.
const SLOTS: usize = 2;
/// What it answers when it has written the file and something about the one it read was odd.
const WITH_WARNINGS: i32 = 3;

/// The program. Older ones take no file of orders.
const QPDF: Requirement = Requirement {
    name: "qpdf",
    part: Part::Program,
    paths: &[PROGRAM],
    version: Some(Version { arguments: &["--version"], least: Numbers(11, 0) }),
    package: "qpdf",
    command: "apt-get install --no-install-recommends qpdf",
};

/// The engine.
pub const ENGINE: Engine = Engine {
    name: NAME,
    abilities: &[Ability {
        asked_by: Some(|options| options.protection.is_asked_for()),
        ..Ability::new(StepKind::Finish, (PDF, PDF), 1, HEEDS)
    }],
    requires: &[QPDF],
    reads_files: true,
    slots: Some(SLOTS),
    start: |context| {
        let slots = context.budget.slots_of(NAME, SLOTS);
        // Its random bytes come from there.
        let profile = program::profile(&[PROGRAM], &["/dev/urandom"]);
        Box::new(Qpdf {
            steps: ProgramSteps::new(context.programs.clone(), slots),
            profile: Arc::new(profile),
        })
    },
};

/// Protects PDFs.
struct Qpdf {
    steps: ProgramSteps,
    profile: Arc<Profile>,
}

#[async_trait(?Send)]
impl StepRunner for Qpdf {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (file, pages) = (step.file()?, input.pages);
        let protection = &job.options.protection;
        let order = order(protection).map_err(|error| EngineError::internal(&error.to_string()))?;
        let run = ProgramRun {
            name: NAME,
            program: QPDF.path(),
            arguments: vec![format!("--job-json-file={ORDER}")],
            environment: BTreeMap::new(),
            profile: Arc::clone(&self.profile),
            inputs: vec![Input::bytes(ORDER, order), program::input(INPUT, input)?],
            bounds: self.steps.bounds(),
        };
        let finished = self.steps.run(job, 1, run).await?;
        if !matches!(finished.status.code(), Some(0 | WITH_WARNINGS)) {
            return Err(refused(&finished, protection));
        }
        program::output(&finished, OUTPUT, &job.outlet, (file, pages)).await
    }
}

/// It made no file. What it says goes into the log, unless a password is in it.
fn refused(finished: &Finished, protection: &Protection) -> EngineError {
    let said = String::from_utf8_lossy(&finished.stderr);
    let Passwords { user, owner } = &protection.passwords;
    let tells = [user, owner].into_iter().flatten().any(|password| said.contains(password.secret()));
    let said = if tells { "what it says has a password in it" } else { said.trim() };
    EngineError::internal(&format!("qpdf protects no PDF ({}): {said}", finished.status))
}
