//! Waits that the caller asks for: until an expression of its own holds, and some time longer.

use std::time::Duration;

use headless_chrome::protocol::cdp::Runtime;

use super::error::StepError;
use super::load;
use super::open::OpenPage;
use crate::browser::cdp::connection::CallError;
use crate::domain::format_opts::PageOptions;

/// Between two looks at the expression: about a frame, and far below what anybody waits for.
const POLL: Duration = Duration::from_millis(20);

impl OpenPage {
    /// Returns when `waitForExpression` is truthy, if there is one. The page's own script answers, so it
    /// may answer what it likes: it waits for itself alone.
    pub(in crate::browser) async fn expression_holds(&self, options: &PageOptions) -> Result<(), StepError> {
        let Some(expression) = &options.wait_for_expression else { return Ok(()) };
        loop {
            let seen = self.state.borrow().loads;
            match self.look(expression).await? {
                Some(true) => return Ok(()),
                Some(false) => tokio::time::sleep(POLL).await,
                None => self.loads_beyond(seen).await,
            }
        }
    }

    /// Gives the page the time of `waitForTimeout`.
    pub(in crate::browser) async fn linger(&self, options: &PageOptions) -> Result<(), StepError> {
        let wait = Duration::from_millis(u64::from(options.wait_ms)).min(self.limits.wait);
        if wait.is_zero() {
            return Ok(());
        }
        let waiting = async {
            tokio::time::sleep(wait).await;
            Ok(())
        };
        self.within(wait + self.limits.call, waiting).await
    }

    /// Whether it is truthy now; `None` when the document went away under it.
    async fn look(&self, expression: &str) -> Result<Option<bool>, StepError> {
        let asking = load::evaluate(truth_of(expression), None);
        match self.tab()?.call_within(asking, self.limits.readiness).await {
            Ok(Runtime::EvaluateReturnObject { exception_details: Some(thrown), .. }) => {
                Err(load::script_error("waitForExpression", thrown))
            }
            Ok(answer) => Ok(Some(answer.result.value.is_some_and(|value| value == true))),
            Err(CallError::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// An expression and nothing else; a comment at its end does not swallow what follows.
fn truth_of(expression: &str) -> String {
    format!("(async () => !!(await (\n{expression}\n)))()")
}
