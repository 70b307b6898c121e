//! What was measured.

use std::io;
use std::time::{Duration, Instant};

/// One measurement.
#[derive(Default)]
pub struct Figures {
    /// From asking to having the file, each document.
    pub latencies: Vec<Duration>,
    /// From the first asked to the last had.
    pub wall: Duration,
    /// What all of them took together.
    pub used: Used,
}

/// Processor time.
#[derive(Clone, Copy, Default)]
pub struct Used {
    /// Of Chromium, what has ended included.
    pub chromium: Duration,
    /// Of the process that asks Chromium: the service, a peer, or this one.
    pub own: Duration,
    /// Of its template engines, those that live and those that have ended.
    pub engines: Duration,
}

impl Figures {
    /// Has documents made, which gives their latencies; `used` is asked before and after.
    pub fn measure(
        used: impl Fn() -> Used,
        make: impl FnOnce() -> io::Result<Vec<Duration>>,
    ) -> io::Result<Self> {
        let (before, begun) = (used(), Instant::now());
        let latencies = make()?;
        let wall = begun.elapsed();
        Ok(Self { latencies, wall, used: used().since(before) })
    }

    /// The value below which `share` of the latencies lie, in milliseconds.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (last as f64 * share).round() as usize;
        sorted.get(at).map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    /// Documents a second.
    pub fn throughput(&self) -> f64 {
        self.count() / self.wall.as_secs_f64()
    }

    /// Processor time a document of Chromium, of its client, and of template engines, in milliseconds.
    pub fn used_a_document_ms(&self) -> [f64; 3] {
        let Used { chromium, own, engines } = self.used;
        [chromium, own, engines].map(|time| time.as_secs_f64() * 1_000.0 / self.count())
    }

    fn count(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let count = self.latencies.len() as f64;
        count
    }
}

impl Used {
    fn since(self, before: Self) -> Self {
        Self {
            chromium: self.chromium.saturating_sub(before.chromium),
            own: self.own.saturating_sub(before.own),
            engines: self.engines.saturating_sub(before.engines),
        }
    }
}

/// How many documents warm up before so many clients are measured.
pub fn warm_up(clients: usize) -> usize {
    clients.max(4)
}
