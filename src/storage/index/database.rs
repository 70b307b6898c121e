//! The database itself: opening it, and making one group of batches durable at a time.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use sled::{Batch, Db};
use tokio::sync::oneshot;

use super::space::{self, DiskSpace};
use super::value::{self, failed};
use super::{IndexError, WriteBatch};
use crate::config::StorageConfig;
use crate::storage::{is_out_of_space, sync_folder};

/// A key that every index has; keys of the index itself begin with `~`.
const MARK: &str = "~mark";
/// The file whose presence means that the index has the key [`MARK`].
const MARK_FILE: &str = "marked";

/// A database that was just closed may stay locked for a moment: a child process that was started meanwhile has inherited the
/// lock and not closed it yet. A second is enough for that.
const LOCK_ATTEMPTS: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A batch that waits for the writer.
pub(super) struct WriteRequest {
    pub(super) batch: WriteBatch,
    /// Whether the answer waits until the batch is on the disk.
    pub(super) durable: bool,
    pub(super) answer: oneshot::Sender<Result<(), IndexError>>,
}

impl WriteRequest {
    /// Answers the caller, which may have stopped waiting.
    fn answer(self, outcome: Result<(), IndexError>) {
        drop(self.answer.send(outcome));
    }
}

/// The open database.
pub(super) struct Database {
    pub(super) db: Db,
    log: File,
    path: PathBuf,
    space: DiskSpace,
    /// The error of an earlier write. The files may lack it, so no later write is accepted.
    broken: Mutex<Option<String>>,
    /// Files beside the log that are synced already.
    blobs: Mutex<HashSet<OsString>>,
    /// While an export runs, the keys written since it began; locked while a group is applied.
    dirty_keys: Mutex<Option<HashSet<String>>>,
}

impl Database {
    /// Opens the database in the folder `path`, or makes it.
    pub(super) fn open(path: &Path, config: &StorageConfig) -> Result<Self, IndexError> {
        let free_limit_bytes = config.free_limit_bytes;
        if !path.join(MARK_FILE).exists() {
            // Check first: a new index that a full disk left half made would look like a damaged one.
            std::fs::create_dir_all(path).map_err(|error| space::refused(path, &error))?;
            space::check_free(path, free_limit_bytes)?;
        }
        Self::open_files(path, config).map_err(|refusal| {
            // On a full disk sled reports damage, although its files may be intact.
            match (&refusal, space::check_free(path, free_limit_bytes)) {
                (IndexError::Damaged { .. }, Err(full)) => full,
                _ => refusal,
            }
        })
    }

    fn open_files(path: &Path, config: &StorageConfig) -> Result<Self, IndexError> {
        let damaged = |cause: String| IndexError::Damaged { path: path.to_owned(), cause };
        let failed = |error: Error| {
            if is_out_of_space(&error) { space::refused(path, &error) } else { damaged(error.to_string()) }
        };
        let db = match open_locked(path, config)? {
            Ok(Ok(db)) => db,
            Ok(Err(sled::Error::Io(error))) => return Err(failed(error)),
            Ok(Err(error)) => return Err(damaged(error.to_string())),
            Err(_) => return Err(damaged("the database stopped while it read its files".to_owned())),
        };
        let log = sync_after_open(path, &db).map_err(failed)?;
        check_mark(path, &db, &log).map_err(failed)?;
        let writable = File::options().write(true).open(path.join("db")).map_err(failed)?;
        let space = DiskSpace::new(path, writable, config.free_limit_bytes);
        let (broken, blobs, dirty_keys) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { db, log, path: path.to_owned(), space, broken, blobs, dirty_keys })
    }

    /// Applies a group of batches, makes them durable together and answers each.
    pub(super) fn write(&self, group: Vec<WriteRequest>) {
        let bytes = group.iter().map(|request| request.batch.bytes()).sum();
        // Locked for the whole group, so that an export ends between two groups and never within one.
        let mut dirty_keys = self.dirty_keys();
        let applied = match self.ready(bytes) {
            Ok(()) => self.apply_group(group),
            // One large batch may be too large while the small ones fit.
            Err(IndexError::Full { .. }) => self.apply_each(group),
            Err(refusal) => return group.into_iter().for_each(|one| one.answer(Err(refusal.clone()))),
        };
        if let Some(dirty_keys) = dirty_keys.as_mut() {
            dirty_keys.extend(applied.iter().flat_map(|request| request.batch.steps.keys().cloned()));
        }
        drop(dirty_keys);
        let (durable, other): (Vec<_>, Vec<_>) = applied.into_iter().partition(|request| request.durable);
        for request in other {
            request.answer(Ok(()));
        }
        if durable.is_empty() {
            return;
        }
        let outcome = self.sync();
        for request in durable {
            request.answer(outcome.clone().map_err(IndexError::Failed));
        }
    }

    /// Applies the group as one batch of sled (tried with 64 clients: three times as many commits a second as with one for each
    /// request); one by one if that fails, so that one invalid batch does not fail all. Answers the failed ones and returns the
    /// others.
    fn apply_group(&self, group: Vec<WriteRequest>) -> Vec<WriteRequest> {
        let mut together = WriteBatch::new();
        for request in &group {
            together = together.and(request.batch.clone());
        }
        if self.apply(&together).is_ok() {
            return group;
        }
        self.apply_each(group)
    }

    /// Applies the batches one by one, each where there is space for it. Answers the failed ones and returns the others.
    fn apply_each(&self, group: Vec<WriteRequest>) -> Vec<WriteRequest> {
        let mut applied = Vec::with_capacity(group.len());
        for request in group {
            match self.ready(request.batch.bytes()).and_then(|()| self.apply(&request.batch)) {
                Ok(()) => applied.push(request),
                failed => request.answer(failed),
            }
        }
        applied
    }

    /// Refuses all writes until the next start, after one that ended half-way: the files may lack it, and a later write would
    /// follow the gap.
    pub(super) fn give_up(&self, cause: String) {
        tracing::error!(cause, "the index takes no more writes until the next start");
        self.broken.lock().get_or_insert(cause);
    }

    /// The keys written since an export began, if one is under way.
    pub(super) fn dirty_keys(&self) -> MutexGuard<'_, Option<HashSet<String>>> {
        self.dirty_keys.lock()
    }

    /// Whether batches of so many bytes can be written.
    fn ready(&self, bytes: u64) -> Result<(), IndexError> {
        self.check_whole()?;
        self.space.check(bytes)
    }

    /// Fails if an earlier write failed.
    pub(super) fn check_whole(&self) -> Result<(), IndexError> {
        match self.broken.lock().clone() {
            Some(cause) => Err(IndexError::Failed(cause)),
            None => Ok(()),
        }
    }

    fn apply(&self, batch: &WriteBatch) -> Result<(), IndexError> {
        let applied = match value::single_write(&self.db, batch)? {
            Some((key, Some(stored))) => self.db.insert(key, stored).map(drop),
            Some((key, None)) => self.db.remove(key).map(drop),
            None => self.db.apply_batch(self.sled_batch(batch)?),
        };
        applied.map_err(|error| {
            self.give_up(error.to_string());
            failed(error)
        })
    }

    fn sled_batch(&self, batch: &WriteBatch) -> Result<Batch, IndexError> {
        let mut sled_batch = Batch::default();
        for (key, step) in &batch.steps {
            value::add_step(&self.db, &mut sled_batch, key, step)?;
        }
        Ok(sled_batch)
    }

    fn sync(&self) -> Result<(), String> {
        let outcome = self.db.flush().map_err(Error::other).and_then(|_| self.sync_files());
        outcome.map_err(|error| self.not_synced(&error))
    }

    /// Gives up for the error of a sync; returns it as text.
    pub(super) fn not_synced(&self, error: &Error) -> String {
        self.give_up(error.to_string());
        error.to_string()
    }

    /// The error of a fail point before a write, as of space that cannot be allocated.
    #[cfg(debug_assertions)]
    pub(super) fn refused(&self, error: &Error) -> IndexError {
        space::refused(&self.path, error)
    }

    /// Syncs the files: sled's flush hands the log to the kernel only. Pages that did not fit the log, should there be any, are
    /// in files of their own, which are written once.
    fn sync_files(&self) -> std::io::Result<()> {
        let folder = self.path.join("blobs");
        let mut synced = self.blobs.lock();
        let mut present = HashSet::new();
        for entry in std::fs::read_dir(&folder)? {
            let name = entry?.file_name();
            if !synced.contains(&name) {
                match File::open(folder.join(&name)) {
                    Ok(file) => file.sync_all()?,
                    // sled removed it meanwhile.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                }
            }
            present.insert(name);
        }
        if !present.is_subset(&synced) {
            sync_folder(&folder)?;
        }
        *synced = present;
        self.log.sync_data()
    }
}

/// Syncs everything that opening wrote: the files' names as well as the log. Returns the log file.
fn sync_after_open(path: &Path, db: &Db) -> std::io::Result<File> {
    db.flush().map_err(Error::other)?;
    let log = File::open(path.join("db"))?;
    log.sync_all()?;
    File::open(path.join("conf"))?.sync_all()?;
    sync_folder(path)?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        sync_folder(parent)?;
    }
    Ok(log)
}

/// Hazard: sled treats a log that it cannot read as an empty one. So a new index gets a key as its mark, and a file beside it:
/// if the file exists and the key does not, the records are lost, and opening fails.
fn check_mark(path: &Path, db: &Db, log: &File) -> std::io::Result<()> {
    let mark_file = path.join(MARK_FILE);
    let marked = db.contains_key(MARK).map_err(Error::other)?;
    match (marked, mark_file.try_exists()?) {
        (true, true) => Ok(()),
        (false, true) => Err(Error::other("its log holds no records, although there were some")),
        (_, false) => {
            db.insert(MARK, &[1]).map_err(Error::other)?;
            db.flush().map_err(Error::other)?;
            log.sync_data()?;
            File::create(mark_file)?.sync_all()?;
            sync_folder(path)
        }
    }
}

/// The result of an attempt to open; the outer error is a panic of sled.
type Opened = std::thread::Result<sled::Result<Db>>;

/// Opens the database once no other process has its lock.
fn open_locked(path: &Path, config: &StorageConfig) -> Result<Opened, IndexError> {
    let options = sled::Config::new().path(path).cache_capacity(config.index_cache_bytes);
    for attempt in 0..=LOCK_ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(LOCK_PAUSE);
        }
        // Before each attempt: while another process held the lock, torn snapshots could not be removed, and sled would read
        // them now.
        if !remove_torn_snapshots(path).map_err(|error| space::refused(path, &error))? {
            continue;
        }
        let opened = catch_unwind(AssertUnwindSafe(|| options.open()));
        if !matches!(&opened, Ok(Err(error)) if is_lock_conflict(error)) {
            return Ok(opened);
        }
    }
    Err(IndexError::InUse(path.to_owned()))
}

/// Hazard: a start that is killed, or meets a full disk, while sled writes a snapshot leaves half of one under a temporary
/// name. sled would read that as the newest snapshot, and report the index as damaged at every later start. Such a file is
/// never needed, and while this process holds the lock, none is being written. False if another process holds the lock.
fn remove_torn_snapshots(path: &Path) -> std::io::Result<bool> {
    let Ok(log) = File::open(path.join("db")) else { return Ok(true) };
    match log.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        // sled will meet and report the same error.
        Err(TryLockError::Error(_)) => return Ok(true),
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            tracing::warn!(index.file = %name, "a snapshot that an earlier start left by half is removed");
            std::fs::remove_file(entry.path())?;
        }
    }
    log.unlock()?;
    Ok(true)
}

/// sled reports a lock conflict only by this text.
fn is_lock_conflict(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().contains("could not acquire lock"))
}
