//! A store whose deletions can be made to wait, for as long as somebody copies it.
//!
//! Hazard: a backup has the index as it was at one moment, and copies objects for minutes after it. What is deleted
//! meanwhile would be named by the copy's index and lie nowhere in the copy. So deletions are refused while a backup holds them;
//! what was to be deleted stays in the deletion log (`leftovers.rs`), or is swept as nobody's, and is hidden from readers
//! until then: for callers it is gone.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use super::{
    ByteRange, Folder, Landing, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
};

/// Who may delete: everybody at once, or nobody while a backup holds it.
#[derive(Clone, Debug, Default)]
pub struct Deletions(Arc<RwLock<()>>);

/// Nothing is deleted while this is there.
#[derive(Debug)]
pub struct DeletionHold {
    _held: OwnedRwLockWriteGuard<()>,
}

impl Deletions {
    /// Lets no deletion begin any more, and waits until those under way have ended.
    pub async fn hold(&self) -> DeletionHold {
        DeletionHold { _held: Arc::clone(&self.0).write_owned().await }
    }
}

/// A store in front of another one.
pub struct HeldStore {
    inner: Arc<dyn ObjectStore>,
    deletions: Deletions,
    hidden: Hidden,
}

/// What is deleted for everybody who reads, and still there.
#[derive(Clone, Default)]
struct Hidden(Arc<Mutex<HashSet<StorageKey>>>);

impl Hidden {
    fn lock(&self) -> MutexGuard<'_, HashSet<StorageKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, key: &StorageKey) -> Result<(), StoreError> {
        if self.lock().contains(key) { Err(StoreError::NotFound(key.to_string())) } else { Ok(()) }
    }

    fn show(&self, key: &StorageKey) {
        self.lock().remove(key);
    }
}

impl HeldStore {
    /// A store in front of `inner` that deletes nothing while `deletions` are held.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, deletions: Deletions) -> Self {
        Self { inner, deletions, hidden: Hidden::default() }
    }
}

/// What no backup copies goes at once: passwords must not outlive their job, and probes are nobody's.
fn is_copied(key: &StorageKey) -> bool {
    !matches!(key, StorageKey::JobSecret(..) | StorageKey::Probe(_))
}

fn refusal() -> StoreError {
    StoreError::Failed(Error::new(
        ErrorKind::ResourceBusy,
        "a backup is being made; it is deleted after that",
    ))
}

#[async_trait]
impl ObjectStore for HeldStore {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let inner = self.inner.stage(limit_bytes).await?;
        Ok(Box::new(HeldStaged { inner, hidden: self.hidden.clone() }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        let meta = self.inner.put(key, bytes).await?;
        self.hidden.show(key);
        Ok(meta)
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        self.hidden.check(key)?;
        self.inner.get(key, limit_bytes).await
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        self.hidden.check(key)?;
        self.inner.open(key, range).await
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.hidden.check(key)?;
        self.inner.head(key).await
    }

    /// Hidden objects are listed: who sweeps must find them.
    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        self.inner.list(folder, after, limit).await
    }

    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.hidden.check(from)?;
        let meta = self.inner.copy(from, to).await?;
        self.hidden.show(to);
        Ok(meta)
    }

    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        self.delete_all(std::slice::from_ref(key)).await
    }

    fn landing(&self) -> Landing {
        self.inner.landing()
    }

    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        // Held by a deletion until it has ended, so that a backup begins behind it.
        let Ok(_free) = self.deletions.0.try_read() else {
            let (kept, gone): (Vec<_>, Vec<_>) = keys.iter().partition(|key| is_copied(key));
            self.inner.delete_all(&gone).await?;
            if kept.is_empty() {
                return Ok(());
            }
            self.hidden.lock().extend(kept);
            return Err(refusal());
        };
        self.inner.delete_all(keys).await?;
        let mut hidden = self.hidden.lock();
        for key in keys {
            hidden.remove(key);
        }
        Ok(())
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.inner.probe().await
    }
}

struct HeldStaged {
    inner: Box<dyn StagedObject>,
    hidden: Hidden,
}

#[async_trait]
impl StagedObject for HeldStaged {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.inner.write(bytes).await
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        self.inner.content().await
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let Self { inner, hidden } = *self;
        let meta = inner.commit(key).await?;
        hidden.show(key);
        Ok(meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AccountId, JobId};
    use crate::domain::kinds::FileKind;
    use crate::storage::disk::DiskStore;

    #[tokio::test]
    async fn what_is_deleted_under_a_hold_is_gone_for_readers_and_there_for_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(DiskStore::open(folder.path().to_owned()).await.unwrap());
        let deletions = Deletions::default();
        let store = HeldStore::new(disk.clone(), deletions.clone());
        let (account, job) = (AccountId::generate(), JobId::generate());
        let output = StorageKey::JobOutput(account, job, FileKind::Pdf);
        let (data, secret) = (StorageKey::JobData(account, job), StorageKey::JobSecret(account, job));
        for key in [output, data, secret] {
            store.put(&key, Bytes::from_static(b"1")).await.unwrap();
        }
        let hold = deletions.hold().await;
        let refused = store.delete_all(&[output, data, secret]).await.unwrap_err();
        assert!(refused.is_held(), "{refused}");
        for key in [output, data, secret] {
            assert!(matches!(store.get(&key, 9).await, Err(StoreError::NotFound(_))));
            assert!(matches!(store.open(&key, None).await, Err(StoreError::NotFound(_))));
            assert_eq!(disk.head(&key).await.is_ok(), key != secret, "a password goes at once");
        }
        // What is written anew is there again, and is not what was to be deleted.
        let mut staged = store.stage(9).await.unwrap();
        staged.write(Bytes::from_static(b"22")).await.unwrap();
        staged.commit(&data).await.unwrap();
        assert_eq!(store.get(&data, 9).await.unwrap(), "22");
        drop(hold);
        assert!(store.head(&output).await.is_err(), "still hidden");
        store.delete(&output).await.unwrap();
        assert!(disk.head(&output).await.is_err() && store.hidden.lock().is_empty());
    }
}
