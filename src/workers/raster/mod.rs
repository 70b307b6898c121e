//! The protocol of the child that draws pages of a PDF, as picture files or as slides of a presentation, and how it is
//! started. `engines/raster` and `engines/pandoc` use it.
//!
//! ```text
//! child    find fonts ─► only compute ─► ready        want ─► want ─►        part ─► part ─► done ─► ready …
//! service                                    job ─►    chunk ─► chunk, nothing
//! ```
//!
//! The child asks for the document in chunks and sends the pictures in parts, so that the service holds neither whole. Once it
//! may only compute it can open no file, so it opens the machine's fonts before.

mod serve;

use std::path::PathBuf;

pub use pdf_raster::{Format, PageRange, RasterError, Selection};
use serde::{Deserialize, Serialize};

use super::spec::{ChildSpec, User};

pub(super) use serve::run;

/// The sub-command of our binary that is this child.
pub const COMMAND: &str = "raster-child";

/// The name by which the child asks for the next chunk of the document; an empty one is the end.
pub const DOCUMENT: &str = "document";

/// Longest part of the output.
pub const PART_LIMIT_BYTES: usize = 256 << 10;

/// Files that are open at once: fonts, and a few of its own.
const OPEN_FILES: u64 = 2_048;

/// What a child may use.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RasterLimits {
    /// Memory of a document and its pictures (`raster.memory_limit_mb`).
    pub memory_bytes: u64,
    /// Pixels of a picture (`raster.picture_limit_pixels`).
    pub picture_pixels: u64,
    /// Pictures of a document (`raster.pages_limit`).
    pub pages: u32,
    /// Where the machine's fonts are (`raster.font_dirs`).
    pub font_dirs: Vec<PathBuf>,
    /// Processor time of the child's whole life, in case the service dies and cannot enforce the deadline.
    pub cpu_s: u64,
}

/// Pictures to make; the child asks for the document.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RasterJob {
    /// The pages.
    pub selection: Selection,
    /// Dots per inch; `None`: as sharp as a large screen can show.
    pub dpi: Option<u16>,
    /// The kind of output.
    pub output: RasterOutput,
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RasterOutput {
    /// Files, each by itself.
    Pictures(Format),
    /// One presentation: a slide each, with the page's text.
    Slides,
}

/// The result of a [`RasterJob`]. The parts are one picture's file, a zip archive of several, or the presentation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rastered {
    /// All parts were sent.
    Made {
        /// How many pages the document has.
        pages: u32,
        /// How many pictures were made.
        pictures: u32,
        /// Warnings for the document's author.
        warnings: Vec<String>,
    },
    /// An error in the document or the options.
    Failed(RasterError),
    /// The document could not be received, or a part not be sent; for the log.
    Broken(String),
}

/// The child's spec: it reads the machine's fonts.
pub fn raster_child(limits: &RasterLimits, user: Option<User>) -> ChildSpec {
    let mut spec = ChildSpec::computing(COMMAND, limits, user, (limits.cpu_s, OPEN_FILES));
    if let Some(cage) = &mut spec.cage {
        cage.read.extend(limits.font_dirs.iter().cloned());
    }
    // With one arena freed memory is reused.
    spec.variable("MALLOC_ARENA_MAX", "1")
}
