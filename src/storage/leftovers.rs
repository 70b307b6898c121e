//! Objects that no record names any more: their keys stand in the index until they are deleted, so that a
//! crash in between leaves nothing behind.
//!
//! `gone/<id>` holds the paths. It is written in the batch that stops naming them.

use std::collections::HashSet;

use futures_util::future::join_all;
use uuid::Uuid;

use super::index::{Change, Entry, Index, IndexError};
use super::{ObjectStore, StorageKey};

const PREFIX: &str = "gone/";
/// Marks read at a time.
const PAGE: usize = 500;
/// Marks whose objects are deleted at once: a store that is far away answers each after a while.
const AT_ONCE: usize = 8;

/// Objects that a job or a template had, under its id.
pub type Gone = (Uuid, Vec<StorageKey>);

/// The part of a batch that remembers what is to be deleted.
pub fn mark(id: Uuid, keys: &[StorageKey]) -> Change {
    if keys.is_empty() {
        return Change::new();
    }
    let paths: Vec<_> = keys.iter().map(ToString::to_string).collect();
    Change::new().put(mark_key(id), paths.join("\n"))
}

/// Deletes the objects and forgets them; what cannot be deleted now stays remembered. Answers how many marks went.
pub async fn clear(index: &dyn Index, store: &dyn ObjectStore, gone: &[Gone]) -> usize {
    let (mut forgotten, mut count) = (Change::new(), 0);
    for some in gone.chunks(AT_ONCE) {
        let deleted = join_all(some.iter().map(|(_, keys)| delete(store, keys))).await;
        for ((id, _), _) in some.iter().zip(deleted).filter(|(_, deleted)| *deleted) {
            forgotten = forgotten.delete(mark_key(*id));
            count += 1;
        }
    }
    // What a crash brings back is deleted once more, which does no harm.
    if let Err(error) = index.write_unsynced(forgotten).await {
        tracing::warn!(error = %error, "marks of deleted objects stay behind");
        return 0;
    }
    count
}

/// Deletes what an earlier life of the service, or a failing store, left.
///
/// Marks whose objects cannot be deleted stay in the log. If every sweep began at its head, enough of them would keep
/// all later ones for ever: so it goes on where the last one stopped, and begins again when it is through.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The last mark that was looked at.
    after: Option<String>,
}

impl Replay {
    /// Goes through the log until its end, or until nothing of a page can be deleted: a store that is away answers
    /// each of them late. Answers how many marks went.
    ///
    /// # Errors
    /// When the index fails.
    pub async fn sweep(&mut self, index: &dyn Index, store: &dyn ObjectStore) -> Result<usize, IndexError> {
        let (mut went, mut is_synced) = (0, false);
        loop {
            let marks = index.scan(PREFIX, self.after.as_deref(), PAGE).await?;
            self.after = marks.last().filter(|_| marks.len() == PAGE).map(|last| last.key.clone());
            if marks.is_empty() {
                return Ok(went);
            }
            if !is_synced {
                // A batch can be seen before it is on the disk: what it names no more may be what a crash brings back.
                index.sync().await?;
                is_synced = true;
            }
            let cleared = clear(index, store, &gone(&marks)).await;
            went += cleared;
            if cleared == 0 || self.after.is_none() {
                return Ok(went);
            }
        }
    }
}

fn gone(marks: &[Entry]) -> Vec<Gone> {
    let gone = marks.iter().filter_map(|mark| {
        let id = mark.key.strip_prefix(PREFIX)?.parse().ok()?;
        let paths = String::from_utf8_lossy(&mark.value);
        Some((id, paths.lines().filter_map(StorageKey::from_path).collect()))
    });
    gone.collect()
}

/// Deletes objects that no record names, as the index says now; answers how many went.
pub async fn remove_unnamed(index: &dyn Index, store: &dyn ObjectStore, keys: &[StorageKey]) -> u64 {
    if keys.is_empty() {
        return 0;
    }
    // As for marks: what is not on the disk yet is not the truth.
    if let Err(error) = index.sync().await {
        tracing::warn!(error = %error, "objects that nobody names stay, for the index cannot be written");
        return 0;
    }
    let mut removed = 0;
    for key in keys {
        removed += u64::from(delete(store, std::slice::from_ref(key)).await);
    }
    removed
}

/// Everything that is deleted and only not gone yet.
///
/// # Errors
/// When the index cannot be read.
pub async fn marked(index: &dyn Index) -> Result<HashSet<StorageKey>, IndexError> {
    let (mut marked, mut after) = (HashSet::new(), None::<String>);
    loop {
        let page = index.scan(PREFIX, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(marked) };
        after = Some(last.key.clone());
        for mark in &page {
            let paths = String::from_utf8_lossy(&mark.value);
            marked.extend(paths.lines().filter_map(StorageKey::from_path));
        }
    }
}

async fn delete(store: &dyn ObjectStore, keys: &[StorageKey]) -> bool {
    match store.delete_all(keys).await {
        Ok(()) => true,
        Err(error) if error.is_held() => false,
        Err(error) => {
            tracing::warn!(error = %error, "objects stay behind until the next sweep");
            false
        }
    }
}

fn mark_key(id: Uuid) -> String {
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
    async fn marks_that_stay_keep_no_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let objects = folder.path().join("objects");
        let index = SledIndex::open(&folder.path().join("index"), &Config::default().storage).await.unwrap();
        let store = DiskStore::open(objects.clone()).await.unwrap();
        let account = AccountId::generate();
        let mut log = Change::new();
        let mut make = |is_file: bool| {
            let job = JobId::generate();
            let key = StorageKey::JobOutput(account, job, FileKind::Pdf);
            let path = objects.join(key.to_string());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // A folder that stands where the object was is no file that could be removed.
            if is_file {
                std::fs::write(&path, "x").unwrap();
            } else {
                std::fs::create_dir(&path).unwrap();
            }
            log = std::mem::take(&mut log).and(mark(job.0, &[key]));
            path
        };
        let stuck: Vec<_> = (0..2 * PAGE).map(|_| make(false)).collect();
        let later: Vec<_> = (0..3).map(|_| make(true)).collect();
        index.commit(log).await.unwrap();
        let mut replay = Replay::default();
        let mut went = Vec::new();
        for _ in 0..4 {
            went.push(replay.sweep(&index, &store).await.unwrap());
        }
        assert_eq!(went, [0, 0, 3, 0], "two pages of what stays, then the rest, and from the beginning");
        assert!(later.iter().all(|path| !path.exists()));
        for path in &stuck {
            std::fs::remove_dir(path).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        assert_eq!(replay.sweep(&index, &store).await.unwrap(), PAGE, "from where it stopped");
        assert_eq!(replay.sweep(&index, &store).await.unwrap(), PAGE);
        assert!(marked(&index).await.unwrap().is_empty() && stuck.iter().all(|path| !path.exists()));
    }
}
