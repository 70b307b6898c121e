//! Measures a program's folder while the program may be changing it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::removal::open_folder;
use crate::workers::usage::BLOCK_BYTES;

/// The deepest nesting of folders that is measured; each level takes a descriptor.
const DEPTH_LIMIT: u32 = 32;

/// The size of a folder's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Allocated blocks: a sparse file is longer than what it takes on the disk.
    pub bytes: u64,
    /// Entries of all kinds, folders included.
    pub files: u64,
}

/// Why a folder cannot be measured. Only the program can cause either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// More than `most` files, or folders more than 32 deep.
    TooMany,
    /// A folder that the program has closed to us.
    Hidden,
}

/// Measures a folder; stops after `most` files.
pub fn measure(top: &OwnedFd, most: u64) -> Result<Size, Unseen> {
    let mut size = Size::default();
    add(top, &mut size, most, DEPTH_LIMIT)?;
    Ok(size)
}

fn add(folder: &OwnedFd, size: &mut Size, most: u64, depth: u32) -> Result<(), Unseen> {
    let entries = Dir::read_from(folder).map_err(|_| Unseen::Hidden)?;
    // Entries that vanish meanwhile are skipped; the next measurement sees what has changed.
    for entry in entries.flatten() {
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        size.files += 1;
        size.bytes += u64::try_from(stat.st_blocks).unwrap_or_default() * BLOCK_BYTES;
        if size.files > most || depth == 0 {
            return Err(Unseen::TooMany);
        }
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            match open_folder(folder, name) {
                Ok(inner) => add(&inner, size, most, depth - 1)?,
                Err(error) if is_closed(&error) => return Err(Unseen::Hidden),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

fn is_closed(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ACCESS.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn all_entries_count_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let top =
            open_folder(rustix::fs::CWD, &CString::new(folder.path().to_str().unwrap()).unwrap()).unwrap();
        assert_eq!(measure(&top, 3), Ok(Size::default()));
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), vec![1; 100_000]).unwrap();
        std::fs::File::create(folder.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
        let size = measure(&top, 3).unwrap();
        assert_eq!(size.files, 3);
        assert!((100_000..1_000_000).contains(&size.bytes), "{size:?}");
        std::os::unix::fs::symlink("/", folder.path().join("link")).unwrap();
        assert_eq!(measure(&top, 3), Err(Unseen::TooMany));
        std::fs::create_dir_all(folder.path().join("x/".repeat(40))).unwrap();
        assert_eq!(measure(&top, 1_000), Err(Unseen::TooMany));
    }
}
