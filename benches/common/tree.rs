//! A process with all that it started, as `/proc` shows it.

use crate::common::usage::{Stat, processes};

/// A process and all its descendants, by their ids.
pub fn tree(root: u32) -> Vec<(u32, Stat)> {
    let mut all: Vec<(u32, Stat)> = processes().collect();
    let mut found: Vec<(u32, Stat)> = all.extract_if(.., |(id, _)| *id == root).collect();
    let mut at = 0;
    while let Some(parent) = found.get(at).map(|(id, _)| *id) {
        found.extend(all.extract_if(.., |(_, stat)| stat.number(1) == Some(parent)));
        at += 1;
    }
    found
}
