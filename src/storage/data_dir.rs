//! The data folder: its permissions, the paths of its parts, and its format.

use std::fmt::Display;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::sync_folder;
use super::wrong_user::{WrongUser, wrong_user};
use crate::clock::Timestamp;
#[cfg(debug_assertions)]
use crate::failpoint::Step;

/// The format this program reads and writes.
const FORMAT: u32 = 1;
/// The file with the number of the folder's format.
pub(super) const VERSION: &str = "version";
/// The file that exists while a restore is under way.
pub(super) const RESTORING: &str = "restoring";
/// The folder in which a replacement of the index is made.
const NEW_INDEX: &str = "index.new";
/// The folder of files passed between two steps of a job.
pub(super) const WORK: &str = "work";
/// The folder of caches, which can be made again.
pub(super) const CACHES: &str = "caches";
/// The entry that the root of a new file system has.
pub(super) const FILE_SYSTEMS_OWN: &str = "lost+found";
const OWNER_ONLY_FOLDER: u32 = 0o700;
const OWNER_ONLY_FILE: u32 = 0o600;

/// Why the data folder cannot be used, in a sentence with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DataDirError(String);

/// The folder of all persistent data, readable by its owner only.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
}

impl DataDir {
    /// Makes the folder if it is missing, removes the permissions of other users and checks the format.
    ///
    /// # Errors
    /// When a newer platen wrote it, or the file system refuses.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        let path = std::path::absolute(path).map_err(refused(path))?;
        let folder = Self { path };
        check_owner(&folder.path)?;
        check_restored(&folder.path)?;
        folder.check_is_data_dir()?;
        make_private(&folder.path)?;
        // Written first: by this file the next start recognises the folder as its own.
        if format_of(&folder.path)?.is_none() {
            folder.write_whole(&folder.path.join(VERSION), format!("{FORMAT}\n").as_bytes())?;
        }
        for part in [folder.objects(), folder.index(), folder.control()] {
            make_private(&part)?;
        }
        sync_folder(&folder.path).map_err(refused(&folder.path))?;
        Ok(folder)
    }

    /// The paths of a data folder at `path`, which need not exist.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Its path; absolute, except after `at`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the objects.
    pub fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The folder of the index.
    pub fn index(&self) -> PathBuf {
        self.path.join("index")
    }

    /// An empty folder for an index that is to replace the present one.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn new_index(&self) -> Result<PathBuf, DataDirError> {
        self.remove_new_index()?;
        let path = self.path.join(NEW_INDEX);
        make_private(&path)?;
        Ok(path)
    }

    /// Removes the folder of an interrupted replacement of the index.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove_new_index(&self) -> Result<(), DataDirError> {
        let path = self.path.join(NEW_INDEX);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(refused(&path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Moves the damaged index to a name with the time, and the new one, which must be closed, into its place. Returns the path
    /// of the damaged one.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn replace_index(&self, now: Timestamp) -> Result<PathBuf, DataDirError> {
        let (index, new) = (self.index(), self.path.join(NEW_INDEX));
        let aside = self.path.join(format!("index.damaged-{}", now.rfc3339().replace(':', "")));
        let renamed = |from: &Path, to: &Path| {
            #[cfg(debug_assertions)]
            crate::failpoint::pass(Step::Index).map_err(refused(from))?;
            std::fs::rename(from, to).map_err(refused(from))
        };
        renamed(&index, &aside)?;
        renamed(&new, &index)?;
        #[cfg(debug_assertions)]
        crate::failpoint::pass(Step::Index).map_err(refused(&self.path))?;
        sync_folder(&self.path).map_err(refused(&self.path))?;
        Ok(aside)
    }

    /// The folder of files that are removed with their job.
    pub fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    /// The folder of caches, which are made again if missing.
    pub fn caches(&self) -> PathBuf {
        self.path.join(CACHES)
    }

    /// The socket on which a running service receives its operator's commands.
    pub fn control_socket(&self) -> PathBuf {
        self.path.join("control/socket")
    }

    /// The secret `name` of exactly `N` bytes, made with `make` when it is not there yet.
    ///
    /// # Errors
    /// When the file has another length, or the file system refuses.
    pub fn secret<const N: usize>(
        &self,
        name: &str,
        make: impl FnOnce() -> std::io::Result<[u8; N]>,
    ) -> Result<[u8; N], DataDirError> {
        let path = self.path.join(name);
        match std::fs::read(&path) {
            Ok(found) => {
                std::fs::set_permissions(&path, Permissions::from_mode(OWNER_ONLY_FILE))
                    .map_err(refused(&path))?;
                found.try_into().map_err(|found: Vec<u8>| {
                    let length = found.len();
                    let cause = format!(
                        "has {length} bytes instead of {N}; restore it from a backup, or remove it to get a new secret \
                         (addresses handed out before become invalid)"
                    );
                    unexpected(&path, cause)
                })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let secret = make().map_err(refused(&path))?;
                self.write_whole(&path, &secret)?;
                Ok(secret)
            }
            Err(error) => Err(refused(&path)(error)),
        }
    }

    /// Refuses a folder with foreign content: removing the permissions of others would lock its users out.
    fn check_is_data_dir(&self) -> Result<(), DataDirError> {
        if self.is_data_dir() {
            return Ok(());
        }
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Ok(()) };
        // A start that was killed may have left the file `version` under its temporary name.
        let mut foreign = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            name != FILE_SYSTEMS_OWN && name != Path::new(VERSION).with_extension("new").as_os_str()
        });
        if foreign.next().is_none() {
            return Ok(());
        }
        let cause = "is not empty and no data folder of platen's (it has no file 'version'); set storage.data_dir \
                     to a folder that is empty or not there yet";
        Err(unexpected(&self.path, cause))
    }

    /// Whether platen made the folder.
    pub fn is_data_dir(&self) -> bool {
        self.path.join(VERSION).is_file()
    }

    /// The folder at `path` if platen made one there, without changing anything.
    ///
    /// # Errors
    /// When it is another user's, or lies in a folder that is closed to this user. Then nobody can tell
    /// whether platen made it.
    pub fn find(path: &Path) -> Result<Option<Self>, DataDirError> {
        let folder = Self { path: std::path::absolute(path).map_err(refused(path))? };
        check_owner(&folder.path)?;
        Ok(folder.is_data_dir().then_some(folder))
    }

    fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    /// Writes a small file atomically and durably.
    fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), DataDirError> {
        let temporary = path.with_extension("new");
        let write = || {
            let mut file = File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(OWNER_ONLY_FILE)
                .open(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&temporary, path)?;
            sync_folder(&self.path)
        };
        write().map_err(refused(path))
    }
}

/// Refuses a folder of another user. Hazard: files that root makes in the service's folder would lock the service out.
///
/// # Errors
/// When the folder is another user's, or lies in a folder that is closed to this user.
pub(super) fn check_owner(path: &Path) -> Result<(), DataDirError> {
    wrong_user(path)
        .map_or(Ok(()), |WrongUser { cause, remedy }| Err(DataDirError(format!("{cause}; {remedy}"))))
}

/// The format of a folder; `None` if it has no file `version`.
///
/// # Errors
/// When it is newer than this program knows, or the file does not name one.
pub(super) fn format_of(folder: &Path) -> Result<Option<u32>, DataDirError> {
    let path = folder.join(VERSION);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&path)(error)),
    };
    match text.trim().parse::<u32>() {
        Ok(found) if found > FORMAT => Err(DataDirError(format!(
            "the data folder {} has format {found}, this platen knows format {FORMAT} and older; use a newer platen, or \
             set storage.data_dir to another folder",
            folder.display()
        ))),
        Ok(found) if found > 0 => Ok(Some(found)),
        Ok(_) | Err(_) => {
            let cause = format!("does not name a format; if the folder is platen's, write {FORMAT} into it");
            Err(unexpected(&path, cause))
        }
    }
}

fn check_restored(folder: &Path) -> Result<(), DataDirError> {
    let path = folder.join(RESTORING);
    if path.exists() {
        let cause = "says that a restore into this folder did not end; empty the folder and restore again";
        return Err(unexpected(&path, cause));
    }
    Ok(())
}

fn make_private(path: &Path) -> Result<(), DataDirError> {
    DirBuilder::new().recursive(true).mode(OWNER_ONLY_FOLDER).create(path).map_err(refused(path))?;
    std::fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY_FOLDER)).map_err(refused(path))
}

/// Converts an error of the file system at `path`.
fn refused(path: &Path) -> impl Fn(std::io::Error) -> DataDirError + use<> {
    let path = path.to_owned();
    move |cause| {
        let path = path.display();
        let is_full = matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        DataDirError(if is_full {
            format!(
                "the disk of {path} is full ({cause}); free some space there, or set storage.data_dir to a folder \
                 elsewhere"
            )
        } else {
            format!(
                "the data folder's {path} cannot be used: {cause}; set storage.data_dir to a folder of the service's \
                 user"
            )
        })
    }
}

fn unexpected(path: &Path, cause: impl Display) -> DataDirError {
    DataDirError(format!("{} {cause}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_folder_is_made_and_closed_to_others_at_each_start() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/data");
        let folder = DataDir::open(&path).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        DataDir::open(&path).unwrap();
        assert_eq!([mode(&path), mode(&folder.control()), mode(&folder.objects())], [0o700; 3]);
        assert_eq!(std::fs::read_to_string(path.join("version")).unwrap(), "1\n");
    }

    #[test]
    fn a_newer_format_is_refused_in_a_sentence() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("version"), "2\n").unwrap();
        let refused = DataDir::open(root.path()).unwrap_err().to_string();
        assert!(refused.contains("has format 2") && refused.contains("newer platen"), "{refused}");
        for none in ["new", "0", ""] {
            std::fs::write(root.path().join("version"), none).unwrap();
            assert!(DataDir::open(root.path()).unwrap_err().to_string().contains("does not name a format"));
        }
    }

    #[test]
    fn a_folder_with_foreign_content_is_not_changed() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("lost+found")).unwrap();
        std::fs::write(root.path().join("letter"), "").unwrap();
        let before = mode(root.path());
        let refused = DataDir::open(root.path()).unwrap_err().to_string();
        assert!(refused.contains("is not empty and no data folder"), "{refused}");
        assert_eq!((mode(root.path()), std::fs::read_dir(root.path()).unwrap().count()), (before, 2));
        std::fs::rename(root.path().join("letter"), root.path().join("version.new")).unwrap();
        assert!(DataDir::find(root.path()).unwrap().is_none());
        DataDir::open(root.path()).unwrap();
        assert!(DataDir::find(root.path()).unwrap().is_some());
    }

    #[test]
    fn the_folder_of_another_user_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let is_root = nix::unistd::geteuid().is_root();
        let path = if is_root { root.path() } else { Path::new("/") };
        if is_root {
            std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
        }
        let refused = DataDir::open(path).unwrap_err().to_string();
        assert!(
            refused.contains("belongs to user") && refused.contains("as its owner (sudo -u "),
            "{refused}"
        );
        let unseen = DataDir::find(path).unwrap_err().to_string();
        assert_eq!(unseen, refused, "not: there is none");
    }

    #[test]
    fn a_secret_is_made_once_and_its_length_checked() {
        let root = tempfile::tempdir().unwrap();
        let folder = DataDir::open(root.path()).unwrap();
        assert_eq!(folder.secret("key", || Ok([7; 4])).unwrap(), [7; 4]);
        assert_eq!(folder.secret("key", || Ok([8; 4])).unwrap(), [7; 4]);
        assert_eq!(mode(&root.path().join("key")), 0o600);
        assert!(
            folder.secret("key", || Ok([8; 5])).unwrap_err().to_string().contains("4 bytes instead of 5")
        );
    }
}
