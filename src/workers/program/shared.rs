//! Read-only files of the service for programs: made once, used by many runs.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::{ProgramError, Programs};
use crate::clock;
use crate::workers::scratch::ScratchRoot;

/// A file beside the folders of runs, for runs whose [`Profile`](super::Profile) names it. It is removed when this is dropped; after
/// a kill the next service removes it, and never uses it.
#[derive(Debug)]
pub struct SharedFile {
    path: PathBuf,
    bytes: u64,
    /// Keeps its folder from being removed.
    _root: Arc<ScratchRoot>,
}

impl Programs {
    /// Makes a file for runs whose profile names it; `write` fills it, on a blocking thread.
    ///
    /// # Errors
    /// [`ProgramError::NotFenced`] where any program could overwrite it; and errors of writing it.
    pub async fn share(
        &self,
        extension: &'static str,
        write: impl FnOnce(&mut File) -> io::Result<()> + Send + 'static,
    ) -> Result<SharedFile, ProgramError> {
        self.check()?;
        if !self.confines_files() {
            return Err(ProgramError::NotFenced);
        }
        let root = self.resources().await?.root();
        let made = spawn_blocking(move || SharedFile::create(root, extension, write));
        made.await.map_err(io::Error::other).flatten().map_err(ProgramError::System)
    }
}

impl SharedFile {
    /// Has `write` fill the file, and makes it read-only.
    fn create(
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
