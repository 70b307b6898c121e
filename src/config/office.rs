//! Office templates, and LibreOffice, which makes pages of them.

use serde::Deserialize;

use super::{SettingErrors, Start};

/// Section `[office]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfficeConfig {
    /// Tags in a template.
    pub tags_limit: u64,
    /// Nesting of elements in a part of an Office template.
    pub depth_limit: u64,
    /// Elements in all parts of a template that have tags.
    pub elements_limit: u64,
    /// Attributes of an element in a template.
    pub attributes_limit: u64,
    /// Repetitions of all sections of a template together.
    pub items_limit: u64,
    /// Slides of a presentation, or sheets of a workbook, when it is filled.
    pub slides_limit: u64,
    /// Parts that repeated sections of a Word template have of their own: headers, charts, embedded files.
    pub parts_limit: u64,
    /// Pictures of a document that are fetched from hosts of `outbound.allow`; one address counts once.
    pub pictures_limit: u64,
    /// Largest of these pictures.
    pub picture_limit_bytes: u64,
    /// Longest time to fetch all pictures of a document.
    pub pictures_timeout_ms: u64,
    /// When LibreOffice is started.
    pub start: Start,
    /// Longest time for a started LibreOffice to be ready.
    pub start_timeout_ms: u64,
    /// Longest time for LibreOffice to convert a document; then the document fails.
    pub timeout_ms: u64,
    /// Memory that a document may take in LibreOffice, besides what LibreOffice takes itself.
    pub memory_limit_mb: u64,
    /// A LibreOffice is replaced after so many documents, one at a time; it serves until its successor is ready, so
    /// there is one more meanwhile.
    pub server_documents: u64,
    /// A LibreOffice that holds so much memory between two documents is replaced in the same way.
    pub server_memory_limit_mb: u64,
}

impl OfficeConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        errors.within("office.tags_limit", self.tags_limit, 1, 1_000_000);
        // Each level takes stack.
        errors.within("office.depth_limit", self.depth_limit, 32, 1_000);
        // Each takes 40 bytes.
        errors.within("office.elements_limit", self.elements_limit, 1_000, 100_000_000);
        errors.within("office.attributes_limit", self.attributes_limit, 32, 100_000);
        errors.within("office.items_limit", self.items_limit, 1, 100_000_000);
        errors.within("office.slides_limit", self.slides_limit, 1, 100_000);
        errors.within("office.parts_limit", self.parts_limit, 0, 60_000);
        errors.within("office.pictures_limit", self.pictures_limit, 0, 10_000);
        errors.within("office.picture_limit_bytes", self.picture_limit_bytes, 1_024, 1 << 30);
        errors.within("office.pictures_timeout_ms", self.pictures_timeout_ms, 100, 600_000);
        errors.within("office.start_timeout_ms", self.start_timeout_ms, 1_000, 600_000);
        errors.within("office.timeout_ms", self.timeout_ms, 1, 3_600_000);
        errors.within("office.memory_limit_mb", self.memory_limit_mb, 16, 1 << 20);
        errors.within("office.server_documents", self.server_documents, 1, 1_000_000);
        errors.within("office.server_memory_limit_mb", self.server_memory_limit_mb, 128, 1 << 20);
    }
}
