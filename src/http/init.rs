//! `POST /documents/init`: creates a job and hands out the addresses for its inputs.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use serde::Serialize;

use super::address;
use super::auth::Caller;
use super::body::Body;
use super::gate;
use super::job_request::JobRequest;
use super::problem::Answer;
use super::state::HttpState;
use crate::jobs::messages::{InitJob, InputPart, JobSpec};
use crate::problem::Problem;

/// What init answers; an address is null iff the input came with the request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitBody {
    job_id: String,
    target: &'static str,
    presigned_data_upload_url: Option<String>,
    presigned_template_upload_url: Option<String>,
}

/// The handler.
pub(super) async fn init(
    caller: Caller,
    state: Data<HttpState>,
    request: HttpRequest,
    payload: Payload,
) -> Answer {
    gate::admit(&state)?;
    let body = Body::read(&request, payload, &state).await?;
    let (spec, data) = read(&body, &state)?;
    let (target, named, has_data) = (spec.target, spec.template.is_some(), data.is_some());
    let message = InitJob { account: caller.0, spec, data, template: None, start: false };
    let job = gate::ask(&state, &state.jobs.init, message).await?;
    let job_id = job.borrow().id;
    tracing::Span::current().record("job.id", tracing::field::display(job_id));
    let upload = |part| address::for_upload(&state, caller.0, job_id, part).url;
    Ok(HttpResponse::Ok().json(InitBody {
        job_id: job_id.to_string(),
        target: target.name(),
        presigned_data_upload_url: (!has_data).then(|| upload(InputPart::Data)),
        presigned_template_upload_url: (!named).then(|| upload(InputPart::Template)),
    }))
}

fn read(body: &Body, state: &HttpState) -> Result<(JobSpec, Option<Bytes>), Problem> {
    let mut members = body.members()?;
    let job = JobRequest::read(&mut members, state);
    let data = members.object("data").map(|data| body.share(data));
    let faults = members.into_faults();
    if !faults.is_empty() {
        return Err(Problem::validation(faults));
    }
    Ok((job.spec()?, data))
}
