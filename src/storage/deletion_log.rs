//! The deletion log: objects that no record names any more, until they are deleted.
//!
//! Hazard: a crash between a record's change and the deletion would leave objects that are never found again. So the batch that
//! removes their names from the record writes their paths under `gone/<id>`, and the entry is removed after the objects. After
//! a crash or a failure of the store a later sweep ([`Replay`]) deletes what is still in the log.

use std::collections::HashSet;

use futures_util::future::join_all;
use uuid::Uuid;

use super::index::{Entry, Index, IndexError, WriteBatch, scan_all};
use super::{ObjectStore, StorageKey, delete_or_warn};

const PREFIX: &str = "gone/";
/// Entries read at a time.
const PAGE: usize = 500;
/// Entries whose objects are deleted concurrently: a remote store takes a while for each.
const AT_ONCE: usize = 8;

/// Objects to be deleted, under the id of their entry: that of their job, or one of its own.
pub type PendingDeletion = (Uuid, Vec<StorageKey>);

/// What is logged when an entry's objects cannot be deleted now.
const CONSEQUENCE: &str = "objects stay behind until the next sweep";

/// The part of a batch that enters objects in the log.
pub fn log_entry(id: Uuid, keys: &[StorageKey]) -> WriteBatch {
    if keys.is_empty() {
        return WriteBatch::new();
    }
    let paths: Vec<_> = keys.iter().map(ToString::to_string).collect();
    WriteBatch::new().put(entry_key(id), paths.join("\n"))
}

/// Deletes the objects and their entries. An entry whose objects cannot be deleted now stays. Returns how many entries
/// were removed.
pub async fn clear(index: &dyn Index, store: &dyn ObjectStore, gone: &[PendingDeletion]) -> usize {
    let (mut done, mut count) = (WriteBatch::new(), 0);
    for some in gone.chunks(AT_ONCE) {
        let deleted = join_all(some.iter().map(|(_, keys)| delete_or_warn(store, keys, CONSEQUENCE))).await;
        for ((id, _), _) in some.iter().zip(deleted).filter(|(_, deleted)| *deleted) {
            done = done.delete(entry_key(*id));
            count += 1;
        }
    }
    // Unsynced: an entry that a crash brings back is deleted once more, which does no harm.
    if let Err(error) = index.write_unsynced(done).await {
        tracing::warn!(error = %error, "marks of deleted objects stay behind");
        return 0;
    }
    count
}

/// Deletes what is still in the log after a crash or a failure of the store.
///
/// Hazard: entries whose objects cannot be deleted stay at the head of the log. If every sweep began there, enough of them
/// would block all later ones forever. So a sweep continues where the last one stopped, and starts over at the end.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The last entry that was tried.
    after: Option<String>,
}

impl Replay {
    /// Goes through the log until its end, or until nothing of a page can be deleted: a store that does not answer would
    /// cost a timeout for each entry. Returns how many entries were removed.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn sweep(&mut self, index: &dyn Index, store: &dyn ObjectStore) -> Result<usize, IndexError> {
        let (mut total, mut is_synced) = (0, false);
        loop {
            let entries = index.scan(PREFIX, self.after.as_deref(), PAGE).await?;
            self.after = entries.last().filter(|_| entries.len() == PAGE).map(|last| last.key.clone());
            if entries.is_empty() {
                return Ok(total);
            }
            if !is_synced {
                // An entry can be read before its batch is durable. If its objects were deleted now and a crash undid the
                // batch, the old record would name objects that are gone.
                index.sync().await?;
                is_synced = true;
            }
            let cleared = clear(index, store, &pending(&entries)).await;
            total += cleared;
            if cleared == 0 || self.after.is_none() {
                return Ok(total);
            }
        }
    }
}

fn pending(entries: &[Entry]) -> Vec<PendingDeletion> {
    let pending = entries.iter().filter_map(|entry| {
        let id = entry.key.strip_prefix(PREFIX)?.parse().ok()?;
        let paths = String::from_utf8_lossy(&entry.value);
        Some((id, paths.lines().filter_map(StorageKey::from_path).collect()))
    });
    pending.collect()
}

/// Deletes objects that no record names; returns how many.
pub async fn remove_unnamed(index: &dyn Index, store: &dyn ObjectStore, keys: &[StorageKey]) -> u64 {
    if keys.is_empty() {
        return 0;
    }
    // As in a sweep: the batch that removed their names must be durable first.
    if let Err(error) = index.sync().await {
        tracing::warn!(error = %error, "objects that nobody names stay, for the index cannot be written");
        return 0;
    }
    let mut removed = 0;
    for key in keys {
        removed += u64::from(delete_or_warn(store, std::slice::from_ref(key), CONSEQUENCE).await);
    }
    removed
}

/// All objects in the log: deleted for every caller, perhaps still in the store.
///
/// # Errors
/// When the index cannot be read.
pub async fn logged_objects(index: &dyn Index) -> Result<HashSet<StorageKey>, IndexError> {
    Ok(pending(&scan_all(index, PREFIX).await?).into_iter().flat_map(|(_, keys)| keys).collect())
}

fn entry_key(id: Uuid) -> String {
    format!("{PREFIX}{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::domain::ids::{AccountId, JobId};
    use crate::domain::kinds::FileKind;
    use crate::storage::disk::DiskStore;
    use crate::storage::index::SledIndex;

    #[tokio::test]
    async fn entries_that_cannot_be_deleted_do_not_block_later_ones() {
        let folder = tempfile::tempdir().unwrap();
        let objects = folder.path().join("objects");
        let index = SledIndex::open(&folder.path().join("index"), &Config::default().storage).await.unwrap();
        let store = DiskStore::open(objects.clone()).await.unwrap();
        let account = AccountId::generate();
        let mut log = WriteBatch::new();
        let mut make = |is_file: bool| {
            let job = JobId::generate();
            let key = StorageKey::JobOutput(account, job, FileKind::Pdf);
            let path = objects.join(key.to_string());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // A folder in place of the object cannot be removed like a file.
            if is_file {
                std::fs::write(&path, "x").unwrap();
            } else {
                std::fs::create_dir(&path).unwrap();
            }
            log = std::mem::take(&mut log).and(log_entry(job.0, &[key]));
            path
        };
        let stuck: Vec<_> = (0..2 * PAGE).map(|_| make(false)).collect();
        let later: Vec<_> = (0..3).map(|_| make(true)).collect();
        index.commit(log).await.unwrap();
        let mut replay = Replay::default();
        let mut removed = Vec::new();
        for _ in 0..4 {
            removed.push(replay.sweep(&index, &store).await.unwrap());
        }
        assert_eq!(removed, [0, 0, 3, 0], "two pages of what stays, then the others, and from the beginning");
        assert!(later.iter().all(|path| !path.exists()));
        for path in &stuck {
            std::fs::remove_dir(path).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        assert_eq!(replay.sweep(&index, &store).await.unwrap(), PAGE, "from where it stopped");
        assert_eq!(replay.sweep(&index, &store).await.unwrap(), PAGE);
        assert!(logged_objects(&index).await.unwrap().is_empty() && stuck.iter().all(|path| !path.exists()));
    }
}
