//! Work files: documents between two steps of a plan.
//!
//! Hazard: a killed service would leave its files behind, and the disk would fill. So a file here has no name: its entry is
//! removed before the first byte is written, and the kernel frees it with the last handle, however the process ends. A kill
//! between making and removing the entry leaves an empty file, which the next start removes.
//!
//! Hazard: many jobs at once could fill the disk with files that are each within their limit, and then the journal on the
//! same disk could not be written. So all files together have a limit, too, which counts bytes as they are written; and no
//! file is begun when the disk has less free than the store wants to leave.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::error::EngineError;
use crate::clock;
use crate::config::Config;
use crate::domain::error::{ErrorCode, JobError};
use crate::storage;

/// The prefix of an entry's name while it exists.
const PREFIX: &str = "platen-work-";
/// How much is read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The folder of work files.
#[derive(Clone, Debug)]
pub struct WorkFolder {
    folder: PathBuf,
    limits: WorkLimits,
    /// Bytes of all files.
    used: Arc<AtomicU64>,
}

/// The limits of the work folder.
#[derive(Clone, Copy, Debug)]
pub struct WorkLimits {
    /// `engines.work_limit_mb`: one file.
    pub file_mb: u64,
    /// `engines.work_total_limit_mb`: all of them.
    pub total_mb: u64,
    /// `storage.objects_free_limit_bytes`: where less is left on the disk, no file is begun.
    pub free_bytes: u64,
}

/// A file that is being written; freed when this is dropped.
#[derive(Debug)]
pub struct WorkWriter {
    file: File,
    limits: WorkLimits,
    reserved: ReservedBytes,
}

/// A finished file; freed when this is dropped.
#[derive(Debug)]
pub struct WorkFile {
    file: File,
    reserved: ReservedBytes,
}

/// A file's part of the limit of all files; released when this is dropped.
#[derive(Debug)]
struct ReservedBytes {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl WorkLimits {
    /// From the configuration.
    pub fn of(config: &Config) -> Self {
        Self {
            file_mb: config.engines.work_limit_mb,
            total_mb: config.engines.work_total_limit_mb,
            free_bytes: config.storage.objects_free_limit_bytes,
        }
    }
}

impl WorkFolder {
    /// Opens `folder`: makes it, readable by its owner only, if it is missing, and removes files left behind.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn open(folder: &Path, limits: WorkLimits) -> io::Result<Self> {
        sweep(folder).map_err(|error| {
            let sentence = format!("{} cannot be used (storage.work_dir): {error}", folder.display());
            io::Error::new(error.kind(), sentence)
        })?;
        Ok(Self { folder: folder.to_owned(), limits, used: Arc::default() })
    }

    /// Most bytes of one file.
    pub fn limit_bytes(&self) -> u64 {
        self.limits.file_mb << 20
    }

    /// Begins an empty file.
    ///
    /// # Errors
    /// `internal` when the file system refuses, or the disk has too little free.
    pub async fn file(&self) -> Result<WorkWriter, EngineError> {
        let path = self.folder.join(format!("{PREFIX}{}", clock::new_id()));
        let (folder, free_bytes) = (self.folder.clone(), self.limits.free_bytes);
        let opened = tokio::task::spawn_blocking(move || {
            if storage::free_bytes(&folder)? < free_bytes {
                return Err(io::Error::new(ErrorKind::StorageFull, full(free_bytes)));
            }
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
            remove(&path)?;
            Ok::<_, io::Error>(file)
        });
        let file = opened.await.map_err(io::Error::other).flatten().map_err(|error| unusable(&error))?;
        let file = File::from_std(file);
        Ok(WorkWriter {
            file,
            limits: self.limits,
            reserved: ReservedBytes { bytes: 0, used: Arc::clone(&self.used) },
        })
    }
}

impl WorkWriter {
    /// Appends bytes.
    ///
    /// # Errors
    /// `output_too_large` beyond the file's limit; `internal` beyond that of all files, or when the file system refuses.
    pub async fn write(&mut self, bytes: &Bytes) -> Result<(), EngineError> {
        let limit = self.limits.file_mb;
        if self.reserved.bytes.saturating_add(bytes.len() as u64) > limit << 20 {
            let sentence = format!(
                "what the template became on its way is larger than {limit} MB (engines.work_limit_mb)"
            );
            return Err(EngineError::Job(JobError::new(ErrorCode::OutputTooLarge, sentence)));
        }
        if !self.reserved.take(bytes.len() as u64, self.limits.total_mb << 20) {
            return Err(total_limit_reached(self.limits.total_mb));
        }
        self.file.write_all(bytes).await.map_err(|error| unusable(&error))
    }

    /// The finished file, to be read from its beginning.
    ///
    /// # Errors
    /// `internal` when the file system refuses.
    pub async fn finish(mut self) -> Result<WorkFile, EngineError> {
        self.file.flush().await.map_err(|error| unusable(&error))?;
        self.file.rewind().await.map_err(|error| unusable(&error))?;
        Ok(WorkFile { file: self.file, reserved: self.reserved })
    }
}

impl WorkFile {
    /// Its bytes, in chunks.
    pub fn into_chunks(self) -> BoxStream<'static, io::Result<Bytes>> {
        let Self { file, reserved } = self;
        // Its bytes count against the limit until the stream is dropped.
        let hold_reserved = move |chunk| {
            let _ = &reserved;
            chunk
        };
        ReaderStream::with_capacity(file, CHUNK_BYTES).map(hold_reserved).boxed()
    }
}

impl ReservedBytes {
    /// Reserves `bytes` more; false if all files would then have more than `limit_bytes`.
    fn take(&mut self, bytes: u64, limit_bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= limit_bytes);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        self.bytes += if taken { bytes } else { 0 };
        taken
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn sweep(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file. A missing one is no error: another service with the same folder may have swept it.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn full(free_bytes: u64) -> String {
    format!("less than {free_bytes} bytes are left on its disk (storage.objects_free_limit_bytes)")
}

/// The error where other jobs' files take up the limit: nothing is wrong with this job.
fn total_limit_reached(total_mb: u64) -> EngineError {
    tracing::error!(work.total_limit_mb = total_mb, "the work folder is full");
    let sentence = format!(
        "what jobs are working on at this moment takes more than {total_mb} MB (engines.work_total_limit_mb); render \
         it again later"
    );
    EngineError::Job(JobError::new(ErrorCode::Internal, sentence))
}

fn unusable(error: &io::Error) -> EngineError {
    EngineError::internal(&format!("the work folder (storage.work_dir) cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    const LIMITS: WorkLimits = WorkLimits { file_mb: 1, total_mb: 2, free_bytes: 1 };

    async fn read(file: WorkFile) -> Vec<u8> {
        let chunks: Vec<Bytes> = file.into_chunks().try_collect().await.unwrap();
        chunks.concat()
    }

    #[tokio::test]
    async fn a_file_has_no_name_and_what_a_kill_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        let place = WorkFolder::open(&work, LIMITS).unwrap();
        for name in ["platen-work-left", "not-a-work-file"] {
            std::fs::write(work.join(name), "").unwrap();
        }
        let place = WorkFolder::open(&work, place.limits).unwrap();
        let mut writer = place.file().await.unwrap();
        for part in ["one ", "two"] {
            writer.write(&Bytes::from(part)).await.unwrap();
        }
        let names: Vec<_> =
            std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["not-a-work-file"]);
        let file = writer.finish().await.unwrap();
        assert_eq!(read(file).await, b"one two");
    }

    #[tokio::test]
    async fn all_files_together_are_bounded_until_they_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let place = WorkFolder::open(folder.path(), LIMITS).unwrap();
        let chunk = Bytes::from(vec![0; 1 << 20]);
        let mut writers = Vec::new();
        for _ in 0..2 {
            let mut writer = place.file().await.unwrap();
            writer.write(&chunk).await.unwrap();
            writers.push(writer);
        }
        let mut third = place.file().await.unwrap();
        let Err(EngineError::Job(error)) = third.write(&chunk).await else { panic!("too much") };
        assert!(error.message.contains("2 MB (engines.work_total_limit_mb)"), "{error}");
        let file = writers.pop().unwrap().finish().await.unwrap();
        assert!(third.write(&chunk).await.is_err(), "a finished file still counts");
        let mut chunks = file.into_chunks();
        while chunks.next().await.is_some() {
            assert!(third.write(&chunk).await.is_err(), "and while it is read");
        }
        drop(chunks);
        third.write(&chunk).await.unwrap();
        drop((writers, third));
        assert_eq!(place.used.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn no_file_is_begun_on_a_disk_that_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let limits = WorkLimits { free_bytes: u64::MAX, ..LIMITS };
        assert!(WorkFolder::open(folder.path(), limits).unwrap().file().await.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
