//! Processor time of a peer: its program's own, and that of the browsers it has started, in whatever group.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

/// The clock of `/proc/*/stat`, in ticks a second.
const TICKS_A_SECOND: u32 = 100;

/// What a process and all below it have used.
pub struct Used {
    /// Of browsers, those that have ended and were waited for included.
    pub chromium: Duration,
    /// Of everything else.
    pub own: Duration,
}

struct Process {
    id: u32,
    parent: u32,
    is_chromium: bool,
    /// Its own ticks.
    own: u32,
    /// The ticks of its children that it has waited for.
    ended: u32,
}

/// What a process has used that is not Chromium, and all processes below it.
pub fn used_below(id: u32) -> Used {
    let processes: Vec<Process> =
        fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| read(&entry)).collect();
    let mut members = HashSet::from([id]);
    // A parent may stand behind its child in the list.
    while processes.iter().any(|process| members.contains(&process.parent) && members.insert(process.id)) {}
    let members = || processes.iter().filter(|process| members.contains(&process.id));
    let own: u32 = members().filter(|process| !process.is_chromium).map(|process| process.own).sum();
    let all: u32 = members().map(|process| process.own + process.ended).sum();
    let time = |ticks| Duration::from_secs(1) * ticks / TICKS_A_SECOND;
    Used { chromium: time(all - own), own: time(own) }
}

fn read(entry: &fs::DirEntry) -> Option<Process> {
    let id = entry.file_name().to_str()?.parse().ok()?;
    let line = fs::read_to_string(entry.path().join("stat")).ok()?;
    let (head, fields) = line.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Process {
        id,
        parent: fields.get(1)?.parse().ok()?,
        is_chromium: head.split_once('(')?.1.starts_with("chrom"),
        own: ticks(11)? + ticks(12)?,
        ended: ticks(13)? + ticks(14)?,
    })
}
