//! Deletes every job of a deleted account, whatever its state.

use actix::Addr;

use crate::accounts::open_jobs;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::cleanup::JOBS_PER_BATCH;
use crate::jobs::registry::JobRegistry;
use crate::jobs::registry::delete::DeleteJob;
use crate::jobs::store::journal::{self, Journal};
use crate::storage::ObjectStore;
use crate::storage::deletion_log;
use crate::storage::index::{IndexError, WriteBatch};

/// Deletes the account's jobs with their inputs and documents; answers how many. `registry` is that of the running
/// service, which cancels jobs that have not ended; without one no service runs, and no job has an actor.
///
/// # Errors
/// When the index fails; a repetition continues.
pub async fn delete_jobs(
    journal: &Journal,
    store: &dyn ObjectStore,
    registry: Option<&Addr<JobRegistry>>,
    account: AccountId,
) -> Result<u64, IndexError> {
    let (mut deleted, mut after) = (0, None::<JobId>);
    loop {
        let page = journal.ids(account, after, JOBS_PER_BATCH).await?;
        let Some(last) = page.last() else { return Ok(deleted) };
        after = Some(*last);
        if let Some(registry) = registry {
            cancel_page(journal, registry, account, &page).await?;
        }
        deleted += delete_page(journal, store, (account, &page), registry.is_none()).await?;
    }
}

/// Cancels those of the jobs that have not ended.
async fn cancel_page(
    journal: &Journal,
    registry: &Addr<JobRegistry>,
    account: AccountId,
    jobs: &[JobId],
) -> Result<(), IndexError> {
    for job in jobs {
        if journal.read_if_readable(account, *job).await?.is_none_or(|record| !record.state.is_final()) {
            // A job that cannot be cancelled now is cancelled when the deletion is repeated.
            let _ = registry.send(DeleteJob { account, job: *job }).await;
        }
    }
    Ok(())
}

/// Deletes those of the jobs that have ended, or `all` where none can have an actor.
async fn delete_page(
    journal: &Journal,
    store: &dyn ObjectStore,
    (account, jobs): (AccountId, &[JobId]),
    all: bool,
) -> Result<u64, IndexError> {
    let lock = journal.lock_ended().await;
    let (mut batch, mut gone, mut deleted) = (WriteBatch::new(), Vec::new(), 0);
    for job in jobs {
        let of_job = match journal.read_if_readable(account, *job).await? {
            Some(record) if !all && !record.state.is_final() => continue,
            Some(record) => {
                let (of_job, keys) = journal.deletion(&record, store.upload_staging());
                gone.push(keys);
                of_job
            }
            None => journal::unreadable_deletion(account, *job),
        };
        batch = batch.and(of_job).delete(open_jobs::key(account, *job));
        deleted += 1;
    }
    journal.index().commit(batch).await?;
    drop(lock);
    deletion_log::clear(journal.index(), store, &gone).await;
    Ok(deleted)
}
