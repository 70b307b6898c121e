//! The one way from a handler to an actor: bounded, and truthful when the other side is full or gone.

use actix::{MailboxError, Message, Recipient};

use super::state::HttpState;
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

/// Seconds after which a caller that met a full or stopping service may ask again.
const RETRY_AFTER_S: u64 = 2;

/// Asks which account a token belongs to.
#[derive(Debug, Message)]
#[rtype(result = "Result<AccountId, Problem>")]
pub struct Authenticate {
    /// The token as the caller sent it.
    pub token: String,
}

/// Sends `message` and waits for the answer.
///
/// A mailbox makes its senders wait when it is full. A caller is to hear of it at once instead, so only as
/// many questions are open at a time as the mailbox holds.
///
/// # Errors
/// The answer's problem; `overloaded` when there are too many questions, or nobody answers any more.
pub(super) async fn ask<M, T>(state: &HttpState, actor: &Recipient<M>, message: M) -> Result<T, Problem>
where
    M: Message<Result = Result<T, Problem>> + Send + 'static,
    T: Send + 'static,
{
    let Ok(_permit) = state.questions.try_acquire() else {
        let limit = state.config.jobs.mailbox_limit;
        let detail = format!("More than {limit} requests are being handled (jobs.mailbox_limit); try again.");
        return Err(Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER_S));
    };
    match actor.send(message).await {
        Ok(answer) => answer,
        Err(MailboxError::Closed | MailboxError::Timeout) => Err(stopping()),
    }
}

/// Refuses what would begin something new while the service stops.
///
/// # Errors
/// `overloaded` when the service stops.
pub(super) fn admit(state: &HttpState) -> Result<(), Problem> {
    if state.stopping.is_cancelled() { Err(stopping()) } else { Ok(()) }
}

fn stopping() -> Problem {
    Problem::new(Code::Overloaded, "The service is stopping; try again in a moment.")
        .retry_after(RETRY_AFTER_S)
}
