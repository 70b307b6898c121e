//! The deadline of a child's job, which pauses while the child waits for a file.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// The pause between two checks while a file is waited for.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// How long one job has waited.
#[derive(Default)]
pub(super) struct WorkClock(Mutex<Pauses>);

#[derive(Default)]
struct Pauses {
    past: Duration,
    /// When the current one began.
    since: Option<Instant>,
}

impl WorkClock {
    /// Pauses the clock while `work` runs.
    pub(super) async fn pause_for<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.lock().since = Some(Instant::now());
        let done = work.await;
        let mut counted = self.0.lock();
        if let Some(since) = counted.since.take() {
            counted.past += since.elapsed();
        }
        done
    }

    /// Whether the child waits.
    pub(super) fn is_paused(&self) -> bool {
        self.0.lock().since.is_some()
    }

    /// Completes when the child has worked for `limit`, without its waits.
    pub(super) async fn reached(&self, limit: Duration) {
        let begun = Instant::now();
        loop {
            let left = (limit + self.total()).saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            // While the clock is paused, `left` does not shrink, so this wakes up from time to time.
            sleep(left.max(LOOK_PAUSE.min(limit))).await;
        }
    }

    /// All pauses until now.
    fn total(&self) -> Duration {
        let counted = self.0.lock();
        counted.past + counted.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_paused_while_a_file_is_waited_for() {
        let (clock, begun) = (WorkClock::default(), Instant::now());
        let limit = Duration::from_secs(1);
        let working = async {
            for _ in 0..2 {
                sleep(Duration::from_millis(300)).await;
                clock.pause_for(sleep(Duration::from_secs(10))).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = working => {}
            () = clock.reached(limit) => {}
        }
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(21) && took < Duration::from_millis(21_100), "{took:?}");
    }
}
