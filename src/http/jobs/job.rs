//! `GET /jobs/{jobId}`: a job's view, at once or (`?wait=N`, `Prefer: wait=N`) when it is done.

use std::time::Duration;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};

use super::view::JobBody;
use super::{prefer, view, wait};
use crate::domain::ids::JobId;
use crate::http::actors;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::jobs::messages::WatchJob;
use crate::problem::{Code, Fault, Problem};

/// Look at a job, at once or when it is done.
#[utoipa::path(
    get, path = "/jobs/{jobId}", operation_id = "getJob", tag = "jobs",
    params(
        ("jobId" = String, Path, description = "The job's id"),
        ("wait" = Option<u32>, Query, description = "Answer when the job is done, or after so many seconds"),
        ("Prefer" = Option<String>, Header, description = "`wait=20` means the same as the query"),
    ),
    responses((status = 200, description = "The job", body = JobBody)),
)]
pub(super) async fn job(
    caller: Caller,
    state: Data<HttpState>,
    job: Path<String>,
    request: HttpRequest,
) -> HandlerResult {
    let id = parse_id(&job)?;
    let (wait, preferred) = read_wait(&request)?;
    let wait = wait.min(state.config.http.wait_limit_s);
    let watched = actors::ask(&state, &state.jobs.watch, WatchJob { account: caller.0, job: id }).await?;
    let view = if wait == 0 {
        watched.borrow().clone()
    } else {
        wait::until_done(&state, watched, Duration::from_secs(wait)).await?
    };
    let mut answer = HttpResponse::Ok();
    if preferred {
        answer.insert_header((prefer::APPLIED, format!("wait={wait}")));
    }
    Ok(answer.json(view::job(&state, &view)))
}

/// Parses the job id of a path. A malformed id is answered like an unknown one.
///
/// # Errors
/// `job_not_found`.
pub(super) fn parse_id(text: &str) -> Result<JobId, Problem> {
    let id: JobId = text.parse().map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        let detail =
            format!("There is no job '{shown}' of yours; use the jobId that /documents/init answered.");
        Problem::new(Code::JobNotFound, detail)
    })?;
    tracing::Span::current().record("job.id", tracing::field::display(id));
    Ok(id)
}

/// Seconds to wait, and whether they are the header's (RFC 7240): the query's come first.
fn read_wait(request: &HttpRequest) -> Result<(u64, bool), Problem> {
    let sent = request.query_string().split('&').find_map(|pair| pair.strip_prefix("wait="));
    if let Some(text) = sent.filter(|text| !text.is_empty()) {
        return prefer::seconds(text).map(|wait| (wait, false)).ok_or_else(|| {
            let fault = Fault::new("/wait", "must be a number of seconds, such as wait=20");
            Problem::validation(vec![fault])
        });
    }
    Ok(prefer::wait(request).map_or((0, false), |wait| (wait, true)))
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use actix_web::test::TestRequest;
    use serde_json::{Value, json};

    use super::*;
    use crate::http::testing::{Outcome, TOKEN, TestServer};

    #[actix_web::test]
    async fn the_view_has_every_member_from_the_first_day() {
        let server = TestServer::new().await;
        let body = r#"{"type":"react","target":"pdf","formatOpts":{"toPage": 2.0}}"#;
        let (_, init) = server.post("/documents/init", body).await;
        let id = init["jobId"].as_str().unwrap();
        let (status, view) = server.call(Method::GET, &format!("//jobs//{id}/"), "").await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(
            view,
            json!({
                "jobId": id, "type": "framework", "templateId": null, "target": "pdf",
                "formatOpts": {"toPage": 2.0}, "status": "initialized", "success": null, "output": null,
                "error": null, "errorCode": null, "warnings": [], "createdAt": "2023-11-14T22:13:20Z",
                "startedAt": null, "finishedAt": null
            })
        );
    }

    #[actix_web::test]
    async fn a_done_job_shows_where_its_output_is() {
        let server = TestServer::new().await;
        let (id, _) = server.init().await;
        server.jobs.lock().unwrap().end(id, Outcome::Document);
        let (_, view) = server.call(Method::GET, &format!("/v1/jobs/{id}"), "").await;
        let data = &view["output"]["data"];
        assert_eq!((view["status"].as_str(), &view["success"]), (Some("done"), &Value::Bool(true)));
        assert_eq!((&data["bytes"], data["contentType"].as_str()), (&json!(9), Some("application/pdf")));
        assert_eq!(data["fileName"], "document.pdf");
        assert_eq!(data["expiresAt"], "2023-11-14T23:13:20Z");
        assert_eq!(view["output"]["metadata"], json!({"renderTime": 120, "queueTime": 3, "pages": 2}));
        assert!(view["finishedAt"].is_string());
    }

    #[actix_web::test]
    async fn a_long_poll_answers_when_the_job_ends() {
        let server = TestServer::new().await;
        let (id, _) = server.init().await;
        let path = format!("/v1/jobs/{id}?wait=60");
        let poll = server.call(Method::GET, &path, "");
        let end = async {
            let jobs = std::sync::Arc::clone(&server.jobs);
            while jobs.lock().unwrap().views[&id].receiver_count() == 0 {
                tokio::task::yield_now().await;
            }
            jobs.lock().unwrap().end(id, Outcome::Document);
        };
        let ((status, view), ()) = tokio::join!(poll, end);
        assert_eq!((status, view["status"].as_str()), (StatusCode::OK, Some("done")));
    }

    #[actix_web::test]
    async fn a_long_poll_is_clamped_and_ends_with_the_present_view() {
        tokio::time::pause();
        let server = TestServer::with(|config| config.http.wait_limit_s = 7).await;
        let (id, _) = server.init().await;
        let start = tokio::time::Instant::now();
        let (status, view) = server.call(Method::GET, &format!("/v1/jobs/{id}?wait=100000"), "").await;
        assert_eq!((status, view["status"].as_str()), (StatusCode::OK, Some("initialized")));
        let waited = start.elapsed().as_secs_f64();
        assert!((7.0..8.0).contains(&waited), "{waited}");
    }

    #[actix_web::test]
    async fn a_long_poll_ends_when_the_service_stops() {
        let server = TestServer::new().await;
        let (id, _) = server.init().await;
        server.state.stopping.cancel();
        let (status, view) = server.call(Method::GET, &format!("/v1/jobs/{id}?wait=60"), "").await;
        assert_eq!((status, view["status"].as_str()), (StatusCode::OK, Some("initialized")));
    }

    #[actix_web::test]
    async fn a_view_that_closes_is_asked_for_again() {
        let server = TestServer::new().await;
        let (id, _) = server.init().await;
        let path = format!("/v1/jobs/{id}?wait=60");
        let poll = server.call(Method::GET, &path, "");
        let end = async {
            while server.jobs.lock().unwrap().views[&id].receiver_count() == 0 {
                tokio::task::yield_now().await;
            }
            let mut jobs = server.jobs.lock().unwrap();
            let mut view = jobs.views[&id].borrow().clone();
            view.status = crate::jobs::view::WireStatus::Done;
            let (kept, _) = tokio::sync::watch::channel(view);
            jobs.views.insert(id, kept);
        };
        let ((_, view), ()) = tokio::join!(poll, end);
        assert_eq!(view["status"], "done");
    }

    #[actix_web::test]
    async fn anothers_job_is_answered_like_none() {
        let server = TestServer::new().await;
        let (id, _) = server.init().await;
        server.jobs.lock().unwrap().views[&id]
            .send_modify(|view| view.account = crate::domain::ids::AccountId::generate());
        let (foreign, mut one) = server.call(Method::GET, &format!("/v1/jobs/{id}"), "").await;
        let none = format!("/v1/jobs/{}", JobId::generate());
        let (missing, mut other) = server.call(Method::GET, &none, "").await;
        assert_eq!((foreign, missing), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
        for body in [&mut one, &mut other] {
            body["instance"] = Value::Null;
        }
        assert_eq!(one, other);
    }

    #[actix_web::test]
    async fn a_preference_that_was_followed_is_said() {
        tokio::time::pause();
        let server = TestServer::with(|config| config.http.wait_limit_s = 7).await;
        let (id, _) = server.init().await;
        for (query, prefer, applied) in [
            ("", "wait=2", Some("wait=2")),
            ("", "wait=600", Some("wait=7")),
            ("", "wait=0", Some("wait=0")),
            ("", "respond-async", None),
            ("", "wait=soon", None),
            ("?wait=1", "wait=2", None),
        ] {
            let request = TestRequest::with_uri(&format!("/v1/jobs/{id}{query}"))
                .insert_header(("authorization", format!("Bearer {TOKEN}")))
                .insert_header(("prefer", prefer));
            let answer = server.send(request).await;
            assert_eq!(answer.status(), StatusCode::OK);
            let said = answer.headers().get("preference-applied").map(|value| value.to_str().unwrap());
            assert_eq!(said, applied, "{query} {prefer}");
        }
    }

    #[test]
    fn the_wait_comes_from_the_query_or_the_header() {
        let wait = |uri: &str, prefer: &str| {
            let request = TestRequest::with_uri(uri).insert_header(("prefer", prefer)).to_http_request();
            read_wait(&request).ok()
        };
        assert_eq!(wait("/?wait=20", ""), Some((20, false)));
        assert_eq!(wait("/?a=b&wait=1.5", "wait=9"), Some((2, false)));
        assert_eq!(wait("/", "respond-async, wait=9"), Some((9, true)));
        assert_eq!(wait("/", "Wait = \"9\"; soft, wait=7"), Some((9, true)));
        assert_eq!(wait("/?wait=", "wait=soon"), Some((0, false)));
        assert_eq!(wait("/", "waiting=9, wait"), Some((0, false)));
        assert_eq!(wait("/?wait=soon", ""), None);
        assert_eq!(wait("/?wait=-1", ""), None);
    }
}
