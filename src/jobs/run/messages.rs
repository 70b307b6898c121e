//! What the registry asks of a job's actor.

use actix::prelude::*;
use bytes::Bytes;

use crate::domain::error::Warnings;
use crate::jobs::messages::InputPart;
use crate::jobs::run::notices::RunSlot;
use crate::jobs::store::stored_inputs::CountedInputs;
use crate::jobs::view::JobView;
use crate::outbound::AdmittedUrl;
use crate::pipeline::InlineInputs;
use crate::problem::Problem;
use crate::storage::CountedUpload;
use crate::storage::index::WriteBatch;

/// Writes a new job and its inputs together with `batch`; enters the state of a started job if `start`.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct Create {
    pub inline: InlineInputs,
    pub batch: WriteBatch,
    pub start: bool,
    pub counted: CountedInputs,
    /// The half of its secrets that becomes an object.
    pub secret: Option<Bytes>,
}

/// Starts an initialized job; answers whether this made it wait for a turn.
#[derive(Message)]
#[rtype(result = "Result<bool, Problem>")]
pub(in crate::jobs) struct Start {
    pub deliver_to: Option<AdmittedUrl>,
    pub warnings: Warnings,
}

/// Continues a job from its record; answers whether it waits for a turn.
#[derive(Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct Resume;

/// Gives the job its slot: it may run.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::jobs) struct Assigned(pub RunSlot);

/// Makes a staged upload an input of the job.
#[derive(Message)]
#[rtype(result = "Result<(), Problem>")]
pub(in crate::jobs) struct CommitUpload {
    pub part: InputPart,
    pub upload: CountedUpload,
}

/// Ends the job; answers how it ended, by this or before.
#[derive(Message)]
#[rtype(result = "Result<JobView, Problem>")]
pub(in crate::jobs) struct Cancel;

/// Ends the job if its start window is over; answers whether it expired by this.
#[derive(Message)]
#[rtype(result = "bool")]
pub(in crate::jobs) struct Expire;

/// The service stops: a running job is queued again, for the next run of the service.
#[derive(Message)]
#[rtype(result = "()")]
pub(in crate::jobs) struct Park;
