//! Why a step made no document.

use std::fmt::Display;

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

/// The error of a program that was killed from outside or hung; `how` follows its name. That is not the document's doing: the
/// pipeline runs the job again once.
pub(super) fn lost(name: &str, how: impl Display) -> JobError {
    JobError::new(ErrorCode::EngineLost, format!("{name} {how}"))
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
