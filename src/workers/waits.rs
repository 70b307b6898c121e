//! How long a child has waited for what it asked for: time that its deadline does not count.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The waits of one job.
#[derive(Default)]
pub(super) struct Waits(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    past: Duration,
    /// When the present one began.
    since: Option<Instant>,
}

impl Waits {
    /// What `work` answers; it is waited for.
    pub(super) async fn of<T>(&self, work: impl Future<Output = T>) -> T {
        self.lock().since = Some(Instant::now());
        let done = work.await;
        let mut counted = self.lock();
        if let Some(since) = counted.since.take() {
            counted.past += since.elapsed();
        }
        done
    }

    /// All of them until now.
    pub(super) fn total(&self) -> Duration {
        let counted = self.lock();
        counted.past + counted.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
