//! The protocol of the child that runs template code, and how it is started.
//!
//! The child is another program of ours, `platen-script`: only that is linked with `JavaScriptCore`, so the service starts, and
//! says what is missing, where the library is not installed. The child warms up a JavaScript machine, gives up every system
//! call but reading, writing and memory, says that it is ready, and reads jobs. Each job that runs code gets a fresh machine.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::spec::{ChildSpec, Starts, User};

/// The program's name.
pub const PROGRAM: &str = "platen-script";

/// The program's command that runs this child.
pub const COMMAND: &str = "assemble-child";

/// The environment variable with a child's time zone. The engine reads it once, so a child has one zone for its life.
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
    /// Processor time of the child's whole life, in case the service dies and cannot enforce the deadline.
    pub cpu_s: u64,
}

/// The language of a template. It decides how values are escaped, and which tags there are beside those of EJS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// HTML.
    #[default]
    Html,
    /// LaTeX for the program that reads it.
    Latex(Reader),
}

/// What reads a LaTeX source. Each knows commands that the other one lacks, so values are escaped for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// TeX.
    #[default]
    Tex,
    /// pandoc.
    Pandoc,
}

impl Language {
    /// Whether it is LaTeX, whatever reads it.
    pub fn is_latex(self) -> bool {
        matches!(self, Self::Latex(_))
    }
}

impl Reader {
    /// Its name for `latex.js`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tex => "tex",
            Self::Pandoc => "pandoc",
        }
    }
}

/// The header of a job's frame.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptRequest<'a> {
    /// Renders a page; answered by [`Assembled`].
    Assemble(AssembleJob<'a>),
    /// Generates scripts for later jobs; answered by [`Compiled`].
    Compile(CompileJob<'a>),
    /// Fills an Office file; answered by [`Filled`].
    Fill(FillJob<'a>),
    /// Checks an Office file that is not filled; answered by [`Unfilled`].
    Unfilled(UnfilledJob),
    /// Lints a template; answered by [`Linted`].
    Lint(LintJob<'a>),
}

/// Why a job has no result. The sentences are for the template's author.
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
    /// A limit was exceeded; the sentence names it, or the file that is nested too deeply.
    Limit(String),
    /// The memory is used up.
    OutOfMemory,
    /// The document is larger than allowed.
    TooLarge,
    /// An error of ours, for the log.
    Broken(String),
}

/// A page to render; the body is the entry, its generated script if there is one, and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct AssembleJob<'a> {
    /// The files' language.
    pub language: Language,
    /// The path of the entry.
    pub entry: Cow<'a, str>,
    /// How many bytes of the body are the entry.
    pub entry_bytes: usize,
    /// How many are its script; 0: EJS generates it.
    pub source_bytes: usize,
    /// The paths of all files, the entry included: a JSON array of texts.
    pub files: Cow<'a, RawValue>,
    /// The default locale, a BCP 47 tag.
    pub locale: Cow<'a, str>,
    /// The zone that the child was started in, an IANA name.
    pub timezone: Cow<'a, str>,
}

/// Templates whose scripts are to be generated; the body is their texts, one after the other.
#[derive(Debug, Deserialize, Serialize)]
pub struct CompileJob<'a> {
    /// The files' language.
    pub language: Language,
    /// Their paths and lengths in bytes.
    pub files: Vec<(Cow<'a, str>, usize)>,
    /// The time after which no further file is begun.
    pub time_ms: u64,
}

/// The result of an [`AssembleJob`]; the page is the frame's body.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Assembled {
    /// Whether there is a page.
    pub outcome: Result<(), ScriptError>,
    /// How many scripts EJS generated for it.
    pub generated: u64,
    /// Which of the requested files were really included, as indexes into the requests: the child also requests files that a
    /// template might include.
    pub included: Vec<usize>,
    /// How many bytes after the page are its [source map](crate::engines::source_map::EncodedSourceMap).
    pub notes_bytes: usize,
}

/// The result of a [`CompileJob`]: the body is a JSON array with a [`MadeScript`] for each file, or null where none can be made.
/// The error is for the log.
pub type Compiled = Result<(), String>;

/// A script that EJS generated from a file.
#[derive(Clone, Debug, Deserialize)]
pub struct MadeScript {
    /// The text that EJS has read, if it differs from the file's.
    pub text: Option<String>,
    /// The script.
    pub source: String,
}

/// What tags of an Office file begin and end with, if the caller chose it.
pub type Delimiters<'a> = Option<(Cow<'a, str>, Cow<'a, str>)>;

/// An Office file to fill; the body is the file and the data.
#[derive(Debug, Deserialize, Serialize)]
pub struct FillJob<'a> {
    /// How many bytes of the body are the file.
    pub file_bytes: usize,
    /// What tags begin and end with.
    pub delimiters: Delimiters<'a>,
    /// A name that the data lacks is an error.
    pub strict: bool,
    /// The default locale, a BCP 47 tag.
    pub locale: Cow<'a, str>,
    /// The time zone, an IANA name.
    pub timezone: Cow<'a, str>,
    /// The limits of the file.
    pub limits: FillLimits,
}

/// The limits of an Office file.
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
    /// `office.parts_limit`.
    pub own_parts: u64,
    /// `assemble.output_limit_bytes`.
    pub output_bytes: u64,
}

/// The result of a [`FillJob`]: warnings for the author; the filled file is the frame's body.
pub type Filled = Result<Vec<String>, ScriptError>;

/// A file of `OpenDocument` that is not filled: its tags are counted. The body is the file.
#[derive(Debug, Deserialize, Serialize)]
pub struct UnfilledJob {
    /// The limits of the file.
    pub limits: FillLimits,
}

/// The result of an [`UnfilledJob`]; the file is the frame's body.
pub type Unfilled = Result<UnfilledTags, ScriptError>;

/// The tags of a file that is not filled.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct UnfilledTags {
    /// How many there are.
    pub count: usize,
    /// The first of them; a long one is cut.
    pub first: Option<String>,
    /// Further warnings for the author.
    pub warnings: Vec<String>,
}

/// A template to lint; the body is its entry.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LintJob<'a> {
    /// A page or a LaTeX file; the child asks for the files that it includes.
    Page {
        /// The files' language.
        language: Language,
        /// The path of the entry.
        entry: Cow<'a, str>,
        /// As in [`AssembleJob::files`].
        files: Cow<'a, RawValue>,
    },
    /// An Office file.
    Office {
        /// What tags begin and end with.
        delimiters: Delimiters<'a>,
        /// The limits of the file.
        limits: FillLimits,
    },
}

/// The result of a [`LintJob`]: the frame's body is a [`LintReport`](super::lint::LintReport) in JSON.
pub type Linted = Result<(), ScriptError>;

/// Makes `JavaScriptCore` a single-threaded interpreter that takes all its memory from the system's allocator. Then a limit of the
/// address space bounds its memory, but for what it reserves at its start for the shapes of objects, which the pool watches
/// (`resident_limit_bytes`); and it never asks for executable memory, which the call filter refuses.
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
    // Open files are few: the pipes, and `/proc/self/statm`.
    let mut spec = ChildSpec::computing(COMMAND, &limits, user, (limits.cpu_s, 16));
    // The engine's library starts threads when the first machine is made, to be told of a new time zone; without them it aborts.
    // The child gives up starting any before it runs code of strangers (`compute_only`).
    spec.limits.processes = None;
    if let Some(cage) = &mut spec.cage {
        cage.starts = Starts::Threads;
    }
    let spec = ENGINE_OPTIONS.iter().fold(spec, |spec, (name, value)| spec.variable(name, *value));
    ChildSpec { binary: Some(program), ..spec }
        .variable(ZONE, zone)
        // Only decides when garbage is collected. The real bound is the address space, which the child lowers itself once
        // the engine has reserved its own.
        .variable("JSC_forceRAMSize", limits.memory_bytes.to_string())
}
