//! What job actors tell the registry without waiting for it: slots given back, jobs that ended, fell
//! idle, or whose actor died. An unbounded channel, for these come from `Drop`; there are at most a few
//! a job.

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::ids::JobId;

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
    SlotFree,
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

/// The right to run; given back when it is dropped.
#[derive(Debug)]
pub struct Slot {
    job: JobId,
    number: u64,
    registry: UnboundedSender<Telling>,
}

impl Slot {
    /// The slot `number` of the service, for `job`.
    #[must_use]
    pub fn new(job: JobId, number: u64, registry: UnboundedSender<Telling>) -> Self {
        Self { job, number, registry }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let _ = self.registry.send((self.job, self.number, Notice::SlotFree));
    }
}
