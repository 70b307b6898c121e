//! What a job's author is told when LibreOffice made nothing of the document.

use crate::config::OfficeConfig;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::format_opts::PageOptions;
use crate::engines::error::EngineError;
use crate::workers::libreoffice::Converted;
use crate::workers::{Bounds, Excess, WorkerFault};

/// Names the limits by their keys.
pub(super) struct Sentences<'a> {
    pub config: &'a OfficeConfig,
    pub bounds: Bounds,
    pub options: &'a PageOptions,
}

impl Sentences<'_> {
    /// Why a document did not become another.
    pub fn of_document(&self, converted: Converted) -> EngineError {
        let (code, sentence) = match converted {
            Converted::Made(_) => return EngineError::internal("a document was made and is not there"),
            Converted::Broken(cause) => return EngineError::internal(&cause),
            // Where it says nothing at all, it was often refused memory in one large piece.
            Converted::Unreadable(why) if why.is_empty() => {
                let limit = self.config.memory_limit_mb;
                let sentence = format!(
                    "LibreOffice could not read the document: it is broken, or needs more than {limit} MB of memory \
                     (office.memory_limit_mb)"
                );
                (FaultCode::TemplateInvalid, sentence)
            }
            Converted::Unreadable(why) => (
                FaultCode::TemplateInvalid,
                format!(
                    "LibreOffice could not read the document{}; open it in its program and save it anew",
                    told(&why)
                ),
            ),
            Converted::Unwritable(why) => (
                FaultCode::TemplateInvalid,
                format!(
                    "LibreOffice read the document and could not make anything of it{}; a document without pages cannot become \
                     any",
                    told(&why)
                ),
            ),
            Converted::NoSuchPages(count) => (FaultCode::OptionsInvalid, self.outside(count)),
            Converted::NoHtml(why) => (
                FaultCode::TemplateLimit,
                format!("the document did not become html{}; have less in it", told(&why)),
            ),
            Converted::Late => {
                let limit = self.config.timeout_ms;
                let sentence = format!(
                    "LibreOffice did not finish the document within {limit} ms (office.timeout_ms); have less in it"
                );
                (FaultCode::TemplateLimit, sentence)
            }
            Converted::OutOfMemory => return self.out_of_memory(),
            Converted::TooLong => return self.too_long(),
            Converted::Crashed(signal) => (
                FaultCode::TemplateInvalid,
                format!(
                    "LibreOffice crashed on the document (signal {signal}); open it in its program and save it anew, or have \
                     less in it"
                ),
            ),
        };
        JobFault::new(code, sentence).into()
    }

    /// Why a server did not answer.
    pub fn of_server(&self, fault: WorkerFault) -> EngineError {
        match fault {
            WorkerFault::Deadline => self.of_document(Converted::Late),
            WorkerFault::TooLong | WorkerFault::TooMuch(Excess::Written) => self.too_long(),
            WorkerFault::TooMuch(Excess::Memory) => self.out_of_memory(),
            fault @ WorkerFault::TooMuch(
                Excess::Files | Excess::Printed | Excess::Processes | Excess::Processor,
            ) => {
                let sentence = format!("LibreOffice: {fault}; have less in the document");
                JobFault::new(FaultCode::TemplateLimit, sentence).into()
            }
            WorkerFault::NotStarted(cause) => EngineError::NotStarted(cause),
            fault @ (WorkerFault::Died { .. } | WorkerFault::Astray(_)) => {
                EngineError::internal(&format!("LibreOffice: {fault}"))
            }
        }
    }

    fn out_of_memory(&self) -> EngineError {
        let limit = self.config.memory_limit_mb;
        let sentence = format!(
            "LibreOffice needs more than {limit} MB of memory for the document (office.memory_limit_mb); have less in it"
        );
        JobFault::new(FaultCode::TemplateLimit, sentence).into()
    }

    fn too_long(&self) -> EngineError {
        let limit = self.bounds.scratch_bytes >> 20;
        let sentence =
            format!("LibreOffice writes more than {limit} MB for the document (workers.scratch_limit_mb)");
        JobFault::new(FaultCode::OutputTooLarge, sentence).into()
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

/// What LibreOffice says of it, where that is for people: not where it names classes and paths.
fn told(why: &str) -> String {
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
    fn what_a_server_took_too_much_of_is_named_by_its_key() {
        let config = Config::default();
        let sentences = Sentences {
            config: &config.office,
            bounds: Bounds::new(&config.workers),
            options: &PageOptions::default(),
        };
        for (excess, code, key) in [
            (Excess::Memory, FaultCode::TemplateLimit, "(office.memory_limit_mb)"),
            (Excess::Written, FaultCode::OutputTooLarge, "(workers.scratch_limit_mb)"),
            (Excess::Files, FaultCode::TemplateLimit, "(workers.scratch_files_limit)"),
            (Excess::Processes, FaultCode::TemplateLimit, "(workers.process_limit)"),
        ] {
            let EngineError::Job(fault) = sentences.of_server(WorkerFault::TooMuch(excess)) else {
                panic!("{excess:?} is the document's doing")
            };
            assert_eq!(fault.code, code, "{excess:?}");
            assert!(fault.message.contains(key), "{}", fault.message);
        }
    }
}
