//! The one way from a handler to an actor: at most `jobs.mailbox_limit` requests wait at once, all but a quarter of them of one
//! account. A full or stopped actor answers `overloaded` instead of keeping its caller waiting.

use actix::{Actor, Addr, Context, Handler, Message};

use crate::accounts::actor::Authenticate;
use crate::domain::ids::AccountId;
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
    account: AccountId,
    actor: &Addr<A>,
    message: M,
) -> Result<T, Problem>
where
    A: Actor<Context = Context<A>> + Handler<M>,
    M: Message<Result = Result<T, Problem>> + Send + 'static,
    T: Send + 'static,
{
    let sent = async { actor.send(message).await.unwrap_or_else(|_| Err(Problem::stopping())) };
    bounded(state, account, sent).await
}

/// Does `work` as one of the `jobs.mailbox_limit` requests that may be handled at once. Unpacking a template takes seconds: one
/// account that has many of them waiting must not keep others from being handled.
///
/// # Errors
/// Its own problem; `overloaded` when too many requests are being handled.
pub(in crate::http) async fn bounded<T>(
    state: &HttpState,
    account: AccountId,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let _slot = state.shared.actor_slots.try_acquire(account).ok_or_else(|| {
        let limit = state.config.jobs.mailbox_limit;
        let detail = format!(
            "{limit} requests are being handled, or all but a quarter of them for this account (jobs.mailbox_limit); try \
             again."
        );
        Problem::new(Code::Overloaded, detail)
    })?;
    work.await
}

/// The account of a token. Looking up tokens has a limit of its own, so that strangers take no slots of accounts.
///
/// # Errors
/// `unauthorized`; `overloaded` when too many tokens are being looked up, or the accounts have stopped.
pub(in crate::http) async fn authenticate(state: &HttpState, token: String) -> Result<AccountId, Problem> {
    let _permit = state.shared.token_permits.try_acquire().map_err(|_| {
        let limit = state.config.accounts.mailbox_limit;
        let detail = format!("{limit} tokens are being looked up (accounts.mailbox_limit); try again.");
        Problem::new(Code::Overloaded, detail)
    })?;
    state.accounts.send(Authenticate { token }).await.unwrap_or_else(|_| Err(Problem::stopping()))
}

/// Refuses new work (`overloaded`) while the service stops.
pub(in crate::http) fn admit(state: &HttpState) -> Result<(), Problem> {
    if state.stopping.is_cancelled() { Err(Problem::stopping()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;
    use tokio::sync::Semaphore;

    use crate::http::testing::{OTHER_TOKEN, TOKEN, TestServer, read};

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
    async fn a_stopped_or_overloaded_actor_is_answered_at_once_and_one_account_leaves_a_quarter() {
        let mut server = TestServer::with(|config| config.jobs.mailbox_limit = 4).await;
        let held: Vec<_> =
            (0..3).map(|_| server.state.shared.actor_slots.try_acquire(server.account)).collect();
        assert!(held.iter().all(Option::is_some));
        assert_overloaded(&server, TOKEN, "for this account (jobs.mailbox_limit)").await;
        assert_overloaded(&server, OTHER_TOKEN, "The service is stopping").await;
        drop(held);
        assert_overloaded(&server, TOKEN, "The service is stopping").await;
        server.state.shared.token_permits = Arc::new(Semaphore::new(0));
        assert_overloaded(&server, TOKEN, "4096 tokens are being looked up (accounts.mailbox_limit)").await;
    }

    async fn assert_overloaded(server: &TestServer, token: &str, part: &str) {
        let request = TestRequest::with_uri("/v1/jobs/0190a0a0-0000-7000-8000-000000000000");
        let answer = server.send(request.insert_header(("authorization", format!("Bearer {token}")))).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers().get("retry-after").unwrap(), "2");
        let (_, body) = read(answer).await;
        assert_eq!(body["code"], "overloaded");
        assert!(body["detail"].as_str().unwrap().contains(part), "{body}");
    }
}
