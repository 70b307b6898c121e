//! Processor time of a service with all its processes.

use std::time::Duration;

use crate::common::tree::tree;

/// Processor time of a process and all its descendants: an ended child counts with the parent that waited for it; one that
/// was not waited for yet is still listed itself.
pub fn tree_time(root: u32) -> Duration {
    tree(root).iter().map(|(_, stat)| stat.own_time() + stat.ended_time()).sum()
}
