//! How many tabs a machine carries, where the configuration leaves it to us.

use std::fs;
use std::sync::LazyLock;

/// Tabs a core. Pages that compute all the time take as long with one as with four (measured: 20 to
/// 27 invoices a second from one tab to eight on two cores); pages with script wait most of their
/// time until they are at rest (6.4 a second with two a core, 10.1 with four).
const TABS_A_CORE: u64 = 4;
/// What a tab takes in the middle of a usual page, its share of Chromium included.
const TAB_BYTES: u64 = 256 << 20;
/// What is left to everything else.
const RESERVED_BYTES: u64 = 512 << 20;
/// Where memory cannot be read.
const ASSUMED_BYTES: u64 = 2 << 30;

/// What there is, looked at once: each page asks for its limit.
static MEMORY_BYTES: LazyLock<u64> = LazyLock::new(memory_bytes);

/// The number of tabs: as configured, or by cores and memory.
pub(super) fn tabs(configured: u64) -> usize {
    let tabs = if configured > 0 { configured } else { fitting(cores() as u64, *MEMORY_BYTES) };
    usize::try_from(tabs).unwrap_or(usize::MAX)
}

/// The number of pages without script that are rendered at once: as configured, or one a core and two more, of which
/// one is always left to other accounts.
#[must_use]
pub fn static_pages(configured: u64) -> usize {
    match usize::try_from(configured) {
        Ok(0) | Err(_) => cores() + 2,
        Ok(pages) => pages,
    }
}

fn fitting(cores: u64, memory_bytes: u64) -> u64 {
    let by_memory = memory_bytes.saturating_sub(RESERVED_BYTES) / TAB_BYTES;
    (cores * TABS_A_CORE).min(by_memory).max(1)
}

/// What a renderer may take, in MB: as configured, or a quarter of the memory within bounds: a thousand pages take
/// two GB, and a machine must bear one or two of them.
pub(super) fn renderer_limit_mb(configured: u64) -> u64 {
    if configured > 0 { configured } else { renderer_share_mb(*MEMORY_BYTES) }
}

fn renderer_share_mb(memory_bytes: u64) -> u64 {
    (memory_bytes >> 22).clamp(1_024, 4_096)
}

/// The processor's cores, as far as we may use them.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's memory, or the container's where that is less.
fn memory_bytes() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_bytes(&text));
    let container =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    machine.unwrap_or(ASSUMED_BYTES).min(container.unwrap_or(u64::MAX))
}

fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_memory_both_bound_the_tabs() {
        assert_eq!(fitting(2, 8 << 30), 8);
        assert_eq!(fitting(16, 2 << 30), 6);
        assert_eq!(fitting(4, 256 << 20), 1);
        assert_eq!(tabs(3), 3);
        assert_eq!((static_pages(3), static_pages(0)), (3, cores() + 2));
    }

    #[test]
    fn a_renderer_may_take_a_quarter_within_bounds() {
        assert_eq!([2 << 30, 8 << 30, 64 << 30].map(renderer_share_mb), [1_024, 2_048, 4_096]);
        assert_eq!(renderer_limit_mb(300), 300);
    }

    #[test]
    fn total_memory_is_read_in_kilobytes() {
        assert_eq!(total_bytes("MemTotal:       2048 kB\nMemFree: 1 kB"), Some(2 << 20));
    }
}
