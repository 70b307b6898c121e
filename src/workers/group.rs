//! What `/proc` says of a child and everything it started: memory, processes, files without a name, whether
//! anybody of its group is left.

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

/// What a child holds together with all that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Memory of its own, swapped out or not. What it shares since a fork counts in each process.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub tasks: u64,
    /// Files that it has open, or writes to by its memory, and that no folder names any more: a look at
    /// its folder does not see them.
    pub unnamed_bytes: u64,
}

/// How long a killed group may take to be gone; longer only where the system hangs.
const GONE_LIMIT: Duration = Duration::from_secs(5);
/// Between two looks whether it is.
const GONE_PAUSE: Duration = Duration::from_millis(2);
/// The size of a block as `stat` counts them.
pub(super) const BLOCK_BYTES: u64 = 512;

impl Standing {
    /// Of a process; of one that is gone, nothing.
    pub fn of(process: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the program's name, which may hold anything: the state, then parent, group, session … and
        // as the 20th when it started.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let is_zombie = matches!(fields.next()?, "Z" | "X");
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

/// What `leader` holds with all that it started; no more than `most` processes are looked at. It reads files
/// of `/proc`, so it belongs on a thread that may take its time.
///
/// Processes are found by their parents, which is cheap: the leader adopts what loses its own
/// (`PR_SET_CHILD_SUBREAPER`).
pub(super) fn read(leader: i32, most: u64) -> Reading {
    let mut reading = Reading::default();
    let mut pending = vec![leader];
    while let Some(process) = pending.pop() {
        let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) else { continue };
        reading.tasks += field(&status, "Threads:").unwrap_or(1);
        let own = ["RssAnon:", "RssShmem:", "VmSwap:"];
        reading.memory_bytes += own.map(|name| field(&status, name).unwrap_or(0)).iter().sum::<u64>() << 10;
        reading.unnamed_bytes += unnamed_open(process) + unnamed_mapped(process);
        if reading.tasks > most {
            break;
        }
        pending.extend(children(process));
    }
    reading
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

fn children(process: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children"));
    let lists: Vec<String> = threads.flatten().filter_map(|thread| of_thread(thread).ok()).collect();
    lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

/// Files without a name that the process has open, those in memory (`memfd_create`) among them.
fn unnamed_open(process: i32) -> u64 {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return 0 };
    let files = open.flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
    files.filter(|file| file.is_file() && file.nlink() == 0).map(|file| file.blocks() * BLOCK_BYTES).sum()
}

/// Files without a name that are written by memory. Their descriptors may be closed; how much of them is on
/// the disk nobody tells, so they count whole.
fn unnamed_mapped(process: i32) -> u64 {
    let Ok(maps) = fs::read_to_string(format!("/proc/{process}/maps")) else { return 0 };
    maps.lines().filter_map(unnamed_mapping).sum()
}

/// `7f1c00000000-7f1c00001000 rw-s 00000000 08:01 42   /tmp/x (deleted)`
fn unnamed_mapping(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights, name) = (fields.next()?, fields.next()?, fields.nth(3)?);
    // Those are memory, and counted as such.
    let is_memory = ["/dev/zero", "/memfd:", "/SYSV"].iter().any(|begin| name.starts_with(begin));
    if !rights.starts_with("rw") || !rights.ends_with('s') || is_memory || !line.ends_with(" (deleted)") {
        return None;
    }
    let (begin, end) = range.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    address(end)?.checked_sub(address(begin)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_removed_files_count_and_memory_does_not() {
        let mapping = |rest: &str| unnamed_mapping(&format!("7f1c00000000-7f1c00003000 {rest}"));
        assert_eq!(mapping("rw-s 00000000 08:01 42                 /tmp/x (deleted)"), Some(0x3000));
        for other in [
            "rw-s 00000000 08:01 42 /tmp/x",
            "r--s 00000000 08:01 42 /tmp/x (deleted)",
            "rw-p 00000000 08:01 42 /tmp/x (deleted)",
            "rw-s 00000000 00:01 42 /dev/zero (deleted)",
            "rw-s 00000000 00:01 42 /memfd:x (deleted)",
            "rw-p 00000000 00:00 0",
        ] {
            assert_eq!(mapping(other), None, "{other}");
        }
    }

    #[test]
    fn a_process_stands_where_the_system_says() {
        let own = i32::try_from(std::process::id()).unwrap();
        let standing = Standing::of(own).unwrap();
        assert_eq!(standing.group, nix::unistd::getpgrp().as_raw());
        assert_eq!(standing.session, nix::unistd::getsid(None).unwrap().as_raw());
        assert!(!standing.is_zombie && standing.started > 0);
        assert!(members(standing.group).contains(&own));
        let reading = read(own, 1_000);
        assert!(reading.memory_bytes > 100_000 && reading.tasks >= 2, "{reading:?}");
        assert!(tasks_of(nix::unistd::geteuid().as_raw()).unwrap() >= reading.tasks);
    }
}
