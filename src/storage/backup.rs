//! A copy of the data folder that can be started from, and the way back.
//!
//! A copy is taken while no service uses the folder: then it is what the service left, to the byte, and
//! there is no order of copying to get right. (Beside a service that works there is none that is right:
//! with the index first, what it names may be deleted before it is copied; with the objects first, what it
//! names may not have been there yet. A snapshot of the whole file system has no order: a start from it is
//! a start after a power cut.)

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::folder::{self, CACHES, FILE_SYSTEMS_OWN, FolderError, RESTORING, VERSION, WORK};
use super::key::SECRET;

/// What does not last: the socket of a running service, what was being written or worked on, the passwords of jobs that
/// have not ended, what is made again, what is not ours.
const PASSING: [&str; 6] = ["control", ".staging", WORK, CACHES, SECRET, FILE_SYSTEMS_OWN];

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The folder to write into holds something.
    #[error("{} is not empty; name a folder that is not there yet, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The folder to write into lies in the one to read.
    #[error("{} lies in {}; name a folder outside of it", inside.display(), folder.display())]
    Inside {
        /// The folder to write into.
        inside: PathBuf,
        /// The one to read.
        folder: PathBuf,
    },
    /// It is no data folder of ours.
    #[error("{} is no whole data folder: it has no file '{VERSION}'; name the folder that `platen backup` wrote", .0.display())]
    NotOurs(PathBuf),
    /// Something in it cannot be copied.
    #[error("{} is neither a file nor a folder; remove it, or put in its place what it stands for", .0.display())]
    Strange(PathBuf),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The file system refuses.
    #[error("{}: {cause}; what was written so far is no backup", path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// What the system said.
        cause: Error,
    },
}

/// Copies the data folder `from`, which nobody else uses, to `to`, readable by its owner only, and durable
/// when it returns; answers how many files that were. `to` gets its file `version` last: a copy without one
/// is not whole.
///
/// # Errors
/// See [`BackupError`]; `from` is not changed.
pub fn backup(from: &Path, to: &Path) -> Result<u64, BackupError> {
    if folder::format_of(from)?.is_none() {
        return Err(BackupError::NotOurs(from.to_owned()));
    }
    make_empty(to)?;
    refuse_inside(from, to)?;
    copy(from, to)
}

/// Copies the backup `from` into the data folder `to`, as `backup` does. A folder that a restore filled by
/// half says so, and is refused by every start; so is it until `prepare` has done with it what a start needs.
///
/// # Errors
/// See [`BackupError`], and what `prepare` says; nothing is written when `from` is no backup that this program can
/// read.
pub fn restore<E: From<BackupError>>(
    from: &Path,
    to: &Path,
    prepare: impl FnOnce() -> Result<(), E>,
) -> Result<u64, E> {
    let files = restore_half(from, to)?;
    prepare()?;
    let mark = to.join(RESTORING);
    std::fs::remove_file(&mark).map_err(refused(&mark))?;
    sync(to)?;
    Ok(files)
}

/// Everything but the end: the mark stays.
fn restore_half(from: &Path, to: &Path) -> Result<u64, BackupError> {
    if folder::format_of(from)?.is_none() {
        return Err(BackupError::NotOurs(from.to_owned()));
    }
    folder::check_owner(to)?;
    make_empty(to)?;
    refuse_inside(from, to)?;
    let mark = to.join(RESTORING);
    make_file(&mark)?.sync_all().map_err(refused(&mark))?;
    sync(to)?;
    copy(from, to)
}

fn copy(from: &Path, to: &Path) -> Result<u64, BackupError> {
    let mut files = 0;
    copy_folder(from, to, 0, &mut files)?;
    copy_file(&from.join(VERSION), &to.join(VERSION))?;
    sync(to)?;
    Ok(files + 1)
}

fn make_empty(path: &Path) -> Result<(), BackupError> {
    match std::fs::read_dir(path) {
        Ok(entries) => {
            if entries.flatten().any(|entry| entry.file_name() != FILE_SYSTEMS_OWN) {
                return Err(BackupError::NotEmpty(path.to_owned()));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refused(path))?;
        }
        Err(error) => return Err(refused(path)(error)),
    }
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(refused(path))
}

/// A copy of a folder into itself would have no end. `to` is there and empty.
fn refuse_inside(from: &Path, to: &Path) -> Result<(), BackupError> {
    let real = |path: &Path| path.canonicalize().map_err(refused(path));
    if !real(to)?.starts_with(real(from)?) {
        return Ok(());
    }
    let _ = std::fs::remove_dir(to);
    Err(BackupError::Inside { inside: to.to_owned(), folder: from.to_owned() })
}

fn copy_folder(from: &Path, to: &Path, depth: u32, files: &mut u64) -> Result<(), BackupError> {
    for entry in std::fs::read_dir(from).map_err(refused(from))? {
        let entry = entry.map_err(refused(from))?;
        let (source, target, name) = (entry.path(), to.join(entry.file_name()), entry.file_name());
        if PASSING.iter().any(|passing| name == *passing) || name == VERSION {
            continue;
        }
        let metadata = metadata(&source, depth)?;
        if metadata.is_dir() {
            DirBuilder::new().mode(0o700).create(&target).map_err(refused(&target))?;
            copy_folder(&source, &target, depth + 1, files)?;
        } else if metadata.is_file() {
            copy_file(&source, &target)?;
            *files += 1;
        } else {
            return Err(BackupError::Strange(source));
        }
    }
    sync(to)
}

/// At the top a link is followed, for operators put `objects` on another disk; below there is none of ours,
/// and it might lead round in a circle.
fn metadata(path: &Path, depth: u32) -> Result<Metadata, BackupError> {
    let found = if depth == 0 { path.metadata() } else { path.symlink_metadata() };
    found.map_err(refused(path))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = File::open(from).map_err(refused(from))?;
    let mut target = make_file(to)?;
    std::io::copy(&mut source, &mut target).map_err(refused(to))?;
    target.sync_all().map_err(refused(to))
}

fn make_file(path: &Path) -> Result<File, BackupError> {
    File::options().write(true).create_new(true).mode(0o600).open(path).map_err(refused(path))
}

fn sync(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(refused(folder))
}

fn refused(path: &Path) -> impl Fn(Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |cause| BackupError::Refused { path: path.clone(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data folder with an object, and a place beside it.
    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (data, copy) = (root.path().join("data"), root.path().join("copy"));
        std::fs::create_dir_all(data.join("objects/.staging")).unwrap();
        std::fs::write(data.join("version"), "1\n").unwrap();
        std::fs::write(data.join("objects/.staging/half"), "half").unwrap();
        std::fs::write(data.join("objects/whole"), "whole").unwrap();
        (root, data, copy)
    }

    fn restore(from: &Path, to: &Path) -> Result<u64, BackupError> {
        super::restore(from, to, || Ok(()))
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_a_whole_folder_of_ours_goes_only_into_an_empty_one() {
        let (_root, data, copy) = folders();
        let inside = data.join("copy");
        assert!(matches!(backup(&data, &inside), Err(BackupError::Inside { .. })) && !inside.exists());
        assert_eq!(backup(&data, &copy).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(copy.join("objects/whole")).unwrap(), "whole");
        assert!(!copy.join("objects/.staging").exists());
        assert_eq!(
            [mode(&copy), mode(&copy.join("objects")), mode(&copy.join("objects/whole"))],
            [0o700, 0o700, 0o600]
        );
        assert!(matches!(backup(&data, &copy), Err(BackupError::NotEmpty(_))));
        assert!(matches!(restore(&copy, &data), Err(BackupError::NotEmpty(_))));
        std::fs::remove_dir_all(&data).unwrap();
        assert_eq!(restore(&copy, &data).unwrap(), 2);
        assert!(data.join("version").exists() && !data.join(RESTORING).exists());
        std::fs::remove_file(copy.join("version")).unwrap();
        std::fs::remove_dir_all(&data).unwrap();
        assert!(matches!(restore(&copy, &data), Err(BackupError::NotOurs(_))));
        assert!(matches!(backup(&copy, &data), Err(BackupError::NotOurs(_))) && !data.exists());
    }

    #[test]
    fn a_newer_backup_is_refused_before_anything_is_written() {
        let (_root, data, copy) = folders();
        std::fs::write(data.join("version"), "2\n").unwrap();
        let refused = restore(&data, &copy).unwrap_err().to_string();
        assert!(refused.contains("has format 2, this platen knows format 1"), "{refused}");
        assert!(!copy.exists());
    }

    #[test]
    fn a_restore_that_ends_half_way_says_so_in_the_folder() {
        let (_root, data, copy) = folders();
        std::os::unix::fs::symlink("whole", data.join("objects/link")).unwrap();
        assert!(matches!(restore(&data, &copy), Err(BackupError::Strange(_))));
        assert!(copy.join(RESTORING).exists() && !copy.join("version").exists());
        let refused = folder::DataDir::open(&copy).unwrap_err().to_string();
        assert!(refused.contains("did not end"), "{refused}");
    }

    #[test]
    fn no_start_comes_between_the_copy_and_what_is_done_with_it() {
        let (_root, data, copy) = folders();
        let prepare = || {
            assert!(copy.join("objects/whole").exists() && folder::DataDir::open(&copy).is_err());
            Err(BackupError::NotOurs(PathBuf::new()))
        };
        assert!(super::restore(&data, &copy, prepare).is_err());
        assert!(folder::DataDir::open(&copy).unwrap_err().to_string().contains("did not end"));
    }

    #[test]
    fn objects_that_lie_on_another_disk_are_copied_as_well() {
        let (root, data, copy) = folders();
        let elsewhere = root.path().join("elsewhere");
        std::fs::rename(data.join("objects"), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, data.join("objects")).unwrap();
        assert_eq!(backup(&data, &copy).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(copy.join("objects/whole")).unwrap(), "whole");
        assert!(copy.join("objects").symlink_metadata().unwrap().is_dir());
    }
}
