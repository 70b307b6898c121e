//! What is asked of the template registry: everything that changes templates.
//!
//! `http` sends what is public here, and reads by `TemplateReader`. Locks and commits are between the registry and its changes.

use actix::Message;
use bytes::Bytes;
use serde_json::value::RawValue;

use super::locks::{Guard, TemplateLock};
use super::record::Permissions;
use crate::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::problem::Problem;
use crate::storage::index::WriteBatch;
use crate::storage::{CountedUpload, StorageKey, StorageReservation};

/// Begins a template: it has the unfinished tag. Durable when it is answered.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<TemplateId, Problem>")]
pub struct InitTemplate {
    /// For whom.
    pub account: AccountId,
}

/// Makes a staged upload the one that unzip reads, durably.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct CloseTemplateUpload {
    /// Whose.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
    /// The bytes.
    pub upload: CountedUpload,
}

/// A template, and the account that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateRef {
    /// The account that asks.
    pub account: AccountId,
    /// Which template.
    pub template: TemplateId,
}

/// Makes the upload the template's content; done when it is answered, and nothing new when it is repeated.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct UnzipTemplate(pub TemplateRef);

/// Asks for the entry's text. A read, and a message all the same: see its handler.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<String, Problem>")]
pub struct ReadIndexHtml(pub TemplateRef);

/// Replaces the entry's text, in the archive too.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct WriteIndexHtml {
    /// Which template.
    pub of: TemplateRef,
    /// The new text.
    pub text: Bytes,
}

/// What a caller says of a template (`templateInfo`), checked.
#[derive(Clone, Debug)]
pub struct TemplateInfo {
    /// Its title.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// What it is rendered as.
    pub kind: TemplateKind,
    /// A JSON object, as it was sent.
    pub sample_data: Box<RawValue>,
    /// Words to find it by.
    pub categories: Vec<String>,
    /// Who else may use it; as before when the caller says nothing.
    pub permissions: Option<Permissions>,
    /// Where its source code is kept.
    pub link: Option<String>,
}

/// A job whose document is to become a template's preview. What is wrong with the job is passed on as `source` and not
/// answered at once: it does not matter where the template has this preview already.
#[derive(Debug)]
pub struct PreviewJob {
    /// The job.
    pub job: JobId,
    /// What its document shows; the error if the job has no document that can become a preview.
    pub source: Result<PreviewSource, Problem>,
}

/// The content that a preview's document was rendered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewSource {
    /// The template.
    pub template: TemplateId,
    /// The version of its content; `None` for a job of an earlier platen, which did not record it.
    pub version: Option<ObjectId>,
}

/// Both previews.
#[derive(Debug)]
pub struct PreviewJobs {
    /// The picture's.
    pub png: PreviewJob,
    /// The document's.
    pub pdf: PreviewJob,
}

/// Saves a template: from then on it is listed, fetched and rendered. Saved again, it is written anew.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct SaveTemplate {
    /// Which template.
    pub of: TemplateRef,
    /// What is said of it.
    pub info: TemplateInfo,
    /// Its previews.
    pub previews: PreviewJobs,
}

/// Replaces the content of a saved template by that of the unfinished template `content`, which is removed by the same commit.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct UpdateTemplate {
    /// Which template.
    pub of: TemplateRef,
    /// The id under which the new content was uploaded; the present one changes info and previews only.
    pub content: TemplateId,
    /// What is said of it.
    pub info: TemplateInfo,
    /// Its previews.
    pub previews: PreviewJobs,
}

/// Deletes a template with everything of it.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct DeleteTemplate(pub TemplateRef);

/// Deletes all templates of an account that was deleted; answers how many there were. Where it fails half-way, sending it again
/// deletes the rest.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<u64, Problem>")]
pub struct DeleteAccountTemplates(pub AccountId);

/// Copies a saved template; answers the copy's id.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<TemplateId, Problem>")]
pub struct CloneTemplate(pub TemplateRef);

/// Asks for the lock of a template. Changes of one template wait for each other, in the order in which they asked; changes
/// of different ones do not.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<Guard, Problem>")]
pub(in crate::templates) struct LockTemplate(pub TemplateId);

/// Commits a change: when it is answered, its batch is durable and `obsolete_keys` are deleted, in this order; those that could
/// not be deleted are in the deletion log.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::templates) struct CommitChange {
    /// Whose templates.
    pub account: AccountId,
    /// The locks of all templates that the batch names. The registry holds them until the commit has ended, even where the
    /// sender was dropped meanwhile.
    pub lock: TemplateLock,
    /// What is written.
    pub batch: WriteBatch,
    /// What these templates count as stored before and after the commit, in bytes.
    pub bytes_before_after: (u64, u64),
    /// What they count more after it, reserved in the account's quota.
    pub reservation: StorageReservation,
    /// The objects that no record names after it.
    pub obsolete_keys: Vec<StorageKey>,
}
