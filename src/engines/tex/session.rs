//! What all runs of one document share (folder, sandbox profile, format, deadline), and how one of them is started.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::errors::{self, TexError};
use super::first_file;
use super::folder::Folder;
use super::formats;
use super::needs;
use crate::config::TexConfig;
use crate::domain::format_opts::TexProgram;
use crate::slots::way::Way;
use crate::workers::{Bounds, Finished, ProgramError, ProgramRun, Programs, SandboxProfile, SharedFile};

/// Options of every run of TeX: it ends at its first error, never asks, and starts no other program.
const ARGUMENTS: [&str; 4] =
    ["-no-shell-escape", "-interaction=batchmode", "-file-line-error", "-halt-on-error"];

/// One document on its way through TeX.
pub(super) struct TexSession<'a> {
    pub programs: &'a Programs,
    pub config: &'a TexConfig,
    pub bounds: Bounds,
    pub profile: Arc<SandboxProfile>,
    /// The format that TeX starts from; `None`: TeX finds its own.
    pub format: Option<Arc<SharedFile>>,
    pub folder: &'a Folder<'a>,
    /// The time zone of `\today`.
    pub zone: &'a str,
    pub deadline: Instant,
    pub way: Option<&'a Way>,
}

impl<'a> TexSession<'a> {
    /// The session with runs that yield when the job makes way.
    pub fn with_way(self, way: &'a Way) -> Self {
        Self { way: Some(way), ..self }
    }

    /// The session with runs that start from `format` and may read it.
    pub fn with_format(self, format: Option<Arc<SharedFile>>) -> Self {
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

    /// Runs another program in the folder of a finished run.
    pub async fn then(&self, finished: Finished, run: ProgramRun) -> Result<Finished, TexError> {
        self.programs.run_on(finished, run).await.map_err(|error| self.tex_error(&error))
    }

    /// A run of a program within the time that is left.
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
            way: self.way.cloned(),
        })
    }

    /// The error of a run that could not be made or was ended.
    pub fn tex_error(&self, error: &ProgramError) -> TexError {
        TexError::Step(errors::limits(self.config).engine_error(errors::TEX, error))
    }
}

fn arguments(program: TexProgram, name: &str) -> Vec<String> {
    let own = match program {
        TexProgram::Pdflatex => vec!["-no-parse-first-line".to_owned()],
        TexProgram::Lualatex => vec!["--nosocket".to_owned(), format!("--lua={}", first_file::start_name())],
        TexProgram::Xelatex => vec!["-no-pdf".to_owned(), "-no-parse-first-line".to_owned()],
    };
    let fixed = own.into_iter().chain(ARGUMENTS.map(str::to_owned));
    fixed.chain([format!("-jobname={name}"), format!("\\input{{{}}}", first_file::name())]).collect()
}
