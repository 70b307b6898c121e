//! qpdf: sets passwords and permissions of a PDF, as the last step of a plan.
//!
//! Hazard: a program's arguments can be read by all users. So qpdf gets its passwords from a file in its private folder
//! (`job_json`). Only `ENGINE` is used outside.

mod job_json;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use self::job_json::{INPUT, JOB_JSON, OUTPUT, job_json};
use super::Engine;
use super::document::{Document, DocumentKind};
use super::error::EngineError;
use super::plan::Ability;
use super::program::{self, ProgramSteps};
use super::requirement::{Install, Numbers, Part, Requirement, Version};
use super::runner::{StepContext, StepResult, StepRunner};
use super::step::{Step, StepKind};
use crate::domain::format_opts::{Key, KeySet, Passwords, Protection};
use crate::domain::kinds::FileKind;
use crate::workers::{Finished, Input, ProgramRun, SandboxProfile};

/// Its name in routes, metrics and errors.
const NAME: &str = "qpdf";
const PROGRAM: &str = "/usr/bin/qpdf";
const PDF: DocumentKind = DocumentKind::File(FileKind::Pdf);
const HEEDS: KeySet = KeySet::of(&[Key::Password, Key::UserPassword, Key::OwnerPassword, Key::Permissions]);
/// Programs at once, for one account: a document takes some hundredths of a second.
const SLOTS: usize = 2;
/// The exit code when the file was written and the input was slightly damaged.
const WITH_WARNINGS: i32 = 3;

/// The program. Older versions have no `--job-json-file`.
const QPDF: Requirement = Requirement {
    name: "qpdf",
    part: Part::Program,
    paths: &[PROGRAM],
    version: Some(Version { arguments: &["--version"], least: Numbers(11, 0) }),
    install: Install::Package("qpdf"),
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
        let profile = program::profile(&[PROGRAM], &["/dev/urandom"]);
        Box::new(Qpdf {
            steps: ProgramSteps { programs: context.programs.clone(), slots },
            profile: Arc::new(profile),
        })
    },
};

struct Qpdf {
    steps: ProgramSteps,
    profile: Arc<SandboxProfile>,
}

#[async_trait(?Send)]
impl StepRunner for Qpdf {
    async fn run(&self, step: &Step, job: &mut StepContext<'_>, input: Document) -> StepResult {
        let (file, pages) = (step.file()?, input.pages);
        let protection = &job.options.protection;
        let job_json = job_json(protection).map_err(|error| EngineError::internal(&error.to_string()))?;
        let run = ProgramRun {
            name: NAME,
            program: QPDF.path(),
            arguments: vec![format!("--job-json-file={JOB_JSON}")],
            environment: BTreeMap::new(),
            profile: Arc::clone(&self.profile),
            inputs: vec![Input::bytes(JOB_JSON, job_json), program::input(INPUT, input)?],
            bounds: self.steps.programs.bounds(),
            way: None,
        };
        let finished = self.steps.run(job, 1, run).await?;
        if !matches!(finished.status.code(), Some(0 | WITH_WARNINGS)) {
            return Err(refused(&finished, protection));
        }
        program::output(&finished, OUTPUT, &job.outlet, (file, pages)).await
    }
}

/// The error where it made no file. Its output is logged, unless that contains a password.
fn refused(finished: &Finished, protection: &Protection) -> EngineError {
    let output = String::from_utf8_lossy(&finished.stderr);
    let Passwords { user, owner } = &protection.passwords;
    let has_secret = [user, owner].into_iter().flatten().any(|password| output.contains(password.secret()));
    let shown = if has_secret { "what it says has a password in it" } else { output.trim() };
    EngineError::internal(&format!("qpdf protects no PDF ({}): {shown}", finished.status))
}
