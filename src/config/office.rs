//! Office templates.

use serde::Deserialize;

use super::Faults;

/// Section `[office]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfficeConfig {
    /// Tags in a template.
    pub tags_limit: u64,
    /// Elements inside of elements in a part of a template.
    pub depth_limit: u64,
}

impl OfficeConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("office.tags_limit", self.tags_limit, 1, 1_000_000);
        // Each level takes stack.
        faults.within("office.depth_limit", self.depth_limit, 32, 1_000);
    }
}
