//! What callers see of a job. The job's actor publishes a view for each durable change, and waiting requests watch it.

use serde_json::value::RawValue;
use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::clock::Timestamp;
use crate::domain::error::{JobError, Warnings};
use crate::domain::format_opts;
use crate::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::storage::StorageKey;

/// The three states that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum WireStatus {
    /// It takes uploads and waits for its start.
    Initialized,
    /// It is queued or runs.
    InProgress,
    /// It ended, with a document or without.
    Done,
}

impl WireStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The document of a job.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Output {
    /// The kind of its file. Older versions knew one file a target, and their records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileKind>,
    /// Its size.
    pub bytes: u64,
    /// Its pages, if it has pages.
    #[serde(default)]
    pub pages: Option<u32>,
    /// How long the run took, in milliseconds.
    pub render_ms: u64,
    /// From the caller's start to the beginning of the run, in milliseconds.
    pub queue_ms: u64,
    /// The version of the saved template's content, if the template is a saved one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ObjectId>,
}

impl Output {
    /// The kind of the file of a job for `target`; the target's usual one where no output says otherwise.
    pub fn file_of(output: Option<&Self>, target: Target) -> FileKind {
        output.and_then(|output| output.file).unwrap_or(target.file())
    }
}

/// A job as its owner sees it. The presigned URL of the document is made anew for each answer.
#[derive(Clone, Debug)]
pub struct JobView {
    /// Which job.
    pub id: JobId,
    /// Its account.
    pub account: AccountId,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What is made of it.
    pub target: Target,
    /// The saved template that was named at init.
    pub template: Option<TemplateId>,
    /// `formatOpts` as the caller sent them, with stars in the place of secrets.
    pub format_opts: Option<std::sync::Arc<RawValue>>,
    /// Its state.
    pub status: WireStatus,
    /// The document, until it expires.
    pub output: Option<Output>,
    /// Why there is no document, or why it was not delivered.
    pub error: Option<JobError>,
    /// Warnings for the template's author.
    pub warnings: Warnings,
    /// When it was initialized.
    pub created_at: Timestamp,
    /// When the caller started it.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl JobView {
    /// Whether it ended without an error; none while it has not ended.
    pub fn success(&self) -> Option<bool> {
        self.is_done().then_some(self.error.is_none())
    }

    /// The kind of its document; before there is one, the usual one of its target.
    pub fn file(&self) -> FileKind {
        Output::file_of(self.output.as_ref(), self.target)
    }

    /// The file name that the caller asked for, with the suffix of the document's kind.
    pub fn file_name(&self) -> Option<String> {
        let name = format_opts::file_name_of(self.format_opts.as_deref()?)?;
        Some(format_opts::complete_file_name(&name, self.target, self.file()))
    }

    /// The object of its document.
    pub fn output_key(&self) -> StorageKey {
        StorageKey::JobOutput(self.account, self.id, self.file())
    }

    /// Whether the job has ended.
    pub fn is_done(&self) -> bool {
        self.status == WireStatus::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_kind_is_that_of_the_record_or_of_the_target() {
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
