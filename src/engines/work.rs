//! The work place: where a document is that is neither a template any more nor the file to be stored.
//!
//! Hazard: a service that is killed leaves what it worked on, and a disk fills with what nobody names. So a file here
//! has no name: its entry is removed before the first byte is written, and the kernel frees it with the last handle,
//! however the process ends. Only between making and removing an entry can a kill leave one, which is empty; the next
//! start removes it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::step::StepFault;
use crate::clock;
use crate::domain::fault::{FaultCode, JobFault};

/// What an entry is called as long as there is one.
const PREFIX: &str = "platen-work-";
/// How much is read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// Where files are made that only the next step reads.
#[derive(Clone, Debug)]
pub struct WorkPlace {
    folder: PathBuf,
    limit_mb: u64,
}

/// A file that is being written; gone when it is dropped.
#[derive(Debug)]
pub struct WorkWriter {
    file: File,
    bytes: u64,
    limit_mb: u64,
}

/// A file that is whole; gone when it is dropped.
#[derive(Debug)]
pub struct WorkFile {
    file: File,
}

impl WorkPlace {
    /// The place in `folder`, which is made readable by its owner only where it is missing, and swept. A file in it has
    /// at most `limit_mb` MiB.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn open(folder: &Path, limit_mb: u64) -> io::Result<Self> {
        swept(folder).map_err(|error| {
            let sentence = format!("{} cannot be used (storage.work_dir): {error}", folder.display());
            io::Error::new(error.kind(), sentence)
        })?;
        Ok(Self { folder: folder.to_owned(), limit_mb })
    }

    /// Most bytes of one file.
    #[must_use]
    pub fn limit_bytes(&self) -> u64 {
        self.limit_mb << 20
    }

    /// An empty file.
    ///
    /// # Errors
    /// `internal` when the file system refuses.
    pub async fn file(&self) -> Result<WorkWriter, StepFault> {
        let path = self.folder.join(format!("{PREFIX}{}", clock::new_id()));
        let opened = tokio::task::spawn_blocking(move || {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
            removed(&path)?;
            Ok::<_, io::Error>(file)
        });
        let file = opened.await.map_err(io::Error::other).flatten().map_err(|error| unusable(&error))?;
        let file = File::from_std(file);
        Ok(WorkWriter { file, bytes: 0, limit_mb: self.limit_mb })
    }
}

impl WorkWriter {
    /// Appends bytes.
    ///
    /// # Errors
    /// `output_too_large` beyond the limit; `internal` when the file system refuses.
    pub async fn write(&mut self, bytes: &Bytes) -> Result<(), StepFault> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.limit_mb << 20 {
            let limit = self.limit_mb;
            let sentence = format!(
                "what the template became on its way is larger than {limit} MB (engines.work_limit_mb)"
            );
            return Err(StepFault::Job(JobFault::new(FaultCode::OutputTooLarge, sentence)));
        }
        self.file.write_all(bytes).await.map_err(|error| unusable(&error))
    }

    /// The whole file, to be read from its beginning.
    ///
    /// # Errors
    /// `internal` when the file system refuses.
    pub async fn finish(mut self) -> Result<WorkFile, StepFault> {
        self.file.flush().await.map_err(|error| unusable(&error))?;
        self.file.rewind().await.map_err(|error| unusable(&error))?;
        Ok(WorkFile { file: self.file })
    }
}

impl WorkFile {
    /// Its bytes, in chunks.
    #[must_use]
    pub fn into_chunks(self) -> BoxStream<'static, io::Result<Bytes>> {
        ReaderStream::with_capacity(self.file, CHUNK_BYTES).boxed()
    }
}

fn swept(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            removed(&entry.path())?;
        }
    }
    Ok(())
}

/// Another service that uses the folder may have swept in between.
fn removed(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn unusable(error: &io::Error) -> StepFault {
    StepFault::internal(&format!("the work place (storage.work_dir) cannot be used: {error}"))
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    async fn read(file: WorkFile) -> Vec<u8> {
        let chunks: Vec<Bytes> = file.into_chunks().try_collect().await.unwrap();
        chunks.concat()
    }

    #[tokio::test]
    async fn a_file_has_no_name_and_what_a_kill_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        let place = WorkPlace::open(&work, 1).unwrap();
        for name in ["platen-work-left", "somebody-elses"] {
            std::fs::write(work.join(name), "").unwrap();
        }
        let place = WorkPlace::open(&work, place.limit_mb).unwrap();
        let mut writer = place.file().await.unwrap();
        for part in ["one ", "two"] {
            writer.write(&Bytes::from(part)).await.unwrap();
        }
        let names: Vec<_> =
            std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["somebody-elses"]);
        let file = writer.finish().await.unwrap();
        assert_eq!(read(file).await, b"one two");
    }

    #[tokio::test]
    async fn a_file_is_bounded_and_the_limit_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = WorkPlace::open(folder.path(), 1).unwrap().file().await.unwrap();
        let chunk = Bytes::from(vec![0; 512 << 10]);
        writer.write(&chunk).await.unwrap();
        writer.write(&chunk).await.unwrap();
        let Err(StepFault::Job(fault)) = writer.write(&Bytes::from_static(b"x")).await else {
            panic!("too much")
        };
        assert_eq!(fault.code, FaultCode::OutputTooLarge);
        assert!(fault.message.ends_with("1 MB (engines.work_limit_mb)"), "{fault}");
    }
}
