//! Fail points, for tests only: the process kills itself before or after the n-th change of what lasts.
//!
//! No release has this. A debug build does nothing of it either unless [`KILL_FILE`] names a file. When that file
//! is there, the number in it is counted down before and after each change of the store and of the index, and at
//! zero the process gets SIGKILL. So every step of every operation is covered, also one that is written tomorrow.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::index::{Entry, Index, IndexError, WriteBatch};
use super::{
    ByteRange, Folder, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
    UploadStaging,
};

/// The variable that names the file with the number.
pub const KILL_FILE: &str = "PLATEN_KILL_FILE";

/// Counts the changes of one process.
#[derive(Debug)]
struct Switch {
    file: PathBuf,
    /// How many are left; read from the file when it appears, forgotten when it goes.
    left: Mutex<Option<u64>>,
}

/// The one switch of this process, where the environment asks for it.
fn switch() -> Option<Arc<Switch>> {
    static SWITCH: OnceLock<Option<Arc<Switch>>> = OnceLock::new();
    let make = || {
        let file = std::env::var_os(KILL_FILE)?;
        Some(Arc::new(Switch { file: file.into(), left: Mutex::default() }))
    };
    SWITCH.get_or_init(make).clone()
}

/// A fail point by itself, before or after a change that goes through neither index nor store.
pub fn pass() {
    if let Some(switch) = switch() {
        switch.pass();
    }
}

/// Index and store with fail points, where the environment asks for them; as they are where it does not.
#[must_use]
pub fn wrap(index: Arc<dyn Index>, store: Arc<dyn ObjectStore>) -> (Arc<dyn Index>, Arc<dyn ObjectStore>) {
    let Some(switch) = switch() else { return (index, store) };
    let index = FailingIndex { inner: index, switch: Arc::clone(&switch) };
    (Arc::new(index), Arc::new(FailingStore { inner: store, switch }))
}

impl Switch {
    /// Counts one point down, and kills the process at zero.
    fn pass(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(number) = std::fs::read_to_string(&self.file) else {
            *left = None;
            return;
        };
        let now = left.or_else(|| number.trim().parse().ok()).map(|left| left.saturating_sub(1));
        *left = now;
        if now == Some(0) {
            // SIGKILL cannot be caught: nothing of this process runs after it.
            let _ = kill(Pid::this(), Signal::SIGKILL);
        }
    }

    /// A change between two points.
    async fn around<T>(&self, change: impl Future<Output = T> + Send) -> T {
        self.pass();
        let changed = change.await;
        self.pass();
        changed
    }
}

struct FailingStore {
    inner: Arc<dyn ObjectStore>,
    switch: Arc<Switch>,
}

struct FailingStaged {
    inner: Box<dyn StagedObject>,
    switch: Arc<Switch>,
}

struct FailingIndex {
    inner: Arc<dyn Index>,
    switch: Arc<Switch>,
}

#[async_trait]
impl ObjectStore for FailingStore {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let inner = self.inner.stage(limit_bytes).await?;
        Ok(Box::new(FailingStaged { inner, switch: Arc::clone(&self.switch) }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        self.switch.around(self.inner.put(key, bytes)).await
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        self.inner.get(key, limit_bytes).await
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        self.inner.open(key, range).await
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.inner.head(key).await
    }

    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        self.inner.list(folder, after, limit).await
    }

    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.switch.around(self.inner.copy(from, to)).await
    }

    /// `delete_all` is the trait's own, object by object, so that there is a fail point between any two.
    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        self.switch.around(self.inner.delete(key)).await
    }

    fn upload_staging(&self) -> UploadStaging {
        self.inner.upload_staging()
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.inner.probe().await
    }
}

#[async_trait]
impl StagedObject for FailingStaged {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.inner.write(bytes).await
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        self.inner.content().await
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.switch.around(self.inner.commit(key)).await
    }
}

#[async_trait]
impl Index for FailingIndex {
    async fn commit(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.switch.around(self.inner.commit(change)).await
    }

    async fn write_unsynced(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.switch.around(self.inner.write_unsynced(change)).await
    }

    async fn sync(&self) -> Result<(), IndexError> {
        self.inner.sync().await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.inner.get(key).await
    }

    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.inner.scan(prefix, after, limit).await
    }

    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        self.inner.scan_back(prefix, before, limit).await
    }

    async fn counter(&self, key: &str) -> Result<i64, IndexError> {
        self.inner.counter(key).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
