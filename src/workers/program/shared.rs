//! Files of the service's that programs may read and none may write: made once, used by many runs.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::{ProgramError, Programs};
use crate::clock;
use crate::workers::scratch::Place;

/// A file beside the folders of runs, which a run reads whose [`Profile`](super::Profile) names it. Dropped, it is
/// removed; a service that was killed leaves it to the sweep of the next one, which uses none of what it finds.
#[derive(Debug)]
pub struct SharedFile {
    path: PathBuf,
    bytes: u64,
    /// The folder that it lies in goes with the last one who has it.
    _place: Arc<Place>,
}

impl Programs {
    /// Makes a file that runs may read whose profile names it; `write` fills it, on a thread that may take its time.
    ///
    /// # Errors
    /// [`ProgramError::NotFenced`] where any program could write it, and what fails in writing it.
    pub async fn share(
        &self,
        extension: &'static str,
        write: impl FnOnce(&mut File) -> io::Result<()> + Send + 'static,
    ) -> Result<SharedFile, ProgramError> {
        self.check()?;
        if !self.confines_files() {
            return Err(ProgramError::NotFenced);
        }
        let place = self.grounds().await?.place();
        let made = spawn_blocking(move || SharedFile::create(place, extension, write));
        made.await.map_err(io::Error::other).flatten().map_err(ProgramError::System)
    }
}

impl SharedFile {
    /// Has `write` write it, and closes it to everybody's writing.
    fn create(
        place: Arc<Place>,
        extension: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = place.path().join(format!("{}.{extension}", clock::new_id().simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // From here on it is removed when something fails.
        let mut shared = Self { path, bytes: 0, _place: place };
        write(&mut file)?;
        file.set_permissions(Permissions::from_mode(0o444))?;
        shared.bytes = file.metadata()?.len();
        Ok(shared)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is still there: the system may tidy its folder for temporary files.
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
