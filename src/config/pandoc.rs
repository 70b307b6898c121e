//! HTML and Word of LaTeX, made by pandoc in caged child processes.

use serde::Deserialize;

use super::Faults;

/// Section `[pandoc]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PandocConfig {
    /// Until pandoc has made a document; then it is killed.
    pub timeout_ms: u64,
    /// Memory of a run.
    pub memory_limit_mb: u64,
    /// Processor time of a run.
    pub processor_limit_s: u64,
    /// What a document may have on the disk.
    pub files_limit_mb: u64,
    /// Files and folders of a document.
    pub files_limit: u64,
    /// What a run may print beside its log.
    pub printed_limit_bytes: u64,
}

impl PandocConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        faults.within("pandoc.timeout_ms", self.timeout_ms, 100, 3_600_000);
        // The program itself is large.
        faults.within("pandoc.memory_limit_mb", self.memory_limit_mb, 256, 1 << 20);
        faults.within("pandoc.processor_limit_s", self.processor_limit_s, 1, 3_600);
        faults.within("pandoc.files_limit_mb", self.files_limit_mb, 16, 1 << 20);
        faults.within("pandoc.files_limit", self.files_limit, 64, 1_000_000);
        faults.within("pandoc.printed_limit_bytes", self.printed_limit_bytes, 1_024, 1 << 30);
    }
}
