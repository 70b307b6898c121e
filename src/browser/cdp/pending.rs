//! Calls that are on their way together: all are sent before the first answer is waited for, so they cost one round trip.

use std::pin::Pin;
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;

use super::connection::Sent;
use super::error::CallError;

/// Calls of which only the errors matter.
#[derive(Default)]
#[must_use = "the calls are sent; `finish` waits for their answers"]
pub(in crate::browser) struct PendingCalls(Vec<CallFuture>);

type CallFuture = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

impl PendingCalls {
    pub(in crate::browser) fn push<M>(&mut self, sent: Sent<M>, limit: Duration)
    where
        M: Method + 'static,
        M::ReturnObject: Send + 'static,
    {
        self.0.push(Box::pin(async move { sent.answer(limit).await.map(drop) }));
    }

    /// Waits for all answers, up to the first error.
    pub(in crate::browser) async fn finish(self) -> Result<(), CallError> {
        for answer in self.0 {
            answer.await?;
        }
        Ok(())
    }
}
