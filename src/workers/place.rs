//! A job's place in its pool: a slot while its child works, and none while the service fetches a file for it.
//!
//! Hazard: a host of `outbound.allow` may answer as slowly as it likes. Jobs that kept their slots until it does would
//! keep everybody else's from being done. So a child that waits gives its slot up, and stands in line for one again when
//! the file is there. Children that wait take memory, so there is a limit of them, too: a job that would be one
//! too many loses its child, and begins again when it may wait.
//!
//! Who may wait stands in line for slots; who has a slot never stands in line for leave to wait. So the two lines cannot
//! wait for each other.

use crate::slots::meter::CostMeter;
use crate::slots::{AccountShare, AccountSlots, Slot};
use crate::telemetry::{Gauge, GaugeGuard};

/// So many accounts may have as many waiting children as one account may have.
const WAITING_ACCOUNTS: usize = 4;

/// The places of a pool. Clones share them.
#[derive(Clone)]
pub(super) struct Places {
    slots: AccountSlots,
    waiting: AccountSlots,
    levels: Levels,
}

/// How many children work, and how many wait for a file.
#[derive(Clone)]
pub(super) struct Levels {
    pub working: Gauge,
    pub waiting: Gauge,
}

/// A job's place.
pub(super) struct Place {
    places: Places,
    meter: CostMeter,
    /// None while a file is waited for.
    slot: Option<Slot>,
    leave: Option<Leave>,
    counted: Option<GaugeGuard>,
}

/// A job's leave to wait, until it ends.
pub(super) type Leave = Slot;

impl Places {
    /// `processes` slots, of which an account gets its `share`; so many of an account's children may wait.
    pub fn new((processes, share): (usize, AccountShare), waiting: usize, levels: Levels) -> Self {
        let waiting_share = AccountShare::new(u64::try_from(waiting.max(1)).unwrap_or(u64::MAX));
        let all = waiting.saturating_mul(WAITING_ACCOUNTS);
        Self {
            slots: AccountSlots::new(processes, share),
            waiting: AccountSlots::new(all, waiting_share),
            levels,
        }
    }

    /// Waits for a place. The job does not pay for that.
    pub async fn take(&self, meter: &CostMeter, leave: Option<Leave>) -> Place {
        let wait = meter.begin_wait();
        let slot = self.slots.acquire(meter.account()).await;
        drop(wait);
        self.place(meter, slot, leave)
    }

    /// Waits for a place that no job in line may have.
    pub async fn take_idle(&self, meter: &CostMeter) -> Place {
        let slot = self.slots.acquire_idle(meter.account()).await;
        self.place(meter, slot, None)
    }

    /// Waits for leave to wait. The job does not pay for that.
    pub async fn leave(&self, meter: &CostMeter) -> Leave {
        let _wait = meter.begin_wait();
        self.waiting.acquire(meter.account()).await
    }

    fn place(&self, meter: &CostMeter, slot: Slot, leave: Option<Leave>) -> Place {
        Place { places: self.clone(), meter: meter.clone(), slot: Some(slot), leave, counted: None }
    }
}

impl Place {
    /// The job has its child.
    pub fn begin_work(&mut self) {
        self.counted = Some(GaugeGuard::new(&self.places.levels.working));
    }

    /// The job is over; what is to be done with its child still has the place.
    pub fn end_work(&mut self) {
        self.counted = None;
    }

    /// Whether the job may wait, now and until it ends.
    pub fn may_wait(&mut self) -> bool {
        if self.leave.is_none() {
            self.leave = self.places.waiting.acquire_now(self.meter.account());
        }
        self.leave.is_some()
    }

    /// What `work` answers. Until then the slot is another's, and afterwards it is waited for.
    pub async fn wait_for<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.counted = Some(GaugeGuard::new(&self.places.levels.waiting));
        self.slot = None;
        let done = work.await;
        let wait = self.meter.begin_wait();
        self.slot = Some(self.places.slots.acquire(self.meter.account()).await);
        drop(wait);
        self.begin_work();
        done
    }
}
