//! `GET /jobs/{jobId}`: a job's view, at once or (`?wait=N`, `Prefer: wait=N`) when it is done.

use std::time::Duration;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};

use super::auth::Caller;
use super::problem::Answer;
use super::state::HttpState;
use super::{gate, view, wait};
use crate::domain::ids::JobId;
use crate::jobs::messages::WatchJob;
use crate::problem::{Code, Fault, Problem};

/// The handler.
pub(super) async fn job(
    caller: Caller,
    state: Data<HttpState>,
    job: Path<String>,
    request: HttpRequest,
) -> Answer {
    let id = parse_id(&job)?;
    let wait = read_wait(&request)?.min(state.config.http.wait_limit_s);
    let watched = gate::ask(&state, &state.jobs.watch, WatchJob { account: caller.0, job: id }).await?;
    let view = if wait == 0 {
        watched.borrow().clone()
    } else {
        wait::until_done(&state, watched, Duration::from_secs(wait)).await?
    };
    Ok(HttpResponse::Ok().json(view::job(&state, &view)))
}

/// The job's id from a path. What is no id names no job, and is answered like one that is not there.
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

/// Seconds to wait: the query's, else the header's (RFC 7240), else none.
fn read_wait(request: &HttpRequest) -> Result<u64, Problem> {
    let sent = request.query_string().split('&').find_map(|pair| pair.strip_prefix("wait="));
    if let Some(text) = sent.filter(|text| !text.is_empty()) {
        return seconds(text).ok_or_else(|| {
            let fault = Fault::new("/wait", "must be a number of seconds, such as wait=20");
            Problem::validation(vec![fault])
        });
    }
    let prefer = request.headers().get_all("prefer").filter_map(|value| value.to_str().ok());
    let wait = prefer.flat_map(|value| value.split(',')).find_map(|wish| wish.trim().strip_prefix("wait="));
    Ok(wait.and_then(seconds).unwrap_or(0))
}

fn seconds(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    if !(0.0..=1e9).contains(&number) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and 10^9")]
    Some(number.ceil() as u64)
}
