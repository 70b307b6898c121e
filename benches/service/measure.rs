//! What a round of documents cost: latencies, wall time, processor time by who used it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// One round: so many documents by so many clients at once.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// From asking for a document until its bytes were there, each.
    pub latencies: Vec<Duration>,
    /// From the first question to the last byte.
    pub wall: Duration,
    /// Processor time of the whole round.
    pub cpu: Cpu,
}

/// Processor time in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    /// Of Chromium and everything below it.
    pub chromium_ms: f64,
    /// Of the service's own process.
    pub own_ms: f64,
    /// Of the service's other children that have ended (the template engine's).
    pub children_ms: f64,
}

impl Cpu {
    fn minus(self, earlier: Self) -> Self {
        Self {
            chromium_ms: self.chromium_ms - earlier.chromium_ms,
            own_ms: self.own_ms - earlier.own_ms,
            children_ms: self.children_ms - earlier.children_ms,
        }
    }
}

impl Round {
    /// Lets `clients` tasks make `documents` documents between them, by calling `document` again and again.
    pub async fn run<F>(root: u32, clients: usize, documents: usize, document: impl Fn() -> F) -> Self
    where
        F: Future<Output = ()> + 'static,
    {
        let (before, started) = (cpu_of(root), Instant::now());
        let left = std::rc::Rc::new(std::cell::Cell::new(documents));
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let left = left.clone();
                let document = &document;
                async move {
                    let mut latencies = Vec::new();
                    while left.get() > 0 {
                        left.set(left.get() - 1);
                        let asked = Instant::now();
                        document().await;
                        latencies.push(asked.elapsed());
                    }
                    latencies
                }
            })
            .collect();
        let latencies = futures_util::future::join_all(tasks).await.concat();
        let wall = started.elapsed();
        Self { latencies, wall, cpu: cpu_of(root).minus(before) }
    }

    /// Adds another round to this one.
    pub fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.wall += other.wall;
        self.cpu.chromium_ms += other.cpu.chromium_ms;
        self.cpu.own_ms += other.cpu.own_ms;
        self.cpu.children_ms += other.cpu.children_ms;
    }

    /// The latency that `share` of the documents did not exceed, in milliseconds.
    pub fn latency_ms(&self, share: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index of a short list")]
        let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(0.0, |latency| latency.as_secs_f64() * 1_000.0)
    }

    /// Documents a second.
    pub fn throughput(&self) -> f64 {
        self.count() / self.wall.as_secs_f64()
    }

    /// How many documents.
    pub fn count(&self) -> f64 {
        f64::from(u32::try_from(self.latencies.len()).unwrap_or(u32::MAX))
    }
}

/// Processor time of the process `root` and its family until now.
pub fn cpu_of(root: u32) -> Cpu {
    let processes = processes();
    let mut cpu = Cpu::default();
    for (pid, process) in &processes {
        if *pid == root {
            cpu.own_ms += process.own_ms;
            cpu.children_ms += process.ended_children_ms;
        } else if is_chromium(*pid) && descends(*pid, root, &processes) {
            cpu.chromium_ms += process.own_ms + process.ended_children_ms;
        }
    }
    cpu
}

/// Resident memory of one process in MiB.
pub fn resident_mb(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}

struct Process {
    parent: u32,
    own_ms: f64,
    ended_children_ms: f64,
}

fn processes() -> HashMap<u32, Process> {
    let folder = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folder
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, read(pid)?)))
        .collect()
}

fn read(pid: u32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = text.rsplit_once(')')?.1.split_whitespace().collect();
    // Linux counts these in hundredths of a second for programs, whatever its own clock does.
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok().map(|ticks| ticks * 10.0);
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        own_ms: ticks(11)? + ticks(12)?,
        ended_children_ms: ticks(13)? + ticks(14)?,
    })
}

fn is_chromium(pid: u32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path.to_string_lossy().contains("chrom"))
}

fn descends(mut pid: u32, root: u32, processes: &HashMap<u32, Process>) -> bool {
    while let Some(process) = processes.get(&pid) {
        if process.parent == root {
            return true;
        }
        pid = process.parent;
    }
    false
}
