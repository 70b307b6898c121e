//! An object being written for the bucket: in memory while it is small, then in a file of the data folder.
//!
//! A multipart upload needs the key at the beginning, but it is known only at the end; and the parts of an upload that was
//! killed cost money until someone removes them. So the object is buffered here and sent in one PUT with a known length, which
//! is atomic and can be retried. The file is a staged one of the disk store: removed on drop, and after a kill at the next
//! start.

use std::io::Error;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::S3Store;
use super::client::Chunks;
use crate::storage::object_files::blocking;
use crate::storage::staged_buffer::{CHUNK_BYTES, StagedBuffer, chunks};
use crate::storage::{ObjectMeta, ObjectStore as _, StagedObject, StorageKey, StoreError};

/// The object so far.
pub(super) struct Staged {
    pub store: S3Store,
    pub buffer: StagedBuffer,
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
        let Self { store, buffer } = *self;
        let StagedBuffer { files, bytes, file, pending, .. } = buffer.check_size()?;
        let Some(file) = file else { return store.put(key, pending.into()).await };
        let file = blocking(move || files.append(Some(file), &pending)).await?;
        let opened = Arc::new(file.reader()?);
        // The staged file must exist until the PUT has succeeded: each retry reads it again.
        let body = || chunks(Arc::clone(&opened), 0, bytes).map_err(Error::other).boxed();
        let outcome = store.put_body(key, bytes, body).await;
        drop(file);
        outcome
    }
}

pub(super) fn of_memory(bytes: &Bytes) -> Chunks {
    let starts = (0..bytes.len()).step_by(CHUNK_BYTES);
    let chunks: Vec<_> =
        starts.map(|start| Ok(bytes.slice(start..bytes.len().min(start + CHUNK_BYTES)))).collect();
    stream::iter(chunks).boxed()
}
