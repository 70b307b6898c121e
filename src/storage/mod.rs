//! Everything that lasts: objects (`ObjectStore`) and records (`index`).
//!
//! Who may call what: `jobs`, `templates`, `pipeline` and the engines read and write objects through [`ObjectStore`];
//! `jobs`, `templates` and `accounts` keep records through [`index::Index`]; `http` verifies and hands out presigned URLs
//! ([`presigned_urls`]). Only `app` and `cli` name a concrete store, and the parts of a backup or a rebuild.
//!
//! | File | What it is |
//! |---|---|
//! | `disk`, `object_files`, `s3`, `gathered` | the two stores, and what both have |
//! | `metered`, `failpoint` | the store in front of a store: metrics, and crashes for tests |
//! | `upload_staging` | where an upload arrives before it is an input |
//! | `deletion_log`, `deletions` | objects to be deleted; deletions that wait for a backup |
//! | `account_counts`, `quota` | what is counted for each account; the bytes that it stores |
//! | `data_dir`, `backup` | the data folder and copies of it |

pub mod account_counts;
pub mod backup;
pub mod data_dir;
pub mod deletion_log;
pub mod deletions;
pub mod disk;
#[cfg(debug_assertions)]
pub mod failpoint;
mod gathered;
pub mod index;
pub mod key;
pub mod metered;
mod object_files;
pub mod presigned_urls;
pub mod quota;
pub mod record;
pub mod s3;
pub mod upload_staging;
pub mod walk;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use async_trait::async_trait;
use bytes::Bytes;
use nix::sys::statvfs::statvfs;

pub use key::{Folder, StorageKey, TemplatePart, Upload};
pub use quota::{CountedUpload, StorageQuota, StorageReservation};
pub use upload_staging::UploadStaging;

use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

/// Bytes that are free for us on the disk of `path`.
///
/// # Errors
/// When the file system does not tell.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = statvfs(path)?;
    Ok(disk.blocks_available().saturating_mul(disk.fragment_size()))
}

/// Makes the names in a folder durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such object.
    #[error("there is no object '{0}'")]
    NotFound(String),
    /// The object would be larger than the limit given.
    #[error("larger than the limit of {limit_bytes} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// The range lies outside the object.
    #[error("the range lies outside the object's {bytes} bytes")]
    Range {
        /// The object's size.
        bytes: u64,
    },
    /// The store itself failed (disk full, permission, network).
    #[error("the store failed: {0}")]
    Failed(#[from] std::io::Error),
}

impl StoreError {
    /// Whether the store cannot be reached or fails for now: the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Failed(cause) if cause.kind() == ErrorKind::NetworkDown)
    }

    /// Whether it refuses a deletion while a backup is being made; a later sweep deletes the object.
    pub fn is_held(&self) -> bool {
        // The file system's own `EBUSY` has an error number.
        matches!(self, Self::Failed(cause)
            if cause.kind() == ErrorKind::ResourceBusy && cause.raw_os_error().is_none())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Failed(cause) => Some(cause.kind()),
            StoreError::NotFound(_) | StoreError::TooLarge { .. } | StoreError::Range { .. } => None,
        };
        match kind {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Self::disk_full(error),
            Some(ErrorKind::NetworkDown) => {
                let detail = "The service's object store does not answer. Try again later.";
                let mut problem = Self::new(Code::Overloaded, detail).retry_after(SILENT_RETRY_AFTER_S);
                problem.cause = Some(error.to_string());
                problem
            }
            _ => Self::internal(error),
        }
    }
}

/// `Retry-After` while the store does not answer.
const SILENT_RETRY_AFTER_S: u64 = 10;

/// What is known of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Size in bytes.
    pub bytes: u64,
    /// A strong entity tag without quotes; changes whenever the content does.
    pub etag: String,
}

/// An inclusive range of bytes, as asked for in a `Range` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From the first to the last byte given, both included; without a last one to the end.
    From(u64, Option<u64>),
    /// The last so many bytes.
    Last(u64),
}

impl ByteRange {
    /// The one range that a `Range` header asks for. Several ranges, another unit and a spelling that makes no sense count
    /// as no range (RFC 9110, section 14.2).
    pub fn parse(header: &str) -> Option<Self> {
        let (unit, range) = header.split_once('=')?;
        let (first, last) = range.split_once('-').filter(|_| unit.eq_ignore_ascii_case("bytes"))?;
        let (first, last) = (first.trim(), last.trim());
        if first.is_empty() {
            return position(last).map(Self::Last);
        }
        let first = position(first)?;
        if last.is_empty() {
            return Some(Self::From(first, None));
        }
        let last = position(last)?;
        (first <= last).then_some(Self::From(first, Some(last)))
    }

    /// First byte and length of the range in an object of so many bytes.
    ///
    /// # Errors
    /// `Range` when it lies outside.
    pub fn within(self, bytes: u64) -> Result<(u64, u64), StoreError> {
        match self {
            Self::From(first, last) if first < bytes && last.is_none_or(|last| last >= first) => {
                let last = last.unwrap_or(u64::MAX).min(bytes - 1);
                Ok((first, last - first + 1))
            }
            Self::Last(count) if count > 0 && bytes > 0 => {
                let count = count.min(bytes);
                Ok((bytes - count, count))
            }
            Self::From(..) | Self::Last(_) => Err(StoreError::Range { bytes }),
        }
    }
}

/// A position or a length of a `Range` header: digits alone. One that no `u64` holds is beyond every object.
fn position(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// An object being read.
pub struct ObjectReader {
    /// The whole object.
    pub meta: ObjectMeta,
    /// First byte of this reading.
    pub start: u64,
    /// Length of this reading in bytes.
    pub length: u64,
    /// The bytes, in chunks of at most 256 KiB; ends with an error when the store fails on the way.
    pub chunks: futures_util::stream::BoxStream<'static, Result<Bytes, StoreError>>,
}

/// An object being written: invisible until it is committed, gone when it is dropped before.
#[async_trait]
pub trait StagedObject: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// `TooLarge` beyond the limit it was staged with; `Failed` when the store fails.
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError>;

    /// Everything that was written so far, to be looked at before it is kept.
    ///
    /// # Errors
    /// `Failed` when the store fails.
    async fn content(&mut self) -> Result<Bytes, StoreError>;

    /// Makes the object durable and visible under `key`, replacing what was there, in one step.
    ///
    /// # Errors
    /// `Failed` when the store fails; nothing is visible then.
    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError>;
}

impl std::fmt::Debug for dyn StagedObject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StagedObject")
    }
}

/// Where objects live. One behaviour suite (`tests/storage/contract.rs`) holds for every store.
#[async_trait]
pub trait ObjectStore: Send + Sync {
    /// Starts an object of at most `limit_bytes`.
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError>;

    /// Stores `bytes` under `key`, durable when it answers.
    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError>;

    /// The whole object, if it is at most `limit_bytes` long (`TooLarge` otherwise).
    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError>;

    /// The object, or a range of it, as a stream.
    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError>;

    /// What is known of the object.
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError>;

    /// The keys of a folder in the order of their paths, behind `after`; at most `limit`. What is being written
    /// or removed at the moment may be there or not.
    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError>;

    /// Stores the object `from` under `to` as well, durable when it answers. Both are the same content, and each
    /// goes or is replaced without the other.
    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError>;

    /// Removes the object; that there is none is no error.
    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError>;

    /// Where an upload arrives to which callers got a presigned URL.
    fn upload_staging(&self) -> UploadStaging {
        UploadStaging::Direct
    }

    /// Removes the objects, the first one before all others; some may be gone when it fails.
    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError>;

    /// Tries a write and a read of a small object: the truth about whether the store works now.
    async fn probe(&self) -> Result<(), StoreError> {
        write_and_read(self).await
    }
}

/// What a probe writes.
const PROBE: &[u8] = b"platen";

/// Writes an object of its own, reads it and removes it.
async fn write_and_read<S: ObjectStore + ?Sized>(store: &S) -> Result<(), StoreError> {
    let key = StorageKey::Probe(AccountId::generate());
    store.put(&key, Bytes::from_static(PROBE)).await?;
    let read = store.get(&key, PROBE.len() as u64).await;
    let removed = store.delete(&key).await;
    if read? != PROBE {
        return Err(StoreError::Failed(io::Error::other("the probe came back altered")));
    }
    removed
}

/// `TooLarge` where there are more bytes than that.
fn within(bytes: u64, limit_bytes: u64) -> Result<(), StoreError> {
    if bytes > limit_bytes { Err(StoreError::TooLarge { limit_bytes }) } else { Ok(()) }
}

/// First byte and length of a reading.
fn bounds(range: Option<ByteRange>, bytes: u64) -> Result<(u64, u64), StoreError> {
    range.map_or(Ok((0, bytes)), |range| range.within(bytes))
}
