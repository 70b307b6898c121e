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

/// Renders a page into a staged object, again where its tab or browser was lost.
pub(super) async fn render(
    parts: &Parts,
    order: PageOrder,
    warnings: &mut Warnings,
) -> Result<Rendered, JobFault> {
    attempts(warnings, async |alone, warnings| {
        let staged = parts.store.stage(parts.limits.output_limit_bytes).await;
        let mut staged = staged.map_err(RenderError::Store)?;
        let order = PageOrder { alone: alone || order.alone, ..order.clone() };
        let pages = parts.pages.render(&order, staged.as_mut(), warnings).await?;
        Ok(Rendered { staged, pages })
    })
    .await
}

/// Once more in another tab when its own was lost by what others did, and once more alone in a browser when that was
/// lost: one of its pages may have killed it, and would kill the next one under all the others. The author is told of
/// the last attempt: what an earlier one warned of may be nothing that the document has.
async fn attempts<T>(
    warnings: &mut Warnings,
    mut attempt: impl AsyncFnMut(bool, &mut Warnings) -> Result<T, RenderError>,
) -> Result<T, JobFault> {
    let (mut had_other_tab, mut alone) = (false, false);
    loop {
        let mut own = Warnings::default();
        let error = match attempt(alone, &mut own).await {
            Ok(made) => {
                warnings.extend(&own);
                return Ok(made);
            }
            Err(error) => error,
        };
        let fault = match error {
            RenderError::BrowserLost(fault) if !alone => {
                alone = true;
                fault
            }
            RenderError::TabLost(fault) if !had_other_tab => {
                had_other_tab = true;
                fault
            }
            RenderError::Store(error) => {
                warnings.extend(&own);
                return Err(fault_of(&error));
            }
            RenderError::BrowserLost(fault)
            | RenderError::TabLost(fault)
            | RenderError::Unleased(fault)
            | RenderError::Page(fault) => {
                warnings.extend(&own);
                return Err(fault);
            }
        };
        tracing::warn!(error = %fault, page.alone = alone, "the page is rendered again");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fault::WarningKind;

    fn lost(tab_only: bool) -> RenderError {
        let fault = JobFault::new(FaultCode::BrowserLost, "the browser died");
        if tab_only { RenderError::TabLost(fault) } else { RenderError::BrowserLost(fault) }
    }

    #[tokio::test]
    async fn of_a_lost_attempt_nothing_is_said_beside_the_one_that_was_published() {
        let mut warnings = Warnings::default();
        warnings.push("of the template");
        let mut tried = Vec::new();
        let made = attempts(&mut warnings, async |alone, warnings| {
            tried.push(alone);
            assert_eq!(warnings.lines(), [""; 0]);
            warnings.push_kind(WarningKind::ALL[tried.len()], &format!("of attempt {}", tried.len()));
            match tried.len() {
                1 => Err(lost(true)),
                2 => Err(lost(false)),
                _ => Ok(()),
            }
        });
        assert_eq!(made.await, Ok(()));
        assert_eq!(tried, [false, false, true]);
        assert_eq!(warnings.lines(), ["of the template", "of attempt 3"]);
        assert_eq!(warnings.first(WarningKind::ALL[1]), None);
        assert_eq!(warnings.first(WarningKind::ALL[3]), Some("of attempt 3"));
    }

    #[tokio::test]
    async fn who_fails_is_told_of_the_last_attempt() {
        for tab_only in [true, false] {
            let (mut warnings, mut tried) = (Warnings::default(), 0);
            let made: Result<(), _> = attempts(&mut warnings, async |_, warnings| {
                tried += 1;
                warnings.push(&format!("of attempt {tried}"));
                Err(lost(tab_only))
            })
            .await;
            assert_eq!(made.unwrap_err().code, FaultCode::BrowserLost);
            assert_eq!((tried, warnings.lines()), (2, vec!["of attempt 2".to_owned()]));
        }
    }
}
