//! How long work holds a thread that others share: those of actors and their jobs, of connections, of the service itself.
//!
//! Hazard: work that grows with a caller's bytes keeps everybody else on such a thread waiting. So it belongs on a thread for
//! blocking work (`src/thread.rs`). A beat on each shared thread shows work that is in the wrong place.
//!
//! The beat is in every build, so operators see what tests see. Once a second it costs a debug build 0.2 ms of processor time a
//! second and thread; ten times a second it cost 2 ms. A beat surely meets work that is longer than its interval, and shorter
//! work now and then.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::{Instant, sleep_until};

use super::register::{Histogram, Histograms, Register};

/// Buckets in seconds. The rule is the one of 50 ms.
const HELD_SECONDS: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// The shared threads.
const THREADS: [&str; 4] = ["main", "control", "jobs", "http"];

/// Shared threads.
#[derive(Clone, Debug)]
pub struct ThreadMetrics {
    /// By `thread`.
    held: Histograms<1>,
}

impl ThreadMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let meaning =
            "How long work held a shared thread, in its own processor time: main, control, jobs, http";
        let make: fn() -> Histogram = || Histogram::new(HELD_SECONDS);
        let held = register.labelled("platen_thread_held_seconds", ["thread"], meaning, make);
        Self { held: held.preset(THREADS.map(|thread| [thread])) }
    }

    /// Observes the present thread for ever, once each `interval`, under the name `thread`. It returns if `interval` is zero.
    ///
    /// A beat is late by the work that ran when it was due, and by the work ahead of it. Only the thread's own processor time
    /// counts, because a machine whose cores others use delays beats, too. A single poll takes at most one interval longer than
    /// is observed.
    pub async fn watch(self, thread: &'static str, interval: Duration) {
        if interval.is_zero() {
            return;
        }
        let held = self.held.of([thread]);
        let mut before = own_time();
        loop {
            let due = Instant::now() + interval;
            sleep_until(due).await;
            let (late, now) = (due.elapsed(), own_time());
            held.observe(late.min(now.saturating_sub(before)).as_secs_f64());
            before = now;
        }
    }
}

/// The processor time of the present thread.
fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::telemetry::metrics::Metrics;

    #[tokio::test]
    async fn a_poll_that_holds_the_thread_is_observed_and_a_wait_is_not() {
        let metrics = Metrics::new();
        let watch = tokio::spawn(metrics.threads.clone().watch("jobs", Duration::from_millis(1)));
        let at_most = |seconds: &str| {
            let text = metrics.text().unwrap();
            let series = format!("platen_thread_held_seconds_bucket{{le=\"{seconds}\",thread=\"jobs\"}} ");
            let value = text.lines().find_map(|line| line.strip_prefix(&series)).unwrap().to_owned();
            value.parse::<u64>().unwrap()
        };
        while at_most("+Inf") < 10 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        std::thread::sleep(Duration::from_millis(120));
        let seen = at_most("+Inf");
        while at_most("+Inf") == seen {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(at_most("0.05"), at_most("+Inf"), "the thread slept and used no time");
        let begun = own_time();
        while own_time().saturating_sub(begun) < Duration::from_millis(120) {
            black_box(());
        }
        while at_most("0.1") == at_most("+Inf") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        watch.abort();
    }
}
