//! From what TeX left to what the author reads: the error of a job, or the warnings of its document.

use tex_log::{Remark, Report};

use super::errors::{TexError, Tried};
use super::folder::Folder;
use super::lists;
use super::log;
use super::origin::Origins;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::site::Site;
use crate::engines::error::EngineError;
use crate::thread;

/// The error of the job. Runs on a blocking thread: the author's line is searched for in the whole source.
pub(super) async fn error_of(error: TexError, site: Site) -> EngineError {
    let told = move || {
        let folder = Folder::of(&site);
        let origins = Origins::of(&folder);
        let (code, sentence) = match error {
            TexError::Step(fault) => return fault,
            TexError::Document(error) => (FaultCode::TemplateError, log::sentence(&error, &origins)),
            TexError::Both(tried, error) => {
                (FaultCode::TemplateError, log::sentence_of_both(&tried, &error, &origins))
            }
            TexError::Ended(tried, fault) => {
                (fault.code, log::sentence_of_end(&tried, &fault.message, &origins))
            }
        };
        JobFault::new(code, sentence).into()
    };
    thread::apart(told).await.unwrap_or_else(EngineError::from)
}

/// Warnings of a document that was made. Runs on a blocking thread: the author's lines are searched for in the whole source.
pub(super) async fn warnings_of(
    site: &Site,
    tried: Option<Tried>,
    mut report: Report,
    remarks: Vec<Remark>,
) -> Result<Vec<String>, JobFault> {
    if tried.is_none() && report.warnings.is_empty() && remarks.is_empty() {
        return Ok(Vec::new());
    }
    let site = site.clone();
    let told = move || {
        let folder = Folder::of(&site);
        let origins = Origins::of(&folder);
        let of_lists = lists::warnings(&remarks, &mut report, &folder);
        let instead = tried.map(|tried| log::instead(&tried, &origins));
        instead.into_iter().chain(log::warnings(&report, &origins)).chain(of_lists).collect()
    };
    Ok(thread::apart(told).await?)
}
