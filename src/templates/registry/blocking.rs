//! Work that takes processor time, on threads made for it: actors and connections share theirs, and all of them would wait.

use crate::problem::Problem;

/// So much JSON or text is read or written in less than half a millisecond.
const QUICK_BYTES: usize = 64 << 10;

/// Does `work` on another thread. It goes on when the future is dropped: what it needs until its end it must own.
pub(in crate::templates) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(Problem::internal)
}

/// Does `work` on `bytes`, on another thread where they are many.
pub(in crate::templates) async fn run_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    if bytes <= QUICK_BYTES { work() } else { run(work).await? }
}
