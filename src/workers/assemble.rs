//! Template and data in, document out, in a child of its own: the protocol, and how the child is started.
//!
//! The child is another program of ours, `platen-script`, which alone is linked with `JavaScriptCore`: the service starts
//! and says what is missing where the library is not installed. The child makes a machine and throws it away, gives up
//! every system call but reading, writing and memory, says that it is ready, and then reads a job. Each job has a
//! machine of its own, made before the job is read and thrown away after it.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::spec::{ChildSpec, User};

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

/// What a template is written in: says how values are escaped, and which tags there are beside those of EJS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// HTML.
    #[default]
    Html,
    /// LaTeX.
    Latex,
}

/// What comes first in a job's frame.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order<'a> {
    /// To make a page; answered by [`Assembled`].
    Assemble(AssembleJob<'a>),
    /// To generate what later jobs run; answered by [`Compiled`].
    Compile(CompileJob<'a>),
    /// To fill an Office file; answered by [`Filled`].
    Fill(FillJob<'a>),
    /// To take an Office file as it is; answered by [`Unfilled`].
    Unfilled(UnfilledJob),
    /// To look through a template; answered by [`Linted`].
    Lint(LintJob<'a>),
}

/// Why a job came to nothing. The sentences are for the template's author.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptError {
    /// The template's code failed, or its tags cannot be read: the sentence names the place.
    Code(String),
    /// A file is no text, or not of its kind, or damaged.
    Template(String),
    /// The delimiters or the time zone cannot be used.
    Options(String),
    /// The data cannot be read, and why.
    Data(String),
    /// A limit was passed; the sentence names it, or the file that is nested too deeply.
    Limit(String),
    /// The memory is used up.
    OutOfMemory,
    /// The document is larger than allowed.
    TooLarge,
    /// A fault of ours, for the log.
    Broken(String),
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

/// What came of a page, which is the frame's body, and what it cost.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Assembled {
    /// Whether there is one.
    pub outcome: Result<(), ScriptError>,
    /// How many scripts EJS generated for it.
    pub generated: u64,
    /// Which of the files that the child asked for were included, by the order of asking: it asks for what a template
    /// may include too.
    pub included: Vec<usize>,
    /// How many bytes behind the page are notes of where its lines come from ([`Notes`](crate::domain::lines::Notes)).
    pub notes_bytes: usize,
}

/// What came of a [`CompileJob`]: the body is a JSON array, for each file a [`MadeScript`], or null where none can be made.
/// Or nothing; why is for the log.
pub type Compiled = Result<(), String>;

/// What EJS generates of a file.
#[derive(Clone, Debug, Deserialize)]
pub struct MadeScript {
    /// The text as EJS reads it, where that is not the file's.
    pub text: Option<String>,
    /// The script.
    pub source: String,
}

/// What tags of an Office file begin and end with, where the caller said it.
pub type Delimiters<'a> = Option<(Cow<'a, str>, Cow<'a, str>)>;

/// An Office file to fill; the body is the file and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct FillJob<'a> {
    /// How many bytes of the body are the file.
    pub file_bytes: usize,
    /// What tags begin and end with.
    pub delimiters: Delimiters<'a>,
    /// A name that the data lack is a fault.
    pub strict: bool,
    /// The default locale, a BCP 47 tag.
    pub locale: Cow<'a, str>,
    /// The time zone, an IANA name.
    pub timezone: Cow<'a, str>,
    /// What bounds the file.
    pub limits: FillLimits,
}

/// What bounds an Office file.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct FillLimits {
    /// `templates.archive_entries_limit`.
    pub entries: u64,
    /// `templates.archive_bytes_limit`.
    pub unpacked_bytes: u64,
    /// `templates.archive_ratio_limit`.
    pub ratio: u64,
    /// `office.depth_limit`.
    pub depth: u64,
    /// `office.elements_limit`.
    pub elements: u64,
    /// `office.attributes_limit`.
    pub attributes: u64,
    /// `office.tags_limit`.
    pub tags: u64,
    /// `office.items_limit`.
    pub items: u64,
    /// `office.slides_limit`.
    pub slides: u64,
    /// `assemble.output_limit_bytes`.
    pub output_bytes: u64,
}

/// What came of a [`FillJob`]: the filled file is the frame's body; with it what its author should know.
pub type Filled = Result<Vec<String>, ScriptError>;

/// A file of `OpenDocument` to take as it is, its tags counted; the body is the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct UnfilledJob {
    /// What bounds it.
    pub limits: FillLimits,
}

/// What came of an [`UnfilledJob`]; the file is the frame's body.
pub type Unfilled = Result<UnfilledTags, ScriptError>;

/// The tags of a file that was taken as it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct UnfilledTags {
    /// How many there are.
    pub count: usize,
    /// The first of them; a long one is cut.
    pub first: Option<String>,
    /// What its author should know besides.
    pub warnings: Vec<String>,
}

/// A template to look through; the body is its entry.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LintJob<'a> {
    /// A page, or a file of LaTeX; what it includes, the child asks for.
    Page {
        /// What the files are written in.
        language: Language,
        /// The path of the entry.
        entry: Cow<'a, str>,
        /// The paths of all files, the entry included.
        files: Vec<Cow<'a, str>>,
    },
    /// An Office file.
    Office {
        /// What tags begin and end with.
        delimiters: Delimiters<'a>,
        /// What bounds the file.
        limits: FillLimits,
    },
}

/// What came of a [`LintJob`]: the frame's body is a [`LintReport`](super::lint::LintReport) in JSON.
pub type Linted = Result<(), ScriptError>;

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

/// The child's spec: the program at `program`, in the time zone `zone`.
pub fn assemble_child(program: PathBuf, limits: AssembleLimits, zone: &str, user: Option<User>) -> ChildSpec {
    // What is open is few: pipes, and the account of its memory.
    let spec = ChildSpec::computing(COMMAND, &limits, user, (limits.cpu_s, 16));
    let spec = ENGINE_OPTIONS.iter().fold(spec, |spec, (name, value)| spec.variable(name, *value));
    ChildSpec { binary: Some(program), ..spec }
        .variable(ZONE, zone)
        // When it collects garbage; the bound is the address space, which the child itself lowers once the engine has
        // reserved what it reserves.
        .variable("JSC_forceRAMSize", limits.memory_bytes.to_string())
}
