//! Wraps a store to count bytes, objects and failures for the metrics. In debug builds it has the fail points of tests.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;

use super::{
    ByteRange, Folder, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
    UploadStaging,
};
use crate::telemetry::StoreMetrics;

/// A store that counts what another one does, except the probe of `/health/ready`.
pub struct MeteredStore {
    inner: Arc<dyn ObjectStore>,
    metrics: StoreMetrics,
}

impl MeteredStore {
    /// Counts in `metrics` what `inner` does.
    pub fn new(inner: Arc<dyn ObjectStore>, metrics: StoreMetrics) -> Self {
        Self { inner, metrics }
    }
}

#[async_trait]
impl ObjectStore for MeteredStore {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let staged = count_stage_failure(&self.metrics, self.inner.stage(limit_bytes)).await?;
        Ok(Box::new(MeteredUpload { inner: staged, metrics: self.metrics.clone() }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        let length = bytes.len() as u64;
        let meta = count_change_failure(&self.metrics, "write", self.inner.put(key, bytes)).await?;
        self.metrics.bytes.of(["write"]).inc_by(length);
        self.metrics.objects.of(["write"]).inc();
        Ok(meta)
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        let bytes = count_read_failure(&self.metrics, self.inner.get(key, limit_bytes)).await?;
        self.metrics.bytes.of(["read"]).inc_by(bytes.len() as u64);
        self.metrics.objects.of(["read"]).inc();
        Ok(bytes)
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        let reader = count_read_failure(&self.metrics, self.inner.open(key, range)).await?;
        self.metrics.objects.of(["read"]).inc();
        let (metrics, read) = (self.metrics.clone(), self.metrics.bytes.of(["read"]));
        let counted = reader.chunks.map(move |chunk| {
            let chunk = count_failure(&metrics, "read", chunk)?;
            read.inc_by(chunk.len() as u64);
            Ok(chunk)
        });
        Ok(ObjectReader { chunks: counted.boxed(), ..reader })
    }

    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let meta = count_change_failure(&self.metrics, "write", self.inner.copy(from, to)).await?;
        self.metrics.objects.of(["write"]).inc();
        Ok(meta)
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        count_read_failure(&self.metrics, self.inner.head(key)).await
    }

    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        count_read_failure(&self.metrics, self.inner.list(folder, after, limit)).await
    }

    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        count_change_failure(&self.metrics, "delete", self.inner.delete(key)).await?;
        self.metrics.objects.of(["delete"]).inc();
        Ok(())
    }

    fn upload_staging(&self) -> UploadStaging {
        self.inner.upload_staging()
    }

    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        #[cfg(debug_assertions)]
        if crate::failpoint::is_armed() {
            // Object by object, so that there is a fail point between any two.
            for key in keys {
                self.delete(key).await?;
            }
            return Ok(());
        }
        count_failure(&self.metrics, "delete", self.inner.delete_all(keys).await)?;
        self.metrics.objects.of(["delete"]).inc_by(keys.len() as u64);
        Ok(())
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.inner.probe().await
    }
}

struct MeteredUpload {
    inner: Box<dyn StagedObject>,
    metrics: StoreMetrics,
}

#[async_trait]
impl StagedObject for MeteredUpload {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let length = bytes.len() as u64;
        count_stage_failure(&self.metrics, self.inner.write(bytes)).await?;
        self.metrics.bytes.of(["write"]).inc_by(length);
        Ok(())
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        count_read_failure(&self.metrics, self.inner.content()).await
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let meta = count_change_failure(&self.metrics, "write", self.inner.commit(key)).await?;
        self.metrics.objects.of(["write"]).inc();
        Ok(meta)
    }
}

/// Awaits a change of the store and counts it if it fails.
async fn count_change_failure<T>(
    metrics: &StoreMetrics,
    operation: &'static str,
    change: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    #[cfg(debug_assertions)]
    let change = super::failpoints::around(operation, change);
    count_failure(metrics, operation, change.await)
}

/// Awaits a write that nobody sees yet, and counts it if it fails.
async fn count_stage_failure<T>(
    metrics: &StoreMetrics,
    staged: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    #[cfg(debug_assertions)]
    let staged = super::failpoints::before_stage(staged);
    count_failure(metrics, "write", staged.await)
}

/// Awaits a read of the store and counts it if it fails.
async fn count_read_failure<T>(
    metrics: &StoreMetrics,
    read: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    #[cfg(debug_assertions)]
    let read = super::failpoints::before_read(read);
    count_failure(metrics, "read", read.await)
}

/// Counts failures of the store itself, not that an object is missing or too large, or that its deletion waits for a backup.
fn count_failure<T>(
    metrics: &StoreMetrics,
    operation: &'static str,
    done: Result<T, StoreError>,
) -> Result<T, StoreError> {
    if done.as_ref().is_err_and(|error| matches!(error, StoreError::Failed(_)) && !error.is_held()) {
        metrics.errors.of([operation]).inc();
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{AccountId, JobId};
    use crate::storage::disk::DiskStore;
    use crate::telemetry::metrics::Metrics;

    #[tokio::test]
    async fn bytes_objects_and_failures_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let objects = folder.path().join("objects");
        let metrics = Metrics::new().store;
        let disk = Arc::new(DiskStore::open(objects.clone()).await.unwrap());
        let store = MeteredStore::new(disk, metrics.clone());
        let key = StorageKey::JobData(AccountId::generate(), JobId::generate());

        store.put(&key, Bytes::from_static(b"12345")).await.unwrap();
        let mut staged = store.stage(10).await.unwrap();
        staged.write(Bytes::from_static(b"123")).await.unwrap();
        staged.commit(&key).await.unwrap();
        assert_eq!(store.get(&key, 10).await.unwrap().len(), 3);
        let reader = store.open(&key, Some(ByteRange::Last(2))).await.unwrap();
        assert_eq!(reader.chunks.count().await, 1);
        store.delete(&key).await.unwrap();
        assert!(matches!(store.get(&key, 10).await, Err(StoreError::NotFound(_))));

        let objects_of = |operation| metrics.objects.of([operation]).get();
        assert_eq!((objects_of("write"), objects_of("read"), objects_of("delete")), (2, 2, 1));
        assert_eq!((metrics.bytes.of(["write"]).get(), metrics.bytes.of(["read"]).get()), (8, 5));
        let errors = || ["write", "read", "delete"].map(|operation| metrics.errors.of([operation]).get());
        assert_eq!(errors(), [0, 0, 0], "that there is no object is no failure");

        std::fs::remove_dir_all(&objects).unwrap();
        std::fs::write(&objects, "a file in its place").unwrap();
        assert!(store.put(&key, Bytes::from_static(b"1")).await.is_err());
        assert_eq!(errors(), [1, 0, 0]);
    }
}
