//! The processes of a Chromium, watched from outside. Memory: a renderer that takes too much is killed, for the limit of its
//! heap does not count buffers, nodes and pictures. Processor time: a page that computes for long yields to the others, or a
//! few endless ones would take all processors.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

use super::kills::Kills;
use crate::workers::{processor_time, yield_processor};

/// How deep below Chromium its renderers are: itself, a zygote, the zygote inside its namespace, them.
const DEPTH: u32 = 4;
const RENDERER: &[u8] = b"--type=renderer";

/// What a Chromium holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::browser) struct Reading {
    /// Its first process, which has the connection and whatever pages that are gone have left in it.
    pub own: u64,
    /// Its renderers.
    pub pages: u64,
    /// Everything else: zygotes, graphics, network.
    pub other: u64,
}

impl Reading {
    /// All its processes together.
    pub(in crate::browser) fn whole(self) -> u64 {
        self.own + self.pages + self.other
    }

    pub(in crate::browser) fn and(self, other: Self) -> Self {
        Self { own: self.own + other.own, pages: self.pages + other.pages, other: self.other + other.other }
    }
}

/// What a renderer has used, which shows the pages of one tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct RendererUse {
    pub process: i32,
    /// Processor time so far.
    pub processor: Duration,
    /// Memory that it holds.
    pub resident_bytes: u64,
    /// It was made to yield to all others, which cannot be taken back.
    pub yields: bool,
}

/// What a renderer may take.
#[derive(Clone, Debug)]
pub(in crate::browser) struct Bounds {
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Processor time that a page takes before its renderer yields to all others; `None` where it is not known when a page
    /// begins.
    pub undisturbed: Option<Duration>,
    /// Processor time that renderers had taken when their present page began; zero for those that are not here.
    pub before: HashMap<i32, Duration>,
}

/// Kills every renderer of the Chromium `browser` that holds more memory than it may, has those yield that computed for
/// long, and answers what all of its processes hold. It blocks on files of `/proc`.
///
/// Memory that processes share is counted for the first process alone.
pub(in crate::browser) fn sweep(browser: i32, bounds: &Bounds, kills: &Kills) -> Reading {
    let mut processes = Vec::new();
    collect_children(browser, DEPTH, &mut processes);
    let own = Size::of(browser).unwrap_or_default().resident;
    let mut reading = Reading { own, ..Reading::default() };
    for process in processes {
        let size = Size::of(process.id).unwrap_or_default();
        let part = if process.is_renderer { &mut reading.pages } else { &mut reading.other };
        *part += size.resident.saturating_sub(size.shared);
        if process.is_renderer && bounds.is_exhausting(process.id) {
            yield_processor(process.id);
        }
        if process.is_renderer && size.resident > bounds.memory_bytes && kills.announce(process.id) {
            tracing::warn!(
                renderer.pid = process.id,
                renderer.bytes = size.resident,
                "a page takes too much memory and is ended"
            );
            let _ = kill(Pid::from_raw(process.id), Signal::SIGKILL);
        }
    }
    reading
}

impl Bounds {
    fn is_exhausting(&self, process: i32) -> bool {
        let Some(most) = self.undisturbed else { return false };
        let before = self.before.get(&process).copied().unwrap_or_default();
        processor_time(process).is_some_and(|used| used > before + most)
    }
}

impl RendererUse {
    /// That of `process`; `None` where it is gone, or no renderer.
    pub(in crate::browser) fn of(process: i32) -> Option<Self> {
        let resident_bytes = Size::of(process)?.resident;
        let processor = processor_time(process).filter(|_| is_renderer(process))?;
        Some(Self { process, processor, resident_bytes, yields: niceness(process)? > 0 })
    }
}

struct Process {
    id: i32,
    is_renderer: bool,
}

#[derive(Clone, Copy, Default)]
struct Size {
    resident: u64,
    shared: u64,
}

impl Size {
    fn of(process: i32) -> Option<Self> {
        let sizes = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
        // 4 KiB on most machines, 16 or 64 on some of ARM.
        let page_bytes = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
        let mut pages = sizes.split_ascii_whitespace().skip(1).map(|text| text.parse::<u64>().ok());
        Some(Self { resident: pages.next()?? * page_bytes, shared: pages.next()?? * page_bytes })
    }
}

/// Field 19 of `/proc/PID/stat`. The second one, a name, may have anything in it, so fields are counted after its end.
fn niceness(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(16)?.parse().ok()
}

fn collect_children(process: i32, depth: u32, found: &mut Vec<Process>) {
    if depth == 0 {
        return;
    }
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return };
    for thread in threads.flatten() {
        let Ok(children) = fs::read_to_string(thread.path().join("children")) else { continue };
        for child in children.split_ascii_whitespace().filter_map(|text| text.parse().ok()) {
            let is_renderer = is_renderer(child);
            found.push(Process { id: child, is_renderer });
            // Renderers have threads by the dozen and no children: only the others are looked into.
            if !is_renderer {
                collect_children(child, depth - 1, found);
            }
        }
    }
}

fn is_renderer(process: i32) -> bool {
    fs::read(format!("/proc/{process}/cmdline"))
        .is_ok_and(|line| line.windows(RENDERER.len()).any(|part| part == RENDERER))
}
