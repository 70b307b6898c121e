//! Processor time of a service with all its processes.

use std::time::Duration;

use crate::common::usage::{Stat, processes};

/// Processor time of a process and all its descendants: an ended child counts with the parent that waited for it; one that
/// was not waited for yet is still listed itself.
pub fn tree_time(root: u32) -> Duration {
    let all: Vec<(u32, Stat)> = processes().collect();
    let (mut time, mut open) = (Duration::ZERO, vec![root]);
    while let Some(parent) = open.pop() {
        let own = all.iter().find(|(id, _)| *id == parent);
        time += own.map(|(_, stat)| stat.own_time() + stat.ended_time()).unwrap_or_default();
        open.extend(all.iter().filter(|(_, stat)| stat.number(1) == Some(parent)).map(|(id, _)| *id));
    }
    time
}
