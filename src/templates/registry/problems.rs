//! The problems that a caller gets with a template, each with its remedy, and what a record must be for a request.

use super::record::{Content, TemplateRecord};
use crate::domain::ids::TemplateId;
use crate::domain::kinds::TemplateKind;
use crate::problem::{Code, Problem};
use crate::storage::StoreError;

/// There is none, or it is another account's and not public: the answer is the same, or callers could probe for ids.
pub(in crate::templates) fn not_found(template: TemplateId) -> Problem {
    let detail = format!(
        "There is no template '{template}' of yours: it never was, was deleted, was used up by an update, or is not \
         public any more. GET /templates lists those you have."
    );
    Problem::new(Code::TemplateNotFound, detail)
}

/// It has no files.
pub(in crate::templates) fn empty(template: TemplateId) -> Problem {
    let detail = format!(
        "Template '{template}' has no files: upload its archive to presignedTemplateUploadUrl, then unzip it by \
         PATCH /templates/{template}/unzip."
    );
    Problem::new(Code::TemplateArchiveInvalid, detail)
}

/// The record as one that is saved.
///
/// # Errors
/// `template_not_found`, `template_unfinished`.
pub(in crate::templates) fn saved(
    record: Option<TemplateRecord>,
    template: TemplateId,
) -> Result<TemplateRecord, Problem> {
    let record = record.ok_or_else(|| not_found(template))?;
    if !record.unfinished {
        return Ok(record);
    }
    let detail = format!(
        "Template '{template}' is not saved yet: upload it, unzip it, render its previews and save it by POST \
         /templates/{template}."
    );
    Err(Problem::new(Code::TemplateUnfinished, detail))
}

/// The record as one to which files may be uploaded: one that is not saved.
///
/// # Errors
/// `upload_closed`.
pub(in crate::templates) fn takes_uploads(
    record: Option<TemplateRecord>,
    template: TemplateId,
) -> Result<TemplateRecord, Problem> {
    let detail = match record {
        Some(record) if record.unfinished => return Ok(record),
        Some(_) => format!(
            "Template '{template}' is saved and takes no uploads. Get a new id by GET /templates/init, upload to that \
             one, and name it as contentId in PUT /templates/{template}."
        ),
        None => {
            format!("Template '{template}' is not there any more. Begin a new one by GET /templates/init.")
        }
    };
    Err(Problem::new(Code::UploadClosed, detail))
}

/// Whether the entry has a text that can be read and replaced.
///
/// # Errors
/// `entry_not_text` when it is an Office file.
pub(in crate::templates) fn text_entry(content: &Content) -> Result<(), Problem> {
    match content.kind {
        TemplateKind::Framework | TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Latex => Ok(()),
        TemplateKind::Docx | TemplateKind::Xlsx | TemplateKind::Pptx => {
            let entry = &content.entry;
            let detail = format!(
                "The template's entry is the Office file '{entry}', which has no text to read or replace; upload the \
                 changed file under a new id and update the template."
            );
            Err(Problem::new(Code::EntryNotText, detail))
        }
    }
}

/// Why an object that a record names cannot be had. That it is not there is the service's error, not the caller's.
pub(in crate::templates) fn lost(error: StoreError) -> Problem {
    match error {
        StoreError::NotFound(path) => Problem::internal(format!("the object {path} of a template is lost")),
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
    }
}
