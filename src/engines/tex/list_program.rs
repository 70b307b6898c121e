//! The programs that make lists between two runs of TeX: what each needs, how it runs, and how it ends. Beside them a list to
//! be made, and the run of TeX in whose output it is found.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use bytes::Bytes;
use tex_log::Report;

use super::folder::Folder;
use super::needs;
use crate::engines::requirement::Requirement;
use crate::workers::{Finished, ProgramRun};

/// The longest input of a list, and the longest list, that is read.
pub(super) const LIST_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListProgram {
    Bibtex,
    Biber,
    Makeindex,
}

impl ListProgram {
    /// What must be installed for it.
    pub fn requirement(self) -> &'static Requirement {
        match self {
            Self::Bibtex => &needs::BIBTEX,
            Self::Biber => &needs::BIBER,
            Self::Makeindex => &needs::MAKEINDEX,
        }
    }

    /// The run with the program's own sandbox profile and environment.
    pub fn sandboxed(self, mut run: ProgramRun, zone: &str) -> ProgramRun {
        match self {
            Self::Bibtex => {
                // From TeX Live 2023 on (Debian 13) BibTeX takes the width of its lines from there as well, and ends at once
                // ("3 is a bad bad") where that is not below its own 20,000 bytes.
                run.environment.remove("max_print_line");
                run
            }
            Self::Makeindex => {
                // It finds its styles in TeX's tree by absolute paths, which `openin_any=p` forbids. It reads nothing but
                // its arguments, and all of those are inside the folder.
                run.environment.insert("openin_any".to_owned(), "r".to_owned());
                run
            }
            Self::Biber => ProgramRun {
                profile: Arc::new(needs::biber_profile()),
                environment: needs::biber_environment(zone),
                ..run
            },
        }
    }

    /// Whether the list has an entry; each style has its own command for one.
    pub fn has_entries(self, content: &[u8]) -> bool {
        let commands: &[&str] = match self {
            Self::Bibtex => &["item", "\\bib{", "\\entry{"],
            Self::Biber => &["\\entry{"],
            Self::Makeindex => return !content.is_empty(),
        };
        commands.iter().any(|command| memchr::memmem::find(content, command.as_bytes()).is_some())
    }

    /// Whether the program ended badly: BibTeX ends with 1 where it has warnings, and with 2 where it has errors.
    pub fn failed(self, finished: &Finished) -> bool {
        match self {
            Self::Bibtex => !matches!(finished.status.code(), Some(0..=2)),
            Self::Biber | Self::Makeindex => !finished.status.success(),
        }
    }
}

/// A list to be made.
#[derive(Debug)]
pub(super) struct List {
    pub program: ListProgram,
    pub arguments: Vec<String>,
    /// The file that it is written into.
    pub name: String,
    /// A hash of its input: the list is made again when this changes.
    pub input: u64,
}

/// The output of a run of TeX, in which lists are searched, on a blocking thread: the document decides how long it is.
pub(super) struct RunOutput<'r> {
    pub folder: &'r Folder<'r>,
    pub finished: &'r Finished,
    pub report: &'r Report,
    /// The main `.aux`.
    pub aux: Bytes,
}

impl RunOutput<'_> {
    /// A file in the folder of the job; empty where it is missing or cannot be read.
    pub fn file(&self, name: &str) -> Bytes {
        self.finished.read_blocking(name, LIST_BYTES).unwrap_or_default()
    }
}

/// A hash of these parts.
pub(super) fn digest<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.into_iter().for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}
