//! What all runs of one document share: folder, cage, format, deadline; and one run in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::errors::{self, TexError};
use super::folder::Folder;
use super::formats;
use super::needs;
use super::opening;
use crate::config::TexConfig;
use crate::domain::format_opts::TexProgram;
use crate::workers::{Bounds, Finished, Profile, ProgramError, ProgramRun, Programs, SharedFile};

/// How TeX is told to run: it ends at its first error, asks nobody, and starts nothing.
const ARGUMENTS: [&str; 4] =
    ["-no-shell-escape", "-interaction=batchmode", "-file-line-error", "-halt-on-error"];

/// One document on its way through TeX.
pub(super) struct TexSession<'a> {
    pub programs: &'a Programs,
    pub config: &'a TexConfig,
    pub bounds: Bounds,
    pub profile: Arc<Profile>,
    /// What TeX begins with, where that is not what it finds itself.
    pub format: Option<Arc<SharedFile>>,
    pub folder: &'a Folder<'a>,
    /// Where it is the day that is printed.
    pub zone: &'a str,
    pub deadline: Instant,
}

impl TexSession<'_> {
    /// The same that begin with `format`, which they may read.
    pub fn with(self, format: Option<Arc<SharedFile>>) -> Self {
        let Some(format) = format else { return self };
        let profile = Arc::new(formats::profile(&self.profile, &format));
        Self { profile, format: Some(format), ..self }
    }

    /// A run of TeX itself.
    pub fn tex(&self, program: TexProgram) -> Result<ProgramRun, TexError> {
        let format = self.format.iter().flat_map(|format| formats::arguments(program, format));
        let arguments = format.chain(arguments(program, &self.folder.name)).collect();
        self.run(needs::of(program).path(), arguments)
    }

    /// A further run in the folder of one that has ended.
    pub async fn then(&self, finished: Finished, run: ProgramRun) -> Result<Finished, TexError> {
        self.programs.run_on(finished, run).await.map_err(|error| self.fault(&error))
    }

    /// A run of a program with what is left of the time.
    pub fn run(&self, program: PathBuf, arguments: Vec<String>) -> Result<ProgramRun, TexError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(errors::limits(self.config).too_late(errors::TEX).into());
        }
        Ok(ProgramRun {
            name: super::NAME,
            program,
            arguments,
            environment: needs::environment(self.zone),
            profile: Arc::clone(&self.profile),
            inputs: Vec::new(),
            bounds: Bounds { deadline: left, ..self.bounds },
        })
    }

    /// The error of a run that could not be made or was ended.
    pub fn fault(&self, error: &ProgramError) -> TexError {
        TexError::Step(errors::limits(self.config).fault(errors::TEX, error))
    }
}

/// The arguments of a run.
fn arguments(program: TexProgram, name: &str) -> Vec<String> {
    let own = match program {
        TexProgram::Pdflatex => vec!["-no-parse-first-line".to_owned()],
        TexProgram::Lualatex => vec!["--nosocket".to_owned(), format!("--lua={}", opening::start_name())],
        TexProgram::Xelatex => vec!["-no-pdf".to_owned(), "-no-parse-first-line".to_owned()],
    };
    let fixed = own.into_iter().chain(ARGUMENTS.map(str::to_owned));
    fixed.chain([format!("-jobname={name}"), format!("\\input{{{}}}", opening::name())]).collect()
}
