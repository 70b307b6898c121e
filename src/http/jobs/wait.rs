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

/// Kept free at the end of the grace period, so that answers are sent before connections are closed.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The job's view once it is done, or the present one after `longest`. When the service stops, the present one at once: a
/// client that polls asks again and reaches the restarted service.
///
/// # Errors
/// Those of `WatchJob`. It is sent a second time where the job was evicted from memory before its end was seen.
pub(super) async fn until_done(
    state: &HttpState,
    job: watch::Receiver<JobView>,
    longest: Duration,
) -> Result<JobView, Problem> {
    view_within(state, job, longest, state.stopping.cancelled()).await
}

/// As [`until_done`] for a caller that gets the document with this answer only (a waiting start, an immediate render): it
/// waits on while a stopping service finishes its running jobs.
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

/// Resolves when waiting has become pointless: no job runs any more, or the grace period is over but for the answer.
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
    // Shared by both waits below: a second one would begin the grace period anew.
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

/// False when the view was closed before the job was seen done.
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
        // A job may end in the same moment as the service: answer its end.
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
    use crate::http::testing::TestServer;

    #[actix_web::test]
    async fn the_time_that_a_stop_leaves_begins_once() {
        let server = TestServer::new().await;
        let (job, _) = server.init().await;
        let shown = server.jobs.lock().unwrap().views[&job].borrow().clone();
        let grace_s = server.state.config.http.shutdown_grace_s;
        let (first, view) = watch::channel(shown);
        tokio::time::pause();
        server.state.stopping.cancel();
        let begun = Instant::now();
        // The view closes before the job's end was seen, and the job is asked for once more.
        let close = async {
            sleep(Duration::from_secs(grace_s / 2)).await;
            drop(first);
        };
        let made = until_made(&server.state, view, Duration::from_secs(10 * grace_s));
        let (made, ()) = tokio::join!(made, close);
        assert!(!made.unwrap().is_done());
        assert_eq!(begun.elapsed().as_secs(), grace_s - ANSWER_TIME.as_secs());
    }
}
