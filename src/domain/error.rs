//! The table of a job's `errorCode`s, and the warnings of jobs.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// Longest `error` of a job, in bytes: all faults of an Office template that are listed, and how many more there are.
pub const ERROR_LIMIT_BYTES: usize = 8_192;
/// Longest warning, in characters.
pub const WARNING_LIMIT_CHARS: usize = 300;
/// Most warnings a job keeps; the rest is a count.
pub const WARNING_LIMIT: usize = 50;

/// Why a job ended without a document: the `errorCode` of the job view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ErrorCode {
    /// Started without a template.
    TemplateMissing,
    /// The template cannot be used: the error names the file and says why.
    TemplateInvalid,
    /// The template's code failed: the error names file and line.
    TemplateError,
    /// The template took longer, or more memory, than it may.
    TemplateLimit,
    /// The data is not complete JSON, or nested too deeply.
    DataInvalid,
    /// The job waited in the queue longer than `jobs.queue_timeout_s`.
    QueueTimeout,
    /// The whole run took longer than `jobs.run_timeout_s`.
    RunTimeout,
    /// The load event did not come within `browser.load_timeout_ms`.
    LoadTimeout,
    /// Fonts or the selector did not come within `browser.readiness_timeout_ms`.
    ReadinessTimeout,
    /// The file was not made within `browser.print_timeout_ms`.
    PrintTimeout,
    /// The page could not be loaded at all.
    PageFailed,
    /// The page's renderer crashed (its script's heap was full, or it died otherwise).
    PageCrashed,
    /// The page's renderer took more memory than `browser.renderer_memory_limit_mb`.
    PageMemory,
    /// The options do not fit the document (a page range outside it).
    OptionsInvalid,
    /// The output is larger than `storage.output_limit_bytes`.
    OutputTooLarge,
    /// The document was made and stored, but the URL that it was to be delivered to did not accept it.
    DeliveryFailed,
    /// No tab was free within `browser.lease_timeout_ms`, or no browser runs.
    BrowserUnavailable,
    /// The browser died, and the repeat on another one failed as well.
    BrowserLost,
    /// An engine that the job needs lacks a program, or could not be started.
    EngineUnavailable,
    /// A program of an engine was killed from outside or hung, and again when the job was run once more.
    EngineLost,
    /// The service went down during its runs `jobs.attempt_limit` times.
    AttemptsExhausted,
    /// The job was cancelled.
    Cancelled,
    /// The job was not started within `jobs.start_window_s`.
    Expired,
    /// An error of the service; its log has the cause.
    Internal,
}

impl ErrorCode {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Why a job ended without a document, with a message that a template author can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub struct JobError {
    /// The code.
    pub code: ErrorCode,
    /// The message, at most [`ERROR_LIMIT_BYTES`] long.
    pub message: String,
}

impl JobError {
    /// An error with its message, cut to [`ERROR_LIMIT_BYTES`].
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: shorten(message.into(), ERROR_LIMIT_BYTES) }
    }
}

/// The kind of a warning, for `formatOpts.failOn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum WarningKind {
    /// An exception that nothing in the page caught.
    #[strum(serialize = "exceptions")]
    Exception,
    /// A message of `console.error`.
    Console,
    /// A resource of the page is missing, was refused, or cannot be decoded.
    Missing,
    /// An allowed host answered with a status of 400 or more.
    Status,
}

impl WarningKind {
    /// The word for it in `formatOpts.failOn`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The warnings of a job for its template's author. Bounded: a page can throw a million exceptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warnings {
    kept: Vec<String>,
    dropped: u64,
    /// The first of each kind, even if it was dropped: `failOn` must see it. Needed during a run only, so not serialized.
    #[serde(skip)]
    first: Vec<(WarningKind, String)>,
}

impl Warnings {
    /// Keeps `text` (shortened), or counts it when there are too many; a repeat is kept once.
    pub fn push(&mut self, text: &str) {
        self.keep(short(text));
    }

    /// The same for each of `texts`.
    pub fn push_all(&mut self, texts: impl IntoIterator<Item: AsRef<str>>) {
        texts.into_iter().for_each(|text| self.push(text.as_ref()));
    }

    /// The same for a text of a kind that a caller may ask to fail on.
    pub fn push_kind(&mut self, kind: WarningKind, text: &str) {
        self.push_kinds(&[kind], text);
    }

    /// The same for a text that is of several kinds.
    pub fn push_kinds(&mut self, kinds: &[WarningKind], text: &str) {
        let text = short(text);
        for &kind in kinds {
            self.note_first(kind, &text);
        }
        self.keep(text);
    }

    /// Adds the warnings and counts of `other`.
    pub fn extend(&mut self, other: &Self) {
        other.first.iter().for_each(|(kind, text)| self.note_first(*kind, text));
        other.kept.iter().for_each(|text| self.push(text));
        self.dropped += other.dropped;
    }

    /// The same warnings, each text changed by `change`.
    pub fn map(&self, change: impl Fn(&str) -> String) -> Self {
        let mut changed = Self { dropped: self.dropped, ..Self::default() };
        self.first.iter().for_each(|(kind, text)| changed.note_first(*kind, &change(text)));
        self.kept.iter().for_each(|text| changed.push(&change(text)));
        changed
    }

    /// The first warning of this kind, whether it was kept or only counted.
    pub fn first(&self, kind: WarningKind) -> Option<&str> {
        self.first.iter().find(|(known, _)| *known == kind).map(|(_, text)| text.as_str())
    }

    /// How many there were, also of those that were dropped.
    pub fn count(&self) -> u64 {
        self.kept.len() as u64 + self.dropped
    }

    /// The warnings as they go on the wire; the last one is the count of what was dropped.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.kept.clone();
        if self.dropped > 0 {
            lines.push(format!("and {} more", self.dropped));
        }
        lines
    }

    fn note_first(&mut self, kind: WarningKind, text: &str) {
        if self.first(kind).is_none() {
            self.first.push((kind, text.to_owned()));
        }
    }

    fn keep(&mut self, text: String) {
        if self.kept.contains(&text) {
            return;
        }
        if self.kept.len() < WARNING_LIMIT { self.kept.push(text) } else { self.dropped += 1 }
    }
}

fn short(text: &str) -> String {
    text.chars().take(WARNING_LIMIT_CHARS).collect()
}

fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit - '…'.len_utf8()).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_between_characters() {
        let error = JobError::new(ErrorCode::TemplateError, "ä".repeat(5_000));
        assert!(error.message.len() <= ERROR_LIMIT_BYTES);
        assert!(error.message.ends_with('…'));
    }

    #[test]
    fn warnings_are_counted_when_there_are_too_many() {
        let mut warnings = Warnings::default();
        (0..60).for_each(|number| warnings.push(&format!("{number} {}", "x".repeat(400))));
        warnings.push(&format!("0 {}", "x".repeat(400)));
        let lines = warnings.lines();
        assert_eq!(lines.len(), WARNING_LIMIT + 1);
        assert_eq!(lines[0].chars().count(), WARNING_LIMIT_CHARS);
        assert_eq!(lines[WARNING_LIMIT], "and 10 more");
    }

    #[test]
    fn the_first_of_a_kind_is_known_even_when_dropped_and_is_not_serialized() {
        let mut warnings = Warnings::default();
        (0..60).for_each(|number| warnings.push(&number.to_string()));
        warnings.push_kind(WarningKind::Status, "one");
        warnings.push_kind(WarningKind::Status, "two");
        let mut all = Warnings::default();
        all.push_kind(WarningKind::Missing, "gone");
        all.extend(&warnings);
        assert_eq!(all.first(WarningKind::Status), Some("one"));
        assert_eq!(all.first(WarningKind::Missing), Some("gone"));
        assert_eq!(all.first(WarningKind::Console), None);
        let record = serde_json::to_string(&warnings).unwrap();
        assert!(record.ends_with("],\"dropped\":12}"), "as records were before there were kinds: {record}");
        let read: Warnings = serde_json::from_str(&record).unwrap();
        assert_eq!((read.lines(), read.first(WarningKind::Status)), (warnings.lines(), None));
    }
}
