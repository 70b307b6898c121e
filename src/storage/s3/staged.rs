//! An object being made for the store: in memory while it is small, then in a file of the data folder.
//!
//! Its key is known only at the end, and an upload in parts wants it at the beginning; parts that a kill leaves behind
//! cost money until somebody looks for them. So the object is gathered here and goes in one PUT, whose length is
//! known then: it is there whole or not at all, and can be repeated. The file is the disk store's staged one: it goes
//! when it is dropped, and after a kill the next start removes it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::task::spawn_blocking;

use super::client::Chunks;
use super::{Reach, put};
use crate::storage::object_files::{self, StagedFile, blocking};
use crate::storage::{ObjectMeta, StagedObject, StorageKey, StoreError, within};

/// How much of a body is handed over at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// The object so far.
pub(super) struct Staged {
    pub reach: Reach,
    pub limit_bytes: u64,
    pub bytes: u64,
    pub gathered: Vec<u8>,
    pub file: Option<StagedFile>,
}

#[async_trait]
impl StagedObject for Staged {
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        within(self.bytes, self.limit_bytes)?;
        self.gathered.extend_from_slice(&bytes);
        let most = if self.file.is_some() { CHUNK_BYTES as u64 } else { self.reach.spool_bytes };
        if self.gathered.len() as u64 <= most {
            return Ok(());
        }
        let (reach, file, gathered) =
            (self.reach.clone(), self.file.take(), std::mem::take(&mut self.gathered));
        self.file = Some(blocking(move || reach.spool.append(file, &gathered)).await?);
        Ok(())
    }

    async fn content(&mut self) -> Result<Bytes, StoreError> {
        object_files::content(self.file.as_ref(), &self.gathered).await
    }

    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let this = *self;
        within(this.bytes, this.limit_bytes)?;
        let Some(file) = this.file else {
            let bytes = Bytes::from(this.gathered);
            return put(&this.reach, key, bytes.len() as u64, || of_memory(&bytes)).await;
        };
        let reach = this.reach.clone();
        let file = blocking(move || reach.spool.append(Some(file), &this.gathered)).await?;
        let opened = Arc::new(file.reader()?);
        let length = this.bytes;
        // The staged file stays until it is there.
        let outcome = put(&this.reach, key, length, || of_file(&opened, length)).await;
        drop(file);
        outcome
    }
}

/// The chunks of what is in memory.
pub(super) fn of_memory(bytes: &Bytes) -> Chunks {
    let starts = (0..bytes.len()).step_by(CHUNK_BYTES);
    let chunks: Vec<_> =
        starts.map(|start| Ok(bytes.slice(start..bytes.len().min(start + CHUNK_BYTES)))).collect();
    stream::iter(chunks).boxed()
}

/// The chunks of a file, read as they are taken.
fn of_file(file: &Arc<File>, length: u64) -> Chunks {
    let starts = (0..length).step_by(CHUNK_BYTES);
    let file = Arc::clone(file);
    let chunks = stream::iter(starts).then(move |start| {
        let file = Arc::clone(&file);
        async move {
            let mut chunk = vec![0; usize::try_from(length - start).unwrap_or(usize::MAX).min(CHUNK_BYTES)];
            let read = spawn_blocking(move || file.read_exact_at(&mut chunk, start).map(|()| chunk.into()));
            read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
        }
    });
    chunks.boxed()
}
