//! Scrolls a page whose script asks to be told of that: on paper nobody scrolls, and it may wait for it.

use super::error::StepError;
use super::open_page::OpenPage;
use super::task::{PageOutput, PageTask};

const SCROLL: &str = include_str!("../../../assets/scroll.js");

/// Scrolls the page to its end, where all of it is shown; false where nothing was to be done.
pub(super) async fn to_end(page: &mut OpenPage, task: &PageTask) -> Result<bool, StepError> {
    let is_whole = match task.output {
        PageOutput::Pdf | PageOutput::Html => true,
        PageOutput::Png | PageOutput::Jpg => task.options.picture.full_page,
    };
    let limit = page.limits.seen_steps;
    if !is_whole || limit == 0 || !page.state.borrow().idle.heeds_scrolling {
        return Ok(false);
    }
    let answer = page.ask(format!("({SCROLL})({limit})"), page.limits.rest_cap).await?;
    let steps = answer.and_then(|answer| answer.parse::<u64>().ok()).unwrap_or_default();
    if steps > limit {
        page.warnings.push(&format!(
            "the page was scrolled in {limit} steps (browser.seen_steps_limit) and then to its end at once: what \
             waits to be seen may be missing in between"
        ));
    }
    Ok(steps > 0)
}
