//! Processor time as the system counts it.

use std::fs;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

/// The clock of `/proc/*/stat`, in ticks a second.
const TICKS_A_SECOND: u32 = 100;

/// `/proc/PID/stat` of a process, also of a zombie.
pub struct Stat {
    /// The name of its program, at most 15 letters.
    pub program: String,
    /// The fields behind the name.
    fields: Vec<String>,
}

impl Stat {
    /// Looks at a process.
    pub fn of(id: u32) -> Option<Self> {
        let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (head, fields) = line.rsplit_once(") ")?;
        let program = head.split_once('(')?.1.to_owned();
        Some(Self { program, fields: fields.split(' ').map(str::to_owned).collect() })
    }

    /// One of the fields behind the name: 0 is its state, 1 its parent, 2 its group, 19 when it was started.
    pub fn number<T: FromStr>(&self, at: usize) -> Option<T> {
        self.fields.get(at)?.parse().ok()
    }

    /// Its own time, of user and system.
    pub fn own_time(&self) -> Duration {
        self.time(11..13)
    }

    /// The time of its children that it has waited for, of user and system.
    pub fn ended_time(&self) -> Duration {
        self.time(13..15)
    }

    fn time(&self, which: Range<usize>) -> Duration {
        let fields = self.fields.get(which).into_iter().flatten();
        let ticks: u32 = fields.filter_map(|field| field.parse::<u32>().ok()).sum();
        Duration::from_secs(1) * ticks / TICKS_A_SECOND
    }
}

/// All processes, by their ids.
pub fn processes() -> impl Iterator<Item = (u32, Stat)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, Stat::of(id)?)))
}

/// All processes of a group, by their ids.
pub fn members(group: i32) -> impl Iterator<Item = (u32, Stat)> {
    processes().filter(move |(_, stat)| stat.number(2) == Some(group))
}

/// Processor time of all processes of a group, those that have ended and were waited for included.
pub fn group_time(group: i32) -> Duration {
    members(group).map(|(_, stat)| stat.own_time() + stat.ended_time()).sum()
}

/// Processor time of this process.
pub fn own_time() -> Duration {
    process_time(std::process::id())
}

/// Processor time of a process alone.
pub fn process_time(id: u32) -> Duration {
    Stat::of(id).map(|stat| stat.own_time()).unwrap_or_default()
}

/// Processor time of a process' children that it has waited for, all of them, and of its `children` that it
/// has not waited for.
pub fn children_time(id: u32, children: impl Fn() -> Vec<u32>) -> Duration {
    let ended = || Stat::of(id).map(|stat| stat.ended_time());
    loop {
        let before = ended();
        let living: Duration = children().into_iter().map(process_time).sum();
        // One that ended in between would be counted twice or not at all.
        if ended() == before {
            return before.unwrap_or_default() + living;
        }
    }
}

/// A service's template engines: its children that are no browser. One that has ended still has its name.
pub fn engines(service: u32) -> Vec<u32> {
    let is_engine = |stat: &Stat| stat.number(1) == Some(service) && !stat.program.contains("chrom");
    processes().filter(|(_, stat)| is_engine(stat)).map(|(id, _)| id).collect()
}
