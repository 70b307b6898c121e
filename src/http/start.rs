//! `POST /documents/{jobId}/render`: starts a job, and waits for its end if it is asked to.

use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};

use super::auth::Caller;
use super::body::Body;
use super::job_request::{read_delivery, refuse_delivery};
use super::problem::Answer;
use super::state::HttpState;
use super::{gate, job, view, wait};
use crate::jobs::messages::StartJob;
use crate::jobs::view::JobView;
use crate::problem::Problem;

/// Seconds after which it is worth asking for a running job again.
const ASK_AGAIN_S: u64 = 1;

/// The handler. A repeated start changes nothing and answers the present state.
pub(super) async fn start(
    caller: Caller,
    state: Data<HttpState>,
    job: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Answer {
    let id = job::parse_id(&job)?;
    gate::admit(&state)?;
    let body = Body::read(&request, payload, &state).await?;
    let waits = read_waits(&body)?;
    let started = gate::ask(&state, &state.jobs.start, StartJob { account: caller.0, job: id }).await?;
    let view = if waits {
        let longest = Duration::from_secs(state.config.http.wait_default_s);
        wait::until_done(&state, started, longest).await?
    } else {
        started.borrow().clone()
    };
    Ok(answer(&state, &view))
}

fn read_waits(body: &Body) -> Result<bool, Problem> {
    let mut members = body.members()?;
    let waits = members.flag("shouldWaitForRenderCompletion").unwrap_or(false);
    let delivery = read_delivery(&mut members);
    let faults = members.into_faults();
    if !faults.is_empty() {
        return Err(Problem::validation(faults));
    }
    refuse_delivery(delivery.as_deref())?;
    Ok(waits)
}

fn answer(state: &HttpState, view: &JobView) -> HttpResponse {
    let mut answer = if view.is_done() { HttpResponse::Ok() } else { HttpResponse::Accepted() };
    if !view.is_done() {
        answer.insert_header((header::LOCATION, format!("/v1/jobs/{}", view.id)));
        answer.insert_header((header::RETRY_AFTER, ASK_AGAIN_S));
    }
    answer.json(view::start(state, view))
}
