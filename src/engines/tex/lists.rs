//! Lists that other programs make between two runs of TeX, in the same folder: bibliographies, indexes, glossaries.
//!
//! A list is made again when its input has changed, and then TeX runs again. Hazard: the document chooses the names of lists,
//! which become arguments. So only paths inside its folder are used, and none that could be an option (`is_inside`).

use std::collections::BTreeMap;

use tex_log::{About, Kind, Remark, Report};

use super::errors::{self, TexError};
use super::folder::Folder;
use super::list_program::{LIST_BYTES, List, ListProgram, RunOutput};
use super::session::TexSession;
use super::{bibliography, index, log};
use crate::domain::error::{ErrorCode, JobError};
use crate::engines::error::EngineError;
use crate::thread;
use crate::workers::Finished;

/// The lists of one document that were made so far.
#[derive(Default)]
pub(super) struct Lists(BTreeMap<String, MadeList>);

struct MadeList {
    input: u64,
    remarks: Vec<Remark>,
}

impl Lists {
    /// The lists that are new, or whose input has changed.
    pub fn wanted(&self, output: &RunOutput<'_>) -> Vec<List> {
        let known = self.0.keys().map(String::as_str);
        let mut lists = bibliography::lists(output, known);
        lists.extend(index::lists(output));
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
        for List { program, arguments, name, input } in lists {
            let requirement = program.requirement();
            if requirement.installed().is_none() {
                return Err(errors::missing_program(requirement).into());
            }
            let run = session.run(requirement.path(), arguments)?;
            finished = session.then(finished, program.sandboxed(run, session.zone)).await?;
            let made = ListRun::read(program, name, finished);
            let made = thread::on_blocking_thread(made).await.map_err(EngineError::from)?;
            let ListRun { name, remarks, is_empty, has_entries, .. } = made;
            finished = made.finished;
            let error = remarks.iter().find(|remark| remark.is_error);
            if let Some(error) = error.filter(|_| !has_entries) {
                let error = JobError::new(ErrorCode::TemplateError, sentence(error, session.folder));
                return Err(TexError::Step(error.into()));
            }
            if is_empty && error.is_none() && program.failed(&finished) {
                return Err(errors::no_list(requirement.name, &finished).into());
            }
            self.0.insert(name, MadeList { input, remarks });
        }
        Ok(finished)
    }

    /// The programs' messages about the last version of each list.
    pub fn into_remarks(self) -> Vec<Remark> {
        self.0.into_values().flat_map(|done| done.remarks).collect()
    }
}

/// A run that made a list, and what it left.
struct ListRun {
    finished: Finished,
    name: String,
    remarks: Vec<Remark>,
    is_empty: bool,
    has_entries: bool,
}

impl ListRun {
    /// Reads what a run has left, on a blocking thread: the document decides how long it is.
    fn read(program: ListProgram, name: String, finished: Finished) -> impl FnOnce() -> Self + Send {
        move || {
            let remarks = match program {
                ListProgram::Bibtex => tex_log::of_bibtex(&finished.stdout),
                ListProgram::Biber => tex_log::of_biber(&finished.stdout),
                ListProgram::Makeindex => index::remarks(&name, &finished),
            };
            let content = finished.read_blocking(&name, LIST_BYTES).unwrap_or_default();
            let (is_empty, has_entries) = (content.is_empty(), program.has_entries(&content));
            Self { finished, name, remarks, is_empty, has_entries }
        }
    }
}

/// Warnings about the lists. A missing entry is reported by TeX, too, with the line that cites it: then only that is reported.
pub(super) fn warnings(remarks: &[Remark], report: &mut Report, folder: &Folder<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    // The author cannot mend TeX's own styles.
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
        warnings.push(sentence(remark, folder));
    }
    warnings
}

fn sentence(remark: &Remark, folder: &Folder<'_>) -> String {
    let file = remark.file.as_deref().map(|file| folder.template_name(file).to_owned());
    let remedy = match &remark.about {
        About::MissingFile(name) => log::where_from(name),
        About::MissingEntry(_) | About::Other => String::new(),
    };
    format!("{}{remedy}", Remark { file, ..remark.clone() })
}
