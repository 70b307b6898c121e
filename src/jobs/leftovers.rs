//! Objects that no record names any more: their keys stand in the index until they are deleted, so that a
//! crash in between leaves nothing behind.
//!
//! `gone/<job>` holds the paths. It is written in the batch that stops naming them.

use super::journal::Journal;
use crate::domain::ids::JobId;
use crate::storage::index::{Change, IndexError};
use crate::storage::{ObjectStore, StorageKey};

const PREFIX: &str = "gone/";
/// Marks read at a time.
const PAGE: usize = 500;

/// The part of a batch that remembers what is to be deleted.
pub(super) fn mark(job: JobId, keys: &[StorageKey]) -> Change {
    if keys.is_empty() {
        return Change::new();
    }
    let paths: Vec<_> = keys.iter().map(ToString::to_string).collect();
    Change::new().put(mark_key(job), paths.join("\n"))
}

/// Deletes the objects and forgets them; what cannot be deleted now stays remembered.
pub(super) async fn clear(journal: &Journal, store: &dyn ObjectStore, job: JobId, keys: &[StorageKey]) {
    if keys.is_empty() {
        return;
    }
    for key in keys {
        if let Err(error) = store.delete(key).await {
            tracing::warn!(storage.key = %key, error = %error, "an object stays behind until the next sweep");
            return;
        }
    }
    // What a crash brings back is deleted once more, which does no harm.
    if let Err(error) = journal.change_unsynced(Change::new().delete(mark_key(job))).await {
        tracing::warn!(job.id = %job, error = %error, "a mark of deleted objects stays behind");
    }
}

/// Deletes what an earlier life of the service, or a failing store, left; answers how many jobs that concerned.
///
/// # Errors
/// When the index cannot be read.
pub(super) async fn replay(journal: &Journal, store: &dyn ObjectStore) -> Result<usize, IndexError> {
    let marks = journal.scan(PREFIX, PAGE).await?;
    for mark in &marks {
        let Some(job) = mark.key.strip_prefix(PREFIX).and_then(|id| id.parse().ok()) else { continue };
        let paths = String::from_utf8_lossy(&mark.value);
        let keys: Vec<_> = paths.lines().filter_map(StorageKey::from_path).collect();
        clear(journal, store, job, &keys).await;
    }
    Ok(marks.len())
}

fn mark_key(job: JobId) -> String {
    format!("{PREFIX}{job}")
}
