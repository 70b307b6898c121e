//! Waits that the caller asks for: until an expression holds, and some time longer.

use std::time::Duration;

use headless_chrome::protocol::cdp::Runtime;

use super::error::{StepError, script_error};
use super::open_page::OpenPage;
use crate::browser::cdp::commands;
use crate::browser::cdp::error::CallError;
use crate::domain::format_opts::PageOptions;

/// Pause between two evaluations of the expression: about a frame.
const POLL: Duration = Duration::from_millis(20);

/// Returns when `waitForExpression` is truthy, if there is one. It runs in the page's own world, where the page can forge the
/// answer; that changes only how long it waits for itself.
pub(super) async fn for_expression(page: &OpenPage, options: &PageOptions) -> Result<(), StepError> {
    let Some(expression) = &options.wait_for_expression else { return Ok(()) };
    loop {
        let seen = page.state.borrow().loads;
        match is_truthy(page, expression).await? {
            Some(true) => return Ok(()),
            Some(false) => tokio::time::sleep(POLL).await,
            None => page.loads_beyond(seen).await,
        }
    }
}

/// Gives the page the time of `waitForTimeout`.
pub(super) async fn for_timeout(page: &OpenPage, options: &PageOptions) -> Result<(), StepError> {
    let wait = Duration::from_millis(u64::from(options.wait_ms)).min(page.limits.wait);
    if wait.is_zero() {
        return Ok(());
    }
    let waiting = async {
        tokio::time::sleep(wait).await;
        Ok(())
    };
    page.within(wait + page.limits.call, waiting).await
}

/// Whether it is truthy now; `None` when the document went away under it.
async fn is_truthy(page: &OpenPage, expression: &str) -> Result<Option<bool>, StepError> {
    // On lines of its own: a comment at the expression's end must not swallow what follows.
    let asking = commands::evaluate(format!("(async () => !!(await (\n{expression}\n)))()"));
    match page.tab()?.call_within(asking, page.limits.readiness).await {
        Ok(Runtime::EvaluateReturnObject { exception_details: Some(thrown), .. }) => {
            Err(script_error("waitForExpression", thrown))
        }
        Ok(answer) => Ok(Some(answer.result.value.is_some_and(|value| value == true))),
        Err(CallError::Refused { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
