//! `POST /documents/{jobId}/render`: starts a job, and waits for its end if the body has `shouldWaitForRenderCompletion`.

use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use json_members::Members;

use super::job_request::check_delivery;
use super::view::StartBody;
use super::{view, wait};
use crate::domain::error::Warnings;
use crate::domain::ids::{AccountId, JobId};
use crate::http::actors;
use crate::http::body::members::read_delivery;
use crate::http::body::{self, Body, unknown};
use crate::http::ids;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::schema::StartRequest;
use crate::http::state::HttpState;
use crate::jobs::messages::{StartJob, WatchJob};
use crate::jobs::view::{JobView, WireStatus};
use crate::problem::Problem;

/// `Retry-After` of a job that is not done, in seconds.
const RETRY_AFTER_S: u64 = 1;

struct StartOptions {
    waits: bool,
    delivery: Option<String>,
    warnings: Warnings,
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
    let id = ids::job_id(&job)?;
    actors::admit(&state)?;
    let wanted = body::read(&request, payload, &state, read).await?;
    let deliver_to = match wanted.delivery {
        // The URL is checked for an initialized job of the caller only. So a repeated start is answered even if its URL would
        // be refused by now; and a caller cannot make the service resolve names (the check asks DNS) for jobs that are not
        // theirs.
        Some(address) if is_initialized(&state, caller.0, id).await? => {
            check_delivery(&state, Some(address)).await?
        }
        Some(_) | None => None,
    };
    let message = StartJob { account: caller.0, job: id, deliver_to, warnings: wanted.warnings.clone() };
    let watched = actors::ask(&state, caller.0, &state.jobs, message).await?;
    let mut view = if wanted.waits {
        let longest = Duration::from_secs(state.config.http.wait_default_s);
        wait::until_done_through_shutdown(&state, watched, longest).await?
    } else {
        watched.borrow().clone()
    };
    // A repeated start changes nothing of the job.
    view.warnings.extend(&wanted.warnings);
    let mut answer = if view.is_done() { HttpResponse::Ok() } else { accepted(&view) };
    Ok(answer.json(view::start(&state, &view)))
}

async fn is_initialized(state: &HttpState, account: AccountId, job: JobId) -> Result<bool, Problem> {
    let present = actors::ask(state, account, &state.jobs, WatchJob { account, job }).await?;
    let status = present.borrow().status;
    Ok(status == WireStatus::Initialized)
}

/// What a body of render says: whether the answer waits for the document, and where that is delivered to.
pub(in crate::http) fn read_members(sent: &mut Members<'_>) -> (bool, Option<String>) {
    let waits = (
        "shouldWaitForRenderCompletion",
        "`true`: the answer comes when the job is done, or after `http.wait_default_s`.",
    );
    (sent.flag(waits).unwrap_or(false), read_delivery(sent))
}

fn read(body: &Body, _: &HttpState) -> Result<StartOptions, Problem> {
    let mut members = body.members()?;
    let (waits, delivery) = read_members(&mut members);
    let warnings = unknown::warnings(&members);
    let errors = members.into_faults();
    if !errors.is_empty() {
        return Err(Problem::validation(errors));
    }
    Ok(StartOptions { waits, delivery, warnings })
}

/// 202 with the `Location` of the job.
pub(super) fn accepted(view: &JobView) -> HttpResponseBuilder {
    let mut answer = HttpResponse::Accepted();
    answer.insert_header((header::LOCATION, format!("/v1/jobs/{}", view.id)));
    answer.insert_header((header::RETRY_AFTER, RETRY_AFTER_S));
    answer
}
