//! Read-only files of the service for programs: made once, used by many runs.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock;
use crate::workers::scratch::ScratchRoot;

/// A file beside the folders of runs, for runs whose [`SandboxProfile`](super::SandboxProfile) names it. It is removed when
/// this is dropped; after a kill the next service removes it, and never uses it.
#[derive(Debug)]
pub struct SharedFile {
    path: PathBuf,
    bytes: u64,
    /// Keeps its folder from being removed.
    _root: Arc<ScratchRoot>,
}

impl SharedFile {
    /// Has `write` fill the file, and makes it read-only.
    pub(super) fn create(
        root: Arc<ScratchRoot>,
        extension: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = root.path().join(format!("{}.{extension}", clock::new_id().simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // From here on the file is removed after an error, by `Drop`.
        let mut shared = Self { path, bytes: 0, _root: root };
        write(&mut file)?;
        file.set_permissions(Permissions::from_mode(0o444))?;
        shared.bytes = file.metadata()?.len();
        Ok(shared)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it still exists: the system may clean its folder of temporary files.
    pub fn exists(&self) -> bool {
        std::fs::symlink_metadata(&self.path).is_ok_and(|found| found.len() == self.bytes)
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        let removed = std::fs::remove_file(&self.path);
        if let Err(error) = removed.or_else(ignore_missing) {
            tracing::warn!(path = %self.path.display(), %error, "a shared file could not be removed");
        }
    }
}

fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
