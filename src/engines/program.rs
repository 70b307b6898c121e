//! A step that one run of a foreign program takes: its slot, its cage, what it left, and what its author is told.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::fs::File;
use tokio_util::io::{ReaderStream, StreamReader};

use super::document::Document;
use super::error::EngineError;
use super::runner::{Outlet, StepContext};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::kinds::FileKind;
use crate::slots::engines::{EngineSlot, EngineSlots};
use crate::workers::{
    Bounds, Excess, Finished, Input, OutputError, Profile, ProgramError, ProgramRun, Programs,
};

/// How much of a program's file is read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The libraries that programs are made of, and what says where they are.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// What a program may reach that yields the processor: these files and the libraries it executes, and these it reads.
pub fn profile(execute: &[&str], read: &[&str]) -> Profile {
    let execute = execute.iter().chain(&LIBRARIES).map(PathBuf::from).collect();
    Profile { execute, read: read.iter().map(PathBuf::from).collect(), yields: true, ..Profile::default() }
}

/// The environment of a program.
pub fn environment<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Runs the programs of one engine, as many at once as it has slots.
#[derive(Clone, Debug)]
pub struct ProgramSteps {
    programs: Programs,
    slots: EngineSlots,
}

impl ProgramSteps {
    /// Programs in `slots` of their engine.
    pub fn new(programs: Programs, slots: EngineSlots) -> Self {
        Self { programs, slots }
    }

    /// What a run may take by the configuration.
    pub fn bounds(&self) -> Bounds {
        self.programs.bounds()
    }

    /// Waits for a slot and for `cores`, and runs the program to its end, well or badly: its status is for the caller
    /// to read.
    ///
    /// # Errors
    /// By who can do something about it; the sentences name the limit that was met.
    pub async fn run(
        &self,
        job: &StepContext<'_>,
        cores: usize,
        run: ProgramRun,
    ) -> Result<Finished, EngineError> {
        let name = run.name;
        let _slot = self.slot(job, cores).await;
        self.programs.run(run).await.map_err(|error| fault(&error, |error| limit(name, error)))
    }

    /// Waits for a slot and for `cores`: for who runs several programs for one step.
    pub async fn slot(&self, job: &StepContext<'_>, cores: usize) -> EngineSlot {
        self.slots.acquire(job.meter, cores).await
    }

    /// What runs them, for who has a slot.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }
}

/// Why a program made nothing, by who can do something about it; `limit` says which limit was met.
pub fn fault(error: &ProgramError, limit: impl FnOnce(&ProgramError) -> EngineError) -> EngineError {
    match error {
        ProgramError::NotStarted(cause) => EngineError::NotStarted(cause.clone()),
        ProgramError::NotFenced => JobFault::new(FaultCode::EngineUnavailable, error.to_string()).into(),
        ProgramError::Deadline | ProgramError::TooMuch(_) => limit(error),
        ProgramError::Input(_) | ProgramError::System(_) => EngineError::internal(&error.to_string()),
    }
}

/// What a section of the configuration lets a program take of the machine for a document. Sentences name the keys.
pub struct DocumentLimits {
    /// The section.
    pub section: &'static str,
    /// Its `timeout_ms`.
    pub timeout_ms: u64,
    /// Its `memory_limit_mb`.
    pub memory_mb: u64,
    /// Its `processor_limit_s`.
    pub processor_s: u64,
    /// Its `files_limit_mb`.
    pub files_mb: u64,
    /// Its `files_limit`.
    pub files: u64,
    /// Its `printed_limit_bytes`.
    pub printed_bytes: u64,
    /// What its author shall look for in a document that takes more.
    pub remedy: &'static str,
}

impl DocumentLimits {
    /// The bounds of a run, which are `general` where these say nothing.
    pub fn bounds(&self, general: Bounds) -> Bounds {
        Bounds {
            deadline: Duration::from_millis(self.timeout_ms),
            memory_bytes: self.memory_mb << 20,
            processor_s: self.processor_s,
            scratch_bytes: self.files_mb << 20,
            scratch_files: self.files,
            printed_bytes: self.printed_bytes,
            ..general
        }
    }

    /// Why `program` made nothing.
    pub fn fault(&self, program: &str, error: &ProgramError) -> EngineError {
        fault(error, |error| match error {
            ProgramError::TooMuch(excess) => self.too_much(program, *excess),
            ProgramError::Deadline
            | ProgramError::NotStarted(_)
            | ProgramError::NotFenced
            | ProgramError::Input(_)
            | ProgramError::System(_) => self.too_late(program),
        })
    }

    /// The deadline has passed.
    pub fn too_late(&self, program: &str) -> EngineError {
        let Self { section, timeout_ms, remedy, .. } = self;
        let sentence = format!(
            "{program} did not finish the document within {timeout_ms} ms ({section}.timeout_ms); look for {remedy}"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence).into()
    }

    /// The document took too much of something.
    pub fn too_much(&self, program: &str, excess: Excess) -> EngineError {
        let Self { section, memory_mb, processor_s, files_mb, files, printed_bytes, remedy, .. } = self;
        let taken = match excess {
            Excess::Memory => format!("takes more than {memory_mb} MB of memory ({section}.memory_limit_mb)"),
            Excess::Processes => "starts more processes than it may (workers.process_limit)".to_owned(),
            Excess::Processor => {
                format!("takes more than {processor_s} s of the processor ({section}.processor_limit_s)")
            }
            Excess::Written => format!("has more than {files_mb} MB of files ({section}.files_limit_mb)"),
            Excess::Files => format!("has more than {files} files ({section}.files_limit)"),
            Excess::Printed => {
                format!("has {program} print more than {printed_bytes} bytes ({section}.printed_limit_bytes)")
            }
        };
        let code =
            if excess == Excess::Written { FaultCode::OutputTooLarge } else { FaultCode::TemplateLimit };
        JobFault::new(code, format!("the document {taken}; look for {remedy}")).into()
    }
}

/// The document as a file that a program finds under `name`.
///
/// # Errors
/// `internal` when it is no file.
pub fn input(name: &str, document: Document) -> Result<Input, EngineError> {
    Ok(Input::stream(name, StreamReader::new(document.into_chunks()?)))
}

/// The file `name` that the program made, where the step's file goes. What is missing, or is anything else than a file
/// of the program's own, is no document.
///
/// # Errors
/// By who can do something about it.
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
            JobFault::new(FaultCode::OutputTooLarge, sentence).into()
        }
        OutputError::Missing | OutputError::NoFile(_) | OutputError::System(_) => {
            EngineError::internal(&format!("{name}: {error}"))
        }
    }
}

fn unreadable(name: &str, error: &io::Error) -> EngineError {
    EngineError::internal(&format!("{name}: {error}"))
}

fn limit(name: &str, error: &ProgramError) -> EngineError {
    let sentence =
        format!("{name}: {error}; look for a loop that does not end, or have less in the document");
    JobFault::new(FaultCode::TemplateLimit, sentence).into()
}
