//! Scrolls a page whose script asks to be told of that: on paper nobody scrolls, and it may wait for it.

use std::time::Duration;

use super::error::StepError;
use super::open_page::OpenPage;
use super::task::{PageOutput, PageTask};

const SCROLL: &str = include_str!("../../../assets/scroll.js");

/// Scrolls the page to its end within `left`, where all of it is shown; false where nothing was to be done.
pub(super) async fn to_end(page: &mut OpenPage, task: &PageTask, left: Duration) -> Result<bool, StepError> {
    let is_whole = match task.output {
        PageOutput::Pdf | PageOutput::Html => true,
        PageOutput::Png | PageOutput::Jpg => task.options.picture.full_page,
    };
    let steps = page.limits.seen_steps;
    if !is_whole || steps == 0 || !page.state.borrow().idle.heeds_scrolling {
        return Ok(false);
    }
    // Half of it: the page has to come to rest behind that.
    let limit = left / 2;
    let question = format!("({SCROLL})({steps},{})", limit.as_millis());
    let call = limit + page.limits.call;
    let answer = page.within(call, page.ask(question, call)).await;
    let scrolled = match answer {
        // A handler that takes longer is met again where the page comes to rest.
        Err(StepError::Late) => Some("leapt".to_owned()),
        answer => answer?,
    };
    if scrolled.as_deref() == Some("leapt") {
        page.warnings.push(&format!(
            "the page is longer than {steps} windows (browser.seen_steps_limit), or slow to scroll: what waits to be \
             seen on the way to its end may be missing"
        ));
    }
    Ok(scrolled.is_some_and(|scrolled| scrolled != "none"))
}
