//! Why a step made no document.

use tokio::task::JoinError;

use crate::domain::fault::{FaultCode, JobFault};
use crate::storage::StoreError;

/// Why a step made no document.
#[derive(Debug)]
pub enum EngineError {
    /// The job's: its author can do something about it, or nobody can.
    Job(JobFault),
    /// The store's, while it took the file.
    Store(StoreError),
    /// The engine could not be started, with the cause for the log: something that it needs may be gone.
    NotStarted(String),
}

impl EngineError {
    /// A fault of the service; the log has `cause`.
    pub(super) fn internal(cause: &str) -> Self {
        tracing::error!(error = cause, "a step failed");
        Self::Job(JobFault::new(
            FaultCode::Internal,
            "the service failed at a step of the job; its log has the cause",
        ))
    }
}

impl From<JoinError> for EngineError {
    fn from(error: JoinError) -> Self {
        Self::Job(error.into())
    }
}

impl From<JobFault> for EngineError {
    fn from(fault: JobFault) -> Self {
        Self::Job(fault)
    }
}
