//! What a child uses together with all that it started, by `/proc`: memory, processes, unnamed files.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;

use super::group::living_thread;
use crate::procfs::{children, status, status_number};

/// What a child uses together with all that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Private memory of each process, swapped out or not (after a fork shared pages count for each); and shared memory, once.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub tasks: u64,
    /// Files that are open or mapped for writing, but removed from their folder, so that measuring the folder misses them.
    pub unnamed_bytes: u64,
    /// Whether a living process cannot be inspected completely.
    pub is_hidden: bool,
}

/// The size of a block as `stat` counts them.
pub(super) const BLOCK_BYTES: u64 = 512;
/// The longest list of mappings that is read: a hundred times that of the largest office programs.
const MAPS_LIMIT_BYTES: u64 = 4 << 20;
/// The limit for all lists in one scan.
const ALL_MAPS_LIMIT_BYTES: u64 = 32 << 20;

/// One scan over all processes.
#[derive(Default)]
struct Scan {
    usage: Usage,
    maps_bytes: u64,
    /// Bytes of shared memory, by its file, or by file and offset where the file's size cannot be read.
    shared: HashMap<String, u64>,
}

/// What `leader` uses with all that it started; the scan stops when there are more than `most` tasks. It blocks on files of
/// `/proc`, so call it on a blocking thread.
///
/// Processes are found from parent to child, which is cheap and complete: the leader adopts orphans
/// (`PR_SET_CHILD_SUBREAPER`).
pub(super) fn read(leader: i32, most: u64) -> Usage {
    let mut scan = Scan::default();
    let mut pending = vec![leader];
    while let Some(process) = pending.pop() {
        scan.add(process);
        if scan.usage.tasks > most || scan.usage.is_hidden {
            break;
        }
        pending.extend(children(process));
    }
    let shared_bytes: u64 = scan.shared.values().sum();
    Usage { memory_bytes: scan.usage.memory_bytes + shared_bytes, ..scan.usage }
}

impl Scan {
    fn add(&mut self, process: i32) {
        // Hazard: a process can end its first thread before the others, and then its own files in /proc are empty. Those of any
        // living thread have the same content.
        let thread = living_thread(process).unwrap_or(process);
        let Some(status) = status(thread) else { return };
        let own = ["RssAnon:", "VmSwap:"];
        self.usage.tasks += status_number(&status, "Threads:").unwrap_or(1);
        self.usage.memory_bytes +=
            own.map(|name| status_number(&status, name).unwrap_or(0)).iter().sum::<u64>() << 10;
        let seen = unnamed_open(thread).and_then(|bytes| {
            self.usage.unnamed_bytes += bytes;
            self.add_mappings(thread)
        });
        // A process without memory is gone or ending, and hides nothing.
        let is_refused = seen.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        self.usage.is_hidden |= is_refused && has_memory(thread);
    }

    /// Adds mappings of removed files, whose descriptors may be closed: `maps` does not show how much is on the disk, so they
    /// count whole. And shared memory, which is allocated also where it is not resident.
    fn add_mappings(&mut self, thread: i32) -> io::Result<()> {
        let mut maps = Vec::new();
        let file = fs::File::open(format!("/proc/{thread}/maps"))?;
        let read = file.take(MAPS_LIMIT_BYTES + 1).read_to_end(&mut maps)? as u64;
        self.maps_bytes += read;
        if read > MAPS_LIMIT_BYTES || self.maps_bytes > ALL_MAPS_LIMIT_BYTES {
            self.usage.is_hidden = true;
            return Ok(());
        }
        let maps = String::from_utf8_lossy(&maps);
        for mapping in maps.lines().filter_map(Mapping::of) {
            if mapping.is_unnamed_file() {
                self.usage.unnamed_bytes += mapping.bytes;
            } else if mapping.is_shared_memory() {
                let (part, bytes) = mapping.share(thread);
                let known = self.shared.entry(part).or_default();
                *known = bytes.max(*known);
            }
        }
        Ok(())
    }
}

/// `7f1c00000000-7f1c00001000 rw-s 00000000 08:01 42   /tmp/x (deleted)`
struct Mapping<'a> {
    begin: u64,
    bytes: u64,
    rights: &'a str,
    offset: &'a str,
    /// Device and number.
    file: (&'a str, &'a str),
    /// The name up to its first blank.
    name: &'a str,
    is_removed: bool,
}

impl<'a> Mapping<'a> {
    /// Parses a line; `None` where it maps no file.
    fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (range, rights, offset) = (fields.next()?, fields.next()?, fields.next()?);
        let (file, name) = ((fields.next()?, fields.next()?), fields.next()?);
        let (begin, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        let (begin, end) = (address(begin)?, address(end)?);
        let is_removed = line.ends_with(" (deleted)");
        Some(Self { begin, bytes: end.checked_sub(begin)?, rights, offset, file, name, is_removed })
    }

    fn is_memory(&self) -> bool {
        ["/dev/zero", "/memfd:", "/SYSV"].iter().any(|begin| self.name.starts_with(begin))
    }

    fn is_unnamed_file(&self) -> bool {
        self.rights.starts_with("rw") && self.rights.ends_with('s') && self.is_removed && !self.is_memory()
    }

    /// A private mapping counts as well: it, too, keeps unnamed memory allocated.
    fn is_shared_memory(&self) -> bool {
        self.is_memory() && self.is_removed
    }

    /// The key and size of shared memory: the whole file's size, where the service may read that (`CAP_CHECKPOINT_RESTORE`); else
    /// the mapped part.
    fn share(&self, thread: i32) -> (String, u64) {
        let (device, number) = self.file;
        let range = format!("{:x}-{:x}", self.begin, self.begin + self.bytes);
        match fs::metadata(format!("/proc/{thread}/map_files/{range}")) {
            Ok(file) => (format!("{device} {number}"), file.blocks() * BLOCK_BYTES),
            Err(_) => (format!("{device} {number} {}", self.offset), self.bytes),
        }
    }
}

/// Bytes of removed files that the process has open, including those in memory (`memfd_create`).
fn unnamed_open(thread: i32) -> io::Result<u64> {
    let open = fs::read_dir(format!("/proc/{thread}/fd"))?;
    let files = open.flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
    let unnamed = files.filter(|file| file.is_file() && file.nlink() == 0);
    Ok(unnamed.map(|file| file.blocks() * BLOCK_BYTES).sum())
}

fn has_memory(thread: i32) -> bool {
    status(thread).is_some_and(|status| status_number(&status, "VmSize:").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::group::tasks_of;

    #[test]
    fn mappings_of_removed_files_and_of_shared_memory_are_recognised() {
        let kinds = |rest: &str| {
            let line = format!("7f1c00000000-7f1c00003000 {rest}");
            let mapping = Mapping::of(&line)?;
            assert_eq!(mapping.bytes, 0x3000);
            Some((mapping.is_unnamed_file(), mapping.is_shared_memory()))
        };
        for (rest, expected) in [
            ("rw-s 00000000 08:01 42                 /tmp/x (deleted)", Some((true, false))),
            ("rw-s 00000000 08:01 42 /tmp/x", Some((false, false))),
            ("r--s 00000000 08:01 42 /tmp/x (deleted)", Some((false, false))),
            ("rw-p 00000000 08:01 42 /tmp/x (deleted)", Some((false, false))),
            ("rw-s 00000000 00:01 42 /dev/zero (deleted)", Some((false, true))),
            ("r--p 00000000 00:01 42 /memfd:x (deleted)", Some((false, true))),
            ("rw-p 00000000 00:01 42 /dev/zero", Some((false, false))),
            ("rw-p 00000000 00:00 0", None),
        ] {
            assert_eq!(kinds(rest), expected, "{rest}");
        }
    }

    #[test]
    fn the_usage_of_a_process_is_what_the_system_reports() {
        let own = i32::try_from(std::process::id()).unwrap();
        let usage = read(own, 1_000);
        assert!(usage.memory_bytes > 100_000 && usage.tasks >= 2 && !usage.is_hidden, "{usage:?}");
        assert!(tasks_of(nix::unistd::geteuid().as_raw()).unwrap() >= usage.tasks);
    }
}
