//! Browsers that are lost under their pages: the page is not blamed, and its job may be retried.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{PageStep, open};
use platen::domain::error::ErrorCode;

use crate::support::{TestPool, scripted, static_page, text_of};

#[actix::test]
async fn a_page_in_a_browser_that_stops_answering_may_be_retried_in_another_one() {
    let pool = TestPool::start(|config| {
        // It is noticed by the page that is late: no ping comes.
        config.ping_interval_ms = 600_000;
        config.load_timeout_ms = 1_000;
        config.readiness_timeout_ms = 1_000;
    });
    for stopped_at in [PageStep::Load, PageStep::Readiness] {
        let task = scripted("<p>here</p>");
        let lease = pool.lease(task.lane).await.unwrap();
        let first = pool.status().await.browsers[0];
        let stop = |step| {
            if step == stopped_at {
                kill(Pid::from_raw(first), Signal::SIGSTOP).unwrap();
            }
        };
        let error = open(lease, &task, &pool.config, stop).await.err().unwrap();
        assert_eq!(error.error.code, ErrorCode::BrowserLost, "{stopped_at:?}: {error}");
        assert!(error.is_retryable(), "{stopped_at:?}: {error}");
        // A warm tab of the lost browser may be leased before the pool has handled the loss.
        let again = match pool.render(&static_page("<p>again")).await {
            Err(error) if error.is_retryable() => pool.render(&static_page("<p>again")).await,
            rendered => rendered,
        };
        assert_eq!(text_of(&again.unwrap().bytes), "again");
        assert_ne!(pool.status().await.browsers[0], first);
    }
    pool.finish().await;
}
