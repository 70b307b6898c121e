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

/// Objects that a job had.
pub(super) type Gone = (JobId, Vec<StorageKey>);

/// The part of a batch that remembers what is to be deleted.
pub(super) fn mark(job: JobId, keys: &[StorageKey]) -> Change {
    if keys.is_empty() {
        return Change::new();
    }
    let paths: Vec<_> = keys.iter().map(ToString::to_string).collect();
    Change::new().put(mark_key(job), paths.join("\n"))
}

/// Deletes the objects and forgets them; what cannot be deleted now stays remembered.
pub(super) async fn clear(journal: &Journal, store: &dyn ObjectStore, gone: &[Gone]) {
    let mut forgotten = Change::new();
    for (job, keys) in gone {
        if delete(store, keys).await {
            forgotten = forgotten.delete(mark_key(*job));
        }
    }
    // What a crash brings back is deleted once more, which does no harm.
    if let Err(error) = journal.change_unsynced(forgotten).await {
        tracing::warn!(error = %error, "marks of deleted objects stay behind");
    }
}

/// Deletes what an earlier life of the service, or a failing store, left; answers how many jobs that concerned.
///
/// # Errors
/// When the index cannot be read.
pub(super) async fn replay(journal: &Journal, store: &dyn ObjectStore) -> Result<usize, IndexError> {
    let marks = journal.scan(PREFIX, PAGE).await?;
    let gone = marks.iter().filter_map(|mark| {
        let job = mark.key.strip_prefix(PREFIX)?.parse().ok()?;
        let paths = String::from_utf8_lossy(&mark.value);
        Some((job, paths.lines().filter_map(StorageKey::from_path).collect()))
    });
    clear(journal, store, &gone.collect::<Vec<_>>()).await;
    Ok(marks.len())
}

async fn delete(store: &dyn ObjectStore, keys: &[StorageKey]) -> bool {
    for key in keys {
        if let Err(error) = store.delete(key).await {
            tracing::warn!(storage.key = %key, error = %error, "an object stays behind until the next sweep");
            return false;
        }
    }
    true
}

fn mark_key(job: JobId) -> String {
    format!("{PREFIX}{job}")
}
