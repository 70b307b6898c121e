//! Metrics of the slots of engines that run heavy programs.

use super::parts::{PhaseTimer, in_seconds};
use super::register::{Gauge, Gauges, Histogram, Histograms, Register};

/// The slots of all engines.
#[derive(Clone, Debug)]
pub struct SlotMetrics {
    /// By `engine` and `state`: `busy`, `waiting`.
    steps: Gauges<2>,
    seconds: Histograms<1>,
}

/// The slots of one engine.
#[derive(Clone, Debug)]
pub struct EngineSlotMetrics {
    /// Steps that have a slot and their cores.
    pub busy: Gauge,
    /// Steps that wait for either.
    pub waiting: Gauge,
    seconds: Histogram,
}

/// Counts and times a waiting step until drop, so that one that gives up counts as well.
#[derive(Debug)]
pub struct SlotWait {
    _waiting: GaugeGuard,
    _timer: PhaseTimer,
}

/// Counts one in a gauge until drop.
#[derive(Debug)]
pub struct GaugeGuard {
    level: Gauge,
}

impl SlotMetrics {
    pub(super) fn new(register: &mut Register) -> Self {
        let steps = register.labelled(
            "platen_engine_slots",
            ["engine", "state"],
            "Steps of engines that run heavy programs: busy, waiting for a slot or cores",
            Gauge::default,
        );
        let meaning = "How long a step waited for its engine's slot and its cores";
        let seconds = register.labelled("platen_engine_wait_seconds", ["engine"], meaning, in_seconds);
        Self { steps, seconds }
    }

    /// The metrics of one engine; they are exported from now on.
    pub fn of(&self, engine: &'static str) -> EngineSlotMetrics {
        EngineSlotMetrics {
            busy: self.steps.of([engine, "busy"]),
            waiting: self.steps.of([engine, "waiting"]),
            seconds: self.seconds.of([engine]),
        }
    }
}

impl EngineSlotMetrics {
    /// Counts a step as waiting.
    #[must_use = "it waits until this is dropped"]
    pub fn begin_wait(&self) -> SlotWait {
        SlotWait { _waiting: GaugeGuard::new(&self.waiting), _timer: PhaseTimer::new(self.seconds.clone()) }
    }

    /// Counts a step as busy.
    #[must_use = "it is busy until this is dropped"]
    pub fn begin_work(&self) -> GaugeGuard {
        GaugeGuard::new(&self.busy)
    }
}

impl GaugeGuard {
    /// Counts one more.
    #[must_use = "it is counted until this is dropped"]
    pub fn new(level: &Gauge) -> Self {
        level.inc();
        Self { level: level.clone() }
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.level.dec();
    }
}
