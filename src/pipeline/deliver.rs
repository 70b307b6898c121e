//! Deliver: the stored document goes to the address that the caller gave, again when the other side fails.

use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::{sleep, timeout};

use super::{PipelineContext, RunInput};
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::kinds::FileKind;
use crate::outbound::{Body, Refusal, SendError};
use crate::storage::{StorageKey, StoreError};

/// How long until the second try; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Puts the job's document to `address`. The document stays with us, however this ends.
///
/// # Errors
/// `delivery_failed`, with what the other side said last.
pub(super) async fn deliver(
    context: &PipelineContext,
    (input, file): (&RunInput, FileKind),
    address: &str,
) -> Result<(), JobFault> {
    let limit_s = context.limits.delivery_timeout_s;
    let mut last = String::new();
    let tries = async {
        let _turn = context.deliveries.acquire(input.account).await;
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=context.limits.delivery_tries {
            match context.outbound.put(address, || body(context, (input, file))).await {
                Ok(()) => return Ok(()),
                Err(SendError::Refused(Refusal::Forbidden(why))) => {
                    return Err(format!("the address is refused: {why}"));
                }
                Err(SendError::Rejected(why)) => return Err(why),
                Err(error @ (SendError::Failed(_) | SendError::Source(_) | SendError::Refused(_))) => {
                    tracing::warn!(delivery.attempt = attempt, error = %error, "a delivery failed");
                    last = format!("{error}; tried {attempt} time(s)");
                }
            }
            if attempt < context.limits.delivery_tries {
                sleep(pause).await;
                pause *= 2;
            }
        }
        Err(std::mem::take(&mut last))
    };
    let ended = timeout(Duration::from_secs(limit_s), tries).await;
    let ended = ended.unwrap_or_else(|_| {
        let before = if last.is_empty() { String::new() } else { format!("; before, {last}") };
        Err(format!("it was not done within {limit_s} s (outbound.delivery_timeout_s){before}"))
    });
    ended.map_err(|why| {
        let sentence =
            format!("the document was made but not delivered: {why}; fetch it from output.data.url");
        JobFault::new(FaultCode::DeliveryFailed, sentence)
    })
}

async fn body(context: &PipelineContext, (input, file): (&RunInput, FileKind)) -> Result<Body, SendError> {
    let key = StorageKey::JobOutput(input.account, input.job, file);
    let unreadable = |error: StoreError| SendError::Source(error.to_string());
    let reader = context.store.open(&key, None).await.map_err(unreadable)?;
    let chunks = reader.chunks.map(|chunk| chunk.map_err(std::io::Error::other)).boxed();
    Ok(Body { bytes: reader.length, mime: file.mime(), chunks })
}
