//! How many tabs a machine carries, where the configuration says nothing.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

/// Tabs a core. Pages that compute all the time take as long with one as with four (measured: 20 to
/// 27 invoices a second from one tab to eight on two cores); pages with script wait most of their
/// time until they are at rest (6.4 a second with two a core, 10.1 with four).
const TABS_A_CORE: u64 = 4;
/// What a tab takes in the middle of a usual page, its share of Chromium included.
const TAB_BYTES: u64 = 256 << 20;
/// What is left to everything else.
const RESERVED_BYTES: u64 = 512 << 20;
/// Assumed where memory cannot be read.
const ASSUMED_BYTES: u64 = 2 << 30;

/// The machine's memory, read once: the limit of a renderer is a share of it, and every page reads that limit.
static MEMORY_BYTES: LazyLock<u64> = LazyLock::new(|| memory_bytes(Path::new("/")));

/// The number of tabs: as configured, or by cores and memory.
pub(in crate::browser) fn tabs(configured: u64) -> usize {
    let tabs = if configured > 0 { configured } else { fitting(cores() as u64, *MEMORY_BYTES) };
    usize::try_from(tabs).unwrap_or(usize::MAX)
}

/// The number of pages without script that are rendered at once: as configured, or one a core and two more, of which
/// one is always left to other accounts.
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

/// What a renderer may take, in MB: as configured, or a quarter of the machine's memory, from 1 GiB to 4 GiB. A document of a
/// thousand pages takes 2 GB, and one or two such documents at once must not fill the machine.
pub(in crate::browser) fn renderer_limit_mb(configured: u64) -> u64 {
    if configured > 0 { configured } else { renderer_share_mb(*MEMORY_BYTES) }
}

fn renderer_share_mb(memory_bytes: u64) -> u64 {
    (memory_bytes >> 22).clamp(1_024, 4_096)
}

/// The processor's cores, as far as we may use them.
pub(in crate::browser) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's memory, or the least limit of the control groups that we are in, where that is less. `root` has the
/// machine's `proc` and `sys`.
fn memory_bytes(root: &Path) -> u64 {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| total_bytes(&text));
    machine.unwrap_or(ASSUMED_BYTES).min(group_limit_bytes(root).unwrap_or(u64::MAX))
}

/// A limit holds for everything below the group that has it: a unit's `MemoryMax` stands in the folder of the unit, a
/// slice's in one above it, and a container sees its own as the topmost. So every folder from ours up is read.
fn group_limit_bytes(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let is_memory = controllers.split(',').any(|controller| controller == "memory");
        match (controllers, is_memory) {
            ("", _) => least_above(&root.join("sys/fs/cgroup"), group, "memory.max"),
            (_, true) => least_above(&root.join("sys/fs/cgroup/memory"), group, "memory.limit_in_bytes"),
            (_, false) => None,
        }
    });
    limits.min()
}

/// The least number in the files `name` of the group's folder below `mounted` and of those above it. A folder that is
/// not there is skipped: a container without a namespace of its own sees the group's name on its host.
fn least_above(mounted: &Path, group: &str, name: &str) -> Option<u64> {
    // A group outside of our namespace is written with `..`, which leads out of the mounted tree.
    let inside = |part| if let Component::Normal(part) = part { Some(part) } else { None };
    let group: PathBuf = Path::new(group).components().filter_map(inside).collect();
    let limits = group.ancestors().filter_map(|folder| {
        let text = fs::read_to_string(mounted.join(folder).join(name)).ok()?;
        // "max" is no number, and no limit.
        text.trim().parse().ok()
    });
    limits.min()
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

    /// A machine of 8 GiB: `groups` is what it says of us, `limits` are files below `sys/fs/cgroup`.
    fn machine(groups: &str, limits: &[(&str, &str)]) -> u64 {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/meminfo", "MemTotal:       8388608 kB\n");
        write("proc/self/cgroup", groups);
        for (path, limit) in limits {
            write(&format!("sys/fs/cgroup/{path}"), &format!("{limit}\n"));
        }
        memory_bytes(root.path())
    }

    #[test]
    fn the_least_limit_of_our_groups_counts() {
        let unit = "0::/system.slice/platen.service\n";
        let of_unit = |limit| ("system.slice/platen.service/memory.max", limit);
        let of_slice = |limit| ("system.slice/memory.max", limit);
        let own = ("memory.max", "536870912");
        let older = "12:cpu,cpuacct:/\n5:memory:/docker/0a1b\n0::/\n";
        let none = ("memory/memory.limit_in_bytes", "9223372036854771712");
        let of_container = ("memory/docker/0a1b/memory.limit_in_bytes", "1048576");
        for (name, groups, limits, wanted) in [
            ("a unit's", unit, &[of_unit("1073741824")][..], 1 << 30),
            ("its slice's", unit, &[of_unit("max"), of_slice("2147483648")], 2 << 30),
            ("both", unit, &[of_unit("2147483648"), of_slice("1073741824")], 1 << 30),
            ("the machine has less", unit, &[of_unit("1099511627776")], 8 << 30),
            ("another's limit", unit, &[("other.slice/memory.max", "1024")], 8 << 30),
            ("no groups at all", "", &[], 8 << 30),
            ("a container's", "0::/\n", &[own], 512 << 20),
            ("by its host's name", "0::/docker/0a1b\n", &[own], 512 << 20),
            ("outside of its namespace", "0::/../../system.slice/x\n", &[own], 512 << 20),
            ("of the older groups", older, &[none, of_container], 1 << 20),
            ("older ones without a limit", older, &[none], 8 << 30),
        ] {
            assert_eq!(machine(groups, limits), wanted, "{name}");
        }
    }

    #[test]
    fn total_memory_is_read_in_kilobytes() {
        assert_eq!(total_bytes("MemTotal:       2048 kB\nMemFree: 1 kB"), Some(2 << 20));
    }
}
