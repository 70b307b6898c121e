//! The memory of a child of ours, and its limit (`RLIMIT_AS`).
//!
//! `JavaScriptCore` reserves gigabytes of address space when its first machine is made, and uses next to nothing of them. A
//! limit set before the start would have to include these gigabytes, and a hostile template could use them. So the child sets
//! the limit itself, once they are reserved, on top of what is mapped. Memory for the shapes of objects is later taken from
//! the reserve, unseen by this limit: for that the service watches the resident memory.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};

const PAGE_BYTES: u64 = 4_096;

/// Bytes of the limit for each value that is held outside of the engine.
const VALUE_SHARE: u64 = 256;

/// The memory of this process, read from a file that stays open: a child that only computes can open none.
pub struct Memory {
    statm: File,
    page_bytes: u64,
    /// Mapped before any job.
    before_bytes: u64,
    /// The most that was resident before any job.
    peak_before_bytes: u64,
    limit_bytes: u64,
}

impl Memory {
    /// Limits mapped memory to what is mapped now and `limit_bytes` more.
    ///
    /// # Errors
    /// A sentence, when `/proc` cannot be read or the system refuses.
    pub fn bound(limit_bytes: u64) -> Result<Self, String> {
        let statm = File::open("/proc/self/statm")
            .map_err(|error| format!("cannot read how much memory it has: {error}"))?;
        let page_bytes = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
        let page_bytes = page_bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(PAGE_BYTES);
        let mut memory =
            Self { statm, page_bytes, before_bytes: 0, peak_before_bytes: peak_bytes(), limit_bytes };
        memory.before_bytes = memory.mapped_bytes().ok_or("its account of memory is no list of numbers")?;
        let most = memory.before_bytes.saturating_add(limit_bytes);
        setrlimit(Resource::RLIMIT_AS, most, most)
            .map_err(|errno| format!("cannot bound its memory: {errno}"))?;
        Ok(memory)
    }

    /// Whether a failed allocation was due to the limit: more than a quarter is in use. With less, one single request was too
    /// large: beyond what the engine allows for any value, or more than the memory that was left.
    pub fn is_short(&self) -> bool {
        let used = self.mapped_bytes().map(|mapped| mapped.saturating_sub(self.before_bytes));
        // The longest of doubled strings is between a third of the memory and all of it.
        used.is_some_and(|used| used > self.limit_bytes / 4)
    }

    /// How many values may be held outside of the engine beside `held_bytes` of JSON. Hazard: the engine reports a failed
    /// allocation, but our own code aborts the process. A value with its name takes some 60 bytes, a list in a list 90, and a
    /// tag's answer 30 to 80 more: at worst three quarters of the memory. With the default of 512 MB these are two million
    /// values, a workbook of 180,000 rows of ten cells.
    pub fn values_beside(&self, held_bytes: usize) -> usize {
        let free = self.limit_bytes.saturating_sub(u64::try_from(held_bytes).unwrap_or(u64::MAX));
        usize::try_from(free / VALUE_SHARE).unwrap_or(usize::MAX)
    }

    /// Whether this process ever held so many bytes more than before its first job.
    pub fn has_grown(&self, bytes: u64) -> bool {
        peak_bytes() > self.peak_before_bytes + bytes
    }

    fn mapped_bytes(&self) -> Option<u64> {
        let mut text = [0; 128];
        let length = self.statm.read_at(&mut text, 0).ok()?;
        let pages = std::str::from_utf8(&text[..length]).ok()?.split(' ').next()?;
        Some(pages.parse::<u64>().ok()? * self.page_bytes)
    }
}

/// The most memory this process ever held.
fn peak_bytes() -> u64 {
    let kibibytes = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(kibibytes).unwrap_or(0) * 1_024
}
