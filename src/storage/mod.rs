//! Persistent data: objects (`ObjectStore`) and records (`index`).
//!
//! Who may call what: `jobs`, `templates`, `pipeline` and the engines read and write objects through [`ObjectStore`];
//! `jobs`, `templates` and `accounts` keep records through [`index::Index`]; `http` verifies and hands out presigned URLs
//! ([`presigned_urls`]). Only `app` and `cli` name a concrete store, and the parts of a backup or a rebuild.
//!
//! | File | What it is |
//! |---|---|
//! | `disk`, `object_files`, `s3`, `staged_buffer` | the two stores, and their shared buffer |
//! | `metered`, `failpoints` | the wrapper of a store: metrics, and faults for tests |
//! | `upload_staging` | where an upload arrives before it is an input |
//! | `deletion_log`, `deletions` | objects to be deleted; deletions that wait for a backup |
//! | `account_counts`, `quota` | counts with limits for each account; its stored bytes |
//! | `data_dir`, `wrong_user`, `backup` | the data folder, whom it is closed to, and copies of it |

pub mod account_counts;
pub mod backup;
pub mod data_dir;
pub mod deletion_log;
pub mod deletions;
pub mod disk;
#[cfg(debug_assertions)]
mod failpoints;
pub mod index;
pub mod key;
pub mod metered;
mod object_files;
pub mod presigned_urls;
pub mod quota;
pub mod record;
pub mod s3;
mod staged_buffer;
pub mod upload_staging;
pub mod walk;
pub mod wrong_user;

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

/// Bytes that are free for this user on the disk of `path`.
///
/// # Errors
/// When the file system cannot be asked.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = statvfs(path)?;
    Ok(disk.blocks_available().saturating_mul(disk.fragment_size()))
}

/// Whether the error means that there is no space: the disk or a quota is full, or a file may not grow further.
fn is_out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Syncs a folder: makes created, renamed and deleted names in it durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// An error of the object store.
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
    /// Whether the failure is temporary: the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Failed(cause) if cause.kind() == ErrorKind::NetworkDown)
    }

    /// Whether a deletion was refused because a backup is being made; a later sweep deletes the object.
    pub fn is_held(&self) -> bool {
        // Without an error number: with one it is the file system's own `EBUSY`.
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

/// An error of the index or of the object store, for work on both.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] index::IndexError),
    /// The store failed, or belongs to another index.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `Retry-After` while the store does not answer.
const SILENT_RETRY_AFTER_S: u64 = 10;

/// Size and entity tag of an object.
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
    /// The range of a `Range` header. Several ranges, another unit or an invalid spelling count as no range (RFC 9110,
    /// section 14.2).
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
    pub fn resolve(self, bytes: u64) -> Result<(u64, u64), StoreError> {
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

/// A position or length in a `Range` header: digits only. One too large for `u64` lies beyond every object.
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
    /// The bytes, in chunks of at most 256 KiB; an error ends the stream.
    pub chunks: futures_util::stream::BoxStream<'static, Result<Bytes, StoreError>>,
}

/// An object being written: invisible until it is committed, removed if it is dropped before.
#[async_trait]
pub trait StagedObject: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// `TooLarge` beyond the limit it was staged with; `Failed` when the store fails.
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError>;

    /// Everything written so far, to be checked before the commit.
    ///
    /// # Errors
    /// `Failed` when the store fails.
    async fn content(&mut self) -> Result<Bytes, StoreError>;

    /// Makes the object durable and visible under `key` in one step, replacing an older one.
    ///
    /// # Errors
    /// `Failed` when the store fails; then nothing is visible, or the whole object: it may fail behind a write that it has done.
    async fn commit(self: Box<Self>, key: &StorageKey) -> Result<ObjectMeta, StoreError>;
}

impl std::fmt::Debug for dyn StagedObject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StagedObject")
    }
}

/// A store of objects. One suite (`tests/storage/contract.rs`) tests every implementation.
#[async_trait]
pub trait ObjectStore: Send + Sync {
    /// Starts an object of at most `limit_bytes`.
    async fn stage(&self, limit_bytes: u64) -> Result<Box<dyn StagedObject>, StoreError>;

    /// Stores `bytes` under `key`; durable when this returns.
    async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<ObjectMeta, StoreError>;

    /// The whole object, if it is at most `limit_bytes` long (`TooLarge` otherwise).
    async fn get(&self, key: &StorageKey, limit_bytes: u64) -> Result<Bytes, StoreError>;

    /// The object, or a range of it, as a stream.
    async fn open(&self, key: &StorageKey, range: Option<ByteRange>) -> Result<ObjectReader, StoreError>;

    /// Size and entity tag of the object.
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta, StoreError>;

    /// The keys of a folder behind `after`, in the order of their paths, at most `limit`. Objects being written or removed at
    /// the moment may be missing or present.
    async fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError>;

    /// Stores the object `from` also under `to`; durable when this returns. Each can be deleted or replaced without the other.
    async fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError>;

    /// Deletes the object; a missing one is not an error.
    async fn delete(&self, key: &StorageKey) -> Result<(), StoreError>;

    /// Where uploads to presigned URLs arrive.
    fn upload_staging(&self) -> UploadStaging {
        UploadStaging::Direct
    }

    /// Deletes the objects, the first one before all others; on an error some may be deleted.
    async fn delete_all(&self, keys: &[StorageKey]) -> Result<(), StoreError>;

    /// Writes, reads and deletes a small object, to find out whether the store works now.
    async fn probe(&self) -> Result<(), StoreError> {
        write_and_read(self).await
    }
}

/// The size of an object in bytes; `None` if it is not there.
///
/// # Errors
/// `Failed` when the store fails.
pub async fn size_of(store: &dyn ObjectStore, key: &StorageKey) -> Result<Option<u64>, StoreError> {
    match store.head(key).await {
        Ok(meta) => Ok(Some(meta.bytes)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Deletes the objects, the first one before all others, and returns whether that succeeded. A failure is logged with
/// `consequence` as the message, and a later sweep deletes what is left. One during a backup is not logged: every deletion
/// fails then, as intended.
pub async fn delete_or_warn(store: &dyn ObjectStore, keys: &[StorageKey], consequence: &str) -> bool {
    match store.delete_all(keys).await {
        Ok(()) => true,
        Err(error) => {
            if !error.is_held() {
                tracing::warn!(error = %error, "{consequence}");
            }
            false
        }
    }
}

/// The content of a probe.
const PROBE: &[u8] = b"platen";

/// Writes, reads and deletes an object of its own.
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

/// `TooLarge` if `bytes` exceed the limit.
fn check_size(bytes: u64, limit_bytes: u64) -> Result<(), StoreError> {
    if bytes > limit_bytes { Err(StoreError::TooLarge { limit_bytes }) } else { Ok(()) }
}

/// First byte and length of a reading: of the range, or of the whole object.
fn resolve_range(range: Option<ByteRange>, bytes: u64) -> Result<(u64, u64), StoreError> {
    range.map_or(Ok((0, bytes)), |range| range.resolve(bytes))
}
