//! Scrolls a page whose script asks to be told of that: on paper nobody scrolls, and it may wait for it.

use std::time::Duration;

use super::error::StepError;
use super::open_page::OpenPage;
use super::task::{PageOutput, PageTask};

const SCROLL: &str = include_str!("../../../assets/scroll.js");
/// Goes back to the page's beginning, and keeps that from its scripts: what they show when somebody scrolls down they may hide
/// when they scroll up. Hazard: where a page is printed at its end, its sticky elements lie there.
const BACK: &str = "async () => {
    for (const type of ['scroll', 'scrollend']) {
        EventTarget.prototype.addEventListener.call(window, type, event => event.stopImmediatePropagation(), true);
    }
    scrollTo({ top: 0, left: 0, behavior: 'instant' });
    await new Promise(done => {
        requestAnimationFrame(() => setTimeout(done));
        setTimeout(done, 500);
    });
}";

/// Scrolls the page to its end within `left`, where all of it is shown; false where nothing was to be done.
pub(super) async fn to_end(page: &mut OpenPage, task: &PageTask, left: Duration) -> Result<bool, StepError> {
    if !is_scrolled(page, task) {
        return Ok(false);
    }
    let steps = page.limits.seen_steps;
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

/// Goes back to the beginning of a page that was scrolled, once it has come to rest.
pub(super) async fn back(page: &OpenPage, task: &PageTask) -> Result<(), StepError> {
    if is_scrolled(page, task) {
        page.ask_for_warning(format!("({BACK})()")).await?;
    }
    Ok(())
}

fn is_scrolled(page: &OpenPage, task: &PageTask) -> bool {
    let is_whole = match task.output {
        PageOutput::Pdf | PageOutput::Html => true,
        PageOutput::Png | PageOutput::Jpg => task.options.picture.full_page,
    };
    is_whole && page.limits.seen_steps > 0 && page.state.borrow().idle.heeds_scrolling
}
