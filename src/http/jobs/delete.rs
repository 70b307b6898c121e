//! `DELETE /jobs/{jobId}`: cancels a job that has not ended, deletes one that has.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::view::JobBody;
use super::{job, view};
use crate::http::actors;
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
    let message = DeleteJob { account: caller.0, job: job::parse_id(&job)? };
    Ok(match actors::ask(&state, &state.jobs.delete, message).await? {
        DeleteOutcome::Ended(ended) => HttpResponse::Ok().json(view::job(&state, &ended)),
        DeleteOutcome::Deleted => HttpResponse::NoContent().finish(),
    })
}

#[cfg(test)]
mod tests {
    use actix::{Context, Handler};
    use actix_web::http::{Method, StatusCode};

    use super::*;
    use crate::domain::ids::JobId;
    use crate::http::testing::{FakeRegistry, Outcome, TestServer};
    use crate::problem::{Code, Problem};

    /// Cancels or deletes.
    impl Handler<DeleteJob> for FakeRegistry {
        type Result = Result<DeleteOutcome, Problem>;

        fn handle(&mut self, message: DeleteJob, _: &mut Context<Self>) -> Self::Result {
            let mut jobs = self.jobs.lock().unwrap();
            let Some(view) = jobs.views.get(&message.job).map(|view| view.borrow().clone()) else {
                return Err(Problem::new(Code::JobNotFound, "none"));
            };
            if view.is_done() {
                jobs.views.remove(&message.job);
                return Ok(DeleteOutcome::Deleted);
            }
            jobs.end(message.job, Outcome::Fault);
            Ok(DeleteOutcome::Ended(Box::new(jobs.views[&message.job].borrow().clone())))
        }
    }

    #[actix_web::test]
    async fn what_became_of_the_job_is_answered() {
        let server = TestServer::new().await;
        let (job, _) = server.init().await;
        let path = format!("/v1/jobs/{job}");
        let (status, view) = server.call(Method::DELETE, &path, "").await;
        assert_eq!((status, view["status"].as_str()), (StatusCode::OK, Some("done")));
        assert_eq!(server.call(Method::DELETE, &path, "").await.0, StatusCode::NO_CONTENT);
        assert_eq!(server.call(Method::DELETE, &path, "").await.0, StatusCode::NOT_FOUND);
        let none = format!("/jobs/{}", JobId::generate());
        assert_eq!(server.call(Method::DELETE, &none, "").await.1["code"], "job_not_found");
    }
}
