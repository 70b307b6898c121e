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
    view_within(job, longest, state.stopping.cancelled(), async |job| watch_again(state, job).await).await
}

/// As [`until_done`] for a caller that expects the document in this answer (a waiting start, an immediate render): it waits
/// on while a stopping service finishes its running jobs, up to [`end_of_grace_period`].
pub(in crate::http) async fn until_done_through_shutdown(
    state: &HttpState,
    job: watch::Receiver<JobView>,
    longest: Duration,
) -> Result<JobView, Problem> {
    view_within(job, longest, end_of_grace_period(state), async |job| watch_again(state, job).await).await
}

/// Resolves when a stopping service has no running job any more, or when what is left of its grace period
/// (`http.shutdown_grace_s`) is needed to send the answer.
async fn end_of_grace_period(state: &HttpState) {
    state.stopping.cancelled().await;
    let grace = Duration::from_secs(state.config.http.shutdown_grace_s);
    tokio::select! {
        () = state.idle.cancelled() => {}
        () = sleep(grace.saturating_sub(ANSWER_TIME)) => {}
    }
}

async fn watch_again(state: &HttpState, job: JobView) -> Result<watch::Receiver<JobView>, Problem> {
    actors::ask(state, job.account, &state.jobs, WatchJob { account: job.account, job: job.id }).await
}

async fn view_within(
    mut job: watch::Receiver<JobView>,
    longest: Duration,
    stop: impl Future<Output = ()>,
    watch_again: impl AsyncFnOnce(JobView) -> Result<watch::Receiver<JobView>, Problem>,
) -> Result<JobView, Problem> {
    let deadline = Instant::now() + longest;
    // One future for both waits below: a second one would begin the grace period anew.
    let mut stop = pin!(stop);
    if wait_for_end(&mut job, deadline, stop.as_mut()).await == WaitOutcome::ViewClosed {
        let last = job.borrow().clone();
        job = watch_again(last).await?;
        wait_for_end(&mut job, deadline, stop).await;
    }
    Ok(job.borrow().clone())
}

/// How a wait for a job's end ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitOutcome {
    /// The job has ended, or the deadline or `stop` came first: the view is what is answered.
    Over,
    /// The job was evicted from memory before its end was seen, and its view is not kept up to date any more.
    ViewClosed,
}

/// Waits for the job's end, the deadline or `stop`.
async fn wait_for_end(
    job: &mut watch::Receiver<JobView>,
    deadline: Instant,
    stop: impl Future<Output = ()>,
) -> WaitOutcome {
    if job.borrow().is_done() {
        return WaitOutcome::Over;
    }
    let end = job.wait_for(JobView::is_done);
    tokio::select! {
        // A job may end in the same moment as the service: answer its end.
        biased;
        waited = timeout_at(deadline, end) => match waited {
            Ok(Err(_)) => WaitOutcome::ViewClosed,
            Ok(Ok(_)) | Err(_) => WaitOutcome::Over,
        },
        () = stop => WaitOutcome::Over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::testing::{TestServer, job_view};
    use crate::jobs::view::WireStatus;

    const LONG: Duration = Duration::from_hours(1);

    #[actix_web::test]
    async fn the_time_that_a_stop_leaves_begins_once() {
        let server = TestServer::new().await;
        let grace_s = server.state.config.http.shutdown_grace_s;
        let (first, view) = watch::channel(job_view());
        let second = watch::channel(job_view());
        tokio::time::pause();
        server.state.stopping.cancel();
        let begun = Instant::now();
        // The view closes before the job's end was seen, and the job is asked for once more.
        let close = async {
            sleep(Duration::from_secs(grace_s / 2)).await;
            drop(first);
        };
        let made = view_within(view, LONG, end_of_grace_period(&server.state), async |_| Ok(second.1));
        let (made, ()) = tokio::join!(made, close);
        assert!(!made.unwrap().is_done());
        assert_eq!(begun.elapsed().as_secs(), grace_s - ANSWER_TIME.as_secs());
    }

    #[tokio::test]
    async fn a_view_that_closes_is_asked_for_again() {
        let (first, view) = watch::channel(job_view());
        drop(first);
        let ended = watch::channel(JobView { status: WireStatus::Done, ..job_view() });
        let seen = view_within(view, LONG, std::future::pending(), async |_| Ok(ended.1)).await;
        assert!(seen.unwrap().is_done());
    }
}
