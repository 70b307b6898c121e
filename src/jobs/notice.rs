//! What job actors tell the registry without waiting for it: slots given back, jobs that ended, fell
//! idle, or whose actor died. An unbounded channel, for these come from `Drop`; there are at most a few
//! a job.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::ids::JobId;
use crate::slots::meter::Meter;

/// Something the registry is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The job ended; its record answers from now on.
    Ended,
    /// The job was initialized a while ago and nobody asks for it.
    Idle,
    /// The job's actor is gone.
    Departed,
    /// A job gave its slot back.
    SlotFree {
        /// What it held until then.
        cost: Duration,
    },
}

/// A notice and whom it is about: the job, and the number of its actor or of the slot.
pub type Telling = (JobId, u64, Notice);

/// Tells the registry about one actor; says `Departed` when it is dropped, whatever the reason.
#[derive(Debug)]
pub struct Departure {
    job: JobId,
    number: u64,
    registry: UnboundedSender<Telling>,
}

impl Departure {
    /// For the actor `number` of the service.
    #[must_use]
    pub fn new(job: JobId, number: u64, registry: UnboundedSender<Telling>) -> Self {
        Self { job, number, registry }
    }

    /// Tells it; a registry that is gone needs to know nothing.
    pub fn tell(&self, notice: Notice) {
        let _ = self.registry.send((self.job, self.number, notice));
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        self.tell(Notice::Departed);
    }
}

/// The right to run, and the meter of what is held meanwhile. When it is dropped it is given back and the meter is read:
/// a run that was cancelled or panicked leaves no other report, and would cost nothing.
#[derive(Debug)]
pub struct Slot {
    job: JobId,
    number: u64,
    registry: UnboundedSender<Telling>,
    meter: Meter,
}

impl Slot {
    /// The slot `number` of the service, for `job`, with what the job pays by.
    #[must_use]
    pub fn new((job, meter): (JobId, Meter), number: u64, registry: UnboundedSender<Telling>) -> Self {
        Self { job, number, registry, meter }
    }

    /// What the run is to be measured by.
    #[must_use]
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let notice = Notice::SlotFree { cost: self.meter.cost() };
        let _ = self.registry.send((self.job, self.number, notice));
    }
}
