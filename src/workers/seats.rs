//! Seats: how many foreign programs there may be at once, and whom each runs as. Servers have seats apart: they keep
//! theirs for life, and programs would wait for them for ever.
//!
//! As root each is a user of its own, which nobody else is at that time: so nobody can signal, trace or choke
//! another, and the limit of a user's processes is the limit of one program. Otherwise all are the service's user.

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

/// Where the locks of users lie, for who may write there: every service of the machine looks there, whatever its
/// settings and its environment.
const LOCKS: &str = "/run/platen";
const PREFIX: &str = "platen-uid-";

/// The seats of one service's programs, or of one pool's servers.
#[derive(Debug)]
pub(super) struct Seats {
    turns: Arc<Semaphore>,
    users: u32,
    /// None where the service is not root.
    first_uid: Option<u32>,
    next: AtomicU32,
}

/// One seat; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    user: Option<OwnUser>,
    _turn: OwnedSemaphorePermit,
}

/// A user that this service has until it is dropped, also before other services of the machine.
#[derive(Debug)]
struct OwnUser {
    uid: u32,
    path: PathBuf,
    _lock: Flock<File>,
}

impl Seats {
    /// `count` seats, of users from `first_uid` on where the service is root.
    ///
    /// # Errors
    /// When one of these users has a name, and so is somebody.
    pub fn new(count: u32, first_uid: u32) -> io::Result<Self> {
        let first_uid = geteuid().is_root().then_some(first_uid);
        for uid in first_uid.into_iter().flat_map(|first| first..first.saturating_add(count)) {
            if let Some(name) = name_of(uid) {
                return Err(io::Error::other(format!(
                    "user {uid} is '{name}', and must be nobody; give programs others by workers.first_uid"
                )));
            }
        }
        let turns = Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(1)));
        Ok(Self { turns, users: count, first_uid, next: AtomicU32::new(0) })
    }

    /// `count` seats of servers, of any of so many `users` from `first_uid` on that are nobody: others may have theirs
    /// among them, in other pools and other services of the machine.
    pub fn of_servers(count: usize, first_uid: u32, users: u32) -> Self {
        let first_uid = geteuid().is_root().then_some(first_uid);
        let turns = Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self { turns, users, first_uid, next: AtomicU32::new(0) }
    }

    /// Waits for a seat. Dropping the future gives the place in line up.
    pub async fn take(seats: &Arc<Self>) -> io::Result<Seat> {
        let turn = Arc::clone(&seats.turns).acquire_owned().await.map_err(io::Error::other)?;
        let user = match seats.first_uid {
            Some(first) => {
                let seats = Arc::clone(seats);
                let taken = spawn_blocking(move || seats.take_user(first));
                Some(taken.await.map_err(io::Error::other)??)
            }
            None => None,
        };
        Ok(Seat { user, _turn: turn })
    }

    /// The user that was free longest, or the next that no other service of the machine has.
    fn take_user(&self, first: u32) -> io::Result<OwnUser> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut uids = (0..self.users).map(|step| first + start.wrapping_add(step) % self.users);
        let locks = locks();
        // Who was nobody at the start may have become somebody, whose processes must not be killed.
        let take = |uid| if name_of(uid).is_some() { None } else { OwnUser::take(uid, &locks) };
        uids.find_map(take).ok_or_else(|| {
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

impl Seat {
    /// Whom a program runs as here; none: as the service.
    pub fn user(&self) -> Option<User> {
        self.user.as_ref().map(|user| User { uid: user.uid, gid: user.uid })
    }
}

impl OwnUser {
    fn take(uid: u32, locks: &Path) -> Option<Self> {
        let path = locks.join(format!("{PREFIX}{uid}"));
        let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
        let file = options.open(&path).ok()?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
        // Anybody may have made it, to hold a user back; and who had it may have removed it meanwhile.
        is_at(&lock, &path).then_some(Self { uid, path, _lock: lock })
    }
}

impl Drop for OwnUser {
    fn drop(&mut self) {
        // Before the lock goes: afterwards the file may be another's.
        let _ = remove_file(&self.path);
    }
}

fn name_of(uid: u32) -> Option<String> {
    nix::unistd::User::from_uid(Uid::from_raw(uid)).ok()?.map(|user| user.name)
}

/// The folder of locks, or that for temporary files where nobody may write below `/run`.
fn locks() -> PathBuf {
    let fixed = Path::new(LOCKS);
    // It is there already, most of the time.
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
    async fn no_two_have_the_same_user_whoever_starts_them() {
        let first = 3_000_000_000 + std::process::id();
        let seats = |count| Arc::new(Seats::new(count, first).unwrap());
        let (one, other) = (seats(2), seats(3));
        let mut seats = Vec::new();
        for from in [&one, &one, &other] {
            seats.push(Seats::take(from).await.unwrap());
        }
        let mut uids: Vec<_> = seats.iter().filter_map(|seat| seat.user().map(|user| user.uid)).collect();
        uids.sort_unstable();
        if geteuid().is_root() {
            assert_eq!(uids, [first, first + 1, first + 2]);
            assert!(Seats::take(&other).await.unwrap_err().to_string().contains("workers.first_uid"));
            assert!(Seats::new(2, 0).unwrap_err().to_string().contains("user 0 is"));
        } else {
            assert!(uids.is_empty());
        }
        drop(seats);
        assert!(!locks().join(format!("{PREFIX}{first}")).exists());
        assert_eq!(Seats::take(&one).await.unwrap().user().is_some(), geteuid().is_root());
    }
}
