//! An uploaded template is looked at before it is kept.

use std::sync::Arc;

use crate::domain::kinds::TemplateKind;
use crate::pipeline::PipelineContext;
use crate::problem::{Code, Problem};
use crate::storage::CountedUpload;
use crate::templates::package::Package;

/// Refuses an Office file that breaks the limits of archives, and for a job of an Office file, whose `kind` is told, an archive
/// behind other bytes, so that nothing of it is kept. A bucket that takes uploads itself shows nobody what comes: there, and
/// of all that is no Office file, the start of the job looks.
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
    // Each is held in memory, as those are that jobs unpack. It is never closed, so there is always a permit.
    let place = Arc::clone(&pipeline.unpacking).acquire_owned().await.ok();
    let content = upload.content().await?;
    let limits = pipeline.limits.templates.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let checked = Package::check_office(&content, &limits);
        // The place is the work's: it goes on when whoever wanted it is gone.
        drop(place);
        checked
    });
    checked.await.map_err(Problem::internal)?.map_err(|fault| {
        Problem::new(Code::TemplateArchiveInvalid, format!("The upload is refused: {fault}."))
    })
}
