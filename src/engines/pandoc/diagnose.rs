//! Warnings and errors for the author from pandoc's log and output.

use std::sync::Arc;

use latex_pandoc::{Place, Texts};

use super::NAME;
use super::conversion::{LOG, SOURCE};
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::site::Site;
use crate::engines::document::Source;
use crate::engines::error::EngineError;
use crate::engines::program::DocumentLimits;
use crate::engines::source_map::SourceMap;
use crate::thread;
use crate::workers::{Excess, Finished};

/// The longest log that is read.
const LOG_BYTES: u64 = 8 << 20;
/// pandoc's exit code when its heap is exhausted.
const HEAP_EXHAUSTED: i32 = 251;

/// A warning for each thing that pandoc left out or changed.
pub(super) async fn warnings(
    finished: &Finished,
    source: Source,
    files: Arc<Vec<(String, String)>>,
) -> Result<Vec<String>, EngineError> {
    let Ok(log) = finished.read(LOG, LOG_BYTES).await else {
        return Ok(vec!["pandoc left out more than can be told".to_owned()]);
    };
    let diagnosed = move || {
        let texts = files.iter().fold(Texts::default(), |texts, (name, text)| texts.with(name, text));
        let notices = latex_pandoc::notices(&log, &texts);
        let map = map(&source);
        let sentence = |notice: &latex_pandoc::Notice| {
            format!("{}{notice}", place(notice.place.as_ref(), &source.site, map.as_ref()))
        };
        notices.iter().map(sentence).collect()
    };
    // On a thread of its own: all sources may be searched.
    Ok(thread::on_blocking_thread(diagnosed).await?)
}

/// The map from the document's lines to the template's, if the assembler recorded one.
fn map(source: &Source) -> Option<SourceMap> {
    source.source_map.as_ref()?.decode(&String::from_utf8_lossy(source.site.page()?))
}

/// A line of the author's files, as the prefix of a message.
fn place(place: Option<&Place>, site: &Site, map: Option<&SourceMap>) -> String {
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

/// The error of a run without a document. On a thread of its own: the line may be searched for in the whole source.
pub(super) async fn failed(finished: &Finished, source: Source, limits: &DocumentLimits) -> EngineError {
    if finished.status.code() == Some(HEAP_EXHAUSTED) {
        return limits.too_much(NAME, Excess::Memory);
    }
    let stderr = finished.stderr.clone();
    let diagnosed = move || {
        let error = latex_pandoc::error(&String::from_utf8_lossy(&stderr));
        let map = error.place.as_ref().and_then(|_| map(&source));
        let sentence =
            format!("{}{}", place(error.place.as_ref(), &source.site, map.as_ref()), error.message);
        JobError::new(ErrorCode::TemplateError, sentence)
    };
    thread::on_blocking_thread(diagnosed).await.unwrap_or_else(JobError::from).into()
}
