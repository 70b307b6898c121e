//! What `/proc` says of a child's group: who belongs to it, whether anybody of it is left.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Dead, and waited for by nobody yet.
    pub is_zombie: bool,
    /// Its process group.
    pub group: i32,
    /// Its session.
    pub session: i32,
    /// When it started, in ticks since the system did: with its number, who it is until the next start of the system.
    pub started: u64,
}

/// How long a killed group may take to be gone; longer only where the system hangs.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// Between two looks whether it is.
const GONE_PAUSE: Duration = Duration::from_millis(2);

impl Standing {
    /// Of a process; of one that is gone, nothing.
    pub fn of(process: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the program's name, which may hold anything: the state, then parent, group, session … and
        // as the 20th when it started.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        // A process is dead when all its threads are; what is said here is said of its first one.
        let is_zombie = matches!(fields.next()?, "Z" | "X") && living_thread(process).is_none();
        let mut numbers = fields.map(|field| field.trim().parse::<i64>().unwrap_or_default());
        let (group, session) = (numbers.nth(1)?, numbers.next()?);
        let started = numbers.nth(15)?;
        Some(Self {
            is_zombie,
            group: i32::try_from(group).ok()?,
            session: i32::try_from(session).ok()?,
            started: u64::try_from(started).ok()?,
        })
    }
}

/// A thread of the process that lives: its first one, unless that has ended before the others.
pub(super) fn living_thread(process: i32) -> Option<i32> {
    let lives = |thread: &i32| {
        let stat = fs::read_to_string(format!("/proc/{process}/task/{thread}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    if lives(&process) {
        return Some(process);
    }
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).find(lives)
}

/// Every process of the group that is not dead.
pub(super) fn members(group: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_member = |process: &i32| {
        Standing::of(*process).is_some_and(|standing| standing.group == group && !standing.is_zombie)
    };
    processes.filter(is_member).collect()
}

/// Kills a group whose number is certain still to be its own. Who is about to fork does not: the system
/// looks for the signal first.
pub(super) fn kill(group: i32) {
    if group > 1 {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// Can be read from when the process has ended. That does not take its number from it, as waiting for it would: until
/// then the group of that number is its own, and can be killed.
pub(super) fn watch_end(process: i32) -> io::Result<AsyncFd<OwnedFd>> {
    let process = rustix::process::Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    let file = pidfd_open(process, PidfdFlags::NONBLOCK)?;
    #[expect(deprecated, reason = "unsound for borrowed descriptors; this one is owned and stays open")]
    AsyncFd::with_interest(file, Interest::READABLE)
}

/// Waits until a killed group is gone; false when it is not, as where the system hangs on a disk.
pub(super) async fn gone(group: i32) -> bool {
    let begun = Instant::now();
    // Whom nobody has waited for yet, like process 1 of a container that does not, is no danger to anybody.
    while killpg(Pid::from_raw(group), None).is_ok() {
        if begun.elapsed() > GONE_PAUSE * 20 && members(group).is_empty() {
            break;
        }
        if begun.elapsed() > GONE_LIMIT {
            return false;
        }
        tokio::time::sleep(GONE_PAUSE).await;
    }
    true
}

/// The number in a line of `/proc/<process>/status`.
pub(super) fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Tasks of the system that run as `uid`.
pub(super) fn tasks_of(uid: u32) -> io::Result<u64> {
    let mut tasks = 0;
    for entry in fs::read_dir("/proc")?.flatten() {
        let is_process = entry.file_name().to_str().is_some_and(|name| name.parse::<i32>().is_ok());
        if is_process && entry.metadata().is_ok_and(|it| it.uid() == uid) {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            tasks += field(&status, "Threads:").unwrap_or(1);
        }
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_stands_where_the_system_says() {
        let own = i32::try_from(std::process::id()).unwrap();
        let standing = Standing::of(own).unwrap();
        assert_eq!(standing.group, nix::unistd::getpgrp().as_raw());
        assert_eq!(standing.session, nix::unistd::getsid(None).unwrap().as_raw());
        assert!(!standing.is_zombie && standing.started > 0);
        assert!(members(standing.group).contains(&own));
        assert_eq!(living_thread(own), Some(own));
    }
}
