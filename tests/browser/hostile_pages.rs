//! Pages that hang, balloon, crash and talk: each ends at its own job, within its time.

use std::time::{Duration, Instant};

use platen::browser::{LeaseTab, PageTask, Way};
use platen::domain::fault::{FaultCode, JobFault};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{TestPool, fixed, scripted, text_of};

/// A fatal event ends its job within this, never at a deadline.
const AT_ONCE: Duration = Duration::from_secs(10);

async fn fault_of(pool: &TestPool, page: &str) -> JobFault {
    let fault = pool.render(&scripted(page)).await.unwrap_err();
    assert!(!fault.is_retryable(), "{fault}");
    fault.fault
}

#[actix::test]
async fn an_endless_script_ends_at_its_deadline_and_harms_no_other_page() {
    let pool = TestPool::start(|config| config.load_timeout_ms = 1_500);
    let (stuck, good) = (scripted("<script>for(;;);</script>"), scripted("<p>alive"));
    let busy = pool.render(&stuck);
    let others = async {
        for _ in 0..5 {
            assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
        }
    };
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let (fault, ()) = tokio::join!(busy, others);
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    let fault = fault.unwrap_err().fault;
    assert_eq!(fault.code, FaultCode::LoadTimeout);
    assert!(fault.message.contains("1500 ms (browser.load_timeout_ms)"), "{}", fault.message);
    assert!(fault.message.contains("keeps the page busy"), "{}", fault.message);
    pool.finish().await;
}

#[actix::test]
async fn a_script_that_hangs_after_the_load_ends_too() {
    let pool = TestPool::start(|config| {
        config.rest_cap_ms = 500;
        config.readiness_timeout_ms = 1_500;
        config.call_timeout_ms = 1_500;
    });
    let fault = fault_of(&pool, "<script>onload = () => setTimeout(() => { for(;;); }, 250)</script>").await;
    assert_eq!(fault.code, FaultCode::ReadinessTimeout);
    // Whether it hung before its fonts were there or after is a matter of milliseconds.
    assert!(fault.message.contains("500 ms (browser.re"), "{}", fault.message);
    assert!(fault.message.contains("busy"), "{}", fault.message);
    pool.finish().await;
}

#[actix::test]
async fn dialogs_are_dismissed_and_a_loop_of_them_ends_at_its_deadline() {
    let pool = TestPool::start(|config| config.load_timeout_ms = 1_500);
    let page = "<p id=p></p><script>alert('a'); \
        p.textContent = [confirm('b'), prompt('c', 'd')].join(' '); onbeforeunload = () => 'stay'</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "false");
    let fault = fault_of(&pool, "<script>for(;;) alert('again')</script>").await;
    assert_eq!(fault.code, FaultCode::LoadTimeout);
    assert!(fault.message.contains("dialog(s) were dismissed"), "{}", fault.message);
    pool.finish().await;
}

#[actix::test]
async fn a_script_that_allocates_without_end_crashes_at_once() {
    let pool = TestPool::start(|config| config.heap_limit_mb = 64);
    let started = Instant::now();
    let fault = fault_of(&pool, "<script>const all = []; for(;;) all.push({ all: [all] })</script>").await;
    assert_eq!(fault.code, FaultCode::PageCrashed);
    assert!(fault.message.contains("64 MB (browser.heap_limit_mb)"), "{}", fault.message);
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
    });
    let page = "<script>const all = []; setInterval(() => { document.title = \
        all.push(new Uint8Array(8 << 20).fill(1)) }, 5)</script>";
    let started = Instant::now();
    let fault = fault_of(&pool, page).await;
    assert_eq!(fault.code, FaultCode::PageMemory);
    assert!(fault.message.contains("300 MB (browser.renderer_memory_limit_mb)"), "{}", fault.message);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    pool.finish().await;
}

#[actix::test]
async fn endless_navigation_ends_at_its_deadline() {
    let pool = TestPool::start(|config| {
        config.readiness_timeout_ms = 1_000;
        config.rest_cap_ms = 1_000;
    });
    let fault = fault_of(&pool, "<script>onload = () => location.href = '/?' + Math.random()</script>").await;
    assert_eq!(fault.code, FaultCode::ReadinessTimeout);
    assert!(fault.message.contains("keeps navigating"), "{}", fault.message);
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
    let rendered = pool.render(&scripted(page)).await.unwrap();
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
    let task = PageTask { way: Way::Put, ..fixed(&page) };
    let fault = pool.render(&task).await.unwrap_err().fault;
    assert_eq!(fault.code, FaultCode::PrintTimeout);
    assert!(fault.message.contains("1000 ms (browser.print_timeout_ms)"), "{}", fault.message);
    pool.finish().await;
}

#[actix::test]
async fn a_lease_whose_waiter_has_gone_comes_back() {
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
    let pool = TestPool::start(|config| {
        config.load_timeout_ms = 2_000;
        config.rest_cap_ms = 1_000;
        config.call_timeout_ms = 2_000;
    });
    let browsers = pool.until("a browser runs", |status| status.ready).await.browsers;
    let good = scripted("<p>alive<script>1</script>");
    for flood in [
        "<p>flood<script>for (let i = 0;;) history.replaceState(null, '', '#' + i++)</script>",
        "<p>flood<script>setInterval(() => { for (let i = 0; i < 2000; i++) location.hash = i }, 1)</script>",
    ] {
        let flood = scripted(flood);
        let others = async {
            for _ in 0..5 {
                assert_eq!(text_of(&pool.render(&good).await.unwrap().bytes), "alive");
            }
        };
        // Whether it is printed at the cap or ends at a deadline is its own affair.
        let (flooded, ()) = tokio::join!(pool.render(&flood), others);
        assert!(!flooded.is_err_and(|fault| fault.is_retryable()), "the browser was lost");
    }
    assert_eq!(pool.status().await.browsers, browsers, "the browser was replaced");
    pool.finish().await;
}
