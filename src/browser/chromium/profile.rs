//! The private folder of one Chromium: profile, home and temporary files; gone when it is dropped.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{Gid, Uid, chown};

use super::font_families;
use crate::clock;

const PREFIX: &str = "platen-chromium-";
const LOCK_NAME: &str = "lock";
const FONTS_NAME: &str = "fonts.conf";
/// Chromium's last processes may still write while the folder is being removed.
const REMOVAL_TRIES: u32 = 40;
const REMOVAL_PAUSE: Duration = Duration::from_millis(25);

/// A folder of mode 0700 that belongs to Chromium's user.
///
/// Its lock is held as long as the service lives, also through a kill -9: a folder whose lock is free
/// was left behind, and [`Profile::sweep`] removes it.
#[derive(Debug)]
pub(in crate::browser) struct Profile {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Profile {
    /// Makes the folder under the system's folder for temporary files.
    pub(in crate::browser) fn create(owner: Option<(Uid, Gid)>) -> io::Result<Self> {
        let name = format!("{PREFIX}{}", clock::new_id().simple());
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Self::fill(&path, owner).inspect_err(|_| remove(&path))
    }

    /// Chromium's home; also the folder that everything else is in.
    pub(in crate::browser) fn home(&self) -> &Path {
        &self.path
    }

    pub(in crate::browser) fn user_data(&self) -> PathBuf {
        self.path.join("profile")
    }

    /// What Chromium's fontconfig reads; `None` where the system has no configuration of it.
    pub(in crate::browser) fn fonts(&self) -> Option<PathBuf> {
        Some(self.path.join(FONTS_NAME)).filter(|path| path.exists())
    }

    pub(in crate::browser) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// A folder in which `target` has the name `name`.
    pub(in crate::browser) fn link(&self, target: &Path, name: &str) -> io::Result<PathBuf> {
        let folder = self.path.join("lib");
        DirBuilder::new().mode(0o755).create(&folder)?;
        symlink(target, folder.join(name))?;
        Ok(folder)
    }

    /// Removes the folders that a service which was killed has left behind.
    pub(in crate::browser) fn sweep() {
        let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
        let left = entries.flatten().filter(|entry| {
            entry.file_name().to_string_lossy().starts_with(PREFIX)
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        for entry in left {
            let path = entry.path();
            // Without a lock file the folder is being made, or removed by another process.
            if lock(&path.join(LOCK_NAME)).is_ok() {
                remove(&path);
            }
        }
    }

    fn fill(path: &Path, owner: Option<(Uid, Gid)>) -> io::Result<Self> {
        let lock_path = path.join(LOCK_NAME);
        File::create_new(&lock_path)?;
        let lock = lock(&lock_path)?;
        let profile = Self { path: path.to_owned(), _lock: lock };
        let folders = [profile.user_data(), profile.temporary()];
        for folder in &folders {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        let fonts = path.join(FONTS_NAME);
        if Path::new(font_families::SYSTEM_CONFIGURATION).exists() {
            std::fs::write(&fonts, font_families::fontconfig())?;
            if let Some((uid, gid)) = owner {
                chown(&fonts, Some(uid), Some(gid))?;
            }
        }
        if let Some((uid, gid)) = owner {
            for folder in folders.iter().map(PathBuf::as_path).chain([path]) {
                chown(folder, Some(uid), Some(gid))?;
            }
        }
        Ok(profile)
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn lock(path: &Path) -> io::Result<Flock<File>> {
    // Hazard: any user may make folders there. No link is followed, and no named pipe waited for.
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = File::options().write(true).custom_flags(flags).open(path)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

fn remove(path: &Path) {
    for _ in 0..REMOVAL_TRIES {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => std::thread::sleep(REMOVAL_PAUSE),
        }
    }
    tracing::warn!(path = %path.display(), "a folder of Chromium's could not be removed");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_private_and_goes_with_its_profile() {
        let profile = Profile::create(None).unwrap();
        let path = profile.home().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        Profile::sweep();
        assert!(path.exists(), "the sweep took a folder that is in use");
        std::fs::write(profile.temporary().join("left"), "behind").unwrap();
        drop(profile);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_left_behind_is_swept() {
        let path = std::env::temp_dir().join(format!("{PREFIX}{}", clock::new_id().simple()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(LOCK_NAME), "").unwrap();
        Profile::sweep();
        assert!(!path.exists());
    }
}
