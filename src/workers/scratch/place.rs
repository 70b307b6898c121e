//! The folder that a service has all its scratch folders in, and the sweep of those that others left behind.

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};

use super::removal::{self, open_folder};
use super::tenant::Tenant;
use crate::clock;

const PREFIX: &str = "platen-scratch-";
const LOCK: &str = "lock";
/// So often a place is tried to be made.
const TRIES: u32 = 8;

/// The folder, whose lock is held as long as the service lives, also through a kill -9: one whose lock is free
/// was left behind. Dropped, it is removed.
#[derive(Debug)]
pub(in crate::workers) struct Place {
    path: PathBuf,
    folder: OwnedFd,
    _lock: Flock<File>,
}

impl Place {
    /// Makes it in `parent`. Others may go through it and not list it, where children have users of their own.
    pub fn create(parent: &Path, for_others: bool) -> io::Result<Self> {
        // Between the lock's file and the lock another service's sweep may take the place for one left behind, and
        // remove it. Then a place of another name is made.
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
        // A lock on a file that the sweep has removed before holds nobody off.
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

    /// Ends who still runs in places that a killed service of this user has left behind, and removes them.
    pub fn sweep(parent: &Path) {
        let Ok(entries) = std::fs::read_dir(parent) else { return };
        let names = entries.flatten().filter(|it| it.file_name().to_string_lossy().starts_with(PREFIX));
        for entry in names {
            if let Err(error) = sweep_place(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "a scratch folder is left behind");
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let removed = removal::empty(&self.folder).and_then(|()| std::fs::remove_dir(&self.path));
        if let Err(error) = removed {
            tracing::warn!(path = %self.path.display(), %error, "a scratch folder could not be removed");
        }
    }
}

fn sweep_place(path: &Path) -> io::Result<()> {
    let folder = match open_folder(CWD, &CString::new(path.as_os_str().as_encoded_bytes())?) {
        Ok(folder) => folder,
        // Removed meanwhile, or never a folder.
        Err(error) if matches!(error.raw_os_error(), Some(nix::libc::ENOENT | nix::libc::ENOTDIR)) => {
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let folder_file = File::from(folder);
    // Anybody may make folders in the one for temporary files: whom a note in it names is killed, so it must be ours.
    if folder_file.metadata()?.uid() != nix::unistd::geteuid().as_raw() {
        return Ok(());
    }
    let folder = OwnedFd::from(folder_file);
    // Without its lock file it is being made or being removed by somebody else.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(lock) = openat(&folder, LOCK, flags, Mode::empty()) else { return Ok(()) };
    let Ok(_lock) = Flock::lock(File::from(lock), FlockArg::LockExclusiveNonblock) else { return Ok(()) };
    for entry in Dir::read_from(&folder)?.flatten() {
        let Ok(run) = open_folder(&folder, entry.file_name()) else { continue };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let note = openat(&run, super::TENANT, flags, Mode::empty());
        let tenant = note.ok().and_then(|note| Tenant::read(note.into()));
        if tenant.is_some_and(|tenant| !tenant.end()) {
            return Err(io::Error::other("who runs there does not end"));
        }
    }
    removal::empty(&folder)?;
    std::fs::remove_dir(path)
}
