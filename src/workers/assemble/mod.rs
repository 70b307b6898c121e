//! `platen assemble-child`: template and data in, page out, inside the tightest cage we have.
//!
//! The child loads the script engine and EJS, gives up every system call but reading, writing and
//! memory, says that it is ready, and then reads a job. Each job has a script engine of its own, made
//! before the job is read and taken apart after it.

mod script;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use nix::sys::prctl;
use serde::{Deserialize, Serialize};

use super::cage;
use super::frame::{self, FrameError, Saying};
use super::spec::{Cage, ChildSpec, Limits, OWN_PROGRAM, User};
use script::Engine;

/// The sub-command of our binary that is this child.
pub(super) const COMMAND: &str = "assemble-child";

/// What an assembling child may use.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AssembleLimits {
    /// Memory of the script engine (`assemble.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Largest page (`assemble.output_limit_bytes`).
    pub output_bytes: u64,
    /// Includes inside includes (`assemble.include_depth_limit`).
    pub include_depth: u64,
    /// Processor time: a net under the deadline, should the service not be there to keep it.
    pub cpu_s: u64,
}

/// What comes first in a job's frame.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order<'a> {
    /// To make a page; answered by [`Answer`].
    Assemble(AssembleJob<'a>),
    /// To generate what later jobs run; answered by [`Compiled`].
    Compile(CompileJob<'a>),
}

/// A page to make; the body is the entry, its script where there is one, and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct AssembleJob<'a> {
    /// The path of the entry.
    pub entry: Cow<'a, str>,
    /// How many bytes of the body are the entry.
    pub entry_bytes: usize,
    /// How many are its script; nought where EJS shall generate it.
    pub source_bytes: usize,
    /// The paths of all files, the entry included.
    pub files: Vec<Cow<'a, str>>,
}

/// Templates whose scripts are wanted; the body is their texts, one after the other.
#[derive(Debug, Deserialize, Serialize)]
pub struct CompileJob<'a> {
    /// Their paths and lengths.
    pub files: Vec<(Cow<'a, str>, usize)>,
    /// After so long no further one is begun.
    pub time_ms: u64,
}

/// What came of a page, and what it cost.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answer {
    /// What came of it.
    pub outcome: Assembled,
    /// How many scripts EJS generated for it.
    pub generated: u64,
}

/// What came of a [`CompileJob`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Compiled {
    /// The body is a JSON array: for each file a [`MadeScript`], or null where none can be made.
    Scripts,
    /// Nothing; why is for the log.
    Nothing(String),
}

/// What EJS generates of a file.
#[derive(Clone, Debug, Deserialize)]
pub struct MadeScript {
    /// The text as EJS reads it, where that is not the file's.
    pub text: Option<String>,
    /// The script.
    pub source: String,
}

/// What came of a job; the page is the frame's body.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Assembled {
    /// The page.
    Page,
    /// The template's code failed: the sentence names file and line.
    Failed(String),
    /// The entry is no text.
    NotText(String),
    /// The data cannot be read.
    BadData(String),
    /// Includes are nested too deeply: the sentence names the file.
    TooDeep(String),
    /// The memory is used up.
    OutOfMemory,
    /// The page is larger than allowed.
    TooLarge,
}

/// Where the dynamic loader looks before the child gives up opening files.
const LOADER_FILES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/// Address space of the program itself with its libraries and stack, before any job.
const PROGRAM_BYTES: u64 = 512 << 20;

/// A child that needed more memory at any time is not kept for a further job: what the system counts as
/// its peak would be taken for the next job's.
const KEPT_PEAK_BYTES: u64 = 64 << 20;

/// The child's spec. Every child is one process without threads, files or network.
#[must_use]
pub fn assemble_child(limits: AssembleLimits, user: Option<User>) -> ChildSpec {
    let argument = serde_json::to_string(&limits).unwrap_or_default();
    let spec = ChildSpec::new(OWN_PROGRAM).arguments([COMMAND.to_owned(), argument]);
    ChildSpec {
        user,
        limits: Limits {
            // The inputs, which may be as large as the engine's memory, and the page as script and text.
            address_space_bytes: Some(PROGRAM_BYTES + 2 * limits.memory_bytes + 2 * limits.output_bytes),
            cpu_s: Some(limits.cpu_s),
            file_bytes: Some(0),
            processes: Some(0),
            open_files: Some(16),
        },
        cage: Some(Cage {
            read: LOADER_FILES.map(PathBuf::from).to_vec(),
            // Without Landlock the call filter below still keeps the child from opening any file.
            files_must_be_fenced: false,
            ..Cage::default()
        }),
        ..spec
    }
}

/// Runs `platen assemble-child <limits>`.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    match serve(arguments) {
        // The process ends here: taking the script engine apart first would only cost time.
        Ok(()) => std::process::exit(0),
        Err(fault) => {
            let _ = writeln!(io::stderr(), "platen assemble-child: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &[OsString]) -> Result<(), String> {
    let [limits] = arguments else {
        return Err("wants one argument, its limits; the service calls it, not you".to_owned());
    };
    let limits: AssembleLimits = serde_json::from_slice(limits.as_encoded_bytes())
        .map_err(|error| format!("its argument is not a set of limits: {error}"))?;
    // No process of the same user may trace it or look into its memory.
    prctl::set_dumpable(false).map_err(|errno| format!("cannot hide its memory: {errno}"))?;
    let mut engine = Engine::load(&limits)?;
    cage::compute_only()?;
    loop {
        say(&Saying::<()>::Ready, "")?;
        let (order, body) = match frame::read::<Order<'static>>(io::stdin().lock()) {
            Ok(order) => order,
            // Nobody wants anything any more.
            Err(FrameError::Broken(_)) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        match order {
            Order::Assemble(job) => {
                let (answer, page) = engine.assemble(&job, body);
                say(&Saying::Done(answer), &page)?;
            }
            Order::Compile(job) => {
                let (compiled, scripts) = engine.compile(&job, &body);
                say(&Saying::Done(compiled), &scripts)?;
            }
        }
        if script::peak_bytes() > KEPT_PEAK_BYTES {
            return Ok(());
        }
        drop(engine);
        engine = Engine::load(&limits)?;
    }
}

fn say<R: Serialize>(saying: &Saying<R>, body: &str) -> Result<(), String> {
    let said = frame::write(io::stdout().lock(), saying, body.as_bytes());
    said.map_err(|error| format!("cannot speak: {error}"))
}
