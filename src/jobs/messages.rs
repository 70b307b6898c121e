//! What can be asked of the job registry. Handlers know nothing else of jobs.

use std::sync::Arc;

use actix::Message;
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::domain::format_opts::Secrets;
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::jobs::view::JobView;
use crate::outbound::Admitted;
use crate::problem::Problem;
use crate::storage::CountedUpload;

/// Which of a job's two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputPart {
    /// The JSON data.
    Data,
    /// The template.
    Template,
}

/// What a job is to do, as checked by the handler.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The template's kind.
    pub kind: TemplateKind,
    /// What it is to become.
    pub target: Target,
    /// The template to use, if it is not uploaded.
    pub template: Option<TemplateId>,
    /// It shows what a template will look like: the template need not be saved, and nothing is counted.
    pub preview: bool,
    /// `formatOpts` as the caller sent them (checked already), with stars in the place of secrets.
    pub format_opts: Option<Arc<RawValue>>,
    /// The secrets that were there.
    pub secrets: Secrets,
}

/// What an `Idempotency-Key` says of a request: whoever sends it again means the same job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Idempotency {
    /// SHA-256 of the caller's key.
    pub key: [u8; 32],
    /// SHA-256 of endpoint and body.
    pub request: [u8; 32],
}

/// Creates a job after the subscription check. Durable when it is answered.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct InitJob {
    /// For whom.
    pub account: AccountId,
    /// What it is to do.
    pub spec: JobSpec,
    /// Data sent in the body, as the bytes received.
    pub data: Option<Bytes>,
    /// Template text sent in the body (immediate render).
    pub template: Option<Bytes>,
    /// Start it at once (immediate render): one durable write instead of two.
    pub start: bool,
    /// Where the document is to be delivered (immediate render).
    pub deliver_to: Option<Admitted>,
    /// Why no job may be made of it, if so; the job that its key stands for already is answered all the same.
    pub refusal: Option<Problem>,
    /// The caller's key, if there is one: the job that it stands for already is answered.
    pub idempotency: Option<Idempotency>,
}

/// Asks for the job that a caller's key stands for already, before anything is decided for a new one. None where it
/// stands for no job yet, or the request that makes one is being answered: [`InitJob`] decides then.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<Option<watch::Receiver<JobView>>, Problem>")]
pub struct FindRepeat {
    /// Who asks.
    pub account: AccountId,
    /// The key, and the request that came with it.
    pub idempotency: Idempotency,
}

/// Starts an initialized job; of a job that runs or ended it answers the present state.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct StartJob {
    /// Who asks.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// Where the document is to be delivered.
    pub deliver_to: Option<Admitted>,
}

/// Gives a view of the job that follows its changes; it closes when the job leaves memory, which is
/// after it is done.
#[derive(Debug, Message)]
#[rtype(result = "Result<watch::Receiver<JobView>, Problem>")]
pub struct WatchJob {
    /// Who asks.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
}

/// Asks for a place to stage an upload; refused (`upload_closed`) when the job has started.
#[derive(Debug, Message)]
#[rtype(result = "Result<CountedUpload, Problem>")]
pub struct OpenUpload {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// Which input.
    pub part: InputPart,
    /// Most bytes it may have.
    pub limit_bytes: u64,
}

/// Makes a staged upload the job's input, durably; refused (`upload_closed`) when the job has been
/// started in the meantime.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub struct CloseUpload {
    /// Whose job.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
    /// Which input.
    pub part: InputPart,
    /// The bytes.
    pub upload: CountedUpload,
}
