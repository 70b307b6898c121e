//! The store on a local disk. An object is written under a temporary name, synced, renamed, and its folder synced: after a
//! crash it is there whole or not at all.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

use super::deletions::{self, DeletionGate};
use super::object_files::{ObjectFiles, blocking};
use super::staged_buffer::{CHUNK_BYTES, StagedBuffer, chunks, read_at};
use super::{
    ByteRange, Folder, ObjectMeta, ObjectReader, ObjectStore, StagedObject, StorageKey, StoreError,
    check_size, resolve_range,
};

/// Objects as files below a folder.
#[derive(Clone, Debug)]
pub struct DiskStore {
    files: Arc<ObjectFiles>,
    deletions: DeletionGate,
}

impl DiskStore {
    /// Opens the store in the folder `root` (made if missing) and removes half-written files of earlier runs.
    ///
    /// # Errors
    /// When the file system refuses.
    pub async fn open(root: PathBuf) -> Result<Self, StoreError> {
        Self::with_free_limit(root, 0).await
    }

    /// The same, for a store that refuses writes while less than `free_limit_bytes` are free on its disk.
    ///
    /// # Errors
    /// When the file system refuses.
    pub async fn with_free_limit(root: PathBuf, free_limit_bytes: u64) -> Result<Self, StoreError> {
        let files = blocking(move || ObjectFiles::open(root, free_limit_bytes)).await?;
        Ok(Self { files: Arc::new(files), deletions: DeletionGate::default() })
    }

    /// Through which a backup holds deletions.
    pub fn deletions(&self) -> &DeletionGate {
        &self.deletions
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ObjectFiles) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let files = Arc::clone(&self.files);
        blocking(move || work(&files)).await
    }
}

#[async_trait]
impl ObjectStore for DiskStore {
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError> {
        let buffer = StagedBuffer::new(Arc::clone(&self.files), limit_bytes, CHUNK_BYTES);
        Ok(Box::new(Staged { buffer, deletions: self.deletions.clone() }))
    }

    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError> {
        let target = *key;
        let meta = self.run(move |files| {
            let file = files.append(None, &bytes)?;
            files.publish(file, &target)
        });
        let meta = meta.await?;
        self.deletions.forget(std::slice::from_ref(key));
        Ok(meta)
    }

    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError> {
        self.deletions.check(key)?;
        let key = *key;
        self.run(move |files| {
            let (file, meta) = files.read(&key)?;
            check_size(meta.bytes, limit_bytes)?;
            read_at(&file, 0, meta.bytes)
        })
        .await
    }

    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError> {
        self.deletions.check(key)?;
        let key = *key;
        self.run(move |files| {
            let (file, meta) = files.read(&key)?;
            let (start, length) = resolve_range(range, meta.bytes)?;
            let first = read_at(&file, start, length.min(CHUNK_BYTES as u64))?;
            let rest = chunks(Arc::new(file), start + first.len() as u64, start + length);
            let first = (!first.is_empty()).then_some(Ok(first));
            let chunks = stream::iter(first).chain(rest).boxed();
            Ok(ObjectReader { meta, start, length, chunks })
        })
        .await
    }

    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.deletions.check(from)?;
        let (source, target) = (*from, *to);
        let meta = self.run(move |files| files.copy(&source, &target)).await?;
        self.deletions.forget(std::slice::from_ref(to));
        Ok(meta)
    }

    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        self.deletions.check(key)?;
        let key = *key;
        self.run(move |files| files.read(&key).map(|(_, meta)| meta)).await
    }

    /// Hidden objects are listed: a sweep must find them.
    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        self.run(move |files| files.list(folder, after, limit)).await
    }

    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError> {
        self.delete_all(std::slice::from_ref(key)).await
    }

    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError> {
        let may_delete = self.deletions.begin();
        for key in keys.iter().copied().filter(|key| may_delete.is_some() || !deletions::is_copied(key)) {
            self.run(move |files| files.remove(&key)).await?;
        }
        if may_delete.is_some() {
            self.deletions.forget(keys);
            return Ok(());
        }
        let mut held = keys.iter().filter(|key| deletions::is_copied(key)).peekable();
        if held.peek().is_none() {
            return Ok(());
        }
        self.deletions.hide(held);
        Err(deletions::refusal())
    }
}

/// An object that is being written.
struct Staged {
    buffer: StagedBuffer,
    deletions: DeletionGate,
}

#[async_trait]
impl StagedObject for Staged {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.buffer.write(&bytes).await
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        self.buffer.content().await
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let (target, StagedBuffer { files, file, pending, .. }) = (*key, self.buffer.check_size()?);
        let meta = blocking(move || {
            let file = files.append(file, &pending)?;
            files.publish(file, &target)
        });
        let meta = meta.await?;
        self.deletions.forget(std::slice::from_ref(key));
        Ok(meta)
    }
}
