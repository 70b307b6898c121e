//! Space for the index on its disk: checked and allocated before each group of writes.
//!
//! Hazard: when sled meets a full disk in the middle of a write, it accepts no more writes until it is opened again, and a flush
//! may wait forever. Free space measured beforehand is no guarantee: others fill the disk meanwhile, and quotas do not show in
//! it. So blocks behind the end of the log are allocated (`FALLOC_FL_KEEP_SIZE`: its length stays) before a group of batches
//! is written. If that fails, the group is refused before anything was written.

use std::fs::File;
use std::io::Error;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use super::IndexError;
use crate::storage::{free_bytes, is_out_of_space};

/// Allocated before a small group is written: room for four of sled's segments and for what it moves between them.
const MARGIN_BYTES: u64 = 2 << 20;
/// Bytes that sled writes for each byte of a batch: it rewrites a page after ten changes of it.
const WRITTEN_FOR_A_BYTE: u64 = 4;
/// Allocated at a time beyond what is needed.
const STEP_BYTES: u64 = 2 << 20;
/// The unit of `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// The space of one index.
#[derive(Debug)]
pub(super) struct DiskSpace {
    path: PathBuf,
    free_limit_bytes: u64,
    /// The log, open for writing.
    log: File,
    /// False on file systems that cannot allocate beforehand; there only the free space is checked.
    is_allocated: AtomicBool,
}

impl DiskSpace {
    /// The space of the index in the folder `path`, whose log is `log`.
    pub fn new(path: &Path, log: File, free_limit_bytes: u64) -> Self {
        Self { path: path.to_owned(), free_limit_bytes, log, is_allocated: AtomicBool::new(true) }
    }

    /// Whether batches of so many bytes may be written now.
    ///
    /// # Errors
    /// `Full`; `Failed` when the file system cannot be asked.
    pub fn check(&self, bytes: u64) -> Result<(), IndexError> {
        check_free(&self.path, self.free_limit_bytes)?;
        self.allocate(bytes).map_err(|error| refused(&self.path, &error))
    }

    fn allocate(&self, bytes: u64) -> Result<(), Error> {
        if !self.is_allocated.load(Ordering::Relaxed) {
            return Ok(());
        }
        let log = self.log.metadata()?;
        let more = MARGIN_BYTES.saturating_add(bytes.saturating_mul(WRITTEN_FOR_A_BYTE));
        let needed = log.len().saturating_add(more);
        if log.blocks().saturating_mul(BLOCK_BYTES) >= needed {
            return Ok(());
        }
        let end = i64::try_from(needed.saturating_add(STEP_BYTES)).unwrap_or(i64::MAX);
        loop {
            match fallocate(&self.log, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, end) {
                Ok(()) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(refusal @ (Errno::ENOSPC | Errno::EDQUOT | Errno::EFBIG | Errno::EIO)) => {
                    return Err(refusal.into());
                }
                Err(other) => {
                    self.do_without(other);
                    return Ok(());
                }
            }
        }
    }

    /// Stops allocating beforehand. File systems without this call report many errors (`EOPNOTSUPP`, `ENOSYS`, FUSE and 9p
    /// `EINVAL` or `ENODEV`, a seccomp filter `EPERM`), none of which means lack of space.
    fn do_without(&self, cause: Errno) {
        if self.is_allocated.swap(false, Ordering::Relaxed) {
            tracing::warn!(
                index.folder = %self.path.display(),
                %cause,
                "this disk gives the index no space beforehand (fallocate): only storage.free_limit_bytes keeps it from \
                 meeting a full disk in the middle of a write"
            );
        }
    }
}

/// Whether `free_limit_bytes` are free on the disk of `path`.
///
/// # Errors
/// `Full`; `Failed` when the file system cannot be asked.
pub(super) fn check_free(path: &Path, free_limit_bytes: u64) -> Result<(), IndexError> {
    let free_bytes = free_bytes(path).map_err(|error| refused(path, &error))?;
    if free_bytes >= free_limit_bytes {
        return Ok(());
    }
    let cause =
        format!("{free_bytes} bytes are free, and {free_limit_bytes} must be (storage.free_limit_bytes)");
    Err(IndexError::Full { path: path.to_owned(), cause })
}

/// Converts an error of the system.
pub(super) fn refused(path: &Path, error: &Error) -> IndexError {
    if is_out_of_space(error) {
        return IndexError::Full { path: path.to_owned(), cause: error.to_string() };
    }
    IndexError::Failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_allocated_behind_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        std::fs::write(&path, vec![7; 10_000]).unwrap();
        let log = File::options().write(true).open(&path).unwrap();
        let space = DiskSpace::new(folder.path(), log, 1);
        let held = || path.metadata().unwrap().blocks() * BLOCK_BYTES;
        space.check(1_000).unwrap();
        if space.is_allocated.load(Ordering::Relaxed) {
            assert!(held() >= 10_000 + MARGIN_BYTES, "{}", held());
        }
        assert_eq!(path.metadata().unwrap().len(), 10_000, "its length stays");
        let before = held();
        space.check(1_000).unwrap();
        assert_eq!(held(), before, "nothing is allocated twice");
        let greedy = space.check(1 << 60).unwrap_err();
        assert!(matches!(greedy, IndexError::Full { .. } | IndexError::Failed(_)), "{greedy}");
    }

    #[test]
    fn a_disk_that_cannot_allocate_beforehand_is_still_written() {
        // For a device the system reports ENODEV, as for a file of some FUSE file systems.
        let log = File::options().write(true).open("/dev/null").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let space = DiskSpace::new(folder.path(), log, 1);
        space.check(1_000).unwrap();
        assert!(!space.is_allocated.load(Ordering::Relaxed));
        space.check(1 << 60).unwrap();
    }
}
