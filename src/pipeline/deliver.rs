//! Deliver: the stored document goes to the address that the caller gave, again while the other side fails.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::{PipelineContext, RunInput};
use crate::config::as_count;
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::kinds::FileKind;
use crate::outbound::{Body, Refusal, SendError};
use crate::storage::{StorageKey, StoreError};

/// How long until the second try; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Puts the job's document to `address`. The document stays in the store, however this ends.
///
/// # Errors
/// `delivery_failed`, with the last answer of the other side.
pub(super) async fn deliver(
    context: &PipelineContext,
    (input, file): (&RunInput, FileKind),
    address: &str,
) -> Result<(), JobError> {
    let limit_s = context.limits.delivery_timeout_s;
    let retries = as_count(context.limits.delivery_tries.saturating_sub(1));
    let pauses =
        ExponentialBuilder::new().with_min_delay(FIRST_PAUSE).without_max_delay().with_max_times(retries);
    let mut last = String::new();
    let delivery = async {
        let _slot = context.deliveries.acquire(input.account).await;
        let mut attempt = 0;
        let may_pass = |error: &SendError| match error {
            SendError::Refused(Refusal::Forbidden(_)) | SendError::Rejected(_) => false,
            SendError::Failed(_) | SendError::Source(_) | SendError::Refused(_) => {
                attempt += 1;
                tracing::warn!(delivery.attempt = attempt, error = %error, "a delivery failed");
                last = format!("{error}; tried {attempt} time(s)");
                true
            }
        };
        let put = || context.outbound.put(address, || body(context, (input, file)));
        put.retry(pauses).when(may_pass).await
    };
    let why = match timeout(Duration::from_secs(limit_s), delivery).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(SendError::Refused(Refusal::Forbidden(why)))) => format!("the address is refused: {why}"),
        Ok(Err(SendError::Rejected(why))) => why,
        Ok(Err(SendError::Failed(_) | SendError::Source(_) | SendError::Refused(_))) => last,
        Err(_) => {
            let before = if last.is_empty() { String::new() } else { format!("; before, {last}") };
            format!("it was not done within {limit_s} s (outbound.delivery_timeout_s){before}")
        }
    };
    let sentence = format!("the document was made but not delivered: {why}; fetch it from output.data.url");
    Err(JobError::new(ErrorCode::DeliveryFailed, sentence))
}

async fn body(context: &PipelineContext, (input, file): (&RunInput, FileKind)) -> Result<Body, SendError> {
    let key = StorageKey::JobOutput(input.account, input.job, file);
    let unreadable = |error: StoreError| SendError::Source(error.to_string());
    let reader = context.store.open(&key, None).await.map_err(unreadable)?;
    let chunks = reader.chunks.map(|chunk| chunk.map_err(std::io::Error::other)).boxed();
    Ok(Body { bytes: reader.length, mime: file.mime(), chunks })
}
