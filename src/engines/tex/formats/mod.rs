//! Formats (`.fmt`), dumps of TeX's state from which a run starts: those of TeX's programs, unpacked once, and those of
//! preambles that several documents share.
//!
//! They are read-only files beside the folders of jobs; a run may read the one that it starts from. None outlives the
//! service: what a killed process leaves behind, the next start removes. Only `tex/mod.rs`, `session.rs` and `log.rs` use this.

mod base;
mod make;
mod preamble;
mod preamble_formats;
mod table;
mod tags;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) use self::base::BaseFormat;
pub(super) use self::preamble::EarlyTag;
pub(super) use self::preamble_formats::{PreambleFormats, PreambleRequest, PreloadedSource};
use crate::domain::format_opts::TexProgram;
use crate::workers::{Bounds, Programs, SandboxProfile, SharedFile};

/// How pdflatex runs for a document.
#[derive(Clone)]
pub(super) struct RunSetting {
    pub programs: Programs,
    pub profile: Arc<SandboxProfile>,
    pub bounds: Bounds,
    /// TeX code before the author's file.
    pub prelude: &'static str,
    /// The format where the preamble has none of its own.
    pub base: Option<Arc<SharedFile>>,
}

/// Options that start `program` from `format`. `-progname` stays the program's own name, by which it finds its settings.
pub(super) fn arguments(program: TexProgram, format: &SharedFile) -> Vec<String> {
    vec![format!("-progname={}", program.name()), format!("-fmt={}", format.path().display())]
}

/// The sandbox profile of a run that starts from `format`: it may read that, too.
pub(super) fn profile(profile: &SandboxProfile, format: &SharedFile) -> SandboxProfile {
    let read = profile.read.iter().map(PathBuf::as_path).chain([format.path()]).map(Path::to_owned).collect();
    SandboxProfile { read, ..profile.clone() }
}
