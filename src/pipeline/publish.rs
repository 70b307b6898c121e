//! Render and Publish: the document goes from the engine to the store in chunks, and becomes visible
//! when it is whole.

use bytes::Bytes;

use super::{Document, Parts, RunInput, STORE_SILENT};
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::engines::render::page::{PageOrder, RenderError};
use crate::storage::{StagedObject, StorageKey, StoreError};

/// A document that is made and not durable yet.
pub(super) struct Rendered {
    staged: Box<dyn StagedObject>,
    pages: Option<u32>,
}

/// Renders a page into a staged object. Once more in another tab when its own was lost by what others did, and once
/// more alone in a browser when that was lost: one of its pages may have killed it, and would kill the next one
/// under all the others.
pub(super) async fn render(
    parts: &Parts,
    mut order: PageOrder,
    warnings: &mut Warnings,
) -> Result<Rendered, JobFault> {
    let mut had_other_tab = false;
    loop {
        let mut staged =
            parts.store.stage(parts.limits.output_limit_bytes).await.map_err(|e| fault_of(&e))?;
        let fault = match parts.pages.render(&order, staged.as_mut(), warnings).await {
            Ok(pages) => return Ok(Rendered { staged, pages }),
            Err(RenderError::Store(error)) => return Err(fault_of(&error)),
            Err(RenderError::BrowserLost(fault)) if !order.alone => {
                order.alone = true;
                fault
            }
            Err(RenderError::TabLost(fault)) if !had_other_tab => {
                had_other_tab = true;
                fault
            }
            Err(
                RenderError::BrowserLost(fault)
                | RenderError::TabLost(fault)
                | RenderError::Unleased(fault)
                | RenderError::Page(fault),
            ) => return Err(fault),
        };
        tracing::warn!(error = %fault, page.alone = order.alone, "the page is rendered again");
    }
}

/// Makes a rendered document durable.
pub(super) async fn commit(rendered: Rendered, input: &RunInput) -> Result<Document, JobFault> {
    let meta = rendered.staged.commit(&key_of(input)).await.map_err(|error| fault_of(&error))?;
    Ok(Document { bytes: meta.bytes, pages: rendered.pages, content: None })
}

/// Makes a document durable that is in memory.
pub(super) async fn bytes(parts: &Parts, input: &RunInput, document: Bytes) -> Result<Document, JobFault> {
    let limit_bytes = parts.limits.output_limit_bytes;
    if document.len() as u64 > limit_bytes {
        return Err(fault_of(&StoreError::TooLarge { limit_bytes }));
    }
    let meta = parts.store.put(&key_of(input), document).await.map_err(|error| fault_of(&error))?;
    Ok(Document { bytes: meta.bytes, pages: None, content: None })
}

fn key_of(input: &RunInput) -> StorageKey {
    StorageKey::JobOutput(input.account, input.job, input.target)
}

fn fault_of(error: &StoreError) -> JobFault {
    match error {
        StoreError::TooLarge { limit_bytes } => JobFault::new(
            FaultCode::OutputTooLarge,
            format!("the document is larger than {limit_bytes} bytes (storage.output_limit_bytes)"),
        ),
        StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => {
            tracing::error!(error = %error, "the document cannot be stored");
            let why = if error.is_passing() { STORE_SILENT } else { "" };
            JobFault::new(FaultCode::Internal, format!("the service could not store the document{why}"))
        }
    }
}
