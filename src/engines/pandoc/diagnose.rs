//! What a job's author is told of a document that pandoc made, or of why there is none.

use std::sync::Arc;

use latex_pandoc::{Place, Texts, prepare};

use super::NAME;
use super::order::{self, LOG, SOURCE};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::lines::LineMap;
use crate::domain::site::Site;
use crate::engines::error::EngineError;
use crate::engines::program::DocumentLimits;
use crate::thread;
use crate::workers::{Excess, Finished};

/// The longest log that is read.
const LOG_BYTES: u64 = 8 << 20;
/// How it ends where its memory is not enough.
const HEAP_EXHAUSTED: i32 = 251;

/// What is not as it is in the PDF, a sentence each.
pub(super) async fn warnings(
    finished: &Finished,
    site: &Site,
    files: Arc<Vec<(String, String)>>,
) -> Result<Vec<String>, EngineError> {
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
pub(super) async fn prepared(
    texts: &Arc<Vec<(String, String)>>,
) -> Result<Vec<(String, String)>, EngineError> {
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

/// Why pandoc ended without a document. On a thread of its own: its line may be looked for in all of the source.
pub(super) async fn failed(finished: &Finished, site: &Site, limits: &DocumentLimits) -> EngineError {
    if finished.status.code() == Some(HEAP_EXHAUSTED) {
        return limits.too_much(NAME, Excess::Memory);
    }
    let (said, site) = (finished.stderr.clone(), site.clone());
    let told = move || {
        let error = latex_pandoc::error(&String::from_utf8_lossy(&said));
        let map = error.place.as_ref().and_then(|_| map(&site));
        let sentence = format!("{}{}", place(error.place.as_ref(), &site, map.as_ref()), error.message);
        JobFault::new(FaultCode::TemplateError, sentence)
    };
    thread::apart(told).await.unwrap_or_else(JobFault::from).into()
}
