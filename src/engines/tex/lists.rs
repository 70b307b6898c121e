//! Lists that other programs make between two runs of TeX, in the same folder: bibliographies, indexes, glossaries.
//!
//! A list is made when what it is made of is other than it was when it was made last, and then TeX runs again. Names of
//! lists come from the document: only those that lead down in its folder are taken, and none that could be an option.

use std::collections::BTreeMap;
use std::sync::Arc;

use tex_log::{About, Kind, Remark, Report};

use super::errors::{self, TexError};
use super::folder::Folder;
use super::list::{LIST_BYTES, List, Maker, RunOutput};
use super::session::TexSession;
use super::{bibliography, index, log, needs};
use crate::engines::requirement::Requirement;
use crate::workers::{Finished, ProgramRun};

/// The lists of one document that were made so far.
#[derive(Default)]
pub(super) struct Lists(BTreeMap<String, Done>);

/// A list that was made.
struct Done {
    input: u64,
    remarks: Vec<Remark>,
}

impl Lists {
    /// The lists that are to be made, or to be made anew.
    pub async fn wanted(&self, left: &RunOutput<'_>) -> Vec<List> {
        let known = self.0.keys().map(String::as_str);
        let mut lists = bibliography::lists(left, known).await;
        lists.extend(index::lists(left).await);
        lists.retain(|list| self.0.get(&list.name).is_none_or(|done| done.input != list.input));
        lists
    }

    /// Makes these.
    pub async fn make(
        &mut self,
        session: &TexSession<'_>,
        mut finished: Finished,
        lists: Vec<List>,
    ) -> Result<Finished, TexError> {
        for List { maker, arguments, name, input } in lists {
            let requirement = maker.requirement();
            if requirement.installed().is_none() {
                return Err(errors::lacking(requirement).into());
            }
            let run = session.run(requirement.path(), arguments)?;
            finished = session.then(finished, maker.caged(run, session.zone)).await?;
            let remarks = remarks(maker, &name, &finished).await;
            let content = finished.read(&name, LIST_BYTES).await.unwrap_or_default();
            let error = remarks.iter().find(|remark| remark.is_error);
            if let Some(error) = error.filter(|_| !maker.has_entries(&content)) {
                return Err(errors::unlisted(&sentence(error, session.folder)).into());
            }
            if content.is_empty() && error.is_none() && maker.failed(&finished) {
                return Err(errors::silent_list(requirement.name, &finished).into());
            }
            self.0.insert(name, Done { input, remarks });
        }
        Ok(finished)
    }

    /// What the programs said of the lists as they are now.
    pub fn into_remarks(self) -> Vec<Remark> {
        self.0.into_values().flat_map(|done| done.remarks).collect()
    }
}

impl Maker {
    fn requirement(self) -> &'static Requirement {
        match self {
            Self::Bibtex => &needs::BIBTEX,
            Self::Biber => &needs::BIBER,
            Self::Makeindex => &needs::MAKEINDEX,
        }
    }

    /// A run in the program's own cage: that of TeX does for what is TeX's.
    fn caged(self, mut run: ProgramRun, zone: &str) -> ProgramRun {
        match self {
            Self::Bibtex => run,
            Self::Makeindex => {
                // Its styles lie in TeX's tree, where it finds them by whole paths and would refuse these. It opens nothing
                // else than what it is told to, of which all is in the folder.
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

    /// Whether there is something in the list; styles have their own commands for an entry.
    fn has_entries(self, content: &[u8]) -> bool {
        let commands: &[&str] = match self {
            Self::Bibtex => &["item", "\\bib{", "\\entry{"],
            Self::Biber => &["\\entry{"],
            Self::Makeindex => return !content.is_empty(),
        };
        commands.iter().any(|command| memchr::memmem::find(content, command.as_bytes()).is_some())
    }

    /// Whether the program ended badly: BibTeX ends with 1 where it has warnings, and with 2 where it has errors.
    fn failed(self, finished: &Finished) -> bool {
        match self {
            Self::Bibtex => !matches!(finished.status.code(), Some(0..=2)),
            Self::Biber | Self::Makeindex => !finished.status.success(),
        }
    }
}

/// What the program said.
async fn remarks(maker: Maker, list: &str, finished: &Finished) -> Vec<Remark> {
    match maker {
        Maker::Bibtex => tex_log::of_bibtex(&finished.stdout),
        Maker::Biber => tex_log::of_biber(&finished.stdout),
        Maker::Makeindex => index::remarks(list, finished).await,
    }
}

/// What the author should know of the lists. That an entry is nowhere TeX says as well, and where it is cited: then that
/// is told, once.
pub(super) fn warnings(remarks: &[Remark], report: &mut Report, folder: &Folder<'_>) -> Vec<String> {
    let mut told = Vec::new();
    // What is wrong in TeX's own styles is none of the author's concern.
    let is_foreign = |remark: &&Remark| remark.file.as_ref().is_some_and(|file| file.starts_with('/'));
    for remark in remarks.iter().filter(|remark| !is_foreign(remark)) {
        if let About::MissingEntry(key) = &remark.about {
            let mut is_cited = false;
            for warning in &mut report.warnings {
                if matches!(&warning.kind, Kind::UndefinedCitation(cited) | Kind::MissingEntry(cited) if cited == key)
                {
                    warning.kind = Kind::MissingEntry(key.clone());
                    is_cited = true;
                }
            }
            if is_cited {
                continue;
            }
        }
        told.push(sentence(remark, folder));
    }
    told
}

fn sentence(remark: &Remark, folder: &Folder<'_>) -> String {
    let file = remark.file.as_deref().map(|file| folder.shown(file).to_owned());
    let remedy = match &remark.about {
        About::MissingFile(name) => log::where_from(name),
        About::MissingEntry(_) | About::Other => String::new(),
    };
    format!("{}{remedy}", Remark { file, ..remark.clone() })
}
