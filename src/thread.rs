//! Work that takes processor time, on threads made for it: actors and connections share theirs, and all of them would wait.

use tokio::task::{JoinError, spawn_blocking};

use crate::domain::error::{ErrorCode, JobError};
use crate::problem::Problem;

/// Work on so many bytes or fewer is done inline: a scan of so much takes a tenth of a millisecond, and handing it to another
/// thread costs about as much.
pub const INLINE_LIMIT_BYTES: usize = 64 << 10;

/// Does `work` on `bytes` bytes: here when they are few, on a thread for blocking work otherwise.
///
/// # Errors
/// When the thread's work panicked.
pub async fn by_size<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    if bytes <= INLINE_LIMIT_BYTES { Ok(work()) } else { on_blocking_thread(work).await }
}

/// Does `work` on a thread for blocking work, however small it is. It goes on when the future is dropped: what it needs
/// until its end it must own.
///
/// # Errors
/// When the thread's work panicked.
pub async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    spawn_blocking(work).await
}

impl From<JoinError> for JobError {
    fn from(error: JoinError) -> Self {
        Self::new(ErrorCode::Internal, error.to_string())
    }
}

impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        Self::internal(error)
    }
}
