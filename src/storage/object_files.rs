//! The files of the disk store: their paths, and writing them atomically and durably.

use std::collections::HashSet;
use std::fs::{DirBuilder, DirEntry, File, FileTimes, Metadata};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::{Folder, ObjectMeta, StorageKey, StoreError, free_bytes, is_out_of_space};
use crate::clock;

/// Most folders remembered as synced; beyond it the memory is cleared.
const SYNCED_LIMIT: usize = 10_000;
/// Depth of the folders of single jobs and templates below the root (`jobs/<account>/<job>`).
const JOB_DEPTH: usize = 3;
/// Most attempts of a publication whose folder a concurrent deletion removes.
const PUBLISH_ATTEMPTS: usize = 16;

/// A folder of objects, with its staging folder on the same file system.
#[derive(Debug)]
pub(super) struct ObjectFiles {
    root: PathBuf,
    staging: PathBuf,
    free_limit_bytes: u64,
    /// Folders whose own names are durable: their parents need no sync for them.
    synced: Mutex<HashSet<PathBuf>>,
    /// The last modification time given to a file: the next one is later, so that no two are equal.
    last_stamp: Mutex<SystemTime>,
}

impl ObjectFiles {
    /// Opens the folder and removes half-written files of earlier runs.
    pub(super) fn open(root: PathBuf, free_limit_bytes: u64) -> Result<Self, StoreError> {
        // Keys begin with a letter, so this name is never one of theirs.
        let staging = root.join(".staging");
        make_folders(&staging)?;
        for entry in std::fs::read_dir(&staging).map_err(|error| with_path(&error, &staging))? {
            let path = entry?.path();
            std::fs::remove_file(&path).map_err(|error| with_path(&error, &path))?;
        }
        remove_empty_accounts(&root)?;
        sync_folder(&root)?;
        Ok(Self {
            root,
            staging,
            free_limit_bytes,
            synced: Mutex::default(),
            last_stamp: Mutex::new(SystemTime::UNIX_EPOCH),
        })
    }

    /// Appends to the file, or to a new one.
    pub(super) fn append(&self, file: Option<StagedFile>, bytes: &[u8]) -> Result<StagedFile, StoreError> {
        let mut file = match file {
            Some(file) => file,
            None => self.stage()?,
        };
        file.file.write_all(bytes).map_err(|error| with_path(&error, &file.path))?;
        Ok(file)
    }

    /// A new file under a temporary name; an error if less than `free_limit_bytes` are free on the disk.
    fn stage(&self) -> Result<StagedFile, StoreError> {
        if free_bytes(&self.staging).map_err(|error| with_path(&error, &self.staging))?
            < self.free_limit_bytes
        {
            return Err(with_path(&ErrorKind::StorageFull.into(), &self.root));
        }
        let path = self.staging.join(clock::new_id().to_string());
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| with_path(&error, &path))?;
        Ok(StagedFile { file, path, published: false })
    }

    /// Renames the file to the object's name, replacing what had it, durably.
    pub(super) fn publish(&self, mut staged: StagedFile, key: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let path = self.path(key);
        let synced = self.stamp(&staged.file).and_then(|()| staged.file.sync_all());
        synced.map_err(|error| with_path(&error, &staged.path))?;
        let meta = meta_of(&staged.file)?;
        rename(&staged.path, &path)?;
        staged.published = true;
        self.sync_parents(&path)?;
        Ok(meta)
    }

    /// The object's file, with its size and entity tag.
    pub(super) fn read(&self, key: &StorageKey) -> Result<(File, ObjectMeta), StoreError> {
        let path = self.path(key);
        let file = File::open(&path).map_err(|error| {
            let absent = error.kind() == ErrorKind::NotFound;
            if absent { StoreError::NotFound(key.to_string()) } else { with_path(&error, &path) }
        })?;
        let meta = meta_of(&file)?;
        Ok((file, meta))
    }

    /// Links the object's file under a second name, durably. A file is never written to once it has a name, only replaced as
    /// a whole, so two names of one file are two objects.
    pub(super) fn copy(&self, from: &StorageKey, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let (_, meta) = self.read(from)?;
        let (source, path) = (self.path(from), self.path(to));
        let staged = self.staging.join(clock::new_id().to_string());
        match std::fs::hard_link(&source, &staged) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::NotFound(from.to_string()));
            }
            // A file has at most 65,000 names on ext4, and on some file systems only one.
            Err(_) => return self.copy_bytes(&source, to),
        }
        let renamed = rename(&staged, &path);
        // If both are names of one file already, a rename does nothing (POSIX), and the staged name is still there.
        let _ = std::fs::remove_file(&staged);
        renamed?;
        self.sync_parents(&path)?;
        Ok(meta)
    }

    fn copy_bytes(&self, source: &Path, to: &StorageKey) -> Result<ObjectMeta, StoreError> {
        let mut file = File::open(source).map_err(|error| with_path(&error, source))?;
        let mut staged = self.stage()?;
        std::io::copy(&mut file, &mut staged.file).map_err(|error| with_path(&error, &staged.path))?;
        self.publish(staged, to)
    }

    /// Removes the object, and the folder of its job when it was the last one there, durably.
    pub(super) fn remove(&self, key: &StorageKey) -> Result<(), StoreError> {
        let path = self.path(key);
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(with_path(&error, &path)),
        }
        let Some(folder) = path.parent() else { return Ok(()) };
        let depth = folder.strip_prefix(&self.root).map_or(0, |below| below.components().count());
        if depth == JOB_DEPTH && std::fs::remove_dir(folder).is_ok() {
            return folder.parent().map_or(Ok(()), sync_folder);
        }
        match sync_folder(folder) {
            // Another deletion has removed the folder since, and syncs the one above.
            Err(StoreError::Failed(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    /// The keys of a folder behind `after`, in the order of their paths. Foreign names are skipped.
    pub(super) fn list(
        &self,
        folder: Folder,
        after: Option<StorageKey>,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        let after = after.map(|key| key.to_string()).unwrap_or_default();
        let mut keys = Vec::new();
        self.walk(folder.name(), &after, limit, &mut keys)?;
        Ok(keys)
    }

    /// Descends into folders that may hold paths behind `after`.
    fn walk(
        &self,
        below: &str,
        after: &str,
        limit: usize,
        keys: &mut Vec<StorageKey>,
    ) -> Result<(), StoreError> {
        let path = self.root.join(below);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            // A file. One that cannot be examined is listed too: its reader gets the error.
            Err(error) => {
                let key = StorageKey::from_path(below);
                if key.is_none() && error.kind() != ErrorKind::NotADirectory {
                    return Err(with_path(&error, &path));
                }
                keys.extend(key.filter(|_| below > after));
                return Ok(());
            }
        };
        let mut names = names(entries).map_err(|error| with_path(&error, &path))?;
        names.sort_unstable();
        if names.is_empty() && Path::new(below).components().count() == JOB_DEPTH {
            // Left by a crash after its last file was deleted. If a concurrent publication needs it, `rename` makes it again.
            let _ = std::fs::remove_dir(&path);
        }
        for name in names {
            let path = format!("{below}/{name}");
            // All ids have one length, so paths below a name sort with the name.
            let is_before = path.as_str() < after && !after.starts_with(&path);
            if keys.len() < limit && !is_before {
                self.walk(&path, after, limit, keys)?;
            }
        }
        Ok(())
    }

    fn path(&self, key: &StorageKey) -> PathBuf {
        self.root.join(key.to_string())
    }

    /// Gives the file a modification time that no other file of this store has had. The entity tag consists of inode number,
    /// length and time; inode numbers are reused, so with equal times new content could have an old tag.
    fn stamp(&self, file: &File) -> std::io::Result<()> {
        let written = file.metadata()?.modified()?;
        let mut last = self.last_stamp.lock();
        *last = written.max(*last + Duration::from_nanos(1));
        file.set_times(FileTimes::new().set_modified(*last))
    }

    /// Syncs the folders from the file's up to the root. Hazard: an existing folder may have been made a moment ago by another
    /// writer that has not synced it yet; a power cut would lose it, and this object with it. So the upper folders are synced
    /// once a run whoever made them, those of the file and its job each time.
    fn sync_parents(&self, path: &Path) -> Result<(), StoreError> {
        let synced = || self.synced.lock();
        let mut named = path;
        for (height, folder) in path.ancestors().skip(1).enumerate() {
            if height < 2 {
                sync_folder(folder)?;
            } else if !synced().contains(named) {
                sync_folder(folder)?;
                let mut synced = synced();
                if synced.len() >= SYNCED_LIMIT {
                    synced.clear();
                }
                synced.insert(named.to_owned());
            }
            if folder == self.root {
                break;
            }
            named = folder;
        }
        Ok(())
    }
}

/// The names in a folder. An entry that cannot be read is an error: a shorter list would look complete.
fn names(entries: impl Iterator<Item = std::io::Result<DirEntry>>) -> std::io::Result<Vec<String>> {
    let named = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
    named.filter_map(Result::transpose).collect()
}

/// Runs work with files on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(StoreError::Failed(Error::other(error))))
}

/// A file under its temporary name, removed on drop unless it was published.
#[derive(Debug)]
pub(super) struct StagedFile {
    /// The open file.
    file: File,
    /// Its temporary name.
    path: PathBuf,
    /// Whether it was renamed to its object's name.
    published: bool,
}

impl StagedFile {
    /// The file, to be read from its beginning.
    pub(super) fn reader(&self) -> Result<File, StoreError> {
        self.file.try_clone().map_err(|error| with_path(&error, &self.path))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.published {
            return;
        }
        let path = std::mem::take(&mut self.path);
        let remove = move || {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::warn!(%error, "a staged object could not be removed; the next start does it");
            }
        };
        // Freeing the blocks of a large file takes milliseconds: too long for an actor's thread.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// The entity tag: inode number, length and (unique) modification time, so it changes whenever the content does.
fn etag(metadata: &Metadata) -> String {
    format!("{:x}-{:x}-{:x}{:08x}", metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

/// Makes the folder and renames. A concurrent deletion may remove the folder in between; then both are tried again.
fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    let mut outcome = Ok(());
    for _ in 0..PUBLISH_ATTEMPTS {
        let made = to.parent().map_or(Ok(()), |folder| folders().create(folder));
        outcome = made.and_then(|()| std::fs::rename(from, to));
        match &outcome {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            Ok(()) | Err(_) => break,
        }
    }
    outcome.map_err(|error| with_path(&error, to))
}

/// Removes the folders of accounts without objects. Only at opening: later a writer may have remembered such a folder as
/// synced, and would not sync a new one in its place.
fn remove_empty_accounts(root: &Path) -> Result<(), StoreError> {
    for folder in [Folder::Jobs, Folder::Outputs, Folder::Unfinished, Folder::Templates] {
        let Ok(accounts) = std::fs::read_dir(root.join(folder.name())) else { continue };
        for account in accounts {
            // Fails if there are objects in it, which is intended.
            let _ = std::fs::remove_dir(account?.path());
        }
    }
    Ok(())
}

fn make_folders(path: &Path) -> Result<(), StoreError> {
    folders().create(path).map_err(|error| with_path(&error, path))
}

/// Makes a folder and those above it, for our own user only.
fn folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

fn sync_folder(path: &Path) -> Result<(), StoreError> {
    super::sync_folder(path).map_err(|error| with_path(&error, path))
}

fn meta_of(file: &File) -> Result<ObjectMeta, StoreError> {
    let metadata = file.metadata()?;
    Ok(ObjectMeta { bytes: metadata.len(), etag: etag(&metadata) })
}

/// The error with the path, and with what a full disk means for the operator.
pub(super) fn with_path(error: &Error, path: &Path) -> StoreError {
    let no_space = "; there is no space left: free some, or move storage.data_dir";
    let remedy = if is_out_of_space(error) { no_space } else { "" };
    StoreError::Failed(Error::new(error.kind(), format!("{}: {error}{remedy}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_entry_of_a_folder_is_an_error_and_not_a_shorter_list() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let entries = || std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(names(entries()).unwrap().len(), 2);
        let broken = entries().take(1).chain([Err(Error::other("bad block"))]).chain(entries());
        assert_eq!(names(broken).unwrap_err().to_string(), "bad block");
    }
}
