//! Why something is not done for a caller, in sentences that name the remedy.

use super::messages::TemplateRef;
use super::record::TemplateRecord;
use crate::domain::ids::TemplateId;
use crate::problem::{Code, Problem};

/// There is none, or it is nobody's business of this account.
pub(in crate::templates) fn not_found(template: TemplateId) -> Problem {
    let detail = format!(
        "There is no template '{template}' of yours: it never was, was deleted, was used up by an update, or is not \
         public any more. GET /templates lists those you have."
    );
    Problem::new(Code::TemplateNotFound, detail)
}

/// It was begun and not saved.
pub(in crate::templates) fn unfinished(template: TemplateId) -> Problem {
    let detail = format!(
        "Template '{template}' is not saved yet: upload it, unzip it, render its previews and save it by POST \
         /templates/{template}."
    );
    Problem::new(Code::TemplateUnfinished, detail)
}

/// It is another account's.
pub(in crate::templates) fn not_owner(template: TemplateId) -> Problem {
    let detail = format!(
        "Template '{template}' is public and another account's; clone it by POST /templates/{template}/clone and \
         change the clone."
    );
    Problem::new(Code::NotOwner, detail)
}

/// It has no files.
pub(in crate::templates) fn empty(template: TemplateId) -> Problem {
    let detail = format!(
        "Template '{template}' has no files: upload its archive to presignedTemplateUploadUrl, then unzip it by \
         PATCH /templates/{template}/unzip."
    );
    Problem::new(Code::TemplateArchiveInvalid, detail)
}

/// The record as one that `account` may change.
///
/// # Errors
/// `template_not_found`, `not_owner`.
pub(in crate::templates) fn own(
    record: Option<TemplateRecord>,
    of: TemplateRef,
) -> Result<TemplateRecord, Problem> {
    let record = record.ok_or_else(|| not_found(of.template))?;
    if record.account == of.account { Ok(record) } else { Err(not_owner(of.template)) }
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
    if record.unfinished { Err(unfinished(template)) } else { Ok(record) }
}
