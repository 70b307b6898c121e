//! What a job's author is told of a document that pandoc made, or of why there is none.

use std::sync::Arc;

use latex_pandoc::{Place, Texts, prepare};

use super::order::{self, LOG, SOURCE};
use crate::config::PandocConfig;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::lines::LineMap;
use crate::domain::site::Site;
use crate::engines::program;
use crate::engines::step::StepFault;
use crate::engines::thread;
use crate::workers::{Excess, Finished, ProgramError};

/// The longest log that is read.
const LOG_BYTES: u64 = 8 << 20;
/// How it ends where its memory is not enough.
const HEAP_EXHAUSTED: i32 = 251;

/// What is not as it is in the PDF, a sentence each.
pub(super) async fn warnings(
    finished: &Finished,
    site: &Site,
    files: Arc<Vec<(String, String)>>,
) -> Result<Vec<String>, StepFault> {
    let Ok(log) = finished.read(LOG, LOG_BYTES).await else {
        return Ok(vec!["pandoc left out more than can be told".to_owned()]);
    };
    let site = site.clone();
    let told = move || {
        let texts = files.iter().fold(Texts::default(), |texts, (name, text)| texts.with(name, text));
        let notices = latex_pandoc::notices(&log, &texts);
        let map = map(&site);
        let sentence = |notice: &latex_pandoc::Notice| {
            format!("{}{notice}", place(notice.place.as_ref(), &site, map.as_ref()))
        };
        notices.iter().map(sentence).collect()
    };
    // As much as all sources, each of which may be looked through.
    Ok(thread::apart(told).await?)
}

/// The document and whatever it may include, by the names that pandoc has for them; the document first.
pub(super) fn texts(site: &Site) -> Vec<(String, String)> {
    let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    let document = site.page().map(|page| (SOURCE.to_owned(), text(page)));
    let is_source = |path: &str| path.rsplit_once('.').is_some_and(|(_, extension)| extension == "tex");
    let others = site.paths().filter(|path| *path != site.entry() && is_source(path) && !order::is_own(path));
    let others = others.filter_map(|path| Some((path.to_owned(), text(&site.text(path)?.content))));
    document.into_iter().chain(others).collect()
}

/// The same as pandoc shall read them.
pub(super) async fn prepared(texts: &Arc<Vec<(String, String)>>) -> Result<Vec<(String, String)>, StepFault> {
    let bytes = texts.iter().map(|(_, text)| text.len()).sum();
    let texts = Arc::clone(texts);
    let prepare = move || texts.iter().map(|(name, text)| (name.clone(), prepare(text))).collect();
    Ok(thread::by_size(bytes, prepare).await?)
}

/// Where the lines of the document come from, if that was noted while it was assembled.
fn map(site: &Site) -> Option<LineMap> {
    site.notes()?.map(&String::from_utf8_lossy(site.page()?))
}

/// A line as its author knows it, for the beginning of a sentence. All lines that are told pass through here.
fn place(place: Option<&Place>, site: &Site, map: Option<&LineMap>) -> String {
    let Some(Place { file, line }) = place else { return String::new() };
    let file = file.strip_prefix("./").unwrap_or(file);
    if file != SOURCE {
        return format!("{file}:{line}: ");
    }
    match map.and_then(|map| map.origin(u32::try_from(*line).ok()?)) {
        Some(origin) => format!("{}:{}: ", origin.file, origin.line),
        None => format!("{}:{line}: ", site.entry()),
    }
}

/// Why pandoc ended without a document.
pub(super) fn failed(finished: &Finished, site: &Site, config: &PandocConfig) -> StepFault {
    if finished.status.code() == Some(HEAP_EXHAUSTED) {
        return too_much(Excess::Memory, config);
    }
    let error = latex_pandoc::error(&String::from_utf8_lossy(&finished.stderr));
    let sentence = format!("{}{}", place(error.place.as_ref(), site, map(site).as_ref()), error.message);
    JobFault::new(FaultCode::TemplateError, sentence).into()
}

/// Names the limits by their keys.
pub(super) fn of_program(error: &ProgramError, config: &PandocConfig) -> StepFault {
    program::fault(error, |error| match error {
        ProgramError::TooMuch(excess) => too_much(*excess, config),
        ProgramError::Deadline
        | ProgramError::NotStarted(_)
        | ProgramError::NotFenced
        | ProgramError::Input(_)
        | ProgramError::System(_) => {
            let limit = config.timeout_ms;
            let sentence = format!(
                "pandoc did not finish the document within {limit} ms (pandoc.timeout_ms); look for a macro that does not \
                 end, or have less in it"
            );
            JobFault::new(FaultCode::TemplateLimit, sentence).into()
        }
    })
}

fn too_much(excess: Excess, config: &PandocConfig) -> StepFault {
    let (code, taken) = match excess {
        Excess::Memory => {
            let limit = config.memory_limit_mb;
            (
                FaultCode::TemplateLimit,
                format!("takes more than {limit} MB of memory (pandoc.memory_limit_mb)"),
            )
        }
        Excess::Processes => {
            (FaultCode::TemplateLimit, "starts more processes than it may (workers.process_limit)".to_owned())
        }
        Excess::Processor => {
            let limit = config.processor_limit_s;
            let taken = format!("takes more than {limit} s of the processor (pandoc.processor_limit_s)");
            (FaultCode::TemplateLimit, taken)
        }
        Excess::Written => {
            let limit = config.files_limit_mb;
            (FaultCode::OutputTooLarge, format!("has more than {limit} MB of files (pandoc.files_limit_mb)"))
        }
        Excess::Files => {
            let limit = config.files_limit;
            (FaultCode::TemplateLimit, format!("has more than {limit} files (pandoc.files_limit)"))
        }
        Excess::Printed => {
            let limit = config.printed_limit_bytes;
            let taken = format!("has pandoc print more than {limit} bytes (pandoc.printed_limit_bytes)");
            (FaultCode::TemplateLimit, taken)
        }
    };
    let sentence = format!("the document {taken}; look for a macro that does not end, or have less in it");
    JobFault::new(code, sentence).into()
}
