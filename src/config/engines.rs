//! Engines: what their steps may leave for each other.

use serde::Deserialize;

use super::Faults;

/// Section `[engines]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnginesConfig {
    /// Largest file between two steps of a job.
    pub work_limit_mb: u64,
}

impl EnginesConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("engines.work_limit_mb", self.work_limit_mb, 1, 1 << 20);
    }
}
