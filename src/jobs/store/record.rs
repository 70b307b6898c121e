//! A job on disk, and what its owner sees of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::accounts::UsageKey;
use crate::clock::Timestamp;
use crate::domain::fault::{JobFault, Warnings};
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::domain::job::JobState;
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::jobs::messages::JobSpec;
use crate::jobs::store::secrets::Secret;
use crate::jobs::view::{JobView, Output, WireStatus};
use crate::pipeline::InputSet;

/// Everything that lasts of a job, except its objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobRecord {
    /// Which job.
    pub id: JobId,
    /// Whose.
    pub account: AccountId,
    /// Where it stands.
    pub state: JobState,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
    /// The template named at init.
    pub template: Option<TemplateId>,
    /// It is a preview of that template.
    #[serde(default)]
    pub preview: bool,
    /// `formatOpts` as the caller sent them, with stars in the place of passwords.
    pub format_opts: Option<Box<RawValue>>,
    /// The inputs that came with the request: an uploaded one beside does not count.
    pub given: InputSet,
    /// The inputs that lie in the journal, not in the store.
    pub journaled: InputSet,
    /// Where the job was counted; nothing was counted when there is none.
    pub usage: Option<UsageKey>,
    /// What the inputs count as stored: those that came with init and, once it was started, uploads.
    #[serde(default)]
    pub stored_bytes: u64,
    /// Where the document is to be delivered, until the job has ended.
    #[serde(default)]
    pub deliver_to: Option<String>,
    /// What is kept of the passwords, until the job has ended.
    #[serde(default)]
    pub secret: Secret,
    /// How often a run has begun (as far as it was written).
    pub attempts: u64,
    /// When it was initialized.
    pub created_at: Timestamp,
    /// When its start was asked for.
    pub started_at: Option<Timestamp>,
    /// When its last run began.
    pub run_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The document.
    pub output: Option<Output>,
    /// Why there is none.
    pub fault: Option<JobFault>,
    /// What the author wants to know.
    pub warnings: Warnings,
}

impl JobRecord {
    /// A job as it is initialized at `now`.
    #[must_use]
    pub fn new(account: AccountId, spec: JobSpec, now: Timestamp) -> Self {
        Self {
            id: JobId::generate(),
            account,
            state: JobState::Initialized,
            kind: spec.kind,
            target: spec.target,
            template: spec.template,
            preview: spec.preview,
            format_opts: spec.format_opts.map(|raw| RawValue::to_owned(&raw)),
            given: InputSet::default(),
            journaled: InputSet::default(),
            usage: None,
            stored_bytes: 0,
            deliver_to: None,
            secret: Secret::None,
            attempts: 0,
            created_at: now,
            started_at: None,
            run_at: None,
            finished_at: None,
            output: None,
            fault: None,
            warnings: Warnings::default(),
        }
    }

    /// What its document is, or will be as far as is known.
    #[must_use]
    pub fn file(&self) -> FileKind {
        Output::file_of(self.output.as_ref(), self.target)
    }

    /// What the owner sees.
    #[must_use]
    pub fn view(&self) -> JobView {
        JobView {
            id: self.id,
            account: self.account,
            kind: self.kind,
            target: self.target,
            template: self.template,
            format_opts: self.format_opts.clone().map(Arc::from),
            status: wire_status(self.state),
            output: self.output.clone(),
            fault: self.fault.clone(),
            warnings: self.warnings.clone(),
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
        }
    }
}

fn wire_status(state: JobState) -> WireStatus {
    match state {
        JobState::Initialized => WireStatus::Initialized,
        JobState::Queued | JobState::Running => WireStatus::InProgress,
        JobState::Done | JobState::Failed | JobState::Cancelled | JobState::Expired => WireStatus::Done,
    }
}
