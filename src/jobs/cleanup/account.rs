//! Erases every job of an account that was deleted, whatever state it is in.

use actix::Addr;

use crate::accounts::open;
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::registry::JobRegistry;
use crate::jobs::registry::delete::{self, DeleteJob};
use crate::jobs::store::journal::{self, Journal};
use crate::jobs::store::record::JobRecord;
use crate::storage::ObjectStore;
use crate::storage::index::{Change, IndexError};
use crate::storage::leftovers;

/// Jobs that are deleted in one batch of the index.
const PAGE: usize = 100;

/// Erases the account's jobs, their inputs and documents; answers how many. `registry` is that of a running service,
/// which cancels what has not ended; without one no job has an actor, and none runs.
///
/// # Errors
/// When the index fails; a repetition goes on.
pub async fn delete_jobs(
    journal: &Journal,
    store: &dyn ObjectStore,
    registry: Option<&Addr<JobRegistry>>,
    account: AccountId,
) -> Result<u64, IndexError> {
    let (mut deleted, mut after) = (0, None::<JobId>);
    loop {
        let page = journal.ids(account, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(deleted) };
        after = Some(*last);
        if let Some(registry) = registry {
            cancel_page(journal, registry, account, &page).await?;
        }
        deleted += delete_page(journal, store, (account, &page), registry.is_none()).await?;
    }
}

/// Cancels those that have not ended.
async fn cancel_page(
    journal: &Journal,
    registry: &Addr<JobRegistry>,
    account: AccountId,
    jobs: &[JobId],
) -> Result<(), IndexError> {
    for job in jobs {
        if journal.readable(account, *job).await?.is_none_or(|record| !record.state.is_final()) {
            // What cannot be cancelled now is met again by the next sweep.
            let _ = registry.send(DeleteJob { account, job: *job }).await;
        }
    }
    Ok(())
}

/// Erases those that have ended, or all of them where none can have an actor.
async fn delete_page(
    journal: &Journal,
    store: &dyn ObjectStore,
    (account, jobs): (AccountId, &[JobId]),
    all: bool,
) -> Result<u64, IndexError> {
    let alone = journal.lock_ended().await;
    let (mut change, mut gone, mut deleted) = (Change::new(), Vec::new(), 0);
    for job in jobs {
        let of_job = match journal.readable(account, *job).await? {
            Some(record) if !all && !record.state.is_final() => continue,
            Some(record) => {
                let (of_job, keys) = deletion(journal, &record, store);
                gone.push(keys);
                of_job
            }
            // Its objects are nobody's then, and are swept.
            None => journal::unreadable_deletion(account, *job),
        };
        change = change.and(of_job).delete(open::mark(account, *job));
        deleted += 1;
    }
    journal.apply(change).await?;
    drop(alone);
    leftovers::clear(journal.index(), store, &gone).await;
    Ok(deleted)
}

fn deletion(journal: &Journal, record: &JobRecord, store: &dyn ObjectStore) -> (Change, leftovers::Gone) {
    delete::deletion(journal, record, store.landing())
}
