//! The one way from a handler to an actor: at most `jobs.mailbox_limit` requests wait at once, and a full or stopped actor
//! answers `overloaded` instead of keeping its caller waiting.

use actix::dev::ToEnvelope;
use actix::{Context, Handler, MailboxError, Message, Recipient};

use crate::http::state::HttpState;
use crate::problem::{Code, Problem};
use crate::templates::registry::TemplateRegistry;

/// Seconds after which a caller that met a full or stopping service may ask again.
const RETRY_AFTER_S: u64 = 2;

/// Sends `message` and waits for the answer.
///
/// A full mailbox makes its senders wait, and callers would time out without knowing why. So no more messages are sent at a
/// time than the mailbox holds, and one more is refused at once.
///
/// # Errors
/// The actor's own problem; `overloaded` when too many messages wait, or the actor has stopped.
pub(in crate::http) async fn ask<M, T>(
    state: &HttpState,
    actor: &Recipient<M>,
    message: M,
) -> Result<T, Problem>
where
    M: Message<Result = Result<T, Problem>> + Send + 'static,
    T: Send + 'static,
{
    let sent = async {
        match actor.send(message).await {
            Ok(answer) => answer,
            Err(MailboxError::Closed | MailboxError::Timeout) => Err(stopping()),
        }
    };
    bounded(state, sent).await
}

/// Does `work` as one of the `jobs.mailbox_limit` requests that may be handled at once.
///
/// # Errors
/// Its own problem; `overloaded` when too many requests are being handled.
pub(in crate::http) async fn bounded<T>(
    state: &HttpState,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let Ok(_permit) = state.questions.try_acquire() else {
        let limit = state.config.jobs.mailbox_limit;
        let detail = format!("More than {limit} requests are being handled (jobs.mailbox_limit); try again.");
        return Err(Problem::new(Code::Overloaded, detail).retry_after(RETRY_AFTER_S));
    };
    work.await
}

/// As [`ask`], for the template registry.
///
/// # Errors
/// As for [`ask`].
pub(in crate::http) async fn ask_templates<M, T>(state: &HttpState, message: M) -> Result<T, Problem>
where
    M: Message<Result = Result<T, Problem>> + Send + 'static,
    T: Send + 'static,
    TemplateRegistry: Handler<M>,
    Context<TemplateRegistry>: ToEnvelope<TemplateRegistry, M>,
{
    ask(state, &state.templates.clone().recipient(), message).await
}

/// Refuses new work while the service stops.
///
/// # Errors
/// `overloaded` when the service stops.
pub(in crate::http) fn admit(state: &HttpState) -> Result<(), Problem> {
    if state.stopping.is_cancelled() { Err(stopping()) } else { Ok(()) }
}

fn stopping() -> Problem {
    Problem::new(Code::Overloaded, "The service is stopping; try again in a moment.")
        .retry_after(RETRY_AFTER_S)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actix::{Actor, ActorContext, Context, Handler};
    use actix_web::http::{Method, StatusCode};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::accounts::actor::Authenticate;
    use crate::domain::ids::AccountId;
    use crate::http::testing::{TestServer, read};

    struct Leaving;

    impl Actor for Leaving {
        type Context = Context<Self>;
    }

    impl Handler<Authenticate> for Leaving {
        type Result = Result<AccountId, Problem>;

        fn handle(&mut self, _: Authenticate, context: &mut Context<Self>) -> Self::Result {
            context.terminate();
            Err(Problem::internal("gone"))
        }
    }

    async fn assert_overloaded(server: &TestServer, part: &str) {
        let path = "/v1/jobs/0190a0a0-0000-7000-8000-000000000000";
        let answer = server.request(Method::GET, path, "").await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers().get("retry-after").unwrap(), "2");
        let (_, body) = read(answer).await;
        assert_eq!(body["code"], "overloaded");
        assert!(body["detail"].as_str().unwrap().contains(part), "{body}");
    }

    #[actix_web::test]
    async fn too_many_questions_are_refused_at_once() {
        let mut server = TestServer::new().await;
        server.state.questions = Arc::new(Semaphore::new(0));
        assert_overloaded(&server, "4096 requests are being handled (jobs.mailbox_limit)").await;
    }

    #[actix_web::test]
    async fn an_actor_that_is_gone_is_told_as_stopping() {
        let mut server = TestServer::new().await;
        let leaving = Leaving.start();
        let _last = leaving.send(Authenticate { token: String::new() }).await;
        server.state.accounts = leaving.into();
        assert_overloaded(&server, "The service is stopping").await;
    }
}
