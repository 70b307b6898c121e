//! What one job has cost: how long it held a tab, a turn, a template process or an engine's slot.
//!
//! Hazard: accounts that take turns job by job share nothing fairly when one's job takes a minute and the other's
//! 20 ms. So whoever takes a resource for a job starts the job's meter, and the queue (`jobs::queue`) is fair by what
//! the meters say. A meter runs until its [`Holding`] is dropped, which is also what happens to a run that is cancelled
//! or panics: a job that is broken off just before its end has cost what it held.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::ids::AccountId;

/// The meter of one job, and whose share of a resource the job takes. Clones are the same meter.
#[derive(Clone, Debug)]
pub struct Meter {
    account: AccountId,
    held_us: Arc<AtomicU64>,
}

/// Something is held for the job, until this is dropped.
#[derive(Debug)]
#[must_use = "what is held is measured until this is dropped"]
pub struct Holding {
    held_us: Arc<AtomicU64>,
    since: Instant,
}

impl Meter {
    /// A meter at nought for a job of `account`.
    #[must_use]
    pub fn new(account: AccountId) -> Self {
        Self { account, held_us: Arc::default() }
    }

    /// Whose job it is.
    #[must_use]
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Begins to measure. What is held beside something else is counted beside it.
    pub fn holding(&self) -> Holding {
        Holding { held_us: Arc::clone(&self.held_us), since: Instant::now() }
    }

    /// What the job has held until now, without what it still holds.
    #[must_use]
    pub fn cost(&self) -> Duration {
        Duration::from_micros(self.held_us.load(Ordering::Relaxed))
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let held_us = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.held_us.fetch_add(held_us, Ordering::Relaxed);
    }
}

/// Nobody reads it: for work that is no job's.
impl From<AccountId> for Meter {
    fn from(account: AccountId) -> Self {
        Self::new(account)
    }
}

impl From<&Meter> for Meter {
    fn from(meter: &Meter) -> Self {
        meter.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_meter_counts_what_is_held_and_not_what_is_waited_for() {
        let meter = Meter::new(AccountId::generate());
        let second = Duration::from_secs(1);
        tokio::time::advance(second).await;
        let tab = meter.clone().holding();
        tokio::time::advance(second).await;
        assert_eq!(meter.cost(), Duration::ZERO, "it is held still");
        drop(tab);
        assert_eq!(meter.cost(), second);
        let (slot, turn) = (meter.holding(), meter.holding());
        tokio::time::advance(second).await;
        drop((slot, turn));
        assert_eq!(meter.cost(), 3 * second);
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_broken_off_has_cost_what_it_held() {
        let meter = Meter::new(AccountId::generate());
        let (second, held) = (Duration::from_secs(1), meter.clone());
        let work = async move {
            let _tab = held.holding();
            std::future::pending::<()>().await;
        };
        assert!(tokio::time::timeout(second, work).await.is_err());
        assert_eq!(meter.cost(), second);
    }
}
