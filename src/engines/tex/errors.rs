//! What a job's author is told when there is no document.

use std::process::ExitStatus;

use super::log;
use super::needs;
use super::origin::Origins;
use crate::config::TexConfig;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::format_opts::TexProgram;
use crate::engines::program;
use crate::engines::requirement::{Lack, Requirement};
use crate::engines::step::StepFault;
use crate::workers::{Excess, Finished, ProgramError};

/// So much of what a program printed is told.
const SAID_LETTERS: usize = 200;

/// Why there is no document.
pub(super) enum TexError {
    /// TeX ended the run at an error of the document.
    Document(Box<tex_log::Error>),
    /// So did another program, which was tried for what the first one lacks.
    Both([(TexProgram, Box<tex_log::Error>); 2]),
    /// Anything else.
    Step(StepFault),
}

impl From<StepFault> for TexError {
    fn from(fault: StepFault) -> Self {
        Self::Step(fault)
    }
}

/// The error as the job ends with it.
pub(super) fn told(error: TexError, origins: &Origins<'_>) -> StepFault {
    match error {
        TexError::Step(fault) => fault,
        TexError::Document(error) => {
            JobFault::new(FaultCode::TemplateError, log::sentence(&error, origins)).into()
        }
        TexError::Both([(first, before), (second, error)]) => {
            let sentence = log::sentence_of_both((first, &before), (second, &error), origins);
            JobFault::new(FaultCode::TemplateError, sentence).into()
        }
    }
}

/// A run that ended without saying why.
pub(super) fn silent(program: TexProgram, status: ExitStatus) -> StepFault {
    let name = program.name();
    let sentence = format!(
        "{name} ended without a document and without an error ({status}); look for what ends the document before \
         \\end{{document}}, or for what nests without an end"
    );
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// What xdvipdfmx says of pages that it makes no PDF of: as a rule a picture or a font that it does not find.
pub(super) fn unconverted(finished: &Finished) -> StepFault {
    let said = String::from_utf8_lossy(&finished.stderr);
    let said = said.lines().rfind(|line| line.contains("fatal:")).and_then(|line| line.split_once("fatal:"));
    let said = said.map_or_else(|| finished.status.to_string(), |(_, said)| said.trim().to_owned());
    JobFault::new(FaultCode::TemplateError, format!("xdvipdfmx makes no PDF of xelatex's pages: {said}"))
        .into()
}

/// A document without pages.
pub(super) fn no_pages() -> StepFault {
    let sentence = "the document has no pages; put something between \\begin{document} and \\end{document}";
    JobFault::new(FaultCode::TemplateInvalid, sentence).into()
}

/// A run that went well and left no PDF.
pub(super) fn no_file() -> StepFault {
    let sentence = "TeX wrote no PDF; look for what has it write something else, such as \\pdfoutput=0";
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// A list of which nothing came, for a fault of what it is made of.
pub(super) fn unlisted(sentence: &str) -> StepFault {
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// A program that made no list, for a reason that is not known; the first that it printed may tell.
pub(super) fn silent_list(name: &str, finished: &Finished) -> StepFault {
    let said = String::from_utf8_lossy(&finished.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let said: String = said.chars().filter(|letter| !letter.is_control()).take(SAID_LETTERS).collect();
    let sentence = format!("{name} ended without a list ({}) {said}", finished.status);
    JobFault::new(FaultCode::TemplateError, sentence.trim_end()).into()
}

/// A program that a document asks for and that is not here.
pub(super) fn missing(program: TexProgram) -> StepFault {
    lacking(needs::of(program))
}

/// The same of any program.
pub(super) fn lacking(requirement: &'static Requirement) -> StepFault {
    let lack = Lack::Missing(requirement);
    JobFault::new(FaultCode::EngineUnavailable, lack.to_string()).into()
}

/// Names the limits by their keys.
pub(super) fn of_program(error: &ProgramError, config: &TexConfig) -> StepFault {
    program::fault(error, |error| match error {
        ProgramError::TooMuch(excess) => too_much(*excess, config),
        ProgramError::Deadline
        | ProgramError::NotStarted(_)
        | ProgramError::NotFenced
        | ProgramError::Input(_)
        | ProgramError::System(_) => too_late(config),
    })
}

/// The deadline has passed.
pub(super) fn too_late(config: &TexConfig) -> StepFault {
    let limit = config.timeout_ms;
    let sentence = format!(
        "TeX did not finish the document within {limit} ms (tex.timeout_ms); look for a loop that does not end, or have \
         less in it"
    );
    JobFault::new(FaultCode::TemplateLimit, sentence).into()
}

fn too_much(excess: Excess, config: &TexConfig) -> StepFault {
    let (code, taken) = match excess {
        Excess::Memory => {
            let limit = config.memory_limit_mb;
            (FaultCode::TemplateLimit, format!("takes more than {limit} MB of memory (tex.memory_limit_mb)"))
        }
        Excess::Processes => {
            (FaultCode::TemplateLimit, "starts more processes than it may (workers.process_limit)".to_owned())
        }
        Excess::Processor => {
            let limit = config.processor_limit_s;
            let taken = format!("takes more than {limit} s of the processor (tex.processor_limit_s)");
            (FaultCode::TemplateLimit, taken)
        }
        Excess::Written => {
            let limit = config.files_limit_mb;
            let taken = format!("has more than {limit} MB of files (tex.files_limit_mb)");
            (FaultCode::OutputTooLarge, taken)
        }
        Excess::Files => {
            let limit = config.files_limit;
            (FaultCode::TemplateLimit, format!("has more than {limit} files (tex.files_limit)"))
        }
        Excess::Printed => {
            let limit = config.printed_limit_bytes;
            (FaultCode::TemplateLimit, format!("prints more than {limit} bytes (tex.printed_limit_bytes)"))
        }
    };
    let sentence = format!("the document {taken}; look for a loop that does not end, or have less in it");
    JobFault::new(code, sentence).into()
}
