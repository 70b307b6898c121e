//! Removes all that a program has left in its folder.
//!
//! Hazard: a program can nest folders so deeply that descending into them overflows the stack or runs out of descriptors.
//! So this does not descend: folders inside a folder are moved up to the top, where each is emptied with two descriptors.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

/// A removal stops after this; the next service's sweep removes the rest.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Empties the folder `top`, unless it takes too long; the folder itself stays.
pub(super) fn empty(top: &OwnedFd) -> io::Result<()> {
    let begun = Instant::now();
    let mut moved = 0_u64;
    loop {
        let names = entries(top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if begun.elapsed() > TIME_LIMIT {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if !is_unlinked(top, &name)? {
                flatten(top, &name, &mut moved)?;
            }
        }
    }
}

/// Opens a folder; a link is not followed.
pub(super) fn open_folder(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Removes an entry that is no folder; false if it is one.
fn is_unlinked(parent: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Removes the folder `name` of `top`; its inner folders are moved up into `top`.
fn flatten(top: &OwnedFd, name: &CStr, moved: &mut u64) -> io::Result<()> {
    open_up(top, name)?;
    let folder = open_folder(top, name)?;
    for inner in entries(&folder)? {
        if is_unlinked(&folder, &inner)? {
            continue;
        }
        // Moving a folder to another parent changes the folder itself (`..`), so that must be writable.
        open_up(&folder, &inner)?;
        while let Err(errno) = renameat(&folder, &inner, top, format!(".moved-{moved}")) {
            // The program has used our name for something else: the next number is tried.
            if !matches!(errno, Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) {
                return Err(errno.into());
            }
            *moved += 1;
        }
        *moved += 1;
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Restores our rights on a folder that the program may have closed. A link in its place is not followed.
fn open_up(parent: &OwnedFd, name: &CStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if ![c".", c".."].contains(&entry.file_name()) {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_closed_folders_are_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("kept"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        std::fs::create_dir_all(folder.path().join(".moved-0/in")).unwrap();
        std::fs::write(folder.path().join(".moved-1"), "").unwrap();
        let top =
            open_folder(rustix::fs::CWD, &CString::new(folder.path().to_str().unwrap()).unwrap()).unwrap();
        // Deeper than a path can name, and than a stack or the limit of open files allows.
        let mut inner = top.try_clone().unwrap();
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&inner, c"d", Mode::RWXU).unwrap();
            inner = open_folder(&inner, c"d").unwrap();
        }
        let hidden = folder.path().join("hidden");
        std::fs::create_dir_all(hidden.join("inner")).unwrap();
        std::fs::write(hidden.join("file"), "").unwrap();
        for path in [hidden.join("inner"), hidden] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o0)).unwrap();
        }
        empty(&top).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(outside.path().join("kept").exists());
    }
}
