//! `browser.start = "lazy"`: a Chromium starts with the first page that needs it.

use platen::config::{BrowserConfig, Start};
use platen::domain::lane::Lane;

use crate::support::{TestPool, group_members, scripted, static_page, text_of};

fn lazy_pool(change: impl FnOnce(&mut BrowserConfig)) -> TestPool {
    TestPool::start(|config| {
        config.start = Start::Lazy;
        // One Chromium for each lane, as the service has them.
        config.static_processes = 1;
        change(config);
    })
}

#[actix::test]
async fn a_browser_starts_with_the_first_page_of_its_lane() {
    let pool = lazy_pool(|_| {});
    let status = pool.status().await;
    assert!(status.ready && status.browsers.is_empty(), "{status:?}");
    let first = static_page("<p>first");
    let (rendered, ()) = tokio::join!(pool.render(&first), async {
        let mut status = pool.status().await;
        while status.browsers.is_empty() {
            assert!(status.ready, "the first page waits for its start: {status:?}");
            tokio::task::yield_now().await;
            status = pool.status().await;
        }
    });
    assert_eq!(text_of(&rendered.unwrap().bytes), "first");
    let status = pool.status().await;
    assert!(status.ready && status.browsers.len() == 1, "{status:?}");
    let of_static = status.browsers[0];
    assert_eq!(
        text_of(&pool.render(&scripted("<p>second<script>1</script>")).await.unwrap().bytes),
        "second"
    );
    let status = pool.status().await;
    assert!(status.ready && status.browsers.len() == 2 && status.browsers[1] == of_static, "{status:?}");
    assert_eq!(status.launch_waits, 2, "each of them was waited for once");
    // Further pages start nothing.
    for _ in 0..3 {
        pool.render(&static_page("<p>more")).await.unwrap();
    }
    assert_eq!(pool.status().await.browsers, status.browsers);
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_started_late_is_replaced_as_others_are() {
    let pool = lazy_pool(|_| {});
    pool.render(&scripted("<p>x<script>1</script>")).await.unwrap();
    let first = pool.status().await.browsers[0];
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(first), nix::sys::signal::Signal::SIGKILL).unwrap();
    let is_another = |browsers: &[i32]| browsers.len() == 1 && browsers[0] != first;
    pool.until("another browser runs", |it| it.ready && is_another(&it.browsers)).await;
    pool.eventually("nothing is left of the first", || group_members(first).is_empty()).await;
    pool.finish().await;
}

#[actix::test]
async fn a_browser_that_does_not_start_is_reported_from_the_first_page_on() {
    let pool = lazy_pool(|config| {
        config.executable = "/nonexistent/chromium".to_owned();
        config.lease_timeout_ms = 1_500;
    });
    assert!(pool.status().await.ready, "nobody knows yet");
    let error = pool.lease(Lane::Static).await.err().unwrap();
    assert!(error.to_string().contains("/nonexistent/chromium"), "{error}");
    let status = pool.status().await;
    assert!(!status.ready && status.cause.unwrap().contains("/nonexistent/chromium"));
    pool.finish().await;
}
