//! Formats: what TeX knows when it begins. Those of its programs, unpacked once, and those of preambles that come again.
//!
//! They lie beside the folders of jobs, closed to all writing; a run reads the one that it begins with. Nothing of them
//! outlives the service: what a killed one leaves is removed by the next.

mod ahead;
mod base;
mod make;
mod preamble;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) use self::ahead::{Ahead, Beginning, PreambleRequest};
use self::base::BaseFormat;
pub(super) use self::preamble::EarlyTag;
use crate::domain::format_opts::TexProgram;
use crate::workers::{Bounds, Profile, Programs, SharedFile};

/// All that there are.
#[derive(Debug, Default)]
pub(super) struct Formats {
    pdflatex: BaseFormat,
    lualatex: BaseFormat,
    xelatex: BaseFormat,
}

impl Formats {
    /// The one that `program` comes with, unpacked; none where it has to do that itself.
    pub async fn base(&self, programs: &Programs, program: TexProgram) -> Option<Arc<SharedFile>> {
        let base = match program {
            TexProgram::Pdflatex => &self.pdflatex,
            TexProgram::Lualatex => &self.lualatex,
            TexProgram::Xelatex => &self.xelatex,
        };
        base.file(programs, program).await
    }
}

/// What pdflatex runs with for a document.
#[derive(Clone)]
pub(super) struct Setting {
    pub programs: Programs,
    pub profile: Arc<Profile>,
    pub bounds: Bounds,
    /// What is set before the author's file.
    pub set: &'static str,
    /// What the program begins with, where no preamble was read ahead.
    pub base: Option<Arc<SharedFile>>,
}

/// What tells `program` to begin with `format`; it is still called by its own name, by which it finds its settings.
pub(super) fn arguments(program: TexProgram, format: &SharedFile) -> Vec<String> {
    vec![format!("-progname={}", program.name()), format!("-fmt={}", format.path().display())]
}

/// What a run may reach that begins with `format`: that one beside all else.
pub(super) fn profile(profile: &Profile, format: &SharedFile) -> Profile {
    let read = profile.read.iter().map(PathBuf::as_path).chain([format.path()]).map(Path::to_owned).collect();
    Profile { read, ..profile.clone() }
}
