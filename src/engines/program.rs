//! Helpers for steps that run a foreign program: slot, sandbox profile, input, output, and errors for the author.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::fs::File;
use tokio_util::io::{ReaderStream, StreamReader};

use super::document::Document;
use super::error::{EngineError, lost};
use super::runner::{Outlet, StepContext};
use crate::config::ProgramLimits;
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::kinds::FileKind;
use crate::slots::engines::{EngineSlot, EngineSlots};
use crate::workers::{
    Bounds, Excess, Finished, Input, OutputError, ProgramError, ProgramRun, Programs, SandboxProfile,
};

/// How much of a program's file is read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The folders of shared libraries, and the loader's cache.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// The profile of a program that yields the processor: it may execute `execute` and shared libraries, and read `read`.
pub fn profile(execute: &[&str], read: &[&str]) -> SandboxProfile {
    let execute = execute.iter().chain(&LIBRARIES).map(PathBuf::from).collect();
    SandboxProfile {
        execute,
        read: read.iter().map(PathBuf::from).collect(),
        yields: true,
        ..SandboxProfile::default()
    }
}

/// The environment of a program.
pub fn environment<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Runs the programs of one engine, as many at once as it has slots.
#[derive(Clone, Debug)]
pub struct ProgramSteps {
    /// The programs, for a caller that has a slot.
    pub programs: Programs,
    /// The engine's slots.
    pub slots: EngineSlots,
}

impl ProgramSteps {
    /// Waits for a slot and for `cores`, and runs the program to its end. The caller checks its exit status.
    ///
    /// # Errors
    /// [`EngineError::Job`] where the job's author can do something about it; its sentence names the limit that was met.
    pub async fn run(
        &self,
        job: &StepContext<'_>,
        cores: usize,
        run: ProgramRun,
    ) -> Result<Finished, EngineError> {
        let name = run.name;
        let _slot = self.slot(job, cores).await;
        let run = ProgramRun { way: Some(job.meter.way().clone()), ..run };
        self.programs.run(run).await.map_err(|error| engine_error(name, &error, |error| limit(name, error)))
    }

    /// Waits for a slot and for `cores`: for a step that runs several programs.
    pub async fn slot(&self, job: &StepContext<'_>, cores: usize) -> EngineSlot {
        self.slots.acquire(job.meter, cores).await
    }
}

/// The error of the program `name` that made nothing; `limit` makes the error of an exceeded limit.
pub fn engine_error(
    name: &str,
    error: &ProgramError,
    limit: impl FnOnce(&ProgramError) -> EngineError,
) -> EngineError {
    match error {
        ProgramError::NotStarted(cause) => EngineError::NotStarted(cause.clone()),
        ProgramError::NotConfined => JobError::new(ErrorCode::EngineUnavailable, error.to_string()).into(),
        ProgramError::Deadline | ProgramError::TooMuch(_) => limit(error),
        ProgramError::Hung(hung) => lost(name, hung).into(),
        ProgramError::KilledFromOutside(killed) => lost(name, killed).into(),
        ProgramError::Input(_) | ProgramError::System(_) => EngineError::internal(&error.to_string()),
    }
}

/// The limits of a program's runs from one section of the configuration; errors name its keys.
pub struct DocumentLimits {
    /// The section's name.
    pub section: &'static str,
    /// Its limits.
    pub limits: ProgramLimits,
    /// What the author is to look for in a document that exceeds one: ends the error's sentence.
    pub remedy: &'static str,
}

impl DocumentLimits {
    /// The bounds of a run; those that the section does not have are taken from `general`.
    pub fn bounds(&self, general: Bounds) -> Bounds {
        let limits = &self.limits;
        Bounds {
            deadline: Duration::from_millis(limits.timeout_ms),
            memory_bytes: limits.memory_limit_mb << 20,
            processor_s: limits.processor_limit_s,
            scratch_bytes: limits.files_limit_mb << 20,
            scratch_files: limits.files_limit,
            printed_bytes: limits.printed_limit_bytes,
            ..general
        }
    }

    /// The error of `program` that made nothing.
    pub fn engine_error(&self, program: &str, error: &ProgramError) -> EngineError {
        engine_error(program, error, |error| {
            if let ProgramError::TooMuch(excess) = error {
                self.too_much(program, *excess)
            } else {
                self.too_late(program)
            }
        })
    }

    /// The deadline has passed.
    pub fn too_late(&self, program: &str) -> EngineError {
        let Self { section, limits: ProgramLimits { timeout_ms, .. }, remedy } = self;
        let sentence = format!(
            "{program} did not finish the document within {timeout_ms} ms ({section}.timeout_ms); look for {remedy}"
        );
        JobError::new(ErrorCode::TemplateLimit, sentence).into()
    }

    /// The document took too much of something.
    pub fn too_much(&self, program: &str, excess: Excess) -> EngineError {
        let Self { section, limits, remedy } = self;
        let taken = match excess {
            Excess::Memory => {
                format!("takes more than {} MB of memory ({section}.memory_limit_mb)", limits.memory_limit_mb)
            }
            Excess::Processes => "starts more processes than it may (workers.process_limit)".to_owned(),
            Excess::Processor => format!(
                "takes more than {} s of the processor ({section}.processor_limit_s)",
                limits.processor_limit_s
            ),
            Excess::Written => {
                format!("has more than {} MB of files ({section}.files_limit_mb)", limits.files_limit_mb)
            }
            Excess::Files => format!("has more than {} files ({section}.files_limit)", limits.files_limit),
            Excess::Printed => {
                let limit = limits.printed_limit_bytes;
                format!("has {program} print more than {limit} bytes ({section}.printed_limit_bytes)")
            }
        };
        let code =
            if excess == Excess::Written { ErrorCode::OutputTooLarge } else { ErrorCode::TemplateLimit };
        JobError::new(code, format!("the document {taken}; look for {remedy}")).into()
    }
}

/// The document as a file that a program finds under `name`.
///
/// # Errors
/// `internal` when it is no file.
pub fn input(name: &str, document: Document) -> Result<Input, EngineError> {
    Ok(Input::stream(name, StreamReader::new(document.into_chunks()?)))
}

/// Copies the file `name` that the program made into the step's outlet. A missing file, or anything but a regular file of the
/// program's own, is an error.
///
/// # Errors
/// [`EngineError::Job`] where the job's author can do something about it.
pub async fn output(
    finished: &Finished,
    name: &str,
    outlet: &Outlet<'_>,
    (kind, pages): (FileKind, Option<u32>),
) -> Result<Document, EngineError> {
    let made = finished.open(name, outlet.limit_bytes()).map_err(|error| unusable(name, &error))?;
    let mut sink = outlet.open().await?;
    let mut chunks = ReaderStream::with_capacity(File::from_std(made.file), CHUNK_BYTES);
    while let Some(chunk) = chunks.next().await {
        sink.write(chunk.map_err(|error| unreadable(name, &error))?).await?;
    }
    sink.finish(kind, pages).await
}

fn unusable(name: &str, error: &OutputError) -> EngineError {
    match error {
        OutputError::TooLong { limit_bytes, .. } => {
            let sentence = format!("the document is larger than {limit_bytes} bytes");
            JobError::new(ErrorCode::OutputTooLarge, sentence).into()
        }
        OutputError::Missing | OutputError::NoFile(_) | OutputError::System(_) => unreadable(name, error),
    }
}

fn unreadable(name: &str, error: &impl Display) -> EngineError {
    EngineError::internal(&format!("{name}: {error}"))
}

fn limit(name: &str, error: &ProgramError) -> EngineError {
    let sentence =
        format!("{name}: {error}; look for a loop that does not end, or have less in the document");
    JobError::new(ErrorCode::TemplateLimit, sentence).into()
}
