//! `PUT` of a presigned URL: streams one input of a job, or a template, into the store. Answers exactly 200, empty.

use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::presigned_url;
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::http::actors;
use crate::http::body::declared_bytes;
use crate::http::problem::{HandlerResult, ProblemResponse};
use crate::http::state::HttpState;
use crate::jobs::messages::{CloseUpload, InputPart, OpenUpload};
use crate::problem::{Code, Problem};
use crate::storage::presigned_urls::Operation;
use crate::storage::{CountedUpload, StorageKey, StoreError};
use crate::templates::registry::messages::{CloseTemplateUpload, TemplateRef};

/// What the presigned URL of an upload names.
#[derive(Clone, Copy)]
enum Destination {
    Job(AccountId, JobId, InputPart),
    Template(AccountId, TemplateId),
}

impl Destination {
    fn account(self) -> AccountId {
        match self {
            Self::Job(account, ..) | Self::Template(account, _) => account,
        }
    }

    async fn open(self, state: &HttpState, limit_bytes: u64) -> Result<CountedUpload, Problem> {
        match self {
            Self::Job(account, job, part) => {
                actors::ask(state, account, &state.jobs, OpenUpload { account, job, part, limit_bytes }).await
            }
            Self::Template(account, template) => {
                let of = TemplateRef { account, template };
                actors::bounded(state, account, state.template_reader.stage_upload(of, limit_bytes)).await
            }
        }
    }

    async fn close(self, state: &HttpState, upload: CountedUpload) -> Result<(), Problem> {
        match self {
            Self::Job(account, job, part) => {
                actors::ask(state, account, &state.jobs, CloseUpload { account, job, part, upload }).await
            }
            Self::Template(account, template) => {
                actors::ask(
                    state,
                    account,
                    &state.templates,
                    CloseTemplateUpload { account, template, upload },
                )
                .await
            }
        }
    }
}

/// It needs no header and ignores the Content-Type. The connection is closed afterwards, as after every `PUT`.
pub(super) async fn upload(
    request: HttpRequest,
    mut payload: Payload,
    state: Data<HttpState>,
) -> HandlerResult {
    let any_origin = (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    match receive(&request, &mut payload, &state).await {
        Ok(()) => Ok(HttpResponse::Ok().insert_header(any_origin).finish()),
        Err(problem) => Err(ProblemResponse::from(problem).header(any_origin.0, any_origin.1)),
    }
}

async fn receive(request: &HttpRequest, payload: &mut Payload, state: &HttpState) -> Result<(), Problem> {
    let (destination, limit_bytes) = destination(request, state)?;
    let declared = declared_bytes(request);
    if declared.is_some_and(|bytes| bytes > limit_bytes) {
        return Err(too_large(limit_bytes));
    }
    let _transfer = state.shared.connections.begin_transfer(destination.account())?;
    let mut upload = destination.open(state, limit_bytes).await?;
    upload.check_fits(declared.unwrap_or(0))?;
    let longest_s = state.config.http.upload_timeout_s;
    let arrival = timeout(Duration::from_secs(longest_s), arrive(payload, &mut upload, limit_bytes));
    arrival.await.unwrap_or_else(|_| {
        let detail = format!(
            "The upload did not arrive within {longest_s} seconds (http.upload_timeout_s), and nothing of it was kept: it \
             comes too slowly, or the client sends fewer bytes than its Content-Length says."
        );
        Err(Problem::new(Code::RequestTimeout, detail))
    })?;
    destination.close(state, upload).await
}

fn destination(request: &HttpRequest, state: &HttpState) -> Result<(Destination, u64), Problem> {
    let access = presigned_url::verify(state, request, Operation::Put)?;
    let span = tracing::Span::current();
    let of_job = |account, job, part| {
        span.record("job.id", tracing::field::display(job));
        Ok((Destination::Job(account, job, part), access.limit_bytes))
    };
    match access.key {
        StorageKey::JobData(account, job) => of_job(account, job, InputPart::Data),
        StorageKey::JobTemplate(account, job) => of_job(account, job, InputPart::Template),
        StorageKey::TemplateUpload(account, template) => {
            span.record("template.id", tracing::field::display(template));
            Ok((Destination::Template(account, template), access.limit_bytes))
        }
        StorageKey::JobSecret(..)
        | StorageKey::JobOutput(..)
        | StorageKey::UnfinishedPackage(..)
        | StorageKey::Template(..)
        | StorageKey::Upload(..)
        | StorageKey::Probe(_) => {
            Err(Problem::internal("an upload address was signed for what nobody uploads"))
        }
    }
}

async fn arrive(payload: &mut Payload, upload: &mut CountedUpload, limit_bytes: u64) -> Result<(), Problem> {
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            let detail = format!("The upload broke off: {error}. Nothing of it was kept; send it again.");
            Problem::new(Code::BadRequest, detail)
        })?;
        upload.count(chunk.len())?;
        upload.write(chunk).await.map_err(|error| match error {
            StoreError::TooLarge { .. } => too_large(limit_bytes),
            StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
        })?;
    }
    Ok(())
}

fn too_large(limit_bytes: u64) -> Problem {
    let detail = format!("The upload is larger than {limit_bytes} bytes (http.upload_limit_bytes).");
    Problem::new(Code::PayloadTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use actix_web::test::TestRequest;
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::http::testing::{TestServer, answer_of, answer_until, until};

    const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n";

    async fn stored(server: &TestServer, template: TemplateId) -> String {
        let key = StorageKey::TemplateUpload(server.account, template);
        String::from_utf8(server.state.store.get(&key, 1 << 20).await.unwrap().to_vec()).unwrap()
    }

    #[actix_web::test]
    async fn an_upload_arrives_whatever_its_type_and_from_any_origin() {
        let server = TestServer::new().await;
        let (template, path) = server.begin_template().await;
        for kind in ["application/json", "text/html", "application/zip", "nonsense"] {
            let body = format!("<p>{kind}</p>");
            let request = TestRequest::with_uri(&path).method(Method::PUT).set_payload(body.clone());
            let answer = server.send(request.insert_header((header::CONTENT_TYPE, kind))).await;
            assert_eq!(answer.status(), 200, "{kind}");
            assert_eq!(answer.headers().get("access-control-allow-origin").unwrap(), "*");
            assert!(actix_web::body::to_bytes(answer.into_body()).await.unwrap().is_empty());
            assert_eq!(stored(&server, template).await, body);
        }
    }

    /// All of them at the same address.
    #[actix_web::test]
    async fn uploads_in_progress_leave_a_quarter_to_other_accounts() {
        let server = TestServer::with(|config| config.http.connection_limit = 4).await;
        let (template, path) = server.begin_template().await;
        let transfer = || server.state.shared.connections.begin_transfer(server.account);
        let held = [transfer(), transfer(), transfer()];
        let (status, problem) = server.call(Method::PUT, &path, "<p>").await;
        assert_eq!((status.as_u16(), problem["code"].as_str()), (503, Some("overloaded")));
        drop(held);
        let served = server.serve();
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n<p");
        let mut stream = served.send(head.as_bytes()).await;
        until(|| [transfer(), transfer(), transfer()].iter().any(Result::is_err)).await;
        stream.write_all(b">").await.unwrap();
        assert!(answer_of(&mut stream).await.starts_with(EMPTY_200));
        assert_eq!(stored(&server, template).await, "<p>");
        served.stop(false).await;
    }

    #[actix_web::test]
    async fn a_client_that_expects_a_go_ahead_gets_one() {
        let server = TestServer::new().await;
        let (template, path) = server.begin_template().await;
        let served = server.serve();
        let head =
            format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
        let mut stream = served.send(head.as_bytes()).await;
        assert_eq!(answer_until(&mut stream, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"<p").await.unwrap();
        assert!(answer_of(&mut stream).await.starts_with(EMPTY_200));
        assert_eq!(stored(&server, template).await, "<p");
        served.stop(false).await;
    }

    #[actix_web::test]
    async fn chunks_arrive_and_a_reused_connection_is_closed() {
        let server = TestServer::new().await;
        let (template, path) = server.begin_template().await;
        let served = server.serve();
        let mut stream = served.send(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let first = answer_until(&mut stream, "}").await;
        assert!(first.starts_with("HTTP/1.1 200 OK") && !first.contains("connection: close"), "{first}");
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        let chunks = "3\r\n<p>\r\n4\r\n</p>\r\n0\r\n\r\n";
        stream.write_all(format!("{head}{chunks}").as_bytes()).await.unwrap();
        assert!(answer_of(&mut stream).await.starts_with(EMPTY_200));
        assert_eq!(stored(&server, template).await, "<p></p>");
        served.stop(false).await;
    }
}
