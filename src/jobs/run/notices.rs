//! What job actors report to the registry without waiting for it: slots that are free again, jobs that ended or fell idle,
//! actors that stopped.
//!
//! Hazard: these are sent from `Drop`, which cannot wait, and a mailbox can be full; a lost notice would keep a slot or a
//! job for ever. So they go through an unbounded channel. Each job sends a few of them at most.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::ids::{AccountId, JobId};
use crate::slots::meter::{CostMeter, CostTimer};
use crate::slots::way::Way;

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The job ended and its record is durable.
    Ended,
    /// The job waits for its start, and no caller waits for the job.
    Idle,
    /// The job's actor has stopped, by a panic where the job has not ended.
    ActorStopped,
    /// The run made way for other accounts.
    MadeWay,
    /// A slot is free again.
    SlotFree {
        /// What the run cost; `None` where the job did not run.
        cost: Option<Duration>,
    },
}

/// A notice with its job, and the number of the actor; of `MadeWay` and `SlotFree` that of the slot. A notice of an actor that
/// was replaced must not be taken for one of its successor.
pub type JobNotice = (JobId, u64, Notice);

/// Sends the notices of one actor; sends `ActorStopped` when it is dropped, so that a panic is reported too.
#[derive(Debug)]
pub struct ActorGuard {
    job: JobId,
    number: u64,
    registry: UnboundedSender<JobNotice>,
}

impl ActorGuard {
    /// The guard of the actor with this number.
    pub fn new(job: JobId, number: u64, registry: UnboundedSender<JobNotice>) -> Self {
        Self { job, number, registry }
    }

    /// Sends a notice. Without a registry the service is stopping, and the notice is dropped.
    pub fn notify(&self, notice: Notice) {
        let _ = self.registry.send((self.job, self.number, notice));
    }
}

impl Drop for ActorGuard {
    fn drop(&mut self) {
        self.notify(Notice::ActorStopped);
    }
}

/// The right to run, and the meter of the run. Dropping it frees the slot and reads the meter: a run that was cancelled or
/// panicked makes no other report, and would cost its account nothing.
#[derive(Debug)]
pub struct RunSlot {
    way: Way,
    job: JobId,
    number: u64,
    registry: UnboundedSender<JobNotice>,
    /// From the beginning of the run. A slot that was not used costs nothing and must not change the estimates.
    run: Option<(CostMeter, CostTimer)>,
}

impl RunSlot {
    /// The slot with this number, for a job of the account, which makes way after it held something for `after`.
    pub fn new(
        (account, job): (AccountId, JobId),
        number: u64,
        registry: UnboundedSender<JobNotice>,
        after: Duration,
    ) -> Self {
        let sender = registry.clone();
        let way = Way::new(account, after, move || {
            let _ = sender.send((job, number, Notice::MadeWay));
        });
        Self { way, job, number, registry, run: None }
    }

    /// How its job makes way.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// Begins the run; answers its meter, which runs until the slot is dropped.
    pub fn begin(&mut self) -> CostMeter {
        let meter = CostMeter::of(self.way.clone());
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
        let (registry, mut notices) = tokio::sync::mpsc::unbounded_channel();
        let slot = || RunSlot::new((AccountId::generate(), JobId::generate()), 1, registry.clone(), SECOND);
        let mut cost = || notices.try_recv().map(|(_, _, notice)| notice);
        let (unused, mut used) = (slot(), slot());
        tokio::time::advance(SECOND).await;
        drop(unused);
        assert_eq!(cost(), Ok(Notice::SlotFree { cost: None }));
        // Reading inputs and publishing hold only the slot, and count too.
        let meter = used.begin();
        tokio::time::advance(SECOND).await;
        let wait = meter.begin_wait();
        tokio::time::advance(SECOND).await;
        drop(wait);
        tokio::time::advance(SECOND).await;
        drop(used);
        assert_eq!(cost(), Ok(Notice::SlotFree { cost: Some(2 * SECOND) }));
    }
}
