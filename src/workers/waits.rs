//! How long a child has waited for what it asked for: time that its deadline does not count.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Between two looks at what is left while a file is waited for.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

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

    /// Comes when the child has worked for so long, its waits not counted.
    pub(super) async fn outworked(&self, limit: Duration) {
        let begun = Instant::now();
        loop {
            let left = (limit + self.total()).saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            // What is left does not become less while a file is waited for.
            sleep(left.max(LOOK_PAUSE.min(limit))).await;
        }
    }

    /// All of them until now.
    fn total(&self) -> Duration {
        let counted = self.lock();
        counted.past + counted.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_deadline_stands_still_while_a_file_is_waited_for() {
        let (waits, begun) = (Waits::default(), Instant::now());
        let limit = Duration::from_secs(1);
        let working = async {
            for _ in 0..2 {
                sleep(Duration::from_millis(300)).await;
                waits.of(sleep(Duration::from_secs(10))).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = working => {}
            () = waits.outworked(limit) => {}
        }
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(21) && took < Duration::from_millis(21_100), "{took:?}");
    }
}
