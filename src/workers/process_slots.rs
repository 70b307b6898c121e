//! How many foreign programs run at once, and as which user each. Servers have separate slots: they keep theirs until they end,
//! and programs that shared them would wait for ever.
//!
//! Where the service is root, each program gets a user that no other process has at that time. So none can signal or trace
//! another, and the limit of processes, which counts a user's, is that of one program. Otherwise all run as the service's user.

use std::fs::{DirBuilder, File, remove_file};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{Uid, geteuid};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::spec::User;

/// The folder of locks on users. It is fixed, so that all services of the machine use the same one, whatever their settings.
const LOCKS: &str = "/run/platen";
const PREFIX: &str = "platen-uid-";

/// The slots of one service's programs, or of one pool's servers.
#[derive(Debug)]
pub(super) struct ProcessSlots {
    permits: Arc<Semaphore>,
    users: u32,
    /// None where the service is not root.
    first_uid: Option<u32>,
    next: AtomicU32,
}

/// One slot, free again when this is dropped.
#[derive(Debug)]
pub(super) struct ProcessSlot {
    user: Option<LockedUser>,
    _permit: OwnedSemaphorePermit,
}

/// A user that is reserved until this is dropped, also against other services of the machine.
#[derive(Debug)]
struct LockedUser {
    uid: u32,
    path: PathBuf,
    _lock: Flock<File>,
}

impl ProcessSlots {
    /// `count` slots, of users from `first_uid` on where the service is root.
    ///
    /// # Errors
    /// When one of these users has a name, and so is another service's or a person's.
    pub fn new(count: u32, first_uid: u32) -> io::Result<Self> {
        let first_uid = geteuid().is_root().then_some(first_uid);
        for uid in first_uid.into_iter().flat_map(|first| first..first.saturating_add(count)) {
            if let Some(name) = name_of(uid) {
                return Err(io::Error::other(format!(
                    "user {uid} is '{name}', and must be nobody; give programs others by workers.first_uid"
                )));
            }
        }
        let permits = Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(1)));
        Ok(Self { permits, users: count, first_uid, next: AtomicU32::new(0) })
    }

    /// `count` slots of servers, with unnamed users out of `users` ids from `first_uid` on. Other pools and services share that
    /// range; the locks keep them apart.
    pub fn of_servers(count: usize, first_uid: u32, users: u32) -> Self {
        let first_uid = geteuid().is_root().then_some(first_uid);
        let permits = Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self { permits, users, first_uid, next: AtomicU32::new(0) }
    }

    /// Waits for a slot.
    pub async fn acquire(slots: &Arc<Self>) -> io::Result<ProcessSlot> {
        let permit = Arc::clone(&slots.permits).acquire_owned().await.map_err(io::Error::other)?;
        let user = match slots.first_uid {
            Some(first) => {
                let slots = Arc::clone(slots);
                let taken = spawn_blocking(move || slots.acquire_user(first));
                Some(taken.await.map_err(io::Error::other)??)
            }
            None => None,
        };
        Ok(ProcessSlot { user, _permit: permit })
    }

    /// The next user in turn that has no name and is not locked.
    fn acquire_user(&self, first: u32) -> io::Result<LockedUser> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut uids = (0..self.users).map(|step| first + start.wrapping_add(step) % self.users);
        let locks = locks();
        // The id may have been given to a real user since the start, whose processes must not be killed.
        let lock = |uid| if name_of(uid).is_some() { None } else { LockedUser::lock(uid, &locks) };
        uids.find_map(lock).ok_or_else(|| {
            io::Error::other(
                format!(
                    "all {} users from {first} on are in use, here or by another Platen of this machine, or have a name; give \
                     each a range of its own by workers.first_uid",
                    self.users
                ),
            )
        })
    }
}

impl ProcessSlot {
    /// The user for a program in this slot; `None`: the service's.
    pub fn user(&self) -> Option<User> {
        self.user.as_ref().map(|user| User { uid: user.uid, gid: user.uid })
    }
}

impl LockedUser {
    fn lock(uid: u32, locks: &Path) -> Option<Self> {
        let path = locks.join(format!("{PREFIX}{uid}"));
        let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
        let file = options.open(&path).ok()?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
        // The lock counts only if the file is still there and ours: its last owner may have removed it meanwhile, and another
        // user may have made one.
        is_at(&lock, &path).then_some(Self { uid, path, _lock: lock })
    }
}

impl Drop for LockedUser {
    fn drop(&mut self) {
        // Removed while still locked: afterwards it may be another service's.
        let _ = remove_file(&self.path);
    }
}

fn name_of(uid: u32) -> Option<String> {
    nix::unistd::User::from_uid(Uid::from_raw(uid)).ok()?.map(|user| user.name)
}

/// The folder of locks, or that for temporary files where `/run` is not writable.
fn locks() -> PathBuf {
    let fixed = Path::new(LOCKS);
    // Usually exists already.
    let _ = DirBuilder::new().mode(0o700).create(fixed);
    let is_ours = std::fs::symlink_metadata(fixed)
        .is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw() && it.mode() & 0o022 == 0);
    let is_writable = rustix::fs::access(fixed, rustix::fs::Access::WRITE_OK).is_ok();
    if is_ours && is_writable { fixed.to_owned() } else { std::env::temp_dir() }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (held.ino(), held.dev(), held.uid()) == (named.ino(), named.dev(), geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_two_slots_have_the_same_user() {
        let first = 3_000_000_000 + std::process::id();
        let slots = |count| Arc::new(ProcessSlots::new(count, first).unwrap());
        let (one, other) = (slots(2), slots(3));
        let mut slots = Vec::new();
        for from in [&one, &one, &other] {
            slots.push(ProcessSlots::acquire(from).await.unwrap());
        }
        let mut uids: Vec<_> = slots.iter().filter_map(|slot| slot.user().map(|user| user.uid)).collect();
        uids.sort_unstable();
        if geteuid().is_root() {
            assert_eq!(uids, [first, first + 1, first + 2]);
            assert!(
                ProcessSlots::acquire(&other).await.unwrap_err().to_string().contains("workers.first_uid")
            );
            assert!(ProcessSlots::new(2, 0).unwrap_err().to_string().contains("user 0 is"));
        } else {
            assert!(uids.is_empty());
        }
        drop(slots);
        assert!(!locks().join(format!("{PREFIX}{first}")).exists());
        assert_eq!(ProcessSlots::acquire(&one).await.unwrap().user().is_some(), geteuid().is_root());
    }
}
