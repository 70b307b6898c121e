//! `DeleteJob`: cancels what has not ended, erases what has.

use actix::prelude::*;

use crate::clock::Timestamp;
use crate::domain::ids::{AccountId, JobId};
use crate::domain::job::JobState;
use crate::jobs::registry::{Found, JobRegistry, actor_lost, not_found};
use crate::jobs::run::actor;
use crate::jobs::store::inputs;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::jobs::view::JobView;
use crate::problem::Problem;
use crate::storage::index::{Change, IndexError};
use crate::storage::leftovers::{self, Gone};
use crate::storage::{Landing, ObjectStore, StorageKey};

/// Cancels a job that has not ended, or erases one that has, with its inputs and its document.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "Result<DeleteOutcome, Problem>")]
pub struct DeleteJob {
    /// Who asks.
    pub account: AccountId,
    /// Which job.
    pub job: JobId,
}

/// What became of a job that was to be deleted.
#[derive(Debug)]
pub enum DeleteOutcome {
    /// It was cancelled, now or a moment ago; or it ended while it was to be cancelled.
    Ended(Box<JobView>),
    /// Nothing of it is left.
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
                    // An actor whose job has ended writes nothing more, and is about to go.
                    && !active.view.borrow().is_done()
                {
                    let view = active.addr.send(actor::Cancel).await.map_err(|_| actor_lost())??;
                    return Ok(DeleteOutcome::Ended(Box::new(view)));
                }
                let _alone = context.journal.lock_ended().await;
                let read = context.journal.read(account, job).await?;
                // Somebody else may have deleted it a moment ago.
                let record = read.ok_or_else(|| not_found(job))?;
                if is_just_cancelled(&record, now, grace_ms) {
                    return Ok(DeleteOutcome::Ended(Box::new(record.view())));
                }
                let deleted = delete(&context.journal, context.pipeline.store.as_ref(), &record).await;
                deleted.map(|()| DeleteOutcome::Deleted).map_err(Problem::from)
            };
            deleted.into_actor(registry)
        }))
    }
}

/// A cancellation that is sent again means the same one.
fn is_just_cancelled(record: &JobRecord, now: Timestamp, grace_ms: u64) -> bool {
    let ended_at = record.finished_at.unwrap_or(record.created_at);
    record.state == JobState::Cancelled && now.since_ms(ended_at) < grace_ms
}

/// Forgets a job that has ended: its record in one durable step, then its objects.
///
/// # Errors
/// When the index fails: everything is there still.
async fn delete(journal: &Journal, store: &dyn ObjectStore, record: &JobRecord) -> Result<(), IndexError> {
    let (change, gone) = deletion(journal, record, store.landing());
    journal.apply(change).await?;
    leftovers::clear(journal.index(), store, &[gone]).await;
    Ok(())
}

/// The batch that forgets a job that has ended, and the objects to be deleted when it is durable.
pub(in crate::jobs) fn deletion(journal: &Journal, record: &JobRecord, landing: Landing) -> (Change, Gone) {
    let mut keys = inputs::objects(record, landing);
    keys.push(output(record));
    let change = inputs::removal(record).and(leftovers::mark(record.id.0, &keys));
    (change.and(journal.deletion(record)), (record.id.0, keys))
}

/// The document of a job.
pub(in crate::jobs) fn output(record: &JobRecord) -> StorageKey {
    StorageKey::JobOutput(record.account, record.id, record.file())
}
