//! Buffers an object being written, in memory and then in a staged file; reads files in chunks.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::object_files::{ObjectFiles, StagedFile, blocking};
use super::{StoreError, check_size};

/// Size of a read or write: large enough that the hand-over to a blocking thread costs little, small enough for many readers
/// and writers at once.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// The content of an object so far: in memory up to a size, then in a staged file.
pub(super) struct StagedBuffer {
    pub files: Arc<ObjectFiles>,
    limit_bytes: u64,
    memory_bytes: usize,
    /// All that was written.
    pub bytes: u64,
    /// The staged file, if there is one.
    pub file: Option<StagedFile>,
    /// Bytes that are not in the file yet.
    pub pending: Vec<u8>,
}

impl StagedBuffer {
    /// Nothing yet, and at most `limit_bytes`; without a file up to `memory_bytes`.
    pub fn new(files: Arc<ObjectFiles>, limit_bytes: u64, memory_bytes: usize) -> Self {
        Self { files, limit_bytes, memory_bytes, bytes: 0, file: None, pending: Vec::new() }
    }

    /// Appends bytes.
    pub async fn write(&mut self, bytes: &Bytes) -> Result<(), StoreError> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        check_size(self.bytes, self.limit_bytes)?;
        self.pending.extend_from_slice(bytes);
        let most = if self.file.is_some() { CHUNK_BYTES } else { self.memory_bytes };
        if self.pending.len() > most {
            let (files, file, pending) =
                (Arc::clone(&self.files), self.file.take(), std::mem::take(&mut self.pending));
            self.file = Some(blocking(move || files.append(file, &pending)).await?);
        }
        Ok(())
    }

    /// Everything that was written so far.
    pub async fn content(&self) -> Result<Bytes, StoreError> {
        let reader = self.file.as_ref().map(StagedFile::reader).transpose()?;
        let pending = self.pending.clone();
        blocking(move || {
            let Some(reader) = reader else { return Ok(pending.into()) };
            // Positioned reads: the offset at which further bytes are appended stays.
            let mut content = Vec::from(read_at(&reader, 0, reader.metadata()?.len())?);
            content.extend(pending);
            Ok(content.into())
        })
        .await
    }

    /// Itself if it is within its limit. Checked again before a commit: the caller may have ignored the error of a write.
    pub fn check_size(self) -> Result<Self, StoreError> {
        check_size(self.bytes, self.limit_bytes).map(|()| self)
    }
}

/// The bytes of a file from `start` to `end`, read as the stream is polled.
pub(super) fn chunks(file: Arc<File>, start: u64, end: u64) -> BoxStream<'static, Result<Bytes, StoreError>> {
    let next = move |(file, at): (Arc<File>, u64)| async move {
        if at >= end {
            return Ok(None);
        }
        let (reading, length) = (Arc::clone(&file), (end - at).min(CHUNK_BYTES as u64));
        let chunk = blocking(move || read_at(&reading, at, length)).await?;
        Ok(Some((chunk, (file, at + length))))
    };
    stream::try_unfold((file, start), next).boxed()
}

pub(super) fn read_at(file: &File, at: u64, length: u64) -> Result<Bytes, StoreError> {
    let length = usize::try_from(length).map_err(|_| StoreError::TooLarge { limit_bytes: length })?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes.into())
}
