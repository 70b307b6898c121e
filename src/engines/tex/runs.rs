//! The runs of one document, in one folder: again and again until nothing changes any more.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use tex_log::{Remark, Report};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, SeekFrom};
use tokio_util::io::ReaderStream;

use super::errors::{self, TexError};
use super::folder::Folder;
use super::formats;
use super::lists::{Left, Lists};
use super::needs;
use super::opening;
use crate::config::TexConfig;
use crate::domain::format_opts::TexProgram;
use crate::engines::step_error::StepError;
use crate::engines::thread;
use crate::workers::{
    Bounds, Finished, Input, Output, OutputError, Profile, ProgramRun, Programs, SharedFile,
};

/// So much of a log's end is read: what ended a run stands there.
const LOG_BYTES: u64 = 8 << 20;
/// The longest file of references that is compared with the one before.
const REFERENCES_BYTES: u64 = 16 << 20;
/// Lists that the next run reads, of which TeX does not always say that they are new.
const LISTS: [&str; 5] = ["toc", "lof", "lot", "out", "nav"];
/// What pictures that know where they stand leave behind, without a word in the log.
const POSITIONS: &[u8] = b"\\pgfsyspdfmark";

/// How TeX is told to run: it ends at its first error, asks nobody, and starts nothing.
const ARGUMENTS: [&str; 4] =
    ["-no-shell-escape", "-interaction=batchmode", "-file-line-error", "-halt-on-error"];

/// One document on its way through TeX.
pub(super) struct Runs<'a> {
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

/// A document that TeX has made.
pub(super) struct Made {
    /// The folder with the file in it.
    pub finished: Finished,
    /// What the log of the last run says.
    pub report: Report,
    /// What is to be said of bibliographies and indexes.
    pub remarks: Vec<Remark>,
    /// Whether another run would have changed something.
    pub is_unsettled: bool,
}

impl Runs<'_> {
    /// The same that begin with `format`, which they may read.
    pub fn with(self, format: Option<Arc<SharedFile>>) -> Self {
        let Some(format) = format else { return self };
        let profile = Arc::new(formats::profile(&self.profile, &format));
        Self { profile, format: Some(format), ..self }
    }

    /// Runs `program` behind `opening` until the references are right; `cache` is what it finds of fonts.
    pub async fn make(
        &self,
        program: TexProgram,
        opening: String,
        cache: &[(String, Bytes)],
    ) -> Result<Made, TexError> {
        let files = self.folder.files().into_iter().chain(cache.iter().cloned());
        let own = [
            (opening::name(), Bytes::from(opening)),
            (opening::start_name(), Bytes::from_static(opening::START.as_bytes())),
            (opening::scripts_name(), Bytes::from_static(opening::SCRIPTS.as_bytes())),
        ];
        let files = files.chain(own);
        let inputs = files.map(|(name, content)| Input::bytes(name, content)).collect();
        let first = ProgramRun { inputs, ..self.tex(program)? };
        let mut finished = self.programs.run(first).await.map_err(|error| self.fault(&error))?;
        let (mut references, mut count, mut lists) = (Vec::new(), 1, Lists::default());
        loop {
            let mut report = self.report(&finished).await?;
            if !finished.status.success() {
                let error = (!report.errors.is_empty()).then(|| report.errors.swap_remove(0));
                return Err(error.map_or_else(
                    || TexError::Step(errors::silent(program, finished.status)),
                    |error| TexError::Document(Box::new(error)),
                ));
            }
            let now = self.references(&finished).await;
            let left = Left { folder: self.folder, finished: &finished, report: &report, aux: &now };
            let wanted = lists.wanted(&left).await;
            let is_unsettled =
                !wanted.is_empty() || self.is_unsettled(&finished, &report, count, (&references, &now));
            if !is_unsettled || count >= self.config.runs_limit {
                let finished = self.converted(program, finished).await?;
                return Ok(Made { finished, report, remarks: lists.into_remarks(), is_unsettled });
            }
            finished = lists.make(self, finished, wanted).await?;
            (references, count) = (now, count + 1);
            finished = self.then(finished, self.tex(program)?).await?;
        }
    }

    /// xelatex writes pages that another program makes a PDF of; by itself it would start that by a shell.
    async fn converted(&self, program: TexProgram, finished: Finished) -> Result<Finished, TexError> {
        if program != TexProgram::Xelatex {
            return Ok(finished);
        }
        let name = &self.folder.name;
        let arguments = ["-q", "-E", "-o", &format!("{name}.pdf"), &format!("{name}.xdv")];
        let run = self.run(needs::path_of(&needs::XDVIPDFMX), arguments.map(str::to_owned).to_vec())?;
        let finished = self.then(finished, run).await?;
        if finished.status.success() {
            return Ok(finished);
        }
        Err(errors::unconverted(&finished).into())
    }

    fn tex(&self, program: TexProgram) -> Result<ProgramRun, TexError> {
        let format = self.format.iter().flat_map(|format| formats::arguments(program, format));
        let arguments = format.chain(arguments(program, &self.folder.name)).collect();
        self.run(needs::path_of(needs::of(program)), arguments)
    }

    /// A further run in the folder of one that has ended.
    pub async fn then(&self, finished: Finished, run: ProgramRun) -> Result<Finished, TexError> {
        self.programs.run_on(finished, run).await.map_err(|error| self.fault(&error))
    }

    /// A run of a program with what is left of the time.
    pub fn run(&self, program: PathBuf, arguments: Vec<String>) -> Result<ProgramRun, TexError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(errors::too_late(self.config).into());
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

    fn fault(&self, error: &crate::workers::ProgramError) -> TexError {
        TexError::Step(errors::of_program(error, self.config))
    }

    /// Whether another run would change something: TeX asks for it, a list was begun that it reads, or the references are
    /// others than before.
    fn is_unsettled(
        &self,
        finished: &Finished,
        report: &Report,
        count: u64,
        (before, now): (&[u8], &[u8]),
    ) -> bool {
        let name = &self.folder.name;
        let is_there = |extension: &&str| {
            let file = finished.open(&format!("{name}.{extension}"), u64::MAX);
            file.is_ok_and(|file| file.bytes > 0)
        };
        let is_first = count == 1;
        report.needs.rerun
            || (is_first && LISTS.iter().any(is_there))
            || (is_first && memchr::memmem::find(now, POSITIONS).is_some())
            || (!is_first && before != now)
    }

    /// What the next run reads of this one. What cannot be read, or is too long to be kept, is taken for the same.
    async fn references(&self, finished: &Finished) -> Vec<u8> {
        let name = format!("{}.aux", self.folder.name);
        finished.read(&name, REFERENCES_BYTES).await.map(Into::into).unwrap_or_default()
    }

    async fn report(&self, finished: &Finished) -> Result<Report, TexError> {
        let name = format!("{}.log", self.folder.name);
        let broken = |error: &dyn std::fmt::Display| StepError::internal(&format!("{name}: {error}"));
        let log = match finished.open(&name, u64::MAX) {
            Ok(output) => end_of(output).await.map_err(|error| broken(&error))?,
            // It ended before it began one.
            Err(OutputError::Missing) => finished.stdout.to_vec(),
            Err(error) => return Err(broken(&error).into()),
        };
        let read = thread::by_size(log.len(), move || tex_log::read(&log)).await;
        Ok(read.map_err(StepError::from)?)
    }
}

/// The last bytes of a file.
async fn end_of(output: Output) -> std::io::Result<Vec<u8>> {
    let mut file = File::from_std(output.file);
    file.seek(SeekFrom::Start(output.bytes.saturating_sub(LOG_BYTES))).await?;
    let chunks = ReaderStream::new(file.take(LOG_BYTES));
    chunks
        .try_fold(Vec::new(), async |mut all, chunk| {
            all.extend_from_slice(&chunk);
            Ok(all)
        })
        .await
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
