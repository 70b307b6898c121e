//! Renders a page again if its tab or its browser was lost, or if it asked for WebGL and had none.

use super::render::{PageEngine, PageRequest, RenderError};
use crate::domain::error::Warnings;
use crate::engines::document::Document;
use crate::engines::error::EngineError;
use crate::engines::runner::StepContext;

/// Renders a page into a file, which is made anew for each attempt.
pub(super) async fn render(
    engine: &PageEngine,
    request: &PageRequest,
    job: &mut StepContext<'_>,
) -> Result<Document, EngineError> {
    let (outlet, hung_limit) = (job.outlet, engine.hung_retry_limit());
    let (sink, pages) = attempts(job.warnings, hung_limit, async |other: OtherTab, warnings| {
        let mut sink = outlet.open().await.map_err(RenderError::Sink)?;
        let OtherTab { alone, fresh, with_graphics } = other;
        let request = PageRequest { alone: alone || request.alone, fresh, with_graphics, ..request.clone() };
        let pages = engine.render(&request, &mut sink, warnings).await?;
        Ok((sink, pages))
    })
    .await?;
    sink.finish(request.file, pages).await
}

/// What tab an attempt gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OtherTab {
    /// In a browser without other pages.
    alone: bool,
    /// With script: one in which no page was before.
    fresh: bool,
    /// In a browser that has WebGL.
    with_graphics: bool,
}

/// Renders again after a loss, and gives only the warnings of the last attempt: what an earlier one warned of may not be in the
/// document.
///
/// - Others caused the loss of its tab: once more, in a new tab.
/// - Its browser was lost: once more, alone in a browser. One of the pages may have ended the first one, and would end the next
///   one with all others in it.
/// - It asks for WebGL: once more, with WebGL.
/// - A process of its browser was stopped: `hung_limit` times, in any browser. The page did not cause that, so these attempts
///   have a count of their own. If it happens more often, the machine is out of order.
async fn attempts<T>(
    warnings: &mut Warnings,
    hung_limit: u64,
    mut attempt: impl AsyncFnMut(OtherTab, &mut Warnings) -> Result<T, RenderError>,
) -> Result<T, EngineError> {
    let (mut other, mut hung) = (OtherTab::default(), 0);
    loop {
        let mut own = Warnings::default();
        let error = match attempt(other, &mut own).await {
            Ok(made) => {
                warnings.extend(&own);
                return Ok(made);
            }
            Err(error) => error,
        };
        let error = match error {
            RenderError::BrowserLost(error) if !other.alone => {
                other.alone = true;
                error
            }
            RenderError::TabLost(error) if !other.fresh => {
                other.fresh = true;
                error
            }
            RenderError::Hung(error) if hung < hung_limit => {
                hung += 1;
                error
            }
            RenderError::NeedsGraphics(_) if !other.with_graphics => {
                tracing::debug!("a page asks for WebGL");
                other.with_graphics = true;
                continue;
            }
            RenderError::Sink(error) => {
                warnings.extend(&own);
                return Err(error);
            }
            RenderError::BrowserLost(error)
            | RenderError::TabLost(error)
            | RenderError::Hung(error)
            | RenderError::NeedsGraphics(error)
            | RenderError::Unleased(error)
            | RenderError::Page(error) => {
                warnings.extend(&own);
                return Err(EngineError::Job(error));
            }
        };
        tracing::warn!(error = %error, page.alone = other.alone, "the page is rendered again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::error::{ErrorCode, JobError, WarningKind};

    fn lost(tab_only: bool) -> RenderError {
        let error = JobError::new(ErrorCode::BrowserLost, "the browser died");
        if tab_only { RenderError::TabLost(error) } else { RenderError::BrowserLost(error) }
    }

    #[tokio::test]
    async fn warnings_of_lost_attempts_are_dropped() {
        let mut warnings = Warnings::default();
        warnings.push("of the template");
        let mut tried = Vec::new();
        let kinds = [WarningKind::Console, WarningKind::Missing, WarningKind::Status];
        let made = attempts(&mut warnings, 4, async |other, warnings| {
            let kind = kinds[tried.len()];
            tried.push((other.fresh, other.alone));
            assert_eq!(warnings.lines(), [""; 0]);
            warnings.push_kind(kind, &format!("of attempt {}", tried.len()));
            match tried.len() {
                1 => Err(lost(true)),
                2 => Err(lost(false)),
                _ => Ok(()),
            }
        });
        assert!(made.await.is_ok());
        assert_eq!(tried, [(false, false), (true, false), (true, true)]);
        assert_eq!(warnings.lines(), ["of the template", "of attempt 3"]);
        assert_eq!(warnings.first(WarningKind::Console), None);
        assert_eq!(warnings.first(WarningKind::Status), Some("of attempt 3"));
    }

    #[tokio::test]
    async fn a_page_that_asks_for_webgl_gets_it_once() {
        let (mut warnings, mut tried) = (Warnings::default(), Vec::new());
        let made: Result<(), _> = attempts(&mut warnings, 4, async |other, _| {
            tried.push(other.with_graphics);
            Err(RenderError::NeedsGraphics(JobError::new(ErrorCode::PageFailed, "it asks for WebGL")))
        })
        .await;
        assert!(made.is_err());
        assert_eq!(tried, [false, true]);
    }

    #[tokio::test]
    async fn a_page_whose_browser_hung_is_rendered_again_several_times_and_anywhere() {
        for (limit, attempted) in [(0, 1), (4, 5)] {
            let (mut warnings, mut tried) = (Warnings::default(), Vec::new());
            let made: Result<(), _> = attempts(&mut warnings, limit, async |other, _| {
                tried.push(other);
                Err(RenderError::Hung(JobError::new(ErrorCode::BrowserLost, "the browser hung")))
            })
            .await;
            assert!(made.is_err());
            assert_eq!(tried, vec![OtherTab::default(); attempted]);
        }
    }

    #[tokio::test]
    async fn a_failure_has_the_error_of_the_last_attempt() {
        for tab_only in [true, false] {
            let (mut warnings, mut tried) = (Warnings::default(), 0);
            let made: Result<(), _> = attempts(&mut warnings, 4, async |_, warnings| {
                tried += 1;
                warnings.push(&format!("of attempt {tried}"));
                Err(lost(tab_only))
            })
            .await;
            let Err(EngineError::Job(error)) = made else { panic!("it is the job's fault") };
            assert_eq!(error.code, ErrorCode::BrowserLost);
            assert_eq!((tried, warnings.lines()), (2, vec!["of attempt 2".to_owned()]));
        }
    }
}
