//! Pictures of a PDF's pages, drawn in caged child processes.

use std::path::Path;

use serde::Deserialize;

use super::SettingErrors;

/// Section `[raster]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RasterConfig {
    /// Folders of fonts for PDFs that name a font and do not embed it; the processes that draw pictures may read
    /// them.
    pub font_dirs: Vec<String>,
    /// Memory of a PDF and its pictures.
    pub memory_limit_mb: u64,
    /// Pixels of one picture.
    pub picture_limit_pixels: u64,
    /// Pictures of one PDF.
    pub pages_limit: u64,
    /// Longest time to draw the pictures of a PDF.
    pub timeout_ms: u64,
    /// Added to `timeout_ms` for each page.
    pub page_timeout_ms: u64,
    /// Processor time after which a job has low priority, and after ten times that the lowest while another program works.
    pub yield_after_ms: u64,
    /// Longest time for a started process to be ready.
    pub start_timeout_ms: u64,
    /// Idle processes started ahead; with 0, the first pictures wait for a start.
    pub spares: u64,
    /// Idle processes kept for a further job of their account.
    pub kept: u64,
    /// Jobs that one process does.
    pub child_jobs: u64,
}

impl RasterConfig {
    pub(super) fn validate(&self, errors: &mut SettingErrors) {
        for folder in self.font_dirs.iter().filter(|folder| !Path::new(folder).is_absolute()) {
            let detail = format!("'{folder}' is not absolute; give the whole path of a folder with fonts");
            errors.add("raster.font_dirs", detail);
        }
        errors.within("raster.memory_limit_mb", self.memory_limit_mb, 64, 65_536);
        // An A4 page at 72 dots an inch has half a million.
        errors.within("raster.picture_limit_pixels", self.picture_limit_pixels, 1 << 19, 1 << 30);
        errors.within("raster.pages_limit", self.pages_limit, 1, 100_000);
        errors.within("raster.timeout_ms", self.timeout_ms, 100, 600_000);
        errors.within("raster.page_timeout_ms", self.page_timeout_ms, 0, 600_000);
        errors.within("raster.yield_after_ms", self.yield_after_ms, 1, 86_400_000);
        errors.within("raster.start_timeout_ms", self.start_timeout_ms, 100, 600_000);
        errors.within("raster.spares", self.spares, 0, 64);
        errors.within("raster.kept", self.kept, 0, 256);
        errors.within("raster.child_jobs", self.child_jobs, 1, 10_000);
    }
}
