//! What `http` asks of the job registry (listing and deletion beside: `registry::list`, `registry::delete`).

use std::sync::Arc;

use actix::Message;
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::domain::error::Warnings;
use crate::domain::format_opts::Secrets;
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::jobs::view::JobView;
use crate::outbound::AdmittedUrl;
use crate::problem::Problem;
use crate::storage::{CountedUpload, StorageKey};

/// Which of a job's two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputPart {
    /// The JSON data.
    Data,
    /// The template.
    Template,
}

impl InputPart {
    /// The key of the object of this input.
    pub fn storage_key(self, account: AccountId, job: JobId) -> StorageKey {
        match self {
            Self::Data => StorageKey::JobData(account, job),
            Self::Template => StorageKey::JobTemplate(account, job),
        }
    }
}

/// What a job is to do; the handler has checked it.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The template's kind.
    pub kind: TemplateKind,
    /// What is to be made of it.
    pub target: Target,
    /// The saved template to use; none where the template comes with the request or as an upload.
    pub template: Option<TemplateId>,
    /// A preview: the template need not be saved, and no document is counted.
    pub preview: bool,
    /// `formatOpts` as the caller sent them, with stars in the place of secrets.
    pub format_opts: Option<Arc<RawValue>>,
    /// The secrets that the stars stand for.
    pub secrets: Secrets,
    /// What the caller is to be told of the request; the job keeps it.
    pub warnings: Warnings,
}

impl JobSpec {
    /// A job without options, whose template comes with the request or as an upload.
    pub fn new(kind: TemplateKind, target: Target) -> Self {
        let (format_opts, secrets, warnings) = Default::default();
        Self { kind, target, template: None, preview: false, format_opts, secrets, warnings }
    }
}

/// An `Idempotency-Key`: a request that repeats it means the same job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Idempotency {
    /// SHA-256 of the caller's key.
    pub key: [u8; 32],
    /// SHA-256 of endpoint and body.
    pub request: [u8; 32],
}

/// Creates a job, after a document of the account was reserved. Durable when it is answered.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct InitJob {
    /// The job's account.
    pub account: AccountId,
    /// What the job is to do.
    pub spec: JobSpec,
    /// The JSON data that came in the body.
    pub data: Option<Bytes>,
    /// The template that came in the body (immediate render).
    pub template: Option<Bytes>,
    /// Start it at once (immediate render): one durable write instead of two.
    pub start: bool,
    /// The address that the document is to be delivered to (immediate render).
    pub deliver_to: Option<AdmittedUrl>,
    /// Why the handler refuses a new job. The job that the key has already is answered all the same.
    pub refusal: Option<Problem>,
    /// The caller's key; if it has a job already, that is answered instead of a new one.
    pub idempotency: Option<Idempotency>,
    /// The id of the request, for the log.
    pub request_id: Option<String>,
}

/// Asks for the job of a caller's key, before a new one is checked. None where there is no job yet, also while the
/// request that creates it is being answered: [`InitJob`] decides then.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<Option<watch::Receiver<JobView>>, Problem>")]
pub struct FindRepeat {
    /// The caller's account.
    pub account: AccountId,
    /// The key, and the request that came with it.
    pub idempotency: Idempotency,
}

/// Starts an initialized job; does nothing to one that was started. Answers its view.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct StartJob {
    /// The caller's account.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// The address that the document is to be delivered to.
    pub deliver_to: Option<AdmittedUrl>,
    /// What the caller is to be told of the request; the job keeps it if it is started by it.
    pub warnings: Warnings,
}

/// Asks for the job's view, which follows its changes. It closes when the job is evicted from memory: after its end, or
/// when its actor has panicked.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct WatchJob {
    /// The caller's account.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
}

/// Stages an upload; refused (`upload_closed`) when the job was started.
#[derive(Debug, Message)]
#[rtype(result = "Result<CountedUpload, Problem>")]
pub struct OpenUpload {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// Which input.
    pub part: InputPart,
    /// The most bytes it may have.
    pub limit_bytes: u64,
}

/// Makes a staged upload the job's input, durably; refused (`upload_closed`) when the job was started meanwhile.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct CloseUpload {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// Which input.
    pub part: InputPart,
    /// The staged upload.
    pub upload: CountedUpload,
}
