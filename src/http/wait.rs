//! Waits for a job's end: in a long-poll, a waiting start, an immediate render.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::gate;
use super::state::HttpState;
use crate::jobs::messages::WatchJob;
use crate::jobs::view::JobView;
use crate::problem::Problem;

/// The job's view as soon as it is done, or the present one after `longest`, or when the service stops.
///
/// # Errors
/// Those of `WatchJob`, which is asked once more when the job left memory before its end was seen.
pub(super) async fn until_done(
    state: &HttpState,
    mut job: watch::Receiver<JobView>,
    longest: Duration,
) -> Result<JobView, Problem> {
    let deadline = Instant::now() + longest;
    if followed(state, &mut job, deadline).await {
        return Ok(present(&job));
    }
    let last = present(&job);
    let again = WatchJob { account: last.account, job: last.id };
    let mut job = gate::ask(state, &state.jobs.watch, again).await?;
    followed(state, &mut job, deadline).await;
    Ok(present(&job))
}

/// Waits; false when the view closed without its end having been seen.
async fn followed(state: &HttpState, job: &mut watch::Receiver<JobView>, deadline: Instant) -> bool {
    if job.borrow().is_done() {
        return true;
    }
    let end = job.wait_for(JobView::is_done);
    tokio::select! {
        () = state.stopping.cancelled() => true,
        waited = timeout_at(deadline, end) => !matches!(waited, Ok(Err(_))),
    }
}

fn present(job: &watch::Receiver<JobView>) -> JobView {
    job.borrow().clone()
}
