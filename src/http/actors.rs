//! The one way from a handler to an actor: at most `jobs.mailbox_limit` requests wait at once, and a full or stopped actor
//! answers `overloaded` instead of keeping its caller waiting.

use actix::{Actor, Addr, Context, Handler, Message};

use crate::http::state::HttpState;
use crate::problem::{Code, Problem};

/// Sends `message` and waits for the answer.
///
/// A full mailbox makes its senders wait, and callers would time out without knowing why. So no more messages are sent at a
/// time than the mailbox holds, and one more is refused at once.
///
/// # Errors
/// The actor's own problem; `overloaded` when too many messages wait, or the actor has stopped.
pub(in crate::http) async fn ask<A, M, T>(
    state: &HttpState,
    actor: &Addr<A>,
    message: M,
) -> Result<T, Problem>
where
    A: Actor<Context = Context<A>> + Handler<M>,
    M: Message<Result = Result<T, Problem>> + Send + 'static,
    T: Send + 'static,
{
    bounded(state, async { actor.send(message).await.unwrap_or_else(|_| Err(Problem::stopping())) }).await
}

/// Does `work` as one of the `jobs.mailbox_limit` requests that may be handled at once.
///
/// # Errors
/// Its own problem; `overloaded` when too many requests are being handled.
pub(in crate::http) async fn bounded<T>(
    state: &HttpState,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let Ok(_permit) = state.actor_permits.try_acquire() else {
        let limit = state.config.jobs.mailbox_limit;
        let detail = format!("More than {limit} requests are being handled (jobs.mailbox_limit); try again.");
        return Err(Problem::new(Code::Overloaded, detail));
    };
    work.await
}

/// Refuses new work (`overloaded`) while the service stops.
pub(in crate::http) fn admit(state: &HttpState) -> Result<(), Problem> {
    if state.stopping.is_cancelled() { Err(Problem::stopping()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actix_web::http::{Method, StatusCode};
    use tokio::sync::Semaphore;

    use crate::http::testing::{TestServer, read};

    #[actix_web::test]
    async fn a_stopping_service_admits_no_new_work() {
        let server = TestServer::new().await;
        for status in [422, 503] {
            assert_eq!(server.request(Method::POST, "/v1/documents/init", "{}").await.status(), status);
            server.state.stopping.cancel();
        }
    }

    /// The job registry of the server has stopped.
    #[actix_web::test]
    async fn a_stopped_or_overloaded_actor_is_answered_at_once() {
        let mut server = TestServer::new().await;
        let path = "/v1/jobs/0190a0a0-0000-7000-8000-000000000000";
        for part in ["The service is stopping", "4096 requests are being handled (jobs.mailbox_limit)"] {
            let answer = server.request(Method::GET, path, "").await;
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(answer.headers().get("retry-after").unwrap(), "2");
            let (_, body) = read(answer).await;
            assert_eq!(body["code"], "overloaded");
            assert!(body["detail"].as_str().unwrap().contains(part), "{body}");
            server.state.actor_permits = Arc::new(Semaphore::new(0));
        }
    }
}
