//! Process groups by `/proc`: which processes belong to one, and whether any is left.

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

use crate::procfs::{stat_fields, status, status_number, thread_stat_fields, threads};

/// A process' state, from `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    /// Dead, but not waited for yet.
    pub is_zombie: bool,
    /// Its process group.
    pub group: i32,
    /// Its session.
    pub session: i32,
    /// When it started, in clock ticks since boot: with its number this identifies it until the next boot.
    pub started: u64,
}

/// How long a killed group may take to end; it takes longer only where the system hangs.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// The pause between two checks for that.
const GONE_PAUSE: Duration = Duration::from_millis(2);

impl ProcessStat {
    /// The state of a process; `None` if it is gone.
    pub fn of(process: i32) -> Option<Self> {
        let stat = stat_fields(process)?;
        // The state is that of the first thread only: the process is dead when all its threads are.
        let is_zombie = is_dead(stat.text(3)?) && living_thread(process).is_none();
        Some(Self { is_zombie, group: stat.number(5)?, session: stat.number(6)?, started: stat.number(22)? })
    }
}

/// A living thread of the process: the first one, unless it has ended before others.
pub(super) fn living_thread(process: i32) -> Option<i32> {
    let lives = |thread: &i32| {
        thread_stat_fields(process, *thread)
            .is_some_and(|stat| stat.text(3).is_some_and(|state| !is_dead(state)))
    };
    if lives(&process) {
        return Some(process);
    }
    threads(process).into_iter().find(lives)
}

/// Whether the state of a process or thread says that it has ended.
fn is_dead(state: &str) -> bool {
    matches!(state, "Z" | "X")
}

/// Every process of the group that is not dead.
pub(super) fn members(group: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_member =
        |process: &i32| ProcessStat::of(*process).is_some_and(|stat| stat.group == group && !stat.is_zombie);
    processes.filter(is_member).collect()
}

/// Kills a group. The caller must know that the number is not reused yet. No member escapes by forking: the kernel delivers a
/// pending signal before a fork.
pub(super) fn kill(group: i32) {
    if group > 1 {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// A descriptor that becomes readable when the process has ended. Unlike waiting for the process this does not free its number,
/// so its group can still be killed safely.
pub(super) fn watch_end(process: i32) -> io::Result<AsyncFd<OwnedFd>> {
    let process = rustix::process::Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    let file = pidfd_open(process, PidfdFlags::NONBLOCK)?;
    #[expect(deprecated, reason = "unsound for borrowed descriptors; this one is owned and stays open")]
    AsyncFd::with_interest(file, Interest::READABLE)
}

/// Waits until a killed group is gone; false if it is not in time, as when the system hangs on a disk.
pub(super) async fn gone(group: i32) -> bool {
    let begun = Instant::now();
    // Zombies do not count: they can stay for long, since process 1 of a container often waits for none.
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

/// Tasks of the system that run as `uid`.
pub(super) fn tasks_of(uid: u32) -> io::Result<u64> {
    let mut tasks = 0;
    for entry in fs::read_dir("/proc")?.flatten() {
        let process = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(process) = process
            && entry.metadata().is_ok_and(|it| it.uid() == uid)
        {
            let status = status(process).unwrap_or_default();
            tasks += status_number(&status, "Threads:").unwrap_or(1);
        }
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_process_is_what_the_system_reports() {
        let own = i32::try_from(std::process::id()).unwrap();
        let stat = ProcessStat::of(own).unwrap();
        assert_eq!(stat.group, nix::unistd::getpgrp().as_raw());
        assert_eq!(stat.session, nix::unistd::getsid(None).unwrap().as_raw());
        assert!(!stat.is_zombie && stat.started > 0);
        assert!(members(stat.group).contains(&own));
        assert_eq!(living_thread(own), Some(own));
    }
}
