//! A page is rendered again where its tab or its browser was lost.

use super::render::{PageEngine, PageOrder, RenderError};
use crate::domain::fault::Warnings;
use crate::engines::document::Document;
use crate::engines::error::EngineError;
use crate::engines::runner::StepContext;

/// Renders a page into a file, which is made anew for each attempt.
pub(super) async fn render(
    engine: &PageEngine,
    order: &PageOrder,
    job: &mut StepContext<'_>,
) -> Result<Document, EngineError> {
    let outlet = job.outlet;
    let (sink, pages) = attempts(job.warnings, async |alone, warnings| {
        let mut sink = outlet.open().await.map_err(RenderError::Sink)?;
        let order = PageOrder { alone: alone || order.alone, ..order.clone() };
        let pages = engine.render(&order, &mut sink, warnings).await?;
        Ok((sink, pages))
    })
    .await?;
    sink.finish(order.file, pages).await
}

/// Once more in another tab when its own was lost by what others did, and once more alone in a browser when that was
/// lost: one of its pages may have killed it, and would kill the next one under all the others. The author is told of
/// the last attempt: what an earlier one warned of may be nothing that the document has.
async fn attempts<T>(
    warnings: &mut Warnings,
    mut attempt: impl AsyncFnMut(bool, &mut Warnings) -> Result<T, RenderError>,
) -> Result<T, EngineError> {
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
            RenderError::Sink(fault) => {
                warnings.extend(&own);
                return Err(fault);
            }
            RenderError::BrowserLost(fault)
            | RenderError::TabLost(fault)
            | RenderError::Unleased(fault)
            | RenderError::Page(fault) => {
                warnings.extend(&own);
                return Err(EngineError::Job(fault));
            }
        };
        tracing::warn!(error = %fault, page.alone = alone, "the page is rendered again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fault::{FaultCode, JobFault, WarningKind};

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
        assert!(made.await.is_ok());
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
            let Err(EngineError::Job(fault)) = made else { panic!("it is the job's fault") };
            assert_eq!(fault.code, FaultCode::BrowserLost);
            assert_eq!((tried, warnings.lines()), (2, vec!["of attempt 2".to_owned()]));
        }
    }
}
