//! Waits for a job's end: in a long-poll, a waiting start, an immediate render.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::gate;
use super::state::HttpState;
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
pub(super) async fn until_made(
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
    let mut job = gate::ask(state, &state.jobs.watch, again).await?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::testing::Bench;

    #[actix_web::test]
    async fn the_time_that_a_stop_leaves_begins_once() {
        let bench = Bench::new().await;
        let (job, _) = bench.init().await;
        let shown = bench.jobs.lock().unwrap().views[&job].borrow().clone();
        let grace_s = bench.state.config.http.shutdown_grace_s;
        let (first, view) = watch::channel(shown);
        tokio::time::pause();
        bench.state.stopping.cancel();
        let begun = Instant::now();
        // The view closes before the job's end was seen, and the job is asked for once more.
        let close = async {
            sleep(Duration::from_secs(grace_s / 2)).await;
            drop(first);
        };
        let made = until_made(&bench.state, view, Duration::from_secs(10 * grace_s));
        let (made, ()) = tokio::join!(made, close);
        assert!(!made.unwrap().is_done());
        assert_eq!(begun.elapsed().as_secs(), grace_s - ANSWER_TIME.as_secs());
    }
}
