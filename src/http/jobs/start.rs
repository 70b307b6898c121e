//! `POST /documents/{jobId}/render`: starts a job, and waits for its end if it is asked to.

use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};

use super::job_request::{admit_delivery, read_delivery};
use super::view::StartBody;
use super::{job, view, wait};
use crate::domain::ids::{AccountId, JobId};
use crate::http::actors;
use crate::http::body;
use crate::http::body::Body;
use crate::http::middleware::auth::Caller;
use crate::http::openapi::StartRequest;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::jobs::messages::{StartJob, WatchJob};
use crate::jobs::view::{JobView, WireStatus};
use crate::problem::Problem;

/// `Retry-After` of a job that is not done.
const ASK_AGAIN_S: u64 = 1;

struct StartOptions {
    waits: bool,
    delivery: Option<String>,
}

/// Start a job. A repeated start changes nothing and answers the present state.
#[utoipa::path(
    post, path = "/documents/{jobId}/render", operation_id = "renderDocument", tag = "documents",
    params(("jobId" = String, Path, description = "The job's id")),
    request_body(content = StartRequest, description = "May be left out"),
    responses(
        (status = 200, description = "The job is done", body = StartBody),
        (status = 202, description = "The job waits or runs; ask at `Location`", body = StartBody),
    ),
)]
pub(super) async fn start(
    caller: Caller,
    state: Data<HttpState>,
    job: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> HandlerResult {
    let id = job::parse_id(&job)?;
    actors::admit(&state)?;
    let wanted = body::read(&request, payload, &state, read).await?;
    let deliver_to = match wanted.delivery {
        // Checked after the job: a repeated start is answered even if its delivery URL would be refused now, and nobody
        // can make the service resolve names by starting jobs that are not theirs.
        Some(address) if is_initialized(&state, caller.0, id).await? => {
            admit_delivery(&state, Some(address)).await?
        }
        Some(_) | None => None,
    };
    let message = StartJob { account: caller.0, job: id, deliver_to };
    let started = actors::ask(&state, &state.jobs.start, message).await?;
    let view = if wanted.waits {
        let longest = Duration::from_secs(state.config.http.wait_default_s);
        wait::until_made(&state, started, longest).await?
    } else {
        started.borrow().clone()
    };
    Ok(answer(&state, &view))
}

async fn is_initialized(state: &HttpState, account: AccountId, job: JobId) -> Result<bool, Problem> {
    let present = actors::ask(state, &state.jobs.watch, WatchJob { account, job }).await?;
    let status = present.borrow().status;
    Ok(status == WireStatus::Initialized)
}

fn read(body: &Body, _: &HttpState) -> Result<StartOptions, Problem> {
    let mut members = body.members()?;
    let waits = members.flag("shouldWaitForRenderCompletion").unwrap_or(false);
    let delivery = read_delivery(&mut members);
    let faults = members.into_faults();
    if !faults.is_empty() {
        return Err(Problem::validation(faults));
    }
    Ok(StartOptions { waits, delivery })
}

fn answer(state: &HttpState, view: &JobView) -> HttpResponse {
    let mut answer = if view.is_done() { HttpResponse::Ok() } else { accepted(view) };
    answer.json(view::start(state, view))
}

/// 202 with the `Location` of the job.
pub(super) fn accepted(view: &JobView) -> HttpResponseBuilder {
    let mut answer = HttpResponse::Accepted();
    answer.insert_header((header::LOCATION, format!("/v1/jobs/{}", view.id)));
    answer.insert_header((header::RETRY_AFTER, ASK_AGAIN_S));
    answer
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};
    use serde_json::Value;

    use crate::domain::ids::JobId;
    use crate::http::testing::{Outcome, TestServer, faults};

    fn path(job: impl std::fmt::Display) -> String {
        format!("/v1/documents/{job}/render")
    }

    const WAITING: &str = r#"{"shouldWaitForRenderCompletion":true,"uploadPresignedStorageUrl":null}"#;

    #[actix_web::test]
    async fn a_job_that_is_done_answers_200_with_its_output() {
        let server = TestServer::new().await;
        let (job, _) = server.init().await;
        let (status, body) = server.post(&path(job), WAITING).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!((body["status"].as_str(), &body["success"]), (Some("done"), &Value::Bool(true)));
        assert_eq!(body["error"], Value::Null);
        assert_eq!(body["output"]["metadata"]["renderTime"], 120);
        assert!(server.local(&body["output"]["data"]["url"]).starts_with("/v1/objects/outputs/"));
        let (again, same) = server.post(&path(job), "").await;
        assert_eq!((again, &same["status"]), (StatusCode::OK, &body["status"]));
    }

    #[actix_web::test]
    async fn a_failed_job_is_done_and_no_http_error() {
        let server = TestServer::new().await;
        server.jobs.lock().unwrap().outcome = Outcome::Fault;
        let (job, _) = server.init().await;
        let (status, body) = server.post(&path(job), WAITING).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!((body["status"].as_str(), &body["success"]), (Some("done"), &Value::Bool(false)));
        assert_eq!(body["error"], "index.html:1: 'x' is not defined");
        assert_eq!((body["errorCode"].as_str(), &body["output"]), (Some("template_error"), &Value::Null));
    }

    #[actix_web::test]
    async fn a_running_job_answers_202_with_the_place_to_ask() {
        let server = TestServer::with(|config| config.http.wait_default_s = 0).await;
        server.jobs.lock().unwrap().outcome = Outcome::StaysRunning;
        let (job, _) = server.init().await;
        for body in ["", "{}", "[]", WAITING, r#"{"shouldWaitForRenderCompletion":null}"#] {
            let answer = server.request(Method::POST, &path(job), body).await;
            assert_eq!(answer.status(), StatusCode::ACCEPTED, "{body}");
            assert_eq!(answer.headers().get("location").unwrap(), &format!("/v1/jobs/{job}"));
            assert!(answer.headers().contains_key("retry-after"));
            let (_, body) = crate::http::testing::read(answer).await;
            assert_eq!((body["status"].as_str(), &body["success"]), (Some("in-progress"), &Value::Null));
            assert_eq!((&body["output"], &body["error"]), (&Value::Null, &Value::Null));
        }
    }

    #[actix_web::test]
    async fn a_fault_of_the_body_starts_nothing() {
        let server = TestServer::new().await;
        let (job, _) = server.init().await;
        let wrong = r#"{"shouldWaitForRenderCompletion":"yes","uploadPresignedS3Url":7}"#;
        let (status, body) = server.post(&path(job), wrong).await;
        assert_eq!((status, faults(&body).len()), (StatusCode::UNPROCESSABLE_ENTITY, 2));
        for name in ["uploadPresignedStorageUrl", "uploadPresignedS3Url"] {
            let body = format!(r#"{{"{name}":"https://10.0.0.1/key"}}"#);
            let (status, answer) = server.post(&path(job), &body).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(answer["code"], "delivery_address_refused");
        }
        let (_, view) = server.call(Method::GET, &format!("/jobs/{job}"), "").await;
        assert_eq!(view["status"], "initialized");
        assert_eq!(server.post(&path(job), r#"{"uploadPresignedS3Url":""}"#).await.0, StatusCode::OK);
    }

    #[actix_web::test]
    async fn an_unknown_job_is_not_there() {
        let server = TestServer::new().await;
        for id in [JobId::generate().to_string(), "nonsense".to_owned()] {
            let (status, body) = server.post(&path(&id), "").await;
            assert_eq!((status, body["code"].as_str()), (StatusCode::NOT_FOUND, Some("job_not_found")));
        }
    }
}
