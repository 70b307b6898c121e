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
    /// Elements in all parts of a template that have tags.
    pub elements_limit: u64,
    /// Attributes of an element in a template.
    pub attributes_limit: u64,
    /// Repetitions of all sections of a template together.
    pub items_limit: u64,
    /// Pictures of a document that are fetched from addresses.
    pub pictures_limit: u64,
    /// Largest one of them.
    pub picture_limit_bytes: u64,
    /// Until all of them are there.
    pub pictures_timeout_ms: u64,
}

impl OfficeConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("office.tags_limit", self.tags_limit, 1, 1_000_000);
        // Each level takes stack.
        faults.within("office.depth_limit", self.depth_limit, 32, 1_000);
        // Each takes 40 bytes.
        faults.within("office.elements_limit", self.elements_limit, 1_000, 100_000_000);
        faults.within("office.attributes_limit", self.attributes_limit, 32, 100_000);
        faults.within("office.items_limit", self.items_limit, 1, 100_000_000);
        faults.within("office.pictures_limit", self.pictures_limit, 0, 10_000);
        faults.within("office.picture_limit_bytes", self.picture_limit_bytes, 1_024, 1 << 30);
        faults.within("office.pictures_timeout_ms", self.pictures_timeout_ms, 100, 600_000);
    }
}
