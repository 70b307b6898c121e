//! A job's durable record, and the view that is made of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tracing::field::Empty;

use crate::accounts::UsageKey;
use crate::clock::Timestamp;
use crate::domain::error::{JobError, Warnings};
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::domain::job::JobState;
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::jobs::messages::JobSpec;
use crate::jobs::view::{JobView, Output, WireStatus};
use crate::pipeline::InputSet;
use crate::storage::StorageKey;

/// Everything durable of a job but its objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobRecord {
    /// Which job.
    pub id: JobId,
    /// Whose.
    pub account: AccountId,
    /// Its state.
    pub state: JobState,
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it becomes.
    pub target: Target,
    /// The template named at init.
    pub template: Option<TemplateId>,
    /// The job is a preview of that template: the template need not be saved, and no document is counted.
    #[serde(default)]
    pub preview: bool,
    /// The id of the request that made the job, by which both are found in the log.
    #[serde(default)]
    pub request_id: Option<String>,
    /// `formatOpts` as the caller sent them, with stars in the place of passwords.
    pub format_opts: Option<Box<RawValue>>,
    /// The inputs that came with init; an upload beside them is dropped.
    pub given: InputSet,
    /// The inputs that are in the journal, not in the store.
    pub journaled: InputSet,
    /// The counter that holds its document; none for a preview.
    pub usage: Option<UsageKey>,
    /// Bytes of the inputs that count in the account's storage: those of init and, from the start on, uploads.
    #[serde(default)]
    pub stored_bytes: u64,
    /// The address that the document is delivered to, until the job has ended.
    #[serde(default)]
    pub deliver_to: Option<String>,
    /// The record's half of the secrets, until the job has ended.
    #[serde(default)]
    pub secret: SecretHalf,
    /// How many runs have begun. Written unsynced, so that a crash may lose the last one.
    pub attempts: u64,
    /// When it was initialized.
    pub created_at: Timestamp,
    /// When the caller started it.
    pub started_at: Option<Timestamp>,
    /// When its last run began.
    pub run_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The document, until it expires.
    pub output: Option<Output>,
    /// Why there is no document, or why it was not delivered.
    #[serde(rename = "fault")]
    pub error: Option<JobError>,
    /// Warnings for the template's author.
    pub warnings: Warnings,
}

/// What the record has of the job's secrets (`secrets.rs`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretHalf {
    /// The job has no secrets.
    #[default]
    None,
    /// Random bytes in base64; with those of the object they are the secrets.
    Half(String),
    /// The job had secrets and has ended.
    Erased,
}

impl SecretHalf {
    /// Whether the job has, or had, secrets.
    pub fn is_some(&self) -> bool {
        *self != Self::None
    }

    /// What the record keeps when the job has ended.
    pub fn erased(&self) -> Self {
        if self.is_some() { Self::Erased } else { Self::None }
    }
}

impl JobRecord {
    /// A job that is initialized at `now`.
    pub fn new(account: AccountId, spec: JobSpec, now: Timestamp) -> Self {
        Self {
            id: JobId::generate(),
            account,
            state: JobState::Initialized,
            kind: spec.kind,
            target: spec.target,
            template: spec.template,
            preview: spec.preview,
            request_id: None,
            format_opts: spec.format_opts.map(|raw| RawValue::to_owned(&raw)),
            given: InputSet::default(),
            journaled: InputSet::default(),
            usage: None,
            stored_bytes: 0,
            deliver_to: None,
            secret: SecretHalf::None,
            attempts: 0,
            created_at: now,
            started_at: None,
            run_at: None,
            finished_at: None,
            output: None,
            error: None,
            warnings: spec.warnings,
        }
    }

    /// This moment, or that of the job's last event where the clock was put back since: the job's times stay in their order.
    pub fn not_before(&self, now: Timestamp) -> Timestamp {
        let events = [self.started_at, self.run_at].into_iter().flatten();
        events.fold(self.created_at, Timestamp::max).max(now)
    }

    /// The kind of its document; before there is one, the usual one of its target.
    pub fn file(&self) -> FileKind {
        Output::file_of(self.output.as_ref(), self.target)
    }

    /// The object of its document.
    pub fn output_key(&self) -> StorageKey {
        StorageKey::JobOutput(self.account, self.id, self.file())
    }

    /// The span of the job's lines in the log. It is of the level of errors: a filter that leaves out a span leaves out its
    /// fields, also of the lines that it lets through.
    pub(in crate::jobs) fn span(&self) -> tracing::Span {
        tracing::error_span!(
            "job", job.id = %self.id, account.id = %self.account, http.request_id = self.request_id,
            render.kind = self.kind.name(), render.target = self.target.name(),
            template.id = self.template.map(tracing::field::display),
            job.attempt = Empty, job.queue_ms = Empty,
        )
    }

    /// What the job's owner sees.
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
            error: self.error.clone(),
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
