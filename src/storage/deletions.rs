//! Holds deletions while a backup copies the objects of a disk.
//!
//! Hazard: a backup has the index as it was at one moment, and copies objects for minutes after it. An object deleted meanwhile
//! would be named by the copy's index and be missing in the copy. So [`DiskStore`](super::disk::DiskStore) deletes nothing
//! while a backup holds deletions. The objects stay in the deletion log, or are found by a later sweep; until then they are
//! hidden from readers, so that for callers they are deleted.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, RwLockReadGuard};

use super::{StorageKey, StoreError};

/// Lets deletions through, unless a backup holds them.
#[derive(Clone, Debug, Default)]
pub struct DeletionGate {
    running: Arc<RwLock<()>>,
    /// Objects that are deleted for every reader, but still on the disk.
    hidden: Arc<Mutex<HashSet<StorageKey>>>,
}

impl DeletionGate {
    /// Lets no deletion begin while the guard lives; waits until those under way have ended.
    pub async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.running).write_owned().await
    }

    /// The right to delete, to be held until the deletion has ended, so that a backup waits for it; `None` while deletions are
    /// held.
    pub(super) fn begin(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.running.try_read().ok()
    }

    /// Hides the objects from readers.
    pub(super) fn hide<'a>(&self, keys: impl IntoIterator<Item = &'a StorageKey>) {
        self.hidden.lock().extend(keys);
    }

    /// Stops hiding objects that were written anew, or are deleted.
    pub(super) fn forget(&self, keys: &[StorageKey]) {
        let mut hidden = self.hidden.lock();
        for key in keys {
            hidden.remove(key);
        }
    }

    /// # Errors
    /// `NotFound` for an object that is hidden.
    pub(super) fn check(&self, key: &StorageKey) -> Result<(), StoreError> {
        if self.hidden.lock().contains(key) { Err(StoreError::NotFound(key.to_string())) } else { Ok(()) }
    }
}

/// Whether a backup copies the object. Others are deleted at once: passwords must not outlive their job.
pub(super) fn is_copied(key: &StorageKey) -> bool {
    !matches!(key, StorageKey::JobSecret(..) | StorageKey::Probe(_))
}

/// The error for a deletion that is held.
pub(super) fn refusal() -> StoreError {
    StoreError::Failed(Error::new(
        ErrorKind::ResourceBusy,
        "a backup is being made; it is deleted after that",
    ))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::ids::{AccountId, JobId};
    use crate::domain::kinds::FileKind;
    use crate::storage::ObjectStore as _;
    use crate::storage::disk::DiskStore;

    #[tokio::test]
    async fn an_object_deleted_during_a_backup_is_hidden_from_readers_and_kept_for_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let store = DiskStore::open(folder.path().to_owned()).await.unwrap();
        let is_there = |key: StorageKey| folder.path().join(key.to_string()).exists();
        let (account, job) = (AccountId::generate(), JobId::generate());
        let output = StorageKey::JobOutput(account, job, FileKind::Pdf);
        let (data, secret) = (StorageKey::JobData(account, job), StorageKey::JobSecret(account, job));
        for key in [output, data, secret] {
            store.put(&key, Bytes::from_static(b"1")).await.unwrap();
        }
        let hold = store.deletions().hold().await;
        let refused = store.delete_all(&[output, data, secret]).await.unwrap_err();
        assert!(refused.is_held(), "{refused}");
        for key in [output, data, secret] {
            assert!(matches!(store.get(&key, 9).await, Err(StoreError::NotFound(_))));
            assert!(matches!(store.open(&key, None).await, Err(StoreError::NotFound(_))));
            assert_eq!(is_there(key), key != secret, "a password goes at once");
        }
        // An object written anew is visible again, and is no longer to be deleted.
        let mut staged = store.stage(9).await.unwrap();
        staged.write(Bytes::from_static(b"22")).await.unwrap();
        staged.commit(&data).await.unwrap();
        assert_eq!(store.get(&data, 9).await.unwrap(), "22");
        drop(hold);
        assert!(store.head(&output).await.is_err(), "still hidden");
        store.delete(&output).await.unwrap();
        assert!(!is_there(output) && store.deletions().hidden.lock().is_empty());
    }
}
