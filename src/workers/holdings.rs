//! What `/proc` says that a child holds with everything it started: memory, processes, files without a name.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;

use super::group::{field, living_thread};

/// What a child holds together with all that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Memory of its own, swapped out or not, which since a fork counts in each process; and memory that processes
    /// share, once.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub tasks: u64,
    /// Files that it has open, or writes to by its memory, and that no folder names any more: a look at
    /// its folder does not see them.
    pub unnamed_bytes: u64,
    /// Whether somebody of them who lives cannot be looked at, or not to the end.
    pub is_hidden: bool,
}

/// The size of a block as `stat` counts them.
pub(super) const BLOCK_BYTES: u64 = 512;
/// The list of a process' mappings is read so far: a hundred times what the largest office programs have.
const MAPS_LIMIT_BYTES: u64 = 4 << 20;
/// And so much of all lists in one look.
const ALL_MAPS_LIMIT_BYTES: u64 = 32 << 20;

/// One look.
#[derive(Default)]
struct Look {
    reading: Reading,
    maps_bytes: u64,
    /// Memory in files: which file, or which part of it where its size cannot be asked for; and how much.
    shared: HashMap<String, u64>,
}

/// What `leader` holds with all that it started; no more than `most` processes are looked at. It reads files
/// of `/proc`, so it belongs on a thread that may take its time.
///
/// Processes are found by their parents, which is cheap: the leader adopts what loses its own
/// (`PR_SET_CHILD_SUBREAPER`).
pub(super) fn read(leader: i32, most: u64) -> Reading {
    let mut look = Look::default();
    let mut pending = vec![leader];
    while let Some(process) = pending.pop() {
        look.add(process);
        if look.reading.tasks > most || look.reading.is_hidden {
            break;
        }
        pending.extend(children(process));
    }
    let shared_bytes: u64 = look.shared.values().sum();
    Reading { memory_bytes: look.reading.memory_bytes + shared_bytes, ..look.reading }
}

impl Look {
    fn add(&mut self, process: i32) {
        // Hazard: the first thread of a process may end before the others, and its files in /proc are empty then.
        // Each thread that lives says the same of the process.
        let thread = living_thread(process).unwrap_or(process);
        let Ok(status) = fs::read_to_string(format!("/proc/{thread}/status")) else { return };
        let own = ["RssAnon:", "VmSwap:"];
        self.reading.tasks += field(&status, "Threads:").unwrap_or(1);
        self.reading.memory_bytes +=
            own.map(|name| field(&status, name).unwrap_or(0)).iter().sum::<u64>() << 10;
        let seen = unnamed_open(thread).and_then(|bytes| {
            self.reading.unnamed_bytes += bytes;
            self.add_mappings(thread)
        });
        // Who is gone or about to go, and so has no memory any more, hides nothing.
        let is_refused = seen.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        self.reading.is_hidden |= is_refused && has_memory(thread);
    }

    /// Files without a name that are written by memory: their descriptors may be closed, and how much of them is on
    /// the disk nobody tells, so they count whole. And memory in files, which stays there when it is not mapped in.
    fn add_mappings(&mut self, thread: i32) -> io::Result<()> {
        let mut maps = Vec::new();
        let file = fs::File::open(format!("/proc/{thread}/maps"))?;
        let read = file.take(MAPS_LIMIT_BYTES + 1).read_to_end(&mut maps)? as u64;
        self.maps_bytes += read;
        if read > MAPS_LIMIT_BYTES || self.maps_bytes > ALL_MAPS_LIMIT_BYTES {
            self.reading.is_hidden = true;
            return Ok(());
        }
        let maps = String::from_utf8_lossy(&maps);
        for mapping in maps.lines().filter_map(Mapping::of) {
            if mapping.is_unnamed_file() {
                self.reading.unnamed_bytes += mapping.bytes;
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
    /// Up to its first blank.
    name: &'a str,
    is_removed: bool,
}

impl<'a> Mapping<'a> {
    /// Of a line; nothing of one that maps no file.
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

    /// Also mapped for one process alone, a file of memory lives on by that.
    fn is_shared_memory(&self) -> bool {
        self.is_memory() && self.is_removed
    }

    /// What is shared, and how much it is: all of it, which only who has the right to (`CAP_CHECKPOINT_RESTORE`) is
    /// told; otherwise what is mapped of it.
    fn share(&self, thread: i32) -> (String, u64) {
        let (device, number) = self.file;
        let range = format!("{:x}-{:x}", self.begin, self.begin + self.bytes);
        match fs::metadata(format!("/proc/{thread}/map_files/{range}")) {
            Ok(file) => (format!("{device} {number}"), file.blocks() * BLOCK_BYTES),
            Err(_) => (format!("{device} {number} {}", self.offset), self.bytes),
        }
    }
}

/// Files without a name that the process has open, those in memory (`memfd_create`) among them.
fn unnamed_open(thread: i32) -> io::Result<u64> {
    let open = fs::read_dir(format!("/proc/{thread}/fd"))?;
    let files = open.flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
    let unnamed = files.filter(|file| file.is_file() && file.nlink() == 0);
    Ok(unnamed.map(|file| file.blocks() * BLOCK_BYTES).sum())
}

fn has_memory(thread: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{thread}/status"));
    status.is_ok_and(|status| field(&status, "VmSize:").is_some())
}

fn children(process: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children"));
    let lists: Vec<String> = threads.flatten().filter_map(|thread| of_thread(thread).ok()).collect();
    lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::group::tasks_of;

    #[test]
    fn mappings_of_removed_files_and_of_memory_are_told_from_others() {
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
    fn a_process_holds_what_the_system_says() {
        let own = i32::try_from(std::process::id()).unwrap();
        let reading = read(own, 1_000);
        assert!(reading.memory_bytes > 100_000 && reading.tasks >= 2 && !reading.is_hidden, "{reading:?}");
        assert!(tasks_of(nix::unistd::geteuid().as_raw()).unwrap() >= reading.tasks);
    }
}
