//! The processes of a Chromium, watched from outside. Memory: a renderer that takes too much is killed, for the limit of its
//! heap does not count buffers, nodes and pictures. Processor time: a page that computes for long yields to the others, or a
//! few endless ones would take all processors.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::kills::Kills;
use crate::procfs::{children, stat_fields, statm};
use crate::workers::{processor_time, yield_processor};

/// How deep below Chromium its renderers are: itself, a zygote, the zygote inside its namespace, them.
const DEPTH: u32 = 4;
const RENDERER: &[u8] = b"--type=renderer";
const GRAPHICS: &[u8] = b"--type=gpu-process";

/// What a Chromium holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::browser) struct MemoryReading {
    /// Its first process, which has the connection and whatever pages that are gone have left in it, and the one that draws
    /// WebGL.
    pub own: u64,
    /// Its renderers.
    pub pages: u64,
    /// Everything else: zygotes, network.
    pub other: u64,
}

impl MemoryReading {
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
pub(in crate::browser) struct RendererLimits {
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
pub(in crate::browser) fn sweep(browser: i32, limits: &RendererLimits, kills: &Kills) -> MemoryReading {
    let mut processes = Vec::new();
    collect_children(browser, DEPTH, &mut processes);
    let own = statm(browser).unwrap_or_default().resident_bytes;
    let mut reading = MemoryReading { own, ..MemoryReading::default() };
    for process in processes {
        let size = statm(process.id).unwrap_or_default();
        let part = match process.role {
            Role::Renderer => &mut reading.pages,
            Role::Graphics => &mut reading.own,
            Role::Other => &mut reading.other,
        };
        *part += size.resident_bytes.saturating_sub(size.shared_bytes);
        if process.role != Role::Other && limits.is_exhausting(process.id) {
            yield_processor(process.id);
        }
        if process.role == Role::Renderer
            && size.resident_bytes > limits.memory_bytes
            && kills.announce(process.id)
        {
            tracing::warn!(
                renderer.pid = process.id,
                renderer.bytes = size.resident_bytes,
                "a page takes too much memory and is ended"
            );
            let _ = kill(Pid::from_raw(process.id), Signal::SIGKILL);
        }
    }
    reading
}

impl RendererLimits {
    fn is_exhausting(&self, process: i32) -> bool {
        let Some(most) = self.undisturbed else { return false };
        let before = self.before.get(&process).copied().unwrap_or_default();
        processor_time(process).is_some_and(|used| used > before + most)
    }
}

impl RendererUse {
    /// That of `process`; `None` where it is gone, or no renderer.
    pub(in crate::browser) fn of(process: i32) -> Option<Self> {
        let resident_bytes = statm(process)?.resident_bytes;
        let processor = processor_time(process).filter(|_| is_renderer(process))?;
        Some(Self { process, processor, resident_bytes, yields: niceness(process)? > 0 })
    }
}

struct Process {
    id: i32,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Renderer,
    /// It draws WebGL: pages let it compute.
    Graphics,
    Other,
}

fn niceness(process: i32) -> Option<i32> {
    stat_fields(process)?.number(19)
}

fn collect_children(process: i32, depth: u32, found: &mut Vec<Process>) {
    if depth == 0 {
        return;
    }
    for child in children(process) {
        let role = role(child);
        found.push(Process { id: child, role });
        // Renderers have threads by the dozen and no children: only the others are looked into.
        if role == Role::Other {
            collect_children(child, depth - 1, found);
        }
    }
}

fn is_renderer(process: i32) -> bool {
    role(process) == Role::Renderer
}

fn role(process: i32) -> Role {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let has = |kind: &[u8]| memchr::memmem::find(&line, kind).is_some();
    if has(RENDERER) {
        Role::Renderer
    } else if has(GRAPHICS) {
        Role::Graphics
    } else {
        Role::Other
    }
}
