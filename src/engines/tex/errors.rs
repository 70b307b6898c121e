//! Why TeX made no document.

use std::process::ExitStatus;

use crate::config::TexConfig;
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::format_opts::TexProgram;
use crate::engines::error::EngineError;
use crate::engines::program::DocumentLimits;
use crate::engines::requirement::{Requirement, UnmetRequirement};
use crate::workers::Finished;

/// The name of all its programs in errors for authors.
pub(super) const TEX: &str = "TeX";
/// How much of a program's output an error quotes.
const OUTPUT_LETTERS: usize = 200;

pub(super) enum TexError {
    /// An error in the document.
    Document(Box<tex_log::Error>),
    /// An error with the second program, too.
    Both(SecondAttempt, Box<tex_log::Error>),
    /// The second program was ended by something else, such as a limit.
    Ended(SecondAttempt, JobError),
    /// Anything else.
    Step(EngineError),
}

/// A second program that was tried because the first one lacks something.
pub(super) struct SecondAttempt {
    pub first: TexProgram,
    /// The first one's error.
    pub before: Box<tex_log::Error>,
    pub second: TexProgram,
}

impl TexError {
    /// This error as that of the second attempt.
    pub fn of_second(self, tried: SecondAttempt) -> Self {
        match self {
            Self::Document(error) => Self::Both(tried, error),
            Self::Step(EngineError::Job(error)) => Self::Ended(tried, error),
            other @ (Self::Both(..) | Self::Ended(..) | Self::Step(_)) => other,
        }
    }
}

impl From<EngineError> for TexError {
    fn from(error: EngineError) -> Self {
        Self::Step(error)
    }
}

/// A run that failed without an error in its log.
pub(super) fn ended_without_error(program: TexProgram, status: ExitStatus) -> EngineError {
    let name = program.name();
    let sentence = format!(
        "{name} ended without a document and without an error ({status}); look for what ends the document before \
         \\end{{document}}, or for what nests without an end"
    );
    JobError::new(ErrorCode::TemplateError, sentence).into()
}

/// xdvipdfmx failed: as a rule it misses a picture or a font.
pub(super) fn not_converted(finished: &Finished) -> EngineError {
    let output = String::from_utf8_lossy(&finished.stderr);
    let cause =
        output.lines().rfind(|line| line.contains("fatal:")).and_then(|line| line.split_once("fatal:"));
    let cause = cause.map_or_else(|| finished.status.to_string(), |(_, cause)| cause.trim().to_owned());
    JobError::new(ErrorCode::TemplateError, format!("xdvipdfmx makes no PDF of xelatex's pages: {cause}"))
        .into()
}

/// A document without pages.
pub(super) fn no_pages() -> EngineError {
    let sentence = "the document has no pages; put something between \\begin{document} and \\end{document}";
    JobError::new(ErrorCode::TemplateInvalid, sentence).into()
}

/// A run that succeeded without writing a PDF.
pub(super) fn no_file() -> EngineError {
    let sentence = "TeX wrote no PDF; look for what has it write something else, such as \\pdfoutput=0";
    JobError::new(ErrorCode::TemplateError, sentence).into()
}

/// A program that made no list and reported no error; quotes the first line that it printed.
pub(super) fn no_list(name: &str, finished: &Finished) -> EngineError {
    let output = String::from_utf8_lossy(&finished.stderr);
    let first = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: String = first.chars().filter(|letter| !letter.is_control()).take(OUTPUT_LETTERS).collect();
    let sentence = format!("{name} ended without a list ({}) {first}", finished.status);
    JobError::new(ErrorCode::TemplateError, sentence.trim_end()).into()
}

/// A program that the document needs and that is not installed.
pub(super) fn missing_program(requirement: &'static Requirement) -> EngineError {
    JobError::new(ErrorCode::EngineUnavailable, UnmetRequirement::Missing(requirement).to_string()).into()
}

/// The limits of a document.
pub(super) fn limits(config: &TexConfig) -> DocumentLimits {
    DocumentLimits {
        section: "tex",
        limits: config.limits,
        remedy: "a loop that does not end, or have less in it",
    }
}
