//! Pages that hang, allocate, crash or flood the console: each fails only its own job, within its deadline.

use std::time::{Duration, Instant};

use platen::browser::{Delivery, LeaseTab, PageTask, Retry};
use platen::domain::error::{ErrorCode, JobError};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{TestPool, scripted, static_page, text_of};

/// A fatal event ends its job within this, never at a deadline: these are a minute here.
const AT_ONCE: Duration = Duration::from_secs(45);

async fn error_of(pool: &TestPool, page: &str) -> JobError {
    let error = pool.render(&scripted(page)).await.unwrap_err();
    assert_eq!(error.retry, Retry::No, "{error}");
    error.error
}

#[actix::test]
async fn an_endless_script_ends_at_its_deadline_and_harms_no_other_page() {
    let pool = TestPool::start(|_| {});
    let brief = pool.limited(|config| config.load_timeout_ms = 1_500);
    let (stuck, good) = (scripted("<script>for(;;);</script>"), scripted("<p>alive"));
    let busy = brief.render(&stuck);
    let others = async {
        for _ in 0..5 {
            assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
        }
    };
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let (error, ()) = tokio::join!(busy, others);
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    let error = error.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::LoadTimeout);
    assert!(error.message.contains("1500 ms (browser.load_timeout_ms)"), "{}", error.message);
    assert!(error.message.contains("keeps the page busy"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_script_that_hangs_after_the_load_ends_too() {
    let pool = TestPool::start(|_| {});
    let brief = pool.limited(|config| {
        config.rest_cap_ms = 3_000;
        config.readiness_timeout_ms = 3_000;
        config.call_timeout_ms = 1_500;
    });
    let page = "<script>onload = () => setTimeout(() => { for(;;); }, 1000)</script>";
    let error = error_of(&brief, page).await;
    assert_eq!(error.code, ErrorCode::ReadinessTimeout);
    // A loaded machine may see its fonts, and ask it whether it is ready, only after it hangs.
    assert!(error.message.contains("3000 ms (browser.re"), "{}", error.message);
    assert!(error.message.contains("busy"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn dialogs_are_dismissed_and_a_loop_of_them_ends_at_its_deadline() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p></p><script>alert('a'); \
        p.textContent = [confirm('b'), prompt('c', 'd')].join(' '); onbeforeunload = () => 'stay'</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "false");
    let brief = pool.limited(|config| config.load_timeout_ms = 4_000);
    let error = error_of(&brief, "<script>for(;;) alert('again')</script>").await;
    assert_eq!(error.code, ErrorCode::LoadTimeout);
    assert!(error.message.contains("dialog(s) were dismissed"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_script_that_allocates_without_end_crashes_at_once() {
    let pool = TestPool::start(|config| {
        config.heap_limit_mb = 64;
        config.load_timeout_ms = 60_000;
    });
    pool.until("a tab is warm", |status| status.ready && status.warm > 0).await;
    let started = Instant::now();
    let error = error_of(&pool, "<script>const all = []; for(;;) all.push({ all: [all] })</script>").await;
    assert_eq!(error.code, ErrorCode::PageCrashed);
    assert!(error.message.contains("64 MB (browser.heap_limit_mb)"), "{}", error.message);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    let browsers = pool.status().await.browsers;
    assert_eq!(text_of(&pool.render(&scripted("<p>next")).await.unwrap().bytes), "next");
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    pool.finish().await;
}

#[actix::test]
async fn memory_outside_the_heap_is_watched() {
    let pool = TestPool::start(|config| {
        config.renderer_memory_limit_mb = 300;
        config.memory_watch_ms = 50;
        config.rest_cap_ms = 60_000;
    });
    pool.until("a tab is warm", |status| status.ready && status.warm > 0).await;
    let page = "<script>const all = []; setInterval(() => { document.title = \
        all.push(new Uint8Array(8 << 20).fill(1)) }, 5)</script>";
    let started = Instant::now();
    let error = error_of(&pool, page).await;
    assert_eq!(error.code, ErrorCode::PageMemory);
    assert!(error.message.contains("300 MB (browser.renderer_memory_limit_mb)"), "{}", error.message);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    pool.finish().await;
}

#[actix::test]
async fn endless_navigation_ends_at_its_deadline() {
    let pool = TestPool::start(|config| {
        config.readiness_timeout_ms = 5_000;
        config.rest_cap_ms = 5_000;
    });
    // Chromium ignores what goes beyond 200 navigations in 10 s, and the page would rest.
    let page = "<script>onload = () => setTimeout(() => location.href = '/?' + Math.random(), 40)</script>";
    let error = error_of(&pool, page).await;
    assert_eq!(error.code, ErrorCode::ReadinessTimeout);
    assert!(error.message.contains("keeps navigating"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn popups_downloads_and_closing_do_not_disturb() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=p>kept</p><a id=a download=x href='data:text/plain,x'></a><script>\
        a.click(); p.textContent += ' ' + window.open('/other'); window.close(); \
        window.print()</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "kept null");
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_throws_a_million_times_keeps_fifty_warnings() {
    let pool = TestPool::start(|config| config.rest_cap_ms = 500);
    let page = "<p>here</p><script>let n = 0; const again = () => { for (let i = 0; i < 200; i++) \
        Promise.reject(new Error('no ' + n++)); console.log('x'.repeat(999)); setTimeout(again) }; \
        again()</script>";
    let task = scripted(page);
    let mut rendered = pool.render(&task).await;
    // On a loaded machine Chromium may die of what it has not told yet. The service then renders the page again, too.
    for _ in 0..2 {
        if rendered.as_ref().is_err_and(|lost| lost.error.code == ErrorCode::BrowserLost) {
            rendered = pool.render(&task).await;
        }
    }
    let rendered = rendered.unwrap();
    assert_eq!(text_of(&rendered.bytes), "here");
    let warnings = rendered.warnings;
    assert!(warnings[0].starts_with("uncaught exception: Error: no 0"), "{}", warnings[0]);
    assert!((50..=52).contains(&warnings.len()), "{}", warnings.len());
    pool.finish().await;
}

#[actix::test]
async fn an_endless_page_does_not_print_for_ever() {
    let pool = TestPool::start(|config| config.print_timeout_ms = 1_000);
    let page = format!("<style>p{{break-after:page}}</style>{}", "<p>page</p>".repeat(20_000));
    let task = PageTask { delivery: Delivery::Put, ..static_page(&page) };
    let error = pool.render(&task).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::PrintTimeout);
    assert!(error.message.contains("1000 ms (browser.print_timeout_ms)"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_lease_without_a_waiter_is_released() {
    let pool = TestPool::start(|config| config.tabs = 1);
    let lease = pool.lease(Lane::Scripted).await.unwrap();
    let message = LeaseTab::new(AccountId::generate(), Lane::Scripted);
    let gone = tokio::time::timeout(Duration::from_millis(20), pool.address.send(message)).await;
    assert!(gone.is_err());
    drop(lease);
    assert_eq!(text_of(&pool.render(&scripted("<p>mine")).await.unwrap().bytes), "mine");
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_floods_the_browser_harms_no_other_page() {
    let pool = TestPool::start(|_| {});
    for flood in [
        "<p>flood<script>for (let i = 0;;) history.replaceState(null, '', '#' + i++)</script>",
        "<p>flood<script>setInterval(() => { for (let i = 0; i < 2000; i++) location.hash = i }, 1)</script>",
    ] {
        // A browser that takes a second for an answer is taken for lost, and a loaded machine may be that slow.
        if Box::pin(withstand(&pool, flood)).await.is_err() {
            Box::pin(withstand(&pool, flood)).await.unwrap();
        }
    }
    pool.finish().await;
}

/// Renders other pages beside one that floods the browser; an error where that browser is lost.
async fn withstand(pool: &TestPool, flood: &str) -> Result<(), String> {
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let (flood, good) = (scripted(flood), scripted("<p>alive<script>1</script>"));
    let brief = pool.limited(|config| {
        config.load_timeout_ms = 2_000;
        config.rest_cap_ms = 1_000;
        config.call_timeout_ms = 2_000;
    });
    let others = async {
        for _ in 0..5 {
            let rendered = pool.render(&good).await;
            if let Some(lost) = rendered.as_ref().err().filter(|error| error.retry != Retry::No) {
                return Err(format!("another page was lost ({lost})"));
            }
            assert_eq!(text_of(&rendered.unwrap().bytes), "alive");
        }
        Ok(())
    };
    // It may be printed at the cap or end at a deadline; both are right.
    let (flooded, others) = tokio::join!(brief.render(&flood), others);
    others?;
    if flooded.is_err_and(|error| error.retry != Retry::No) || pool.status().await.browsers != browsers {
        return Err("the browser was lost".to_owned());
    }
    Ok(())
}
