//! What a caller sees of a job: the published view that waiters watch.

use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::domain::fault::{JobFault, Warnings};
use crate::domain::format_opts;
use crate::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::storage::StorageKey;

/// The three states that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireStatus {
    /// Takes uploads, waits for its start.
    Initialized,
    /// Queued or running.
    InProgress,
    /// Ended, with a document or without.
    Done,
}

impl WireStatus {
    /// All of them, in the order of a job's life.
    pub const ALL: [Self; 3] = [Self::Initialized, Self::InProgress, Self::Done];

    /// The state of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::InProgress => "in-progress",
            Self::Done => "done",
        }
    }
}

/// The file a job made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Output {
    /// What the file is; records of versions that knew one file a target have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileKind>,
    /// Size of the file.
    pub bytes: u64,
    /// How many pages it has, if it has pages.
    #[serde(default)]
    pub pages: Option<u32>,
    /// Time from the start of the run to its end, in milliseconds.
    pub render_ms: u64,
    /// Time from the start (as the caller asked for it) to the start of the run, in milliseconds.
    pub queue_ms: u64,
    /// The version of the saved template's content that it was made of, if it was made of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ObjectId>,
}

impl Output {
    /// What the file is, of a job that was to make `target`.
    #[must_use]
    pub fn file_of(output: Option<&Self>, target: Target) -> FileKind {
        output.and_then(|output| output.file).unwrap_or(target.file())
    }
}

/// A job as its owner sees it. The address of the output is minted when it is answered.
#[derive(Clone, Debug)]
pub struct JobView {
    /// Which job.
    pub id: JobId,
    /// Whose.
    pub account: AccountId,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
    /// The template named at init, if one was.
    pub template: Option<TemplateId>,
    /// `formatOpts` as the caller sent them, with stars in the place of passwords.
    pub format_opts: Option<std::sync::Arc<RawValue>>,
    /// Where it stands.
    pub status: WireStatus,
    /// The document, once there is one.
    pub output: Option<Output>,
    /// Why there is none.
    pub fault: Option<JobFault>,
    /// What the author wants to know.
    pub warnings: Warnings,
    /// When it was initialized.
    pub created_at: Timestamp,
    /// When its start was asked for.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl JobView {
    /// Whether it ended with a document; none while it has not ended.
    #[must_use]
    pub fn success(&self) -> Option<bool> {
        self.is_done().then_some(self.fault.is_none())
    }

    /// What its document is, or will be as far as is known.
    #[must_use]
    pub fn file(&self) -> FileKind {
        Output::file_of(self.output.as_ref(), self.target)
    }

    /// What the document is called where it is saved, if its caller said so.
    #[must_use]
    pub fn file_name(&self) -> Option<String> {
        let name = format_opts::file_name_of(self.format_opts.as_deref()?)?;
        Some(format_opts::complete_file_name(&name, self.target, self.file()))
    }

    /// Where its document is.
    #[must_use]
    pub fn output_key(&self) -> StorageKey {
        StorageKey::JobOutput(self.account, self.id, self.file())
    }

    /// Whether the job ended and will not change any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.status == WireStatus::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_record_says_or_what_was_asked_for() {
        let read = |text: &str| -> Output { serde_json::from_str(text).unwrap() };
        let before = read(r#"{"bytes":1,"render_ms":2,"queue_ms":3}"#);
        assert_eq!(Output::file_of(Some(&before), Target::Png), FileKind::Png);
        assert_eq!(
            serde_json::to_string(&before).unwrap(),
            r#"{"bytes":1,"pages":null,"render_ms":2,"queue_ms":3}"#
        );
        let several = read(r#"{"file":"zip","bytes":1,"render_ms":2,"queue_ms":3}"#);
        assert_eq!(Output::file_of(Some(&several), Target::Png), FileKind::Zip);
        assert_eq!(Output::file_of(None, Target::Docx), FileKind::Docx);
    }
}
