//! Browsers that are lost under their pages: it is not laid to the page's charge.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{PageStep, open};
use platen::domain::fault::FaultCode;

use crate::support::{TestPool, fixed, scripted, text_of};

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
        let fault = open(lease, &task, &pool.config, stop).await.err().unwrap();
        assert_eq!(fault.fault.code, FaultCode::BrowserLost, "{stopped_at:?}: {fault}");
        assert!(fault.is_retryable(), "{stopped_at:?}: {fault}");
        // A warm tab of the lost browser may be leased before the pool has handled the loss.
        let again = match pool.render(&fixed("<p>again")).await {
            Err(fault) if fault.is_retryable() => pool.render(&fixed("<p>again")).await,
            rendered => rendered,
        };
        assert_eq!(text_of(&again.unwrap().bytes), "again");
        assert_ne!(pool.status().await.browsers[0], first);
    }
    pool.finish().await;
}
