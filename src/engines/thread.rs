//! Work that grows with what a caller sent stays off the actors' thread where it is large.

use crate::domain::fault::{FaultCode, JobFault};

/// A scan of so much takes a tenth of a millisecond; a thread of its own costs about as much.
pub const HERE_BYTES: usize = 64 << 10;

/// Does `work` on `bytes` bytes: here when they are few, on a thread for blocking work otherwise.
///
/// # Errors
/// `internal` when the thread's work panicked.
pub async fn by_size<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JobFault> {
    if bytes <= HERE_BYTES { Ok(work()) } else { apart(work).await }
}

/// Does `work` on a thread for blocking work, however small it is.
///
/// # Errors
/// `internal` when the thread's work panicked.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JobFault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| JobFault::new(FaultCode::Internal, error.to_string()))
}
