//! Waits for a job's end: in a long-poll, a waiting start, an immediate render.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::actors;
use crate::http::state::HttpState;
use crate::jobs::messages::WatchJob;
use crate::jobs::view::JobView;
use crate::problem::Problem;

/// What an answer needs to get out before a stopping service closes its connections.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The job's view as soon as it is done, or the present one after `longest`, or at once when the service stops: who
/// polls asks again, and finds the service that comes after this one.
///
/// # Errors
/// Those of `WatchJob`, which is asked once more when the job left memory before its end was seen.
pub(super) async fn until_done(
    state: &HttpState,
    job: watch::Receiver<JobView>,
    longest: Duration,
) -> Result<JobView, Problem> {
    view_within(state, job, longest, state.stopping.cancelled()).await
}

/// The same for who gets the document by this answer and by no other: while a stopping service lets jobs finish, so may
/// this one.
///
/// # Errors
/// As for [`until_done`].
pub(in crate::http) async fn until_made(
    state: &HttpState,
    job: watch::Receiver<JobView>,
    longest: Duration,
) -> Result<JobView, Problem> {
    view_within(state, job, longest, last_moment(state)).await
}

/// Nothing that runs can end in time any more: nothing does, or the time is over but for the answer.
async fn last_moment(state: &HttpState) {
    state.stopping.cancelled().await;
    let grace = Duration::from_secs(state.config.http.shutdown_grace_s);
    tokio::select! {
        () = state.idle.cancelled() => {}
        () = sleep(grace.saturating_sub(ANSWER_TIME)) => {}
    }
}

async fn view_within(
    state: &HttpState,
    mut job: watch::Receiver<JobView>,
    longest: Duration,
    stop: impl Future<Output = ()>,
) -> Result<JobView, Problem> {
    let deadline = Instant::now() + longest;
    // One for both waits: the time that a stop leaves begins once.
    let mut stop = pin!(stop);
    if followed(&mut job, deadline, stop.as_mut()).await {
        return Ok(present(&job));
    }
    let last = present(&job);
    let again = WatchJob { account: last.account, job: last.id };
    let mut job = actors::ask(state, &state.jobs.watch, again).await?;
    followed(&mut job, deadline, stop).await;
    Ok(present(&job))
}

/// Waits; false when the view closed without its end having been seen.
async fn followed(
    job: &mut watch::Receiver<JobView>,
    deadline: Instant,
    stop: impl Future<Output = ()>,
) -> bool {
    if job.borrow().is_done() {
        return true;
    }
    let end = job.wait_for(JobView::is_done);
    tokio::select! {
        // Of a job that ended as the service did, the end is what counts.
        biased;
        waited = timeout_at(deadline, end) => !matches!(waited, Ok(Err(_))),
        () = stop => true,
    }
}

fn present(job: &watch::Receiver<JobView>) -> JobView {
    job.borrow().clone()
}
