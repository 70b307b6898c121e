//! `DeleteJob`: cancels a job that has not ended, deletes one that has.

use actix::prelude::*;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::registry::{Found, JobRegistry, actor_lost, not_found};
use crate::jobs::run::messages::Cancel;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::problem::Problem;

/// Cancels a job that has not ended, or deletes one that has, with its inputs and its document.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<DeleteOutcome, Problem>")]
pub struct DeleteJob {
    /// The caller's account.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
}

/// What `DeleteJob` did.
#[derive(Debug)]
pub enum DeleteOutcome {
    /// The job was cancelled, now or a moment ago; or it ended by itself before the cancel.
    Ended(Box<JobView>),
    /// Record, inputs and document are deleted.
    Deleted,
}

impl Handler<DeleteJob> for JobRegistry {
    type Result = ResponseActFuture<Self, Result<DeleteOutcome, Problem>>;

    fn handle(&mut self, message: DeleteJob, _: &mut Self::Context) -> Self::Result {
        let DeleteJob { account, job } = message;
        let (context, now) = (self.context.clone(), self.context.clock.now());
        let grace_ms = self.context.limits.cancel_grace_s.saturating_mul(1_000);
        Box::pin(self.find(account, job).then(move |found, registry, _| {
            let deleted = async move {
                if let Found::Active(active) = found?
                    // The actor of a job that has ended writes nothing more, so the record may be deleted beside it.
                    && !active.view.borrow().is_done()
                {
                    let view = active.addr.send(Cancel).await.map_err(|_| actor_lost())??;
                    return Ok(DeleteOutcome::Ended(Box::new(view)));
                }
                let _lock = context.journal.lock_ended().await;
                let read = context.journal.read(account, job).await?;
                let record = read.ok_or_else(|| not_found(job))?;
                if is_just_cancelled(&record, now, grace_ms) {
                    return Ok(DeleteOutcome::Ended(Box::new(record.view())));
                }
                let deleted = context.journal.delete(context.pipeline.store.as_ref(), &record).await;
                deleted.map(|()| DeleteOutcome::Deleted).map_err(Problem::from)
            };
            deleted.into_actor(registry)
        }))
    }
}

/// Whether this request repeats a cancel that was answered a moment ago: a retry must not delete the job.
fn is_just_cancelled(record: &JobRecord, now: Timestamp, grace_ms: u64) -> bool {
    let ended_at = record.finished_at.unwrap_or(record.created_at);
    record.state == JobState::Cancelled && now.since_ms(ended_at) < grace_ms
}
