//! Seats: how many foreign programs there may be at once, and whom each runs as.
//!
//! As root each is a user of its own, which nobody else is at that time: so nobody can signal, trace or choke
//! another, and the limit of a user's processes is the limit of one program. Otherwise all are the service's user.

use std::fs::{File, remove_file};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{Uid, geteuid};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::spec::User;

/// Where the locks of users lie: every service of the machine looks there, whatever its settings.
const PREFIX: &str = "platen-uid-";

/// The seats of one service.
#[derive(Debug)]
pub(super) struct Seats {
    turns: Arc<Semaphore>,
    count: u32,
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
            if let Ok(Some(user)) = nix::unistd::User::from_uid(Uid::from_raw(uid)) {
                return Err(io::Error::other(format!(
                    "user {uid} is '{}', and must be nobody; give programs others by workers.first_uid",
                    user.name
                )));
            }
        }
        let turns = Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(1)));
        Ok(Self { turns, count, first_uid, next: AtomicU32::new(0) })
    }

    /// Waits for a seat. Dropping the future gives the place in line up.
    pub async fn take(&self) -> io::Result<Seat> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(io::Error::other)?;
        let user = self.first_uid.map(|first| self.take_user(first)).transpose()?;
        Ok(Seat { user, _turn: turn })
    }

    /// The user that was free longest, or the next that no other service of the machine has.
    fn take_user(&self, first: u32) -> io::Result<OwnUser> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut uids = (0..self.count).map(|step| first + start.wrapping_add(step) % self.count);
        uids.find_map(OwnUser::take).ok_or_else(|| {
            io::Error::other(
                "all users of programs are in use by another Platen of this machine; give each a range of its \
                 own by workers.first_uid",
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
    fn take(uid: u32) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("{PREFIX}{uid}"));
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
        let (one, other) = (Seats::new(2, first).unwrap(), Seats::new(3, first).unwrap());
        let seats = [one.take().await.unwrap(), one.take().await.unwrap(), other.take().await.unwrap()];
        let mut uids: Vec<_> = seats.iter().filter_map(|seat| seat.user().map(|user| user.uid)).collect();
        uids.sort_unstable();
        if geteuid().is_root() {
            assert_eq!(uids, [first, first + 1, first + 2]);
            assert!(other.take().await.unwrap_err().to_string().contains("workers.first_uid"));
            assert!(Seats::new(2, 0).unwrap_err().to_string().contains("user 0 is"));
        } else {
            assert!(uids.is_empty());
        }
        drop(seats);
        assert!(!std::env::temp_dir().join(format!("{PREFIX}{first}")).exists());
        assert_eq!(one.take().await.unwrap().user().is_some(), geteuid().is_root());
    }
}
