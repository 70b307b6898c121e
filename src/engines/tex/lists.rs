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
    pub async fn wanted(&self, output: &RunOutput<'_>) -> Vec<List> {
        let known = self.0.keys().map(String::as_str);
        let mut lists = bibliography::lists(output, known).await;
        lists.extend(index::lists(output).await);
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
            let remarks = remarks(program, &name, &finished).await;
            let content = finished.read(&name, LIST_BYTES).await.unwrap_or_default();
            let error = remarks.iter().find(|remark| remark.is_error);
            if let Some(error) = error.filter(|_| !program.has_entries(&content)) {
                let error = JobError::new(ErrorCode::TemplateError, sentence(error, session.folder));
                return Err(TexError::Step(error.into()));
            }
            if content.is_empty() && error.is_none() && program.failed(&finished) {
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

async fn remarks(program: ListProgram, list: &str, finished: &Finished) -> Vec<Remark> {
    match program {
        ListProgram::Bibtex => tex_log::of_bibtex(&finished.stdout),
        ListProgram::Biber => tex_log::of_biber(&finished.stdout),
        ListProgram::Makeindex => index::remarks(list, finished).await,
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
