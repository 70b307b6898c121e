//! Checks an uploaded template before it is kept.

use std::sync::Arc;

use crate::domain::kinds::TemplateKind;
use crate::pipeline::PipelineContext;
use crate::problem::{Code, Problem};
use crate::storage::CountedUpload;
use crate::templates::package::Package;

/// Refuses an Office file that breaks the limits of archives, and for a job whose `kind` is an Office file also an archive
/// behind other bytes. All other templates, and uploads that a bucket takes without the service, are checked when the job
/// runs.
///
/// # Errors
/// `template_archive_invalid`.
pub(in crate::jobs) async fn check(
    pipeline: &PipelineContext,
    kind: TemplateKind,
    upload: &mut CountedUpload,
) -> Result<(), Problem> {
    if !kind.is_office() && !Package::may_be_office(upload.start()) {
        return Ok(());
    }
    // Uploads are unpacked in memory, like those of jobs, and share their limit. It is never closed, so there is a permit.
    let permit = Arc::clone(&pipeline.unpacking).acquire_owned().await.ok();
    let content = upload.content().await?;
    let limits = pipeline.limits.templates.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let checked = Package::check_office(&content, &limits);
        // The thread holds the permit: it goes on working when the caller has gone.
        drop(permit);
        checked
    });
    checked.await.map_err(Problem::internal)?.map_err(|fault| {
        Problem::new(Code::TemplateArchiveInvalid, format!("The upload is refused: {fault}."))
    })
}
