//! Why a step made no document.

use tokio::task::JoinError;

use crate::domain::error::{ErrorCode, JobError};
use crate::storage::StoreError;

/// Why a step made no document.
#[derive(Debug)]
pub enum EngineError {
    /// The job's error, which its author reads.
    Job(JobError),
    /// The store failed while the file was written into it.
    Store(StoreError),
    /// The engine could not be started: something that it needs may be gone. Holds the cause, for the log.
    NotStarted(String),
}

impl EngineError {
    /// An error of the service; the log has `cause`.
    pub(super) fn internal(cause: &str) -> Self {
        tracing::error!(error = cause, "a step failed");
        Self::Job(JobError::new(
            ErrorCode::Internal,
            "the service failed at a step of the job; its log has the cause",
        ))
    }
}

impl From<JoinError> for EngineError {
    fn from(error: JoinError) -> Self {
        Self::Job(error.into())
    }
}

impl From<JobError> for EngineError {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}
