//! Errors for the author where no pictures were made.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use nix::libc;

use crate::config::RasterConfig;
use crate::domain::error::{ErrorCode, JobError};
use crate::engines::error::{EngineError, lost};
use crate::workers::WorkerError;
use crate::workers::raster::RasterError;

/// Its name in sentences.
const RASTER: &str = "the process that draws the pictures";
/// In the message of a process that has used up its stack.
const STACK_WORDS: &str = "has overflowed its stack";

/// Names the limits by their keys.
pub(super) struct Diagnosis<'a> {
    pub config: &'a RasterConfig,
    /// Dots an inch, where they were given.
    pub dpi: Option<u16>,
}

impl Diagnosis<'_> {
    /// An error in the document or the options.
    pub(super) fn of_document(&self, error: &RasterError) -> JobError {
        match error {
            RasterError::Encrypted => invalid("the PDF wants a password to be opened; make it without one"),
            RasterError::UnknownEncryption => {
                invalid("the PDF is encrypted in a way that cannot be read; make it without encryption")
            }
            RasterError::Damaged => invalid("the PDF is damaged, or none: it cannot be read"),
            RasterError::NoPages => invalid("the PDF has no pages, so there is nothing to make a picture of"),
            RasterError::Undrawable { page } => {
                invalid(&format!("page {page} of the PDF is damaged: it cannot be drawn"))
            }
            RasterError::Unencodable { page, why } => {
                tracing::error!(error = why, "a picture cannot be written");
                let sentence = format!(
                    "the picture of page {page} could not be written; the service's log has the cause"
                );
                JobError::new(ErrorCode::Internal, sentence)
            }
            RasterError::NoSuchPage { page, count } => options(format!(
                "page {page} of {count} does not exist; name one from 1 to {count} (formatOpts.page, pages, fromPage)"
            )),
            RasterError::TooManyPages { wanted, limit } => options(format!(
                "{wanted} pages are more than {limit} (raster.pages_limit); ask for some of them (formatOpts.pages)"
            )),
            RasterError::TooManyPixels { page, width, height, limit } => options(format!(
                "page {page} would be {width} × {height} pixels{}, more than {limit} in all (raster.picture_limit_pixels); \
                 give a smaller formatOpts.dpi",
                self.at_dpi()
            )),
            RasterError::TooLong { page, width, height, limit } => options(format!(
                "page {page} would be {width} × {height} pixels{}, and a side has at most {limit}; give a smaller \
                 formatOpts.dpi",
                self.at_dpi()
            )),
        }
    }

    fn at_dpi(&self) -> String {
        self.dpi.map(|dpi| format!(" at {dpi} dpi")).unwrap_or_default()
    }

    /// The child ended without an answer.
    pub(super) fn of_worker(&self, error: &WorkerError) -> EngineError {
        match error {
            WorkerError::Deadline => self.too_late().into(),
            WorkerError::TooMuch(_) => self.out_of_memory().into(),
            WorkerError::Died { status, stderr } => self.death(*status, stderr).into(),
            WorkerError::NotStarted(cause) => EngineError::NotStarted(cause.clone()),
            WorkerError::KilledFromOutside(killed) => lost(RASTER, killed).into(),
            WorkerError::Hung(hung) => lost(RASTER, hung).into(),
            WorkerError::TooLong | WorkerError::Protocol(_) => EngineError::internal(&error.to_string()),
        }
    }

    /// A child that died: a limit of the system ends it by a signal; the renderer itself never exits.
    fn death(&self, status: ExitStatus, stderr: &str) -> JobError {
        tracing::warn!(status = %status, words = stderr, "a process that made pictures died");
        match status.signal() {
            _ if stderr.contains(STACK_WORDS) => invalid("the PDF is nested too deeply to be drawn"),
            Some(libc::SIGABRT) => self.out_of_memory(),
            Some(libc::SIGXCPU) => self.too_late(),
            _ => invalid("the PDF is damaged: it cannot be drawn"),
        }
    }

    fn out_of_memory(&self) -> JobError {
        let sentence = format!(
            "the PDF and its pictures need more than {} MB of memory (raster.memory_limit_mb); give a smaller \
             formatOpts.dpi, or have less in the document",
            self.config.memory_limit_mb
        );
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }

    fn too_late(&self) -> JobError {
        let sentence = format!(
            "the PDF did not become pictures within {} ms (raster.timeout_ms) and {} ms a page (raster.page_timeout_ms); give \
             a smaller formatOpts.dpi, ask for fewer pages, or have less in the document",
            self.config.timeout_ms, self.config.page_timeout_ms
        );
        JobError::new(ErrorCode::TemplateLimit, sentence)
    }
}

fn invalid(sentence: &str) -> JobError {
    JobError::new(ErrorCode::TemplateInvalid, sentence)
}

fn options(sentence: String) -> JobError {
    JobError::new(ErrorCode::OptionsInvalid, sentence)
}
