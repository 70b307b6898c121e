//! What job actors tell the registry without waiting for it: slots given back, jobs that ended, fell
//! idle, or whose actor died. An unbounded channel, for these come from `Drop`; there are at most a few
//! a job.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::ids::{AccountId, JobId};
use crate::slots::meter::{CostMeter, CostTimer};

/// Something the registry is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The job ended; its record answers from now on.
    Ended,
    /// The job was initialized a while ago and nobody asks for it.
    Idle,
    /// The job's actor is gone.
    ActorStopped,
    /// A job gave its slot back.
    SlotFree {
        /// What the run cost; `None` when there was none.
        cost: Option<Duration>,
    },
}

/// A notice and whom it is about: the job, and the number of its actor or of the slot.
pub type JobNotice = (JobId, u64, Notice);

/// Tells the registry about one actor; says `ActorStopped` when it is dropped, whatever the reason.
#[derive(Debug)]
pub struct ActorGuard {
    job: JobId,
    number: u64,
    registry: UnboundedSender<JobNotice>,
}

impl ActorGuard {
    /// For the actor `number` of the service.
    #[must_use]
    pub fn new(job: JobId, number: u64, registry: UnboundedSender<JobNotice>) -> Self {
        Self { job, number, registry }
    }

    /// Tells it; a registry that is gone needs to know nothing.
    pub fn notify(&self, notice: Notice) {
        let _ = self.registry.send((self.job, self.number, notice));
    }
}

impl Drop for ActorGuard {
    fn drop(&mut self) {
        self.notify(Notice::ActorStopped);
    }
}

/// The right to run, and the meter of the run. When it is dropped it is given back and the meter is read: a run that was
/// cancelled or panicked leaves no other report, and would cost nothing.
#[derive(Debug)]
pub struct RunSlot {
    account: AccountId,
    job: JobId,
    number: u64,
    registry: UnboundedSender<JobNotice>,
    /// There once the job runs. A turn that its job did not take costs nothing, and says nothing of what others cost.
    run: Option<(CostMeter, CostTimer)>,
}

impl RunSlot {
    /// The slot `number` of the service, for this job of the account.
    #[must_use]
    pub fn new(
        (account, job): (AccountId, JobId),
        number: u64,
        registry: UnboundedSender<JobNotice>,
    ) -> Self {
        Self { account, job, number, registry, run: None }
    }

    /// The run begins: what it is measured by, from now until the slot is dropped.
    #[must_use]
    pub fn begin(&mut self) -> CostMeter {
        let meter = CostMeter::new(self.account);
        let timer = meter.begin_turn();
        self.run = Some((meter.clone(), timer));
        meter
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        let cost = self.run.as_ref().map(|(meter, _)| meter.cost());
        let _ = self.registry.send((self.job, self.number, Notice::SlotFree { cost }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_run_costs_the_time_its_slot_was_held_and_an_unused_slot_nothing() {
        let (registry, mut told) = tokio::sync::mpsc::unbounded_channel();
        let slot = || RunSlot::new((AccountId::generate(), JobId::generate()), 1, registry.clone());
        let mut cost = || told.try_recv().map(|(_, _, notice)| notice);
        let (gone, mut taken) = (slot(), slot());
        tokio::time::advance(SECOND).await;
        drop(gone);
        assert_eq!(cost(), Ok(Notice::SlotFree { cost: None }));
        // The inputs are read, and the document is published: nothing but the turn is held.
        let meter = taken.begin();
        tokio::time::advance(SECOND).await;
        let wait = meter.begin_wait();
        tokio::time::advance(SECOND).await;
        drop(wait);
        tokio::time::advance(SECOND).await;
        drop(taken);
        assert_eq!(cost(), Ok(Notice::SlotFree { cost: Some(2 * SECOND) }));
    }
}
