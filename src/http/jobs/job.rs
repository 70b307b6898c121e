//! `GET /jobs/{jobId}`: a job's view, at once or (`?wait=N`, `Prefer: wait=N`) when it is done.

use std::time::Duration;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};

use super::view::JobBody;
use super::{prefer, view, wait};
use crate::http::actors;
use crate::http::ids;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::jobs::messages::WatchJob;
use crate::problem::{FieldError, Problem};

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
    let id = ids::job_id(&job)?;
    let (wait, preferred) = read_wait(&request)?;
    let wait = wait.min(state.config.http.wait_limit_s);
    let watched = actors::ask(&state, caller.0, &state.jobs, WatchJob { account: caller.0, job: id }).await?;
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

/// Seconds to wait, and whether they are the header's (RFC 7240): the query's come first.
fn read_wait(request: &HttpRequest) -> Result<(u64, bool), Problem> {
    let sent = request.query_string().split('&').find_map(|pair| pair.strip_prefix("wait="));
    if let Some(text) = sent.filter(|text| !text.is_empty()) {
        return prefer::seconds(text).map(|wait| (wait, false)).ok_or_else(|| {
            let error = FieldError::new("/wait", "must be a number of seconds, such as wait=20");
            Problem::validation(vec![error])
        });
    }
    Ok(prefer::wait(request).map_or((0, false), |wait| (wait, true)))
}
