//! Measuring a page as it is on paper.

use crate::browser::cdp::commands;
use crate::browser::page::emulate;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts;
use crate::domain::format_opts::{EmulationOptions, Viewport};

pub(super) const PIXELS_PER_INCH: f64 = 96.0;

/// Emulates the print medium and `viewport`, and returns the number that `script` answers.
pub(super) async fn measure(
    page: &OpenPage,
    emulation: &EmulationOptions,
    viewport: Viewport,
    script: &str,
) -> Result<Option<f64>, StepError> {
    let (tab, limit) = (page.tab()?, page.limits.call);
    let media = tab.send(&emulate::emulated(emulation.media.name(), emulation))?;
    let metrics = tab.send(&commands::device_metrics(viewport, true))?;
    media.answer(limit).await?;
    metrics.answer(limit).await?;
    let answer = page.ask(scripts::guarded(&format!("({script})()")), limit).await?;
    Ok(answer.and_then(|answer| answer.parse().ok()))
}
