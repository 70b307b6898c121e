//! Why TeX made no document.

use std::process::ExitStatus;

use crate::config::TexConfig;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::format_opts::TexProgram;
use crate::engines::error::EngineError;
use crate::engines::program::DocumentLimits;
use crate::engines::requirement::{Lack, Requirement};
use crate::workers::Finished;

/// What all its programs are to an author.
pub(super) const TEX: &str = "TeX";
/// So much of what a program printed is told.
const SAID_LETTERS: usize = 200;

/// Why there is no document.
pub(super) enum TexError {
    /// TeX ended the run at an error of the document.
    Document(Box<tex_log::Error>),
    /// So did another program, which was tried instead.
    Both(Tried, Box<tex_log::Error>),
    /// That other one was ended by something else, such as a limit.
    Ended(Tried, JobFault),
    /// Anything else.
    Step(EngineError),
}

/// A program that was tried for what the first one lacks.
pub(super) struct Tried {
    pub first: TexProgram,
    /// What the first one said.
    pub before: Box<tex_log::Error>,
    pub second: TexProgram,
}

impl TexError {
    /// The same of the program that was tried.
    pub fn behind(self, tried: Tried) -> Self {
        match self {
            Self::Document(error) => Self::Both(tried, error),
            Self::Step(EngineError::Job(fault)) => Self::Ended(tried, fault),
            other @ (Self::Both(..) | Self::Ended(..) | Self::Step(_)) => other,
        }
    }
}

impl From<EngineError> for TexError {
    fn from(fault: EngineError) -> Self {
        Self::Step(fault)
    }
}

/// A run that ended without saying why.
pub(super) fn silent(program: TexProgram, status: ExitStatus) -> EngineError {
    let name = program.name();
    let sentence = format!(
        "{name} ended without a document and without an error ({status}); look for what ends the document before \
         \\end{{document}}, or for what nests without an end"
    );
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// What xdvipdfmx says of pages that it makes no PDF of: as a rule a picture or a font that it does not find.
pub(super) fn unconverted(finished: &Finished) -> EngineError {
    let said = String::from_utf8_lossy(&finished.stderr);
    let said = said.lines().rfind(|line| line.contains("fatal:")).and_then(|line| line.split_once("fatal:"));
    let said = said.map_or_else(|| finished.status.to_string(), |(_, said)| said.trim().to_owned());
    JobFault::new(FaultCode::TemplateError, format!("xdvipdfmx makes no PDF of xelatex's pages: {said}"))
        .into()
}

/// A document without pages.
pub(super) fn no_pages() -> EngineError {
    let sentence = "the document has no pages; put something between \\begin{document} and \\end{document}";
    JobFault::new(FaultCode::TemplateInvalid, sentence).into()
}

/// A run that went well and left no PDF.
pub(super) fn no_file() -> EngineError {
    let sentence = "TeX wrote no PDF; look for what has it write something else, such as \\pdfoutput=0";
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// A list of which nothing came, for a fault of what it is made of.
pub(super) fn unlisted(sentence: &str) -> EngineError {
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// A program that made no list, for a reason that is not known; the first that it printed may tell.
pub(super) fn silent_list(name: &str, finished: &Finished) -> EngineError {
    let said = String::from_utf8_lossy(&finished.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let said: String = said.chars().filter(|letter| !letter.is_control()).take(SAID_LETTERS).collect();
    let sentence = format!("{name} ended without a list ({}) {said}", finished.status);
    JobFault::new(FaultCode::TemplateError, sentence.trim_end()).into()
}

/// A program that a document asks for and that is not here.
pub(super) fn lacking(requirement: &'static Requirement) -> EngineError {
    JobFault::new(FaultCode::EngineUnavailable, Lack::Missing(requirement).to_string()).into()
}

/// What a document may take.
pub(super) fn limits(config: &TexConfig) -> DocumentLimits {
    DocumentLimits {
        section: "tex",
        timeout_ms: config.timeout_ms,
        memory_mb: config.memory_limit_mb,
        processor_s: config.processor_limit_s,
        files_mb: config.files_limit_mb,
        files: config.files_limit,
        printed_bytes: config.printed_limit_bytes,
        remedy: "a loop that does not end, or have less in it",
    }
}
