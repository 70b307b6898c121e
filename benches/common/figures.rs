//! What was measured, and processor time as the system counts it.

use std::fs;
use std::time::Duration;

/// The clock of `/proc/*/stat`, in ticks a second.
const TICKS_A_SECOND: u32 = 100;

/// One measurement.
#[derive(Default)]
pub struct Figures {
    /// From asking to having the file, each document.
    pub latencies: Vec<Duration>,
    /// From the first asked to the last had.
    pub wall: Duration,
    /// Processor time of Chromium.
    pub chromium: Duration,
    /// Processor time of the process that asks Chromium: the service, or this one.
    pub own: Duration,
    /// Processor time of its template engines, those that live and those that have ended.
    pub children: Duration,
}

impl Figures {
    /// The value below which `share` of the latencies lie, in milliseconds.
    pub fn percentile_ms(&self, share: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (last as f64 * share).round() as usize;
        sorted.get(at).map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    /// Documents a second.
    pub fn throughput(&self) -> f64 {
        self.count() / self.wall.as_secs_f64()
    }

    /// A processor time of the measurement by document, in milliseconds.
    pub fn a_document_ms(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1_000.0 / self.count()
    }

    fn count(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let count = self.latencies.len() as f64;
        count
    }
}

/// How many documents warm up before so many clients are measured.
pub fn warm_up(clients: usize) -> usize {
    clients.max(4)
}

/// Processor time of all processes of a group, those that have ended and were waited for included.
pub fn group_time(group: i32) -> Duration {
    members(group).filter_map(|name| ticks(&name, 11..15)).sum::<u32>() * second() / TICKS_A_SECOND
}

/// The ids of all processes of a group.
pub fn members(group: i32) -> impl Iterator<Item = String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(move |name| group_of(name) == Some(group))
}

/// A number of `/proc/*/status` that counts memory (`VmRSS:`: resident, `VmHWM:`: the most so far), in MiB.
pub fn memory_mb(process: &str, which: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

/// Processor time of this process.
pub fn own_time() -> Duration {
    process_time(std::process::id())
}

/// Processor time of a process alone.
pub fn process_time(id: u32) -> Duration {
    ticks(&id.to_string(), 11..13).unwrap_or(0) * second() / TICKS_A_SECOND
}

/// Processor time of a process' children that it has waited for, all of them, and of its `children` that it
/// has not waited for.
pub fn children_time(id: u32, children: impl Fn() -> Vec<u32>) -> Duration {
    let ended = || ticks(&id.to_string(), 13..15).unwrap_or(0);
    loop {
        let before = ended();
        let living: u32 = children().iter().filter_map(|child| ticks(&child.to_string(), 11..13)).sum();
        // One that ended in between would be counted twice or not at all.
        if ended() == before {
            return (before + living) * second() / TICKS_A_SECOND;
        }
    }
}

/// The name of a process' program (at most 15 letters), also when the process has ended and nobody waited
/// for it.
pub fn program_name(id: u32) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(line.split_once('(')?.1.rsplit_once(") ")?.0.to_owned())
}

fn second() -> Duration {
    Duration::from_secs(1)
}

fn group_of(process: &str) -> Option<i32> {
    fields(process)?.get(2)?.parse().ok()
}

/// The sum of some of the times in `/proc/*/stat`: 11 and 12 are user and system time of the process, 13 and
/// 14 of its children that were waited for.
fn ticks(process: &str, which: std::ops::Range<usize>) -> Option<u32> {
    Some(fields(process)?.get(which)?.iter().filter_map(|field| field.parse::<u32>().ok()).sum())
}

/// The fields behind the program's name.
fn fields(process: &str) -> Option<Vec<String>> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(line.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}
