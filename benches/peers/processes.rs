//! Processor time of a peer: its program's own, and that of the browsers it has started, in whatever group.

use std::collections::HashSet;

use crate::common::figures::Used;
use crate::common::usage::{Stat, processes};

/// Processor time of a process and of all below it. That of ended children counts as a browser's.
pub fn used_below(id: u32) -> Used {
    let processes: Vec<(u32, Stat)> = processes().collect();
    let mut members = HashSet::from([id]);
    let mut joins = |(id, stat): &(u32, Stat)| {
        stat.number(1).is_some_and(|parent| members.contains(&parent)) && members.insert(*id)
    };
    // A parent may come after its child in the list.
    while processes.iter().any(&mut joins) {}
    let mut used = Used::default();
    for (_, stat) in processes.iter().filter(|(id, _)| members.contains(id)) {
        used.chromium += stat.ended_time();
        let is_chromium = stat.program.starts_with("chrom");
        *(if is_chromium { &mut used.chromium } else { &mut used.own }) += stat.own_time();
    }
    used
}
