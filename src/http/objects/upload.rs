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
    async fn open(self, state: &HttpState, limit_bytes: u64) -> Result<CountedUpload, Problem> {
        match self {
            Self::Job(account, job, part) => {
                actors::ask(state, &state.jobs.open_upload, OpenUpload { account, job, part, limit_bytes })
                    .await
            }
            Self::Template(account, template) => {
                let of = TemplateRef { account, template };
                actors::bounded(state, state.template_reader.stage_upload(of, limit_bytes)).await
            }
        }
    }

    async fn close(self, state: &HttpState, upload: CountedUpload) -> Result<(), Problem> {
        match self {
            Self::Job(account, job, part) => {
                actors::ask(state, &state.jobs.close_upload, CloseUpload { account, job, part, upload }).await
            }
            Self::Template(account, template) => {
                actors::ask_templates(state, CloseTemplateUpload { account, template, upload }).await
            }
        }
    }
}

/// The handler. It needs no header and ignores the Content-Type. The connection is closed afterwards, as after every `PUT`.
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
    let (place, limit_bytes) = open_address(request, state)?;
    let declared = declared_bytes(request);
    if declared.is_some_and(|bytes| bytes > limit_bytes) {
        return Err(too_large(limit_bytes));
    }
    let mut upload = place.open(state, limit_bytes).await?;
    upload.expect(declared.unwrap_or(0))?;
    let longest_s = state.config.http.upload_timeout_s;
    let arrival = timeout(Duration::from_secs(longest_s), arrive(payload, &mut upload, limit_bytes));
    arrival.await.unwrap_or_else(|_| {
        let detail = format!(
            "The upload did not arrive within {longest_s} seconds (http.upload_timeout_s); nothing of it was kept."
        );
        Err(Problem::new(Code::RequestTimeout, detail))
    })?;
    place.close(state, upload).await
}

fn open_address(request: &HttpRequest, state: &HttpState) -> Result<(Destination, u64), Problem> {
    let grant = presigned_url::open(state, request, Operation::Put)?;
    let span = tracing::Span::current();
    let of_job = |account, job, part| {
        span.record("job.id", tracing::field::display(job));
        Ok((Destination::Job(account, job, part), grant.limit_bytes))
    };
    match grant.key {
        StorageKey::JobData(account, job) => of_job(account, job, InputPart::Data),
        StorageKey::JobTemplate(account, job) => of_job(account, job, InputPart::Template),
        StorageKey::TemplateUpload(account, template) => {
            span.record("template.id", tracing::field::display(template));
            Ok((Destination::Template(account, template), grant.limit_bytes))
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
    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::http::testing::{Outcome, Served, TestServer, answer_of, answer_until, read};

    const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n";

    async fn put(server: &TestServer, path: &str, body: &'static [u8]) -> (StatusCode, String) {
        let request = TestRequest::default().method(Method::PUT).uri(path).set_payload(body);
        let (status, body) = read(server.send(request).await).await;
        (status, body["code"].as_str().unwrap_or_default().to_owned())
    }

    async fn kept(server: &TestServer, job: JobId, part: InputPart) -> Option<String> {
        server.jobs.lock().unwrap().uploads.get(&(job, part))?;
        let key = match part {
            InputPart::Data => StorageKey::JobData(server.account, job),
            InputPart::Template => StorageKey::JobTemplate(server.account, job),
        };
        let bytes = server.state.store.get(&key, 1 << 20).await.unwrap();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[actix_web::test]
    async fn both_inputs_arrive_whatever_their_type() {
        let server = TestServer::new().await;
        let (job, init) = server.init().await;
        let template = server.local(&init["presignedTemplateUploadUrl"]);
        for kind in ["application/json", "text/html", "application/zip", "nonsense"] {
            let request = TestRequest::default()
                .method(Method::PUT)
                .uri(&template)
                .insert_header((header::CONTENT_TYPE, kind))
                .set_payload("<p>ä</p>");
            let answer = server.send(request).await;
            assert_eq!(answer.status(), StatusCode::OK, "{kind}");
            assert_eq!(answer.headers().get("access-control-allow-origin").unwrap(), "*");
            assert!(actix_web::body::to_bytes(answer.into_body()).await.unwrap().is_empty());
        }
        let data = server.local(&init["presignedDataUploadUrl"]);
        assert_eq!(put(&server, &data, b"{}").await.0, StatusCode::OK);
        assert_eq!(kept(&server, job, InputPart::Template).await.as_deref(), Some("<p>ä</p>"));
        assert_eq!(kept(&server, job, InputPart::Data).await.as_deref(), Some("{}"));
    }

    #[actix_web::test]
    async fn an_address_is_for_one_object_one_method_and_one_lifetime() {
        let server = TestServer::new().await;
        let (job, init) = server.init().await;
        let path = server.local(&init["presignedDataUploadUrl"]);
        for altered in
            [path.replace("data.json", "template"), path.replace("limit=1", "limit=9"), format!("{path}x")]
        {
            let answer = put(&server, &altered, b"{}").await;
            assert_eq!(answer, (StatusCode::FORBIDDEN, "address_invalid".to_owned()), "{altered}");
        }
        let (status, body) = server.call(Method::GET, &path, "").await;
        assert_eq!((status, body["code"].as_str()), (StatusCode::FORBIDDEN, Some("address_invalid")));
        server.clock.advance_ms(3_600_000);
        assert_eq!(put(&server, &path, b"{}").await, (StatusCode::FORBIDDEN, "address_expired".to_owned()));
        assert_eq!(kept(&server, job, InputPart::Data).await, None);
    }

    #[actix_web::test]
    async fn a_started_job_takes_no_uploads() {
        let server = TestServer::new().await;
        let (job, init) = server.init().await;
        server.jobs.lock().unwrap().end(job, Outcome::StaysRunning);
        let path = server.local(&init["presignedDataUploadUrl"]);
        assert_eq!(put(&server, &path, b"{}").await, (StatusCode::FORBIDDEN, "upload_closed".to_owned()));
    }

    #[actix_web::test]
    async fn an_upload_beyond_the_limit_is_refused() {
        let server = TestServer::with(|config| config.http.upload_limit_bytes = 1_024).await;
        let (job, init) = server.init().await;
        let path = server.local(&init["presignedDataUploadUrl"]);
        let answer = put(&server, &path, &[b' '; 1_025]).await;
        assert_eq!(answer, (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large".to_owned()));
        assert_eq!(kept(&server, job, InputPart::Data).await, None);
        assert_eq!(put(&server, &path, &[b' '; 1_024]).await.0, StatusCode::OK);
    }

    async fn served() -> (TestServer, Served, JobId, String) {
        let server = TestServer::with(|config| config.http.upload_timeout_s = 2).await;
        let (job, init) = server.init().await;
        let path = server.local(&init["presignedDataUploadUrl"]);
        let listening = server.serve();
        (server, listening, job, path)
    }

    #[actix_web::test]
    async fn a_length_that_is_too_short_is_answered_with_200_and_nothing_else() {
        let (server, served, job, path) = served().await;
        let data = r#"{"name":"Zoë Größe 東京"}"#;
        let short = data.chars().count();
        let request = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {short}\r\n\r\n{data}");
        let mut stream = served.send(request.as_bytes()).await;
        stream.shutdown().await.unwrap();
        let answer = answer_of(&mut stream).await;
        assert!(answer.starts_with(EMPTY_200), "{answer}");
        assert!(answer.ends_with("\r\n\r\n") && answer.matches("HTTP/1.1").count() == 1, "{answer}");
        let truncated = String::from_utf8_lossy(&data.as_bytes()[..short]).into_owned();
        assert_eq!(kept(&server, job, InputPart::Data).await, Some(truncated));
        served.stop().await;
    }

    #[actix_web::test]
    async fn megabytes_left_over_do_not_keep_the_answer_from_the_client() {
        let (server, served, job, path) = served().await;
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(std::iter::repeat_n(b'"', 8 << 20));
        let mut stream = served.send(&bytes).await;
        assert!(answer_until(&mut stream, "\r\n\r\n").await.starts_with(EMPTY_200));
        assert_eq!(kept(&server, job, InputPart::Data).await.as_deref(), Some("\"\"\"\"\""));
        served.stop().await;
    }

    #[actix_web::test]
    async fn a_client_that_expects_a_go_ahead_gets_one() {
        let (server, served, job, path) = served().await;
        let head =
            format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
        let mut stream = served.send(head.as_bytes()).await;
        assert_eq!(answer_until(&mut stream, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"{}").await.unwrap();
        assert!(answer_of(&mut stream).await.starts_with(EMPTY_200));
        assert_eq!(kept(&server, job, InputPart::Data).await.as_deref(), Some("{}"));
        served.stop().await;
    }

    #[actix_web::test]
    async fn chunks_arrive_and_a_connection_that_was_kept_is_closed() {
        let (server, served, job, path) = served().await;
        let mut stream = served.send(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let first = answer_until(&mut stream, "}").await;
        assert!(first.starts_with("HTTP/1.1 200 OK") && !first.contains("connection: close"), "{first}");
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        let chunks = "3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n";
        stream.write_all(format!("{head}{chunks}").as_bytes()).await.unwrap();
        assert!(answer_of(&mut stream).await.starts_with(EMPTY_200));
        assert_eq!(kept(&server, job, InputPart::Data).await.as_deref(), Some("{\"a\":1}"));
        served.stop().await;
    }

    #[actix_web::test]
    async fn a_declared_length_beyond_the_limit_is_refused_before_it_is_sent() {
        let (_bench, served, _, path) = served().await;
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 209715200\r\n\r\n");
        let mut stream = served.send(head.as_bytes()).await;
        let answer = answer_until(&mut stream, "}").await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("connection: close") && answer.contains("104857600 bytes"), "{answer}");
        served.stop().await;
    }

    #[actix_web::test]
    async fn an_upload_that_stops_coming_ends_at_its_deadline() {
        let (server, served, job, path) = served().await;
        let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{{");
        let mut stream = served.send(head.as_bytes()).await;
        let answer = answer_until(&mut stream, "}").await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("within 2 seconds"), "{answer}");
        assert_eq!(kept(&server, job, InputPart::Data).await, None);
        served.stop().await;
    }
}
