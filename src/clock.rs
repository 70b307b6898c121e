//! Time and identity, handed in by constructor: nothing else asks the time or rolls a uuid.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// This moment plus `ms` milliseconds.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; zero when `earlier` is later.
    pub fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// As text that sorts as times do: with as many digits as the largest has. `parse` reads it back.
    pub fn sortable(self) -> String {
        format!("{:020}", self.0)
    }

    /// The time that [`Timestamp::sortable`] wrote.
    pub fn parse(sortable: &str) -> Option<Self> {
        sortable.parse().ok().map(Self)
    }

    /// RFC 3339 in UTC, as it goes on the wire (`2026-01-31T08:15:00.123Z`).
    pub fn rfc3339(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok())
            .unwrap_or_default()
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the time")]
    fn now(&self) -> Timestamp {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        #[cfg(debug_assertions)]
        let elapsed = elapsed.saturating_sub(crate::failpoint::clock_behind());
        Timestamp(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Hands `worker` to `work`, which gives it back, after each `interval` until the service stops. Work under way is then
/// dropped where it waits.
pub async fn repeat_every<W, F: Future<Output = W>>(
    interval: Duration,
    stopping: CancellationToken,
    mut worker: W,
    work: impl Fn(W) -> F,
) {
    let repeated = async {
        loop {
            tokio::time::sleep(interval).await;
            worker = work(worker).await;
        }
    };
    stopping.run_until_cancelled(repeated).await;
}

/// A clock that tests set by hand.
#[derive(Debug)]
pub struct FixedClock(AtomicU64);

impl FixedClock {
    /// A clock that stands at `now` until it is moved.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicU64::new(now.0))
    }

    /// Moves the clock forward by `ms` milliseconds.
    pub fn advance_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// A new identifier that sorts by the time it was made (UUID version 7).
#[expect(clippy::disallowed_methods, reason = "the one place that rolls a uuid")]
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// `N` bytes from the operating system's random source.
///
/// # Errors
/// When the operating system has no random source to give.
pub fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_as_rfc_3339() {
        assert_eq!(Timestamp(1_700_000_000_123).rfc3339(), "2023-11-14T22:13:20.123Z");
    }
}
