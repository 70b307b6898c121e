//! PDF in, pictures of its pages out, each a file or all on the slides of a presentation, in a child of its own: the protocol, and how the child is started.
//!
//! ```text
//! child    find fonts ─► only compute ─► ready        want ─► want ─►        part ─► part ─► done ─► ready …
//! service                                    job ─►    chunk ─► chunk, nothing
//! ```
//!
//! The document comes in chunks that the child asks for, and the pictures go in parts, so that the service holds neither
//! whole. Once the child computes only it opens nothing: the files of the machine's fonts are open by then.

mod serve;

use std::path::PathBuf;

pub use pdf_raster::{Format, PageRange, RasterError, Selection};
use serde::{Deserialize, Serialize};

use super::spec::{ChildSpec, User};

pub(super) use serve::run;

/// The sub-command of our binary that is this child.
pub const COMMAND: &str = "raster-child";

/// What the child asks for to get the next chunk of the document; behind the last one it gets nothing.
pub const DOCUMENT: &str = "document";

/// Longest part of what it makes.
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
    /// Processor time of its whole life: a net under the deadline, should the service not be there to keep it.
    pub cpu_s: u64,
}

/// Pictures to make; the document is asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RasterJob {
    /// Of which pages.
    pub selection: Selection,
    /// Dots an inch; where nothing is said, as many as make a picture as sharp as a large screen shows it.
    pub dpi: Option<u16>,
    /// What they become.
    pub output: Output,
}

/// What pictures become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Files, each by itself.
    Pictures(Format),
    /// One presentation: a slide each, with the page's text.
    Slides,
}

/// What came of it. Of one picture the parts are the file, of several an archive of the files, or they are the presentation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rastered {
    /// All of it is there.
    Made {
        /// How many pages the document has.
        pages: u32,
        /// How many pictures were made.
        pictures: u32,
        /// What whoever made the document should know.
        warnings: Vec<String>,
    },
    /// The document, or what is wanted of it, is not for it.
    Failed(RasterError),
    /// The document did not come, or the parts could not be said; for the log.
    Broken(String),
}

/// The child's spec: it reads the machine's fonts.
pub fn raster_child(limits: &RasterLimits, user: Option<User>) -> ChildSpec {
    let mut spec = ChildSpec::computing(COMMAND, limits, user, (limits.cpu_s, OPEN_FILES));
    if let Some(cage) = &mut spec.cage {
        cage.read.extend(limits.font_dirs.iter().cloned());
    }
    // One arena, so that what is freed is used again.
    spec.variable("MALLOC_ARENA_MAX", "1")
}
