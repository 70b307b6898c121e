//! Turns TeX's errors and logs into the error of a job or the warnings of its document.

use tex_log::{Remark, Report};

use super::errors::{SecondAttempt, TexError};
use super::folder::Folder;
use super::lists;
use super::log;
use super::origin::Origins;
use crate::domain::error::{ErrorCode, JobError};
use crate::engines::document::Source;
use crate::engines::error::EngineError;
use crate::thread;

/// The error of the job. Runs on a blocking thread: the author's line is searched for in the whole source.
pub(super) async fn error_of(error: TexError, source: Source) -> EngineError {
    let diagnosed = move || {
        let folder = Folder::of(&source.site);
        let origins = Origins::of(&folder, source.source_map.as_ref());
        let (code, sentence) = match error {
            TexError::Step(error) => return error,
            TexError::Document(error) => (ErrorCode::TemplateError, log::sentence(&error, &origins)),
            TexError::Both(tried, error) => {
                (ErrorCode::TemplateError, log::sentence_of_both(&tried, &error, &origins))
            }
            TexError::Ended(tried, error) => {
                (error.code, log::sentence_of_end(&tried, &error.message, &origins))
            }
        };
        JobError::new(code, sentence).into()
    };
    thread::on_blocking_thread(diagnosed).await.unwrap_or_else(EngineError::from)
}

/// Warnings of a document that was made. Runs on a blocking thread: the author's lines are searched for in the whole source.
pub(super) async fn warnings_of(
    source: &Source,
    tried: Option<SecondAttempt>,
    mut report: Report,
    remarks: Vec<Remark>,
) -> Result<Vec<String>, JobError> {
    if tried.is_none() && report.warnings.is_empty() && remarks.is_empty() {
        return Ok(Vec::new());
    }
    let source = source.clone();
    let diagnosed = move || {
        let folder = Folder::of(&source.site);
        let origins = Origins::of(&folder, source.source_map.as_ref());
        let of_lists = lists::warnings(&remarks, &mut report, &folder);
        let of_program = tried.map(|tried| log::other_program(&tried, &origins));
        of_program.into_iter().chain(log::warnings(&report, &origins)).chain(of_lists).collect()
    };
    Ok(thread::on_blocking_thread(diagnosed).await?)
}
