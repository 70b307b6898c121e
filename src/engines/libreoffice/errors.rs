//! Errors for the author where LibreOffice made no document.

use crate::config::OfficeConfig;
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::format_opts::PageOptions;
use crate::engines::error::{EngineError, lost};
use crate::workers::libreoffice::Converted;
use crate::workers::{Bounds, Excess, WorkerError, is_from_outside};

/// Its name in errors for authors.
const LIBRE_OFFICE: &str = "LibreOffice";

/// Names the limits by their keys.
pub(super) struct Diagnosis<'a> {
    pub config: &'a OfficeConfig,
    pub bounds: Bounds,
    pub options: &'a PageOptions,
}

impl Diagnosis<'_> {
    /// Why a document did not become another.
    pub fn of_document(&self, converted: Converted) -> EngineError {
        let (code, sentence) = match converted {
            Converted::Made(_) => return EngineError::internal("a document was made and is not there"),
            Converted::Broken(cause) => return EngineError::internal(&cause),
            // Without a reason: often one large allocation was refused.
            Converted::Unreadable(why) if why.is_empty() => {
                let limit = self.config.memory_limit_mb;
                let sentence = format!(
                    "LibreOffice could not read the document: it is broken, or needs more than {limit} MB of memory \
                     (office.memory_limit_mb)"
                );
                (ErrorCode::TemplateInvalid, sentence)
            }
            Converted::Unreadable(why) => (
                ErrorCode::TemplateInvalid,
                format!(
                    "LibreOffice could not read the document{}; open it in its program and save it anew",
                    readable_reason(&why)
                ),
            ),
            Converted::Unwritable(why) => (
                ErrorCode::TemplateInvalid,
                format!(
                    "LibreOffice read the document and could not make anything of it{}; a document without pages cannot become \
                     any",
                    readable_reason(&why)
                ),
            ),
            Converted::NoSuchPages(count) => (ErrorCode::OptionsInvalid, self.outside(count)),
            Converted::NoHtml(why) => (
                ErrorCode::TemplateLimit,
                format!("the document did not become html{}; have less in it", readable_reason(&why)),
            ),
            Converted::Late => {
                let limit = self.config.timeout_ms;
                let sentence = format!(
                    "LibreOffice did not finish the document within {limit} ms (office.timeout_ms); have less in it"
                );
                (ErrorCode::TemplateLimit, sentence)
            }
            Converted::OutOfMemory => return self.out_of_memory(),
            Converted::TooLong => return self.too_long(),
            Converted::Crashed(signal) if is_from_outside(signal) => {
                return lost(LIBRE_OFFICE, format!("was killed from outside (signal {signal})")).into();
            }
            Converted::Crashed(signal) => (
                ErrorCode::TemplateInvalid,
                format!(
                    "LibreOffice crashed on the document (signal {signal}); open it in its program and save it anew, or have \
                     less in it"
                ),
            ),
        };
        JobError::new(code, sentence).into()
    }

    /// Why a server did not answer.
    pub fn of_server(&self, error: WorkerError) -> EngineError {
        match error {
            WorkerError::Deadline => self.of_document(Converted::Late),
            WorkerError::TooLong | WorkerError::TooMuch(Excess::Written) => self.too_long(),
            WorkerError::TooMuch(Excess::Memory) => self.out_of_memory(),
            error @ WorkerError::TooMuch(
                Excess::Files | Excess::Printed | Excess::Processes | Excess::Processor,
            ) => {
                let sentence = format!("LibreOffice: {error}; have less in the document");
                JobError::new(ErrorCode::TemplateLimit, sentence).into()
            }
            WorkerError::NotStarted(cause) => EngineError::NotStarted(cause),
            // A document is in a process of its own, so it is not the reason of a server's end.
            error @ WorkerError::Died { .. } => {
                tracing::warn!(error = %error, "LibreOffice ended");
                lost(LIBRE_OFFICE, "ended by itself").into()
            }
            WorkerError::KilledFromOutside(killed) => lost(LIBRE_OFFICE, killed).into(),
            WorkerError::Hung(hung) => lost(LIBRE_OFFICE, hung).into(),
            error @ WorkerError::Protocol(_) => EngineError::internal(&format!("LibreOffice: {error}")),
        }
    }

    fn out_of_memory(&self) -> EngineError {
        let limit = self.config.memory_limit_mb;
        let sentence = format!(
            "LibreOffice needs more than {limit} MB of memory for the document (office.memory_limit_mb); have less in it"
        );
        JobError::new(ErrorCode::TemplateLimit, sentence).into()
    }

    fn too_long(&self) -> EngineError {
        let limit = self.bounds.scratch_bytes >> 20;
        let sentence =
            format!("LibreOffice writes more than {limit} MB for the document (workers.scratch_limit_mb)");
        JobError::new(ErrorCode::OutputTooLarge, sentence).into()
    }

    fn outside(&self, count: u32) -> String {
        let (from, to) = (self.options.from_page.unwrap_or(1), self.options.to_page);
        let end = to.map(|to| to.to_string()).unwrap_or_default();
        format!(
            "the document has no pages {from}-{end} (formatOpts.fromPage, toPage), it ends with page {count}; ask for pages \
             that it has"
        )
    }
}

/// LibreOffice's reason in brackets if it is a sentence for people; empty if it names classes or paths.
fn readable_reason(why: &str) -> String {
    let why = why.trim().trim_end_matches('.');
    let is_sentence = why.contains(char::is_whitespace)
        && !["::", "://", "loadComponent"].iter().any(|word| why.contains(word));
    if is_sentence { format!(" ({why})") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn an_exceeded_limit_is_named_by_its_key() {
        let config = Config::default();
        let diagnosis = Diagnosis {
            config: &config.office,
            bounds: Bounds::new(&config.workers),
            options: &PageOptions::default(),
        };
        for (excess, code, key) in [
            (Excess::Memory, ErrorCode::TemplateLimit, "(office.memory_limit_mb)"),
            (Excess::Written, ErrorCode::OutputTooLarge, "(workers.scratch_limit_mb)"),
            (Excess::Files, ErrorCode::TemplateLimit, "(workers.scratch_files_limit)"),
            (Excess::Processes, ErrorCode::TemplateLimit, "(workers.process_limit)"),
        ] {
            let EngineError::Job(error) = diagnosis.of_server(WorkerError::TooMuch(excess)) else {
                panic!("{excess:?} is the document's doing")
            };
            assert_eq!(error.code, code, "{excess:?}");
            assert!(error.message.contains(key), "{}", error.message);
        }
    }
}
