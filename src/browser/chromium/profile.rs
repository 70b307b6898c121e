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
/// Versions before locked this file in the folder instead.
const OLD_LOCK: &str = "lock";
const FONTS_NAME: &str = "fonts.conf";
/// Chromium's last processes may still write while the folder is being removed.
const REMOVAL_TRIES: u32 = 40;
const REMOVAL_PAUSE: Duration = Duration::from_millis(25);
const TRIES: u32 = 8;

/// A folder of mode 0700 that belongs to Chromium's user.
///
/// It is locked as long as this lives, and not after a kill -9: a folder whose lock is free was left behind, and
/// [`Profile::sweep`] removes it.
#[derive(Debug)]
pub(in crate::browser) struct Profile {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Profile {
    /// Makes the folder under the system's folder for temporary files.
    pub(in crate::browser) fn create(owner: Option<(Uid, Gid)>) -> io::Result<Self> {
        // Before the lock is taken, a sweep may remove the folder as one left behind. Then another is made.
        let mut made = Self::try_create(owner);
        for _ in 1..TRIES {
            match &made {
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => {
                }
                _ => break,
            }
            made = Self::try_create(owner);
        }
        made
    }

    fn try_create(owner: Option<(Uid, Gid)>) -> io::Result<Self> {
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
            // Held until the folder is gone: its maker would take one that is free.
            let Ok(_lock) = lock(&path) else { continue };
            match lock(&path.join(OLD_LOCK)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => remove(&path),
            }
        }
    }

    fn fill(path: &Path, owner: Option<(Uid, Gid)>) -> io::Result<Self> {
        let profile = Self { path: path.to_owned(), _lock: lock(path)? };
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
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

fn remove(path: &Path) {
    for _ in 0..REMOVAL_TRIES {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            // Another user's.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => break,
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
        let made = || {
            let path = std::env::temp_dir().join(format!("{PREFIX}{}", clock::new_id().simple()));
            std::fs::create_dir(&path).unwrap();
            path
        };
        let (left, of_old_version, in_use) = (made(), made(), made());
        for path in [&of_old_version, &in_use] {
            std::fs::write(path.join(OLD_LOCK), "").unwrap();
        }
        let held = lock(&in_use.join(OLD_LOCK)).unwrap();
        Profile::sweep();
        assert!(!left.exists() && !of_old_version.exists() && in_use.exists());
        drop(held);
        Profile::sweep();
        assert!(!in_use.exists());
    }
}
