//! Browsers that are lost under their pages: the page is not blamed, and its job may be retried.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::browser::{PageStep, Retry, open};
use platen::config::BrowserConfig;
use platen::domain::error::ErrorCode;

use crate::support::{TestPool, processes_of, scripted, static_page, text_of, with_files};

#[actix::test]
async fn a_page_in_a_browser_that_stops_answering_may_be_retried_in_another_one() {
    // It is noticed by the page that is late: no ping comes, and nobody looks whether it is stopped.
    let pool = TestPool::start(|config| {
        config.ping_interval_ms = 600_000;
        config.hung_ms = 0;
    });
    for (stopped_at, load_timeout_ms, readiness_timeout_ms) in
        [(PageStep::Load, 1_000, 15_000), (PageStep::Readiness, 15_000, 1_000)]
    {
        let config = BrowserConfig { load_timeout_ms, readiness_timeout_ms, ..pool.config.clone() };
        let task = scripted("<p>here</p>");
        let lease = pool.lease(task.lane).await.unwrap();
        let first = pool.status().await.browsers[0];
        let stop = |step| {
            if step == stopped_at {
                kill(Pid::from_raw(first), Signal::SIGSTOP).unwrap();
            }
        };
        let error = open(lease, &task, &config, stop).await.err().unwrap();
        assert_eq!(error.error.code, ErrorCode::BrowserLost, "{stopped_at:?}: {error}");
        assert_ne!(error.retry, Retry::No, "{stopped_at:?}: {error}");
        // A warm tab of the lost browser may be leased before the pool has handled the loss.
        let again = pool.render_again(&static_page("<p>again")).await.unwrap();
        assert_eq!(text_of(&again.bytes), "again");
        assert_ne!(pool.status().await.browsers[0], first);
    }
    pool.finish().await;
}

/// It asks for so many files at once that some are under way when its network service is killed.
const MANY_FILES: &str = "<p id=shown>none</p><script>
    const one = (at) => fetch('a.txt?' + at).then((answer) => answer.text(), () => 'lost');
    addEventListener('load', async () => {
        const all = await Promise.all([...Array(2000).keys()].map(one));
        shown.textContent = all.every((text) => text === 'a') ? 'whole' : 'broken';
    });
</script>";

#[actix::test]
async fn a_page_that_lost_its_network_service_is_rendered_again_and_not_without_its_files() {
    let pool = TestPool::start(|_| ());
    let task = with_files(MANY_FILES, &[("a.txt", "a")]);
    let lease = pool.lease(task.lane).await.unwrap();
    let browser = pool.status().await.browsers[0];
    let kill_network = |step| {
        if step == PageStep::Readiness {
            for process in processes_of(browser, "--utility-sub-type=network") {
                kill(Pid::from_raw(process), Signal::SIGKILL).unwrap();
            }
        }
    };
    let error = open(lease, &task, &pool.config, kill_network).await.err().unwrap();
    assert_eq!(error.retry, Retry::OtherTab, "{error}");
    assert_eq!(text_of(&pool.render_again(&task).await.unwrap().bytes), "whole");
    pool.finish().await;
}
