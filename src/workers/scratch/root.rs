//! A service's folder of all its scratch folders, and the sweep of those that killed services have left behind.

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

use super::process_record::ProcessRecord;
use super::removal::{self, open_folder};
use crate::clock;

const PREFIX: &str = "platen-scratch-";
const LOCK: &str = "lock";
const TRIES: u32 = 8;

/// The folder. The kernel frees its lock when the service ends, also by kill -9, so a folder with a free lock was left behind.
/// Dropping this removes the folder.
#[derive(Debug)]
pub(in crate::workers) struct ScratchRoot {
    path: PathBuf,
    folder: OwnedFd,
    _lock: Flock<File>,
}

impl ScratchRoot {
    /// Makes it in `parent`. `for_others`: children with users of their own may enter it, but not list it.
    pub fn create(parent: &Path, for_others: bool) -> io::Result<Self> {
        // Before the lock is taken, another service's sweep may remove the folder as one left behind. Then another is made.
        let mut made = Self::try_create(parent, for_others);
        for _ in 1..TRIES {
            let Err(error) = &made else { break };
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock)
                || !parent.is_dir()
            {
                break;
            }
            made = Self::try_create(parent, for_others);
        }
        made
    }

    fn try_create(parent: &Path, for_others: bool) -> io::Result<Self> {
        let path = parent.join(format!("{PREFIX}{}", clock::new_id().simple()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = open_folder(CWD, &CString::new(path.as_os_str().as_encoded_bytes())?)?;
        let lock = File::create_new(path.join(LOCK))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        // If a sweep has removed the lock's file meanwhile, our lock on it protects nothing.
        let named = std::fs::symlink_metadata(path.join(LOCK))?;
        if named.ino() != lock.metadata()?.ino() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if for_others {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o711))?;
        }
        Ok(Self { path, folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// Removes folders that killed services of this user have left behind, and ends programs that still run there.
    pub fn sweep(parent: &Path) {
        let Ok(entries) = std::fs::read_dir(parent) else { return };
        let names = entries.flatten().filter(|it| it.file_name().to_string_lossy().starts_with(PREFIX));
        for entry in names {
            if let Err(error) = sweep_root(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "a scratch folder is left behind");
            }
        }
    }
}

impl Drop for ScratchRoot {
    fn drop(&mut self) {
        let removed = removal::empty(&self.folder).and_then(|()| std::fs::remove_dir(&self.path));
        if let Err(error) = removed {
            tracing::warn!(path = %self.path.display(), %error, "a scratch folder could not be removed");
        }
    }
}

fn sweep_root(path: &Path) -> io::Result<()> {
    let folder = match open_folder(CWD, &CString::new(path.as_os_str().as_encoded_bytes())?) {
        Ok(folder) => folder,
        // Removed meanwhile, never a folder, or another user's, which is closed to this one.
        Err(error) => {
            use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
            let is_none_of_ours = matches!(error.kind(), NotFound | NotADirectory | PermissionDenied);
            return if is_none_of_ours { Ok(()) } else { Err(error) };
        }
    };
    let folder_file = File::from(folder);
    // Hazard: any user can make such a folder among temporary files, with a record of a process to be killed. So the folder
    // must be ours.
    if folder_file.metadata()?.uid() != nix::unistd::geteuid().as_raw() {
        return Ok(());
    }
    let folder = OwnedFd::from(folder_file);
    // Without a lock file another service is just making or removing it.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(lock) = openat(&folder, LOCK, flags, Mode::empty()) else { return Ok(()) };
    let Ok(_lock) = Flock::lock(File::from(lock), FlockArg::LockExclusiveNonblock) else { return Ok(()) };
    for entry in Dir::read_from(&folder)?.flatten() {
        let Ok(run) = open_folder(&folder, entry.file_name()) else { continue };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let note = openat(&run, super::PROCESS_RECORD, flags, Mode::empty());
        let record = note.ok().and_then(|note| ProcessRecord::read(note.into()));
        if record.is_some_and(|record| !record.end()) {
            return Err(io::Error::other("who runs there does not end"));
        }
    }
    removal::empty(&folder)?;
    std::fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use nix::unistd::{Uid, geteuid, setfsuid};

    use super::*;

    #[test]
    fn a_folder_of_another_user_is_not_left_behind() {
        let parent = tempfile::tempdir().unwrap();
        let other = parent.path().join(format!("{PREFIX}other"));
        std::fs::create_dir(&other).unwrap();
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o000)).unwrap();
        // Root sees into every folder, except in a thread that reads files as another user.
        setfsuid(Uid::from_raw(12_345));
        let swept = sweep_root(&other);
        setfsuid(geteuid());
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o700)).unwrap();
        swept.unwrap();
    }
}
