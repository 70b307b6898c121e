//! One job in memory: its actor, its run, what it reports to the registry, which alone asks it.

pub(super) mod actor;
pub(super) mod attempt;
pub(super) mod notices;
