//! Backup of the data folder, and restore.
//!
//! A folder that no service uses is copied file by file. Hazard beside a running service: with the index copied first, objects
//! that it names may be deleted before they are copied; with the objects first, it may name newer ones. So the service sends
//! its index as it was at one moment, and holds deletions until the last object is copied (`live.rs`). A snapshot of the whole
//! file system needs neither: a start from it is like a start after a power cut.
//!
//! `cli` calls `backup`, `backup_live` and `restore`; only `accounts::control` serves a [`LiveBackup`].

mod live;
mod wire;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

pub use live::{HeldObjects, LiveBackup, LiveSource, REQUEST};

use super::data_dir::{self, CACHES, DataDir, DataDirError, FILE_SYSTEMS_OWN, RESTORING, VERSION, WORK};
use super::index::IndexError;
use super::key::SECRET;
use super::{Folder, sync_folder};
use crate::config::StorageConfig;

/// Names that are not copied: the control socket, staged and work files, caches, the passwords of jobs that have not ended,
/// and the file system's own folder.
const SKIPPED: [&str; 6] = ["control", ".staging", WORK, CACHES, SECRET, FILE_SYSTEMS_OWN];

/// Why a backup or restore failed.
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
    /// The folder to read is not a complete data folder.
    #[error("{} is no whole data folder: it has no file '{VERSION}'; name the folder that `platen backup` wrote", .0.display())]
    NotADataDir(PathBuf),
    /// Something in it cannot be copied.
    #[error("{} is neither a file nor a folder; remove it, or put in its place what it stands for", .0.display())]
    Unexpected(PathBuf),
    /// The running service broke the backup off.
    #[error("the service broke the backup off: {0}; what was written so far is no backup")]
    Aborted(String),
    /// The copy's index cannot be written.
    #[error("{0}; what was written so far is no backup")]
    Index(#[from] IndexError),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] DataDirError),
    /// The file system refuses.
    #[error("{}: {cause}; what was written so far is no backup", path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// What the system said.
        cause: Error,
    },
}

/// Copies the data folder `from`, which no process may use, to `to`, readable by its owner only; durable when it returns.
/// Returns the number of files. The file `version` comes last: a copy without it is incomplete.
///
/// # Errors
/// See [`BackupError`]; `from` is not changed.
pub fn backup(from: &Path, to: &Path) -> Result<u64, BackupError> {
    prepare(from, to)?;
    copy(from, to, None, 0)
}

/// The same for the data folder of a running service, which holds deletions for `source`.
///
/// # Errors
/// See [`BackupError`].
pub async fn backup_live(
    from: &Path,
    to: &Path,
    mut source: LiveSource,
    config: &StorageConfig,
) -> Result<u64, BackupError> {
    prepare(from, to)?;
    let index = DataDir::at(to).index();
    source.index_into(&index, config).await?;
    let mut files = 0;
    make_private(&index, &mut files)?;
    copy(from, to, Some(source), files)
}

/// Checks both folders before anything is written.
fn prepare(from: &Path, to: &Path) -> Result<(), BackupError> {
    if data_dir::format_of(from)?.is_none() {
        return Err(BackupError::NotADataDir(from.to_owned()));
    }
    make_empty(to)?;
    refuse_inside(from, to)
}

/// Copies the backup `from` into the data folder `to`, as `backup` does. Until the copy is complete and `prepare` has made it
/// ready, a mark in the folder makes every start refuse it.
///
/// # Errors
/// See [`BackupError`], and those of `prepare`; nothing is written if this program cannot read the backup.
pub fn restore<E: From<BackupError>>(
    from: &Path,
    to: &Path,
    prepare: impl FnOnce() -> Result<(), E>,
) -> Result<u64, E> {
    let files = restore_marked(from, to)?;
    prepare()?;
    let mark = to.join(RESTORING);
    std::fs::remove_file(&mark).map_err(refused(&mark))?;
    sync(to)?;
    Ok(files)
}

/// Copies everything, with the mark, which stays.
fn restore_marked(from: &Path, to: &Path) -> Result<u64, BackupError> {
    data_dir::check_owner(to)?;
    prepare(from, to)?;
    let mark = to.join(RESTORING);
    make_file(&mark)?.sync_all().map_err(refused(&mark))?;
    sync(to)?;
    copy(from, to, None, 0)
}

/// Copies everything, `version` last; beside a running service if `live`. `files` were copied before.
fn copy(from: &Path, to: &Path, live: Option<LiveSource>, files: u64) -> Result<u64, BackupError> {
    let mut tree = Tree { top: from, live, files };
    tree.copy_folder(from, to, 0)?;
    tree.live.map_or(Ok(()), LiveSource::end)?;
    copy_file(&from.join(VERSION), &to.join(VERSION))?;
    sync(to)?;
    Ok(tree.files + 1)
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

/// Refuses to copy a folder into itself, which would never end. `to` exists and is empty.
fn refuse_inside(from: &Path, to: &Path) -> Result<(), BackupError> {
    let real = |path: &Path| path.canonicalize().map_err(refused(path));
    if !real(to)?.starts_with(real(from)?) {
        return Ok(());
    }
    let _ = std::fs::remove_dir(to);
    Err(BackupError::Inside { inside: to.to_owned(), folder: from.to_owned() })
}

/// A folder being copied.
struct Tree<'a> {
    top: &'a Path,
    /// The running service, if there is one: then the index is not copied as files, and empty folders may vanish.
    live: Option<LiveSource>,
    /// How many were copied.
    files: u64,
}

impl Tree<'_> {
    fn copy_folder(&mut self, from: &Path, to: &Path, depth: u32) -> Result<(), BackupError> {
        let entries = match std::fs::read_dir(from) {
            Err(error) if self.is_gone(depth, &error) => return sync(to),
            entries => entries.map_err(refused(from))?,
        };
        for entry in entries {
            let entry = entry.map_err(refused(from))?;
            let (source, target, name) = (entry.path(), to.join(entry.file_name()), entry.file_name());
            if self.is_skipped(&source, &name) {
                continue;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let metadata = match metadata(&source, depth) {
                Err(BackupError::Refused { cause, .. }) if is_folder && self.is_gone(depth, &cause) => {
                    continue;
                }
                found => found?,
            };
            if metadata.is_dir() {
                DirBuilder::new().mode(0o700).create(&target).map_err(refused(&target))?;
                self.copy_folder(&source, &target, depth + 1)?;
            } else if metadata.is_file() {
                self.live.as_mut().map_or(Ok(()), LiveSource::check)?;
                copy_file(&source, &target)?;
                self.files += 1;
            } else {
                return Err(BackupError::Unexpected(source));
            }
        }
        sync(to)
    }

    /// Whether a folder has vanished beside a running service: that of a job goes with its passwords, whose deletion is not
    /// held.
    fn is_gone(&self, depth: u32, error: &Error) -> bool {
        self.live.is_some() && depth > 0 && error.kind() == ErrorKind::NotFound
    }

    /// Whether the entry is not copied, or not yet: `version` comes last, the index of a running service by its socket.
    fn is_skipped(&self, path: &Path, name: &OsStr) -> bool {
        let is_probes =
            path.parent() == Some(self.top.join("objects").as_path()) && name == Folder::Probes.name();
        let is_index = self.live.is_some() && path == DataDir::at(self.top).index();
        SKIPPED.iter().any(|skipped| name == *skipped) || name == VERSION || is_probes || is_index
    }
}

/// Removes the permissions of other users and makes everything in the folder durable.
fn make_private(folder: &Path, files: &mut u64) -> Result<(), BackupError> {
    for entry in std::fs::read_dir(folder).map_err(refused(folder))? {
        let path = entry.map_err(refused(folder))?.path();
        if path.is_dir() {
            std::fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(refused(&path))?;
            make_private(&path, files)?;
        } else {
            std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(refused(&path))?;
            File::open(&path).and_then(|file| file.sync_all()).map_err(refused(&path))?;
            *files += 1;
        }
    }
    sync(folder)
}

/// Follows links at the top only, where operators may link `objects` to another disk. Below, platen makes none, and a foreign
/// one might lead into a loop.
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
    sync_folder(folder).map_err(refused(folder))
}

fn refused(path: &Path) -> impl Fn(Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |cause| BackupError::Refused { path: path.clone(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data folder with an object, and a path for a copy beside it.
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
    fn only_a_complete_data_folder_is_copied_and_only_into_an_empty_one() {
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
        assert!(matches!(restore(&copy, &data), Err(BackupError::NotADataDir(_))));
        assert!(matches!(backup(&copy, &data), Err(BackupError::NotADataDir(_))) && !data.exists());
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
    fn an_interrupted_restore_marks_its_folder() {
        let (_root, data, copy) = folders();
        std::os::unix::fs::symlink("whole", data.join("objects/link")).unwrap();
        assert!(matches!(restore(&data, &copy), Err(BackupError::Unexpected(_))));
        assert!(copy.join(RESTORING).exists() && !copy.join("version").exists());
        let refused = DataDir::open(&copy).unwrap_err().to_string();
        assert!(refused.contains("did not end"), "{refused}");
        assert!(!copy.join("version").exists());
    }

    #[test]
    fn a_restored_folder_is_refused_until_it_is_prepared() {
        let (_root, data, copy) = folders();
        let prepare = || {
            assert!(copy.join("objects/whole").exists() && DataDir::open(&copy).is_err());
            Err(BackupError::NotADataDir(PathBuf::new()))
        };
        assert!(super::restore(&data, &copy, prepare).is_err());
        assert!(DataDir::open(&copy).unwrap_err().to_string().contains("did not end"));
    }

    #[test]
    fn objects_linked_from_another_disk_are_copied() {
        let (root, data, copy) = folders();
        let elsewhere = root.path().join("elsewhere");
        std::fs::rename(data.join("objects"), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, data.join("objects")).unwrap();
        assert_eq!(backup(&data, &copy).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(copy.join("objects/whole")).unwrap(), "whole");
        assert!(copy.join("objects").symlink_metadata().unwrap().is_dir());
    }
}
