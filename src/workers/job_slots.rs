//! Slots of a pool's jobs: a job has one while its child works, and none while the service fetches a file for it.
//!
//! Hazard: a host of `outbound.allow` may answer slowly, and jobs that kept their slots meanwhile would block all others. So a
//! child that waits gives its slot up, and queues for one again when the file has come. Waiting children take memory, so
//! their number is limited, too: a job above it loses its child, and begins again when it has a permit to wait.
//!
//! A job with a permit may queue for a slot, but a job with a slot never queues for a permit, so the two queues cannot
//! deadlock.

use crate::slots::meter::CostMeter;
use crate::slots::way::Way;
use crate::slots::{AccountShare, AccountSlots, Slot};
use crate::telemetry::{Gauge, GaugeGuard};

/// Children of all accounts that may wait, as a multiple of those of one account.
const WAITING_ACCOUNTS: usize = 4;

/// The slots and permits of a pool. Clones share them.
#[derive(Clone)]
pub(super) struct JobSlots {
    slots: AccountSlots,
    waiting: AccountSlots,
    gauges: SlotGauges,
}

/// How many children work, and how many wait for a file.
#[derive(Clone)]
pub(super) struct SlotGauges {
    pub working: Gauge,
    pub waiting: Gauge,
}

/// A job's slot, with its permit to wait where it has one.
pub(super) struct JobSlot {
    job_slots: JobSlots,
    meter: CostMeter,
    /// `None` while a file is waited for.
    slot: Option<Slot>,
    permit: Option<WaitPermit>,
    counted: Option<GaugeGuard>,
}

/// A job's permit to wait, until it ends.
pub(super) type WaitPermit = Slot;

impl JobSlots {
    /// `processes` slots, of which an account gets its `share`; `waiting` children of one account may wait.
    pub fn new((processes, share): (usize, AccountShare), waiting: usize, gauges: SlotGauges) -> Self {
        let waiting_share = AccountShare::new(u64::try_from(waiting.max(1)).unwrap_or(u64::MAX));
        let all = waiting.saturating_mul(WAITING_ACCOUNTS);
        Self {
            slots: AccountSlots::new(processes, share),
            waiting: AccountSlots::new(all, waiting_share),
            gauges,
        }
    }

    /// Waits for a slot. The wait is not charged to the job.
    pub async fn acquire(&self, meter: &CostMeter, permit: Option<WaitPermit>) -> JobSlot {
        let wait = meter.begin_wait();
        let slot = self.slots.acquire_for(meter.way(), 1).await;
        drop(wait);
        self.job_slot(meter, slot, permit)
    }

    /// Waits for a slot that no queued job can use.
    pub async fn acquire_unclaimed(&self, meter: &CostMeter) -> JobSlot {
        let slot = self.slots.acquire_unclaimed(meter.account()).await;
        self.job_slot(meter, slot, None)
    }

    /// Waits for a permit to wait. The wait is not charged to the job.
    pub async fn permit(&self, meter: &CostMeter) -> WaitPermit {
        let _wait = meter.begin_wait();
        self.waiting.acquire(meter.account()).await
    }

    fn job_slot(&self, meter: &CostMeter, slot: Slot, permit: Option<WaitPermit>) -> JobSlot {
        JobSlot { job_slots: self.clone(), meter: meter.clone(), slot: Some(slot), permit, counted: None }
    }
}

impl JobSlot {
    /// How the job makes way.
    pub fn way(&self) -> &Way {
        self.meter.way()
    }

    /// The job has its child.
    pub fn begin_work(&mut self) {
        self.counted = Some(GaugeGuard::new(&self.job_slots.gauges.working));
    }

    /// The job is done. Its slot stays taken until its child is ready again or killed.
    pub fn end_work(&mut self) {
        self.counted = None;
    }

    /// Whether the job may wait, now and until it ends.
    pub fn may_wait(&mut self) -> bool {
        if self.permit.is_none() {
            self.permit = self.job_slots.waiting.try_acquire(self.meter.account());
        }
        self.permit.is_some()
    }

    /// Gives the slot up while `work` runs, then waits for one again.
    pub async fn wait_for<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.counted = Some(GaugeGuard::new(&self.job_slots.gauges.waiting));
        self.slot = None;
        let done = work.await;
        let wait = self.meter.begin_wait();
        self.slot = Some(self.job_slots.slots.acquire_for(self.meter.way(), 1).await);
        drop(wait);
        self.begin_work();
        done
    }
}
