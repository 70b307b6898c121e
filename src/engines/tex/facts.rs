//! What must be known of a document before TeX runs: which program makes it, and what it says of programs.
//!
//! Hazard: a source may be 90 MB of line ends, and an archive may have ten thousand names. So all of it is looked at once, on a
//! thread for blocking work: the one that jobs share would keep all of them waiting.

use strum::VariantNames as _;

use super::choice::{self, ProgramChoice};
use super::first_file;
use super::folder::Folder;
use crate::domain::format_opts::TexProgram;
use crate::domain::shown::shortened;
use crate::domain::site::Site;
use crate::engines::error::EngineError;
use crate::thread;

/// What is known of a document.
pub(super) struct SourceFacts {
    /// TeX's job name.
    pub name: String,
    /// The program, and why.
    pub choice: ProgramChoice,
    /// It has letters that TeX's usual font lacks.
    pub has_foreign_letters: bool,
    /// The warning where the file names a program that there is not: it is ignored.
    pub unknown_program: Option<String>,
}

impl SourceFacts {
    /// Those of `site`; `asked` is the program in formatOpts.
    pub async fn of(site: &Site, asked: Option<TexProgram>) -> Result<Self, EngineError> {
        let (bytes, site) = (site.looked_at_bytes(), site.clone());
        Ok(thread::by_size(bytes, move || Self::read(&site, asked)).await?)
    }

    fn read(site: &Site, asked: Option<TexProgram>) -> Self {
        let folder = Folder::of(site);
        // The names that are composed are collected once for all clones of the site.
        let _ = site.names().count();
        let source = folder.source();
        let unknown = choice::named(&source).filter(|name| TexProgram::from_name(name).is_none());
        let known = TexProgram::VARIANTS.join(", ");
        let unknown_program = unknown
            .map(|name| format!("% !TeX program = {} was ignored; there are {known}", shortened(name)));
        Self {
            choice: ProgramChoice::of(asked, &source),
            has_foreign_letters: first_file::has_foreign_letters(&source),
            unknown_program,
            name: folder.name,
        }
    }
}
