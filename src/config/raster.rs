//! Pictures of a PDF's pages, drawn in caged child processes.

use std::path::Path;

use serde::Deserialize;

use super::Faults;

/// Section `[raster]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RasterConfig {
    /// Where fonts are looked for that a PDF names and does not have.
    pub font_dirs: Vec<String>,
    /// Memory of a PDF and its pictures.
    pub memory_limit_mb: u64,
    /// Pixels of one picture.
    pub picture_limit_pixels: u64,
    /// Pictures of one PDF.
    pub pages_limit: u64,
    /// Until a PDF has become pictures.
    pub timeout_ms: u64,
    /// So much longer for each page.
    pub page_timeout_ms: u64,
    /// Processor time after which a job goes on when nobody else has use for the processor.
    pub yield_after_ms: u64,
    /// Until a started process is ready for its job.
    pub start_timeout_ms: u64,
    /// Processes started ahead.
    pub spares: u64,
    /// Processes that wait for a further job of the account they worked for.
    pub kept: u64,
    /// Jobs that one process does.
    pub child_jobs: u64,
}

impl RasterConfig {
    pub(super) fn validate(&self, faults: &mut Faults) {
        for folder in self.font_dirs.iter().filter(|folder| !Path::new(folder).is_absolute()) {
            let detail = format!("'{folder}' is not absolute; give the whole path of a folder with fonts");
            faults.add("raster.font_dirs", detail);
        }
        faults.within("raster.memory_limit_mb", self.memory_limit_mb, 64, 65_536);
        // An A4 page at 72 dots an inch has half a million.
        faults.within("raster.picture_limit_pixels", self.picture_limit_pixels, 1 << 19, 1 << 30);
        faults.within("raster.pages_limit", self.pages_limit, 1, 100_000);
        faults.within("raster.timeout_ms", self.timeout_ms, 100, 600_000);
        faults.within("raster.page_timeout_ms", self.page_timeout_ms, 0, 600_000);
        faults.within("raster.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        faults.within("raster.start_timeout_ms", self.start_timeout_ms, 100, 600_000);
        faults.within("raster.spares", self.spares, 0, 64);
        faults.within("raster.kept", self.kept, 0, 256);
        faults.within("raster.child_jobs", self.child_jobs, 1, 10_000);
    }
}
