//! `DELETE /jobs/{jobId}`: cancels a job that has not ended, deletes one that has.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::view;
use super::view::JobBody;
use crate::http::actors;
use crate::http::ids;
use crate::http::middleware::auth::Caller;
use crate::http::problem::HandlerResult;
use crate::http::state::HttpState;
use crate::jobs::registry::delete::{DeleteJob, DeleteOutcome};

/// Cancel a job that waits or runs, or erase one that is done, with its inputs and its document.
#[utoipa::path(
    delete, path = "/jobs/{jobId}", operation_id = "deleteJob", tag = "jobs",
    params(("jobId" = String, Path, description = "The job's id")),
    responses(
        (status = 200, description = "It is cancelled, or ended while it was to be", body = JobBody),
        (status = 204, description = "It is erased"),
    ),
)]
pub(super) async fn delete(caller: Caller, state: Data<HttpState>, job: Path<String>) -> HandlerResult {
    let message = DeleteJob { account: caller.0, job: ids::job_id(&job)? };
    Ok(match actors::ask(&state, caller.0, &state.jobs, message).await? {
        DeleteOutcome::Ended(ended) => HttpResponse::Ok().json(view::job(&state, &ended)),
        DeleteOutcome::Deleted => HttpResponse::NoContent().finish(),
    })
}
