//! Template and data in, page out, in a child of its own: the protocol, and how the child is started.
//!
//! The child is another program of ours, `platen-script`, which alone is linked with `JavaScriptCore`: the service starts
//! and says what is missing where the library is not installed. The child makes a machine and throws it away, gives up
//! every system call but reading, writing and memory, says that it is ready, and then reads a job. Each job has a
//! machine of its own, made before the job is read and thrown away after it.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fill::FillJob;
use super::language::Language;
use super::lint::LintJob;
use super::spec::{Cage, ChildSpec, Limits, OWN_PROGRAM, User};
use super::unfilled::UnfilledJob;

/// The program's name.
pub const PROGRAM: &str = "platen-script";

/// Its command that is this child.
pub const COMMAND: &str = "assemble-child";

/// The variable that says in which zone a child's dates are. It is read once, so a child has one zone.
pub const ZONE: &str = "TZ";

/// What an assembling child may use.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AssembleLimits {
    /// Memory of a template and its data (`assemble.memory_limit_mb`).
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
    /// To fill an Office file; answered by [`Filled`](super::fill::Filled).
    Fill(FillJob<'a>),
    /// To take an Office file as it is; answered by [`Unfilled`](super::unfilled::Unfilled).
    Unfilled(UnfilledJob),
    /// To look through a template; answered by [`Linted`](super::lint::Linted).
    Lint(LintJob<'a>),
}

/// A page to make; the body is the entry, its script where there is one, and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct AssembleJob<'a> {
    /// What the files are written in.
    pub language: Language,
    /// The path of the entry.
    pub entry: Cow<'a, str>,
    /// How many bytes of the body are the entry.
    pub entry_bytes: usize,
    /// How many are its script; nought where EJS shall generate it.
    pub source_bytes: usize,
    /// The paths of all files, the entry included.
    pub files: Vec<Cow<'a, str>>,
    /// The default locale, a BCP 47 tag.
    pub locale: Cow<'a, str>,
    /// The zone that the child was started in, an IANA name.
    pub timezone: Cow<'a, str>,
}

/// Templates whose scripts are wanted; the body is their texts, one after the other.
#[derive(Debug, Deserialize, Serialize)]
pub struct CompileJob<'a> {
    /// What they are written in.
    pub language: Language,
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
    /// Which of the files that the child asked for were included, by the order of asking: it asks for what a template
    /// may include too.
    pub included: Vec<usize>,
    /// How many bytes behind the page are notes of where its lines come from ([`Notes`](crate::domain::lines::Notes)).
    #[serde(default, skip_serializing_if = "is_none")]
    pub notes_bytes: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(bytes: &usize) -> bool {
    *bytes == 0
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

/// What tells `JavaScriptCore` to be one thread that only interprets, with all its memory from the system's allocator:
/// then one limit of the address space bounds all but what the engine reserves at its start for the shapes of objects,
/// which the pool watches (`resident_limit_bytes`); and nothing ever asks for memory that is executed.
const ENGINE_OPTIONS: [(&str, &str); 7] = [
    ("Malloc", "1"),
    ("MALLOC_ARENA_MAX", "1"),
    ("JSC_useJIT", "0"),
    ("JSC_useConcurrentGC", "0"),
    ("JSC_numberOfGCMarkers", "1"),
    ("JSC_useWasm", "0"),
    ("JSC_useSharedArrayBuffer", "0"),
];

/// What is read before the child gives up opening files: where its stack ends and how much memory it has mapped, the
/// seed of its hash tables. All libraries are loaded before the cage is shut.
const READ: [&str; 2] = ["/proc", "/dev/urandom"];

/// The child's spec: the program at `program`, in the time zone `zone`. Every child is one process without threads,
/// files or network.
pub fn assemble_child(program: PathBuf, limits: AssembleLimits, zone: &str, user: Option<User>) -> ChildSpec {
    let argument = serde_json::to_string(&limits).unwrap_or_default();
    let spec = ChildSpec::new(OWN_PROGRAM)
        .arguments([COMMAND.to_owned(), argument])
        .variable(ZONE, zone)
        // When it collects garbage; the bound is the address space, which the child itself lowers once the engine has
        // reserved what it reserves.
        .variable("JSC_forceRAMSize", limits.memory_bytes.to_string());
    let spec = ENGINE_OPTIONS.iter().fold(spec, |spec, (name, value)| spec.variable(name, *value));
    ChildSpec {
        binary: Some(program),
        user,
        limits: Limits {
            address_space_bytes: None,
            cpu_s: Some(limits.cpu_s),
            file_bytes: Some(0),
            processes: Some(0),
            open_files: Some(16),
        },
        cage: Some(Cage {
            read: READ.map(PathBuf::from).to_vec(),
            // Without Landlock the call filter still keeps the child from opening any file.
            files_must_be_fenced: false,
            ..Cage::default()
        }),
        ..spec
    }
}
