//! Slots of engines that run heavy programs, and the budget of cores that all of them share.
//!
//! Hazard: one slot may use several cores, and the slots of several engines together more cores than the machine has. So a
//! step acquires a slot of its engine, then its cores from a budget that every engine shares. One account gets its share of
//! both, so there is one more of each than a single account uses. Tabs and template code are not in the budget: they have
//! slots of their own, and engines' programs run at low priority (`SandboxProfile::yields`), so that pages come first on a
//! busy machine.
//!
//! The order is always slot, then cores: two jobs cannot wait for each other. A job that makes way (`way`) moves its slot to the
//! engine's overflow slots (`engines.overflow_slots`), and gives its cores back.

use std::time::Duration;

use super::meter::{CostMeter, CostTimer};
use super::{AccountShare, AccountSlots, Slot};
use crate::config::EnginesConfig;
use crate::telemetry::{EngineSlotMetrics, GaugeGuard, SlotMetrics};

/// The cores that the programs of all engines may use together. Clones share them.
#[derive(Clone, Debug)]
pub struct EngineBudget {
    cores: AccountSlots,
    share: AccountShare,
    config: EnginesConfig,
    metrics: SlotMetrics,
}

/// The slots of one engine. Clones share them.
#[derive(Clone, Debug)]
pub struct EngineSlots {
    slots: AccountSlots,
    cores: AccountSlots,
    metrics: EngineSlotMetrics,
}

/// The right to run one program of an engine on its cores, charged to a job; free again when it is dropped.
#[derive(Debug)]
pub struct EngineSlot {
    _paid: CostTimer,
    _busy: GaugeGuard,
    _cores: Slot,
    _slot: Slot,
}

impl EngineBudget {
    /// The budget of section `[engines]`. An account gets its `share` of the cores, and of each engine's slots.
    pub fn new(config: &EnginesConfig, share: AccountShare, metrics: SlotMetrics) -> Self {
        let cores = match usize::try_from(config.cores) {
            // One more than the machine has, for one is always left to other accounts.
            Ok(0) | Err(_) => std::thread::available_parallelism().map_or(1, usize::from) + 1,
            Ok(cores) => cores,
        };
        // As many as the overflow slots of all engines may need.
        let cores = AccountSlots::new(cores, share.with_overflow(u64::MAX));
        Self { cores, share, config: config.clone(), metrics }
    }

    /// The share of an account.
    pub fn share(&self) -> AccountShare {
        self.share
    }

    /// Whether a program runs.
    pub fn is_used(&self) -> bool {
        self.cores.is_any_held()
    }

    /// How many slots an engine has: the number in `engines.slots`, else `usual` and one more, which is left to other
    /// accounts.
    pub fn slot_count(&self, engine: &str, usual: usize) -> usize {
        self.config.slots_of(engine).unwrap_or(usual + 1)
    }

    /// What a job holds for longer, it makes way with (`engines.make_way_after_ms`).
    pub fn make_way_after(&self) -> Duration {
        Duration::from_millis(self.config.make_way_after_ms)
    }

    /// The slots of an engine, [`slot_count`](Self::slot_count) of them. To be called once an engine: each call makes new
    /// ones.
    pub fn slots_of(&self, engine: &'static str, usual: usize) -> EngineSlots {
        EngineSlots {
            slots: AccountSlots::new(self.slot_count(engine, usual), self.share),
            cores: self.cores.clone(),
            metrics: self.metrics.of(engine),
        }
    }
}

impl EngineSlots {
    /// Waits for a slot of the engine, then for `cores`, at least one and at most the account's share. The job is not charged
    /// for the wait, and for every core from then on. Dropping the future cancels the wait.
    pub async fn acquire(&self, meter: &CostMeter, cores: usize) -> EngineSlot {
        let wait = (self.metrics.begin_wait(), meter.begin_wait());
        let slot = self.slots.acquire_for(meter.way(), 1).await;
        let cores = self.cores.acquire_for(meter.way(), cores).await;
        drop(wait);
        EngineSlot {
            _paid: meter.begin_program(cores.count()),
            _busy: self.metrics.begin_work(),
            _cores: cores,
            _slot: slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::domain::ids::AccountId;
    use crate::slots::tests::pending;
    use crate::telemetry::metrics::Metrics;

    fn budget(cores: u64, slots: &[&str]) -> EngineBudget {
        let slots = slots.iter().map(|&entry| entry.to_owned()).collect();
        let config = EnginesConfig { cores, slots, ..EnginesConfig::default() };
        EngineBudget::new(&config, AccountShare::whole(), Metrics::new().slots)
    }

    fn job() -> CostMeter {
        CostMeter::new(AccountId::generate())
    }

    #[tokio::test]
    async fn an_engine_runs_as_many_programs_as_it_has_slots() {
        let budget = budget(9, &["raster=1"]);
        for (engine, usual, slots) in [("tex", 1, 2), ("raster", 2, 1), ("pandoc", 0, 1)] {
            let engine = budget.slots_of(engine, usual);
            let held: Vec<_> = (0..3).map_while(|_| engine.acquire(&job(), 1).now_or_never()).collect();
            assert_eq!(held.len(), slots);
        }
    }

    #[tokio::test]
    async fn all_engines_together_use_the_cores_there_are() {
        let budget = budget(2, &[]);
        let (tex, raster) = (budget.slots_of("tex", 4), budget.slots_of("raster", 4));
        let (first, second) = (tex.acquire(&job(), 1).await, raster.acquire(&job(), 1).await);
        let wide = job();
        let mut both = pending(tex.acquire(&wide, 2));
        drop(first);
        assert!(both.as_mut().now_or_never().is_none());
        drop(second);
        assert!(both.now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_program_for_more_cores_than_an_account_has_runs_on_those_it_has() {
        let share = AccountShare::new(0);
        let config = EnginesConfig { cores: 4, ..EnginesConfig::default() };
        let engine = EngineBudget::new(&config, share, Metrics::new().slots).slots_of("tex", 4);
        let wide = engine.acquire(&job(), 64).now_or_never();
        assert!(wide.is_some() && engine.acquire(&job(), 1).now_or_never().is_some(), "one core is left");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_are_in_the_metrics_and_free_and_work_is_charged() {
        let budget = budget(1, &[]);
        let (engine, second) = (budget.slots_of("tex", 2), Duration::from_secs(1));
        let levels = || (engine.metrics.busy.get(), engine.metrics.waiting.get());
        let (first, next) = (job(), job());
        let _turns = (first.begin_turn(), next.begin_turn());
        let working = engine.acquire(&first, 1).await;
        let waiting = pending(engine.acquire(&next, 1));
        assert_eq!(levels(), (1, 1));
        tokio::time::advance(second).await;
        drop(working);
        let working = waiting.await;
        assert_eq!(levels(), (1, 0));
        assert_eq!((first.cost(), next.cost()), (second, Duration::ZERO));
        tokio::time::advance(second).await;
        drop(working);
        assert_eq!((next.cost(), levels()), (second, (0, 0)));
    }

    #[tokio::test]
    async fn a_cancelled_wait_gives_its_slot_back() {
        let budget = budget(1, &[]);
        let (tex, raster) = (budget.slots_of("tex", 0), budget.slots_of("raster", 0));
        let (working, gone) = (raster.acquire(&job(), 1).await, job());
        // It has the slot and no core.
        drop(pending(tex.acquire(&gone, 1)));
        assert_eq!(tex.metrics.waiting.get(), 0);
        drop(working);
        assert!(tex.acquire(&job(), 1).now_or_never().is_some());
    }
}
