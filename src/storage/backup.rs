//! A copy of the data folder that can be started from, and the way back.
//!
//! A copy is taken while no service uses the folder: then it is what the service left, to the byte. (While
//! one runs, a snapshot of the file system does the same: a start after it is a start after a power cut.)

use std::fs::{DirBuilder, File, Permissions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What does not last: the socket of a running service, and what was being written.
const PASSING: [&str; 2] = ["control", ".staging"];

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The folder to write into holds something.
    #[error("{} is not empty; name a folder that is not there yet, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The folder to write into lies in the one to read.
    #[error("{} lies in the data folder; name a folder outside of it", .0.display())]
    Inside(PathBuf),
    /// It is no data folder of ours.
    #[error("{} is no data folder: it has no file 'version'; name the folder that `platen backup` wrote", .0.display())]
    NotOurs(PathBuf),
    /// The file system refuses.
    #[error("{}: {cause}", path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// What the system said.
        cause: Error,
    },
}

/// Copies the data folder `from` to `to`, readable by its owner only, and durable when it returns; answers how
/// many files that were. `to` gets its file `version` last: a copy without one is not whole.
///
/// # Errors
/// See [`BackupError`]; `from` is not changed.
pub fn copy(from: &Path, to: &Path) -> Result<u64, BackupError> {
    let version = from.join("version");
    if !version.is_file() {
        return Err(BackupError::NotOurs(from.to_owned()));
    }
    let absolute = |path: &Path| std::path::absolute(path).map_err(refused(path));
    if absolute(to)?.starts_with(absolute(from)?) {
        return Err(BackupError::Inside(to.to_owned()));
    }
    make_empty(to)?;
    let mut files = 0;
    copy_folder(from, to, &mut files)?;
    copy_file(&version, &to.join("version"))?;
    sync(to)?;
    Ok(files + 1)
}

fn make_empty(path: &Path) -> Result<(), BackupError> {
    match std::fs::read_dir(path).map(Iterator::count) {
        Ok(1..) => return Err(BackupError::NotEmpty(path.to_owned())),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refused(path))?;
        }
        Err(error) => return Err(refused(path)(error)),
    }
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(refused(path))
}

fn copy_folder(from: &Path, to: &Path, files: &mut u64) -> Result<(), BackupError> {
    for entry in std::fs::read_dir(from).map_err(refused(from))? {
        let entry = entry.map_err(refused(from))?;
        let (source, target, name) = (entry.path(), to.join(entry.file_name()), entry.file_name());
        let kind = entry.file_type().map_err(refused(&source))?;
        if PASSING.iter().any(|passing| name == *passing) || name == "version" {
            continue;
        }
        if kind.is_dir() {
            DirBuilder::new().mode(0o700).create(&target).map_err(refused(&target))?;
            copy_folder(&source, &target, files)?;
        } else if kind.is_file() {
            copy_file(&source, &target)?;
            *files += 1;
        }
    }
    sync(to)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = File::open(from).map_err(refused(from))?;
    let target = File::options().write(true).create_new(true).mode(0o600).open(to);
    let mut target = target.map_err(refused(to))?;
    std::io::copy(&mut source, &mut target).map_err(refused(to))?;
    target.sync_all().map_err(refused(to))
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

    #[test]
    fn only_a_whole_folder_of_ours_goes_only_into_an_empty_one() {
        let root = tempfile::tempdir().unwrap();
        let (data, copy_of) = (root.path().join("data"), root.path().join("copy"));
        std::fs::create_dir_all(data.join("objects/.staging")).unwrap();
        assert!(matches!(copy(&data, &copy_of), Err(BackupError::NotOurs(_))));
        std::fs::write(data.join("version"), "1\n").unwrap();
        std::fs::write(data.join("objects/.staging/half"), "half").unwrap();
        std::fs::write(data.join("objects/whole"), "whole").unwrap();
        assert!(matches!(copy(&data, &data.join("copy")), Err(BackupError::Inside(_))));
        assert_eq!(copy(&data, &copy_of).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(copy_of.join("objects/whole")).unwrap(), "whole");
        assert!(!copy_of.join("objects/.staging").exists());
        let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(copy_of.clone()), mode(copy_of.join("objects/whole"))], [0o700, 0o600]);
        assert!(matches!(copy(&data, &copy_of), Err(BackupError::NotEmpty(_))));
    }
}
