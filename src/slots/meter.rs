//! What one job has cost: how long it held its turn without waiting for other jobs, and the cores of its programs.
//!
//! The queue (`jobs::queue`) shares turns by these costs. The meter runs while the job holds one of the service's turns, from
//! its inputs to the durable document: a turn keeps other jobs out, whatever is done in it. It stops while the job waits
//! for what other jobs hold (a tab, a template process, an engine's slot): a job must not be charged because others keep it
//! waiting. A turn of static pages is held while its tab is waited for, so that wait is charged.
//!
//! Turns, waits and programs are guards, so that a run that is cancelled or panics is charged for what it held.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::way::Way;
use crate::domain::ids::AccountId;

/// The meter of one job, the account whose share the job uses, and how the job makes way. Clones are the same meter.
#[derive(Clone, Debug)]
pub struct CostMeter {
    way: Way,
    reading: Arc<Mutex<Reading>>,
}

/// The meter runs until this is dropped: for the job's turn, or for cores of one of its programs.
#[derive(Debug)]
#[must_use = "it is measured until this is dropped"]
pub struct CostTimer {
    reading: Arc<Mutex<Reading>>,
    part: Part,
}

/// The meter is paused until this is dropped: the job waits for what other jobs hold.
#[derive(Debug)]
#[must_use = "the meter stands still until this is dropped"]
pub struct Waiting {
    reading: Arc<Mutex<Reading>>,
}

/// What a timer measures.
#[derive(Clone, Copy, Debug)]
enum Part {
    Turn,
    /// Cores beside the one that the turn is charged for.
    Cores(u32),
}

#[derive(Debug)]
struct Reading {
    cost: Duration,
    /// The time up to which `cost` is summed.
    at: Instant,
    turns: u32,
    waits: u32,
    cores: u32,
}

impl CostMeter {
    /// A meter at zero that does not run yet, for a job of `account` that never makes way.
    pub fn new(account: AccountId) -> Self {
        Self::of(Way::never(account))
    }

    /// A meter at zero that does not run yet, for the job that makes way so.
    pub fn of(way: Way) -> Self {
        let reading = Reading { cost: Duration::ZERO, at: Instant::now(), turns: 0, waits: 0, cores: 0 };
        Self { way, reading: Arc::new(Mutex::new(reading)) }
    }

    /// The job's account.
    pub fn account(&self) -> AccountId {
        self.way.account()
    }

    /// How the job makes way.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// The job's turn begins.
    pub fn begin_turn(&self) -> CostTimer {
        lock(&self.reading).turns += 1;
        CostTimer { reading: Arc::clone(&self.reading), part: Part::Turn }
    }

    /// A program of the job begins to use `cores`, of which the turn is charged for one.
    pub fn begin_program(&self, cores: usize) -> CostTimer {
        let more = u32::try_from(cores.saturating_sub(1)).unwrap_or(u32::MAX);
        let mut reading = lock(&self.reading);
        reading.cores = reading.cores.saturating_add(more);
        CostTimer { reading: Arc::clone(&self.reading), part: Part::Cores(more) }
    }

    /// The job begins to wait for what other jobs hold.
    pub fn begin_wait(&self) -> Waiting {
        lock(&self.reading).waits += 1;
        Waiting { reading: Arc::clone(&self.reading) }
    }

    /// What the job has cost until now.
    pub fn cost(&self) -> Duration {
        lock(&self.reading).cost
    }
}

/// Locks the reading, summed up to now: the caller may change what is measured from now on.
fn lock(reading: &Mutex<Reading>) -> MutexGuard<'_, Reading> {
    let mut reading = reading.lock();
    let now = Instant::now();
    let held = u32::from(reading.turns > 0 && reading.waits == 0).saturating_add(reading.cores);
    let passed = now.saturating_duration_since(reading.at);
    reading.cost = reading.cost.saturating_add(passed.saturating_mul(held));
    reading.at = now;
    reading
}

impl Drop for CostTimer {
    fn drop(&mut self) {
        let mut reading = lock(&self.reading);
        match self.part {
            Part::Turn => reading.turns = reading.turns.saturating_sub(1),
            Part::Cores(more) => reading.cores = reading.cores.saturating_sub(more),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut reading = lock(&self.reading);
        reading.waits = reading.waits.saturating_sub(1);
    }
}

/// A meter that is never read, for work that belongs to no job.
impl From<AccountId> for CostMeter {
    fn from(account: AccountId) -> Self {
        Self::new(account)
    }
}

impl From<&CostMeter> for CostMeter {
    fn from(meter: &CostMeter) -> Self {
        meter.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_turn_costs_its_time_without_waits() {
        let meter = CostMeter::new(AccountId::generate());
        tokio::time::advance(SECOND).await;
        assert_eq!(meter.cost(), Duration::ZERO, "it has not begun");
        let turn = meter.begin_turn();
        tokio::time::advance(SECOND).await;
        assert_eq!(meter.cost(), SECOND, "also while it is under way");
        let waits = [meter.begin_wait(), meter.begin_wait()];
        for wait in waits {
            tokio::time::advance(SECOND).await;
            drop(wait);
        }
        assert_eq!(meter.cost(), SECOND, "it waited for two things, one after the other");
        tokio::time::advance(SECOND).await;
        drop(turn);
        tokio::time::advance(SECOND).await;
        assert_eq!(meter.cost(), 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_costs_as_much_as_it_has_cores() {
        let meter = CostMeter::new(AccountId::generate());
        let _turn = meter.begin_turn();
        let program = meter.begin_program(4);
        tokio::time::advance(SECOND).await;
        drop(program);
        assert_eq!(meter.cost(), 4 * SECOND);
        let program = meter.begin_program(1);
        tokio::time::advance(SECOND).await;
        drop(program);
        assert_eq!(meter.cost(), 5 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn aborted_work_is_charged_for_the_time_it_took() {
        let meter = CostMeter::new(AccountId::generate());
        let held = meter.clone();
        let work = async move {
            let _turn = held.begin_turn();
            std::future::pending::<()>().await;
        };
        assert!(tokio::time::timeout(SECOND, work).await.is_err());
        tokio::time::advance(SECOND).await;
        assert_eq!(meter.cost(), SECOND);
    }
}
