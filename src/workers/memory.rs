//! How much memory a child of ours has mapped, and the bound of it.
//!
//! What a child has without a job is its own affair, and `JavaScriptCore` reserves gigabytes of address space when its first machine is made, and uses next to nothing of them.
//! So the bound is set here, once that is done, and on top of it; a limit that the service could set before the start
//! would have to leave a hostile template those gigabytes. Of what is reserved only the shapes of objects are taken later,
//! unseen by this bound: the service watches how much the process holds.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};

const PAGE_BYTES: u64 = 4_096;

/// Of so many bytes of the memory one value may be held outside of the engine.
const VALUE_SHARE: u64 = 256;

/// The process' own account, kept open: nothing can be opened once it only computes.
pub struct Memory {
    account: File,
    page_bytes: u64,
    /// Mapped before any job.
    before_bytes: u64,
    /// The most that was resident before any job.
    peak_before_bytes: u64,
    limit_bytes: u64,
}

impl Memory {
    /// Bounds what is mapped from now on to `limit_bytes` more than there is.
    ///
    /// # Errors
    /// A sentence, when the system does not tell or refuses.
    pub fn bound(limit_bytes: u64) -> Result<Self, String> {
        let account = File::open("/proc/self/statm")
            .map_err(|error| format!("cannot read how much memory it has: {error}"))?;
        let page_bytes = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
        let page_bytes = page_bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(PAGE_BYTES);
        let mut memory =
            Self { account, page_bytes, before_bytes: 0, peak_before_bytes: peak_bytes(), limit_bytes };
        memory.before_bytes = memory.mapped_bytes().ok_or("its account of memory is no list of numbers")?;
        let most = memory.before_bytes.saturating_add(limit_bytes);
        setrlimit(Resource::RLIMIT_AS, most, most)
            .map_err(|errno| format!("cannot bound its memory: {errno}"))?;
        Ok(memory)
    }

    /// Whether so much is mapped that what asked for more has asked for too much: a single huge request is refused long
    /// before the memory is used up.
    pub fn is_short(&self) -> bool {
        let used = self.mapped_bytes().map(|mapped| mapped.saturating_sub(self.before_bytes));
        // The longest of doubled strings is between a third of the memory and all of it.
        used.is_some_and(|used| used > self.limit_bytes / 4)
    }

    /// The most values that are held outside of the engine beside `held_bytes` of JSON. Hazard: the engine would refuse more memory
    /// with a sentence, and here the process ends. A value with its name takes
    /// some sixty bytes, a list in a list ninety, and what a tag says of it thirty to eighty more: at worst three quarters of the
    /// memory. Of the default 512 MB it is two million values, a workbook of 180,000 rows of ten cells.
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
        let length = self.account.read_at(&mut text, 0).ok()?;
        let pages = std::str::from_utf8(&text[..length]).ok()?.split(' ').next()?;
        Some(pages.parse::<u64>().ok()? * self.page_bytes)
    }
}

/// The most memory this process ever held.
fn peak_bytes() -> u64 {
    let kibibytes = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss());
    u64::try_from(kibibytes).unwrap_or(0) * 1_024
}
