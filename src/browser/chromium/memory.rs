//! The processes of a Chromium, watched from outside. Memory: a renderer that takes too much is killed, for the limit of its
//! heap does not count buffers, nodes and pictures. Processor time: a page that computes for long yields to the others, or a
//! few endless ones would take all processors.

use std::fs;
use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::kills::{Kills, RendererEnd};
use crate::procfs::{children, statm};
use crate::workers::{
    SessionShare, processor_time, set_session_share, time_and_niceness, yield_in_session,
    yield_to_all_in_session,
};

/// How deep below Chromium its renderers are: itself, a zygote, the zygote inside its namespace, them.
const DEPTH: u32 = 4;
pub(super) const RENDERER: &[u8] = b"--type=renderer";
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
    pub time: RendererTime,
    /// Memory that it holds.
    pub resident_bytes: u64,
}

/// What a renderer has taken of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::browser) struct RendererTime {
    pub process: i32,
    /// Processor time so far.
    pub processor: Duration,
    /// It was made to yield, which cannot be taken back.
    pub yields: bool,
}

/// A process in which pages compute.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct PageProcess {
    pub process: i32,
    /// It draws WebGL for all pages of its Chromium; otherwise it is a renderer.
    pub draws: bool,
    /// Processor time so far.
    pub processor: Duration,
}

/// What a look at the processes of a Chromium shows.
#[derive(Clone, Debug, Default)]
pub(in crate::browser) struct Reading {
    pub memory: MemoryReading,
    pub pages: Vec<PageProcess>,
}

/// Who in a Chromium is to yield the processor.
#[derive(Clone, Debug)]
pub(in crate::browser) struct Yields {
    /// Processes that get low priority in their Chromium.
    pub low: Vec<i32>,
    /// Those that get the lowest.
    pub lowest: Vec<i32>,
    /// What the session gets.
    pub share: SessionShare,
}

/// Answers what all processes of the Chromium `browser` hold and use, and kills every renderer that holds more than
/// `limit_bytes` of memory. It blocks on files of `/proc`.
///
/// Memory that processes share is counted for the first process alone.
pub(in crate::browser) fn read(browser: i32, limit_bytes: u64, kills: &Kills) -> Reading {
    let mut processes = Vec::new();
    collect_children(browser, DEPTH, &mut processes);
    let own = statm(browser).unwrap_or_default().resident_bytes;
    let (mut memory, mut pages) = (MemoryReading { own, ..MemoryReading::default() }, Vec::new());
    for Process { id, role } in processes {
        let size = statm(id).unwrap_or_default();
        let part = match role {
            Role::Renderer => &mut memory.pages,
            Role::Graphics => &mut memory.own,
            Role::Other => &mut memory.other,
        };
        *part += size.resident_bytes.saturating_sub(size.shared_bytes);
        if role == Role::Other {
            continue;
        }
        let processor = processor_time(id).unwrap_or_default();
        pages.push(PageProcess { process: id, draws: role == Role::Graphics, processor });
        if role == Role::Renderer
            && size.resident_bytes > limit_bytes
            && kills.announce(id, RendererEnd::Filled)
        {
            tracing::warn!(
                renderer.pid = id,
                renderer.bytes = size.resident_bytes,
                "a page takes too much memory and is ended"
            );
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
    Reading { memory, pages }
}

impl Yields {
    /// Has them yield; false where the session's share is to be set again later. It blocks on files of `/proc`.
    pub fn apply(&self, browser: i32) -> bool {
        self.low.iter().for_each(|process| yield_in_session(*process));
        self.lowest.iter().for_each(|process| yield_to_all_in_session(*process));
        let set = set_session_share(browser, self.share);
        if let Err(error) = &set {
            tracing::debug!(%error, browser, share = ?self.share, "a browser's session does not get its share");
        }
        !set.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl RendererUse {
    /// That of `process`; `None` where it is gone, or no renderer.
    pub(in crate::browser) fn of(process: i32) -> Option<Self> {
        let resident_bytes = statm(process)?.resident_bytes;
        let time = RendererTime::of(process).filter(|_| is_renderer(process))?;
        Some(Self { time, resident_bytes })
    }
}

impl RendererTime {
    /// That of `process`, which is a renderer; `None` where it is gone.
    pub(in crate::browser) fn of(process: i32) -> Option<Self> {
        let (processor, niceness) = time_and_niceness(process)?;
        Some(Self { process, processor, yields: niceness > 0 })
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

/// All processes below the Chromium `browser`. It blocks on files of `/proc`.
pub(super) fn descendants(browser: i32) -> Vec<i32> {
    let mut found = Vec::new();
    collect_children(browser, DEPTH, &mut found);
    found.into_iter().map(|process| process.id).collect()
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
    let line = command_line(process);
    let has = |kind: &[u8]| memchr::memmem::find(&line, kind).is_some();
    if has(RENDERER) {
        Role::Renderer
    } else if has(GRAPHICS) {
        Role::Graphics
    } else {
        Role::Other
    }
}

pub(super) fn command_line(process: i32) -> Vec<u8> {
    fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default()
}
