//! Idle detection also waits for work that takes longer than usual, or that changes nothing in the document.

use std::time::{Duration, Instant};

use crate::support::{TestPool, scripted, text_of};

const CAP_MS: u64 = 20_000;
const BEFORE_CAP: Duration = Duration::from_millis(CAP_MS - 5_000);

/// A pool with the window of the default configuration.
fn with_window() -> TestPool {
    TestPool::start(|config| {
        config.quiet_window_ms = 500;
        config.rest_cap_ms = CAP_MS;
    })
}

async fn text_before_cap(pool: &TestPool, script: &str) -> String {
    let page = format!("<p id=p></p><script>{script}</script>");
    let started = Instant::now();
    let rendered = pool.render(&scripted(&page)).await.unwrap();
    assert!(started.elapsed() < BEFORE_CAP, "{script}: {:?} {:?}", started.elapsed(), rendered.warnings);
    assert!(!rendered.warnings.iter().any(|line| line.contains("rest")), "{:?}", rendered.warnings);
    text_of(&rendered.bytes)
}

/// A worker with `code`, and a page that shows what it answers last.
fn worker(code: &str) -> String {
    format!(
        "const w = new Worker(URL.createObjectURL(new Blob([`{code}`]))); \
         w.onmessage = event => {{ if (event.data === 'drawn') p.textContent = event.data }}; w.postMessage(1)"
    )
}

#[actix::test]
async fn a_worker_that_answers_late_is_waited_for() {
    let pool = with_window();
    for code in [
        "onmessage = () => setTimeout(postMessage, 300, 'drawn')",
        "onmessage = () => setTimeout(postMessage, 4000, 'drawn')",
        "onmessage = () => { postMessage('half'); setTimeout(postMessage, 1500, 'drawn') }",
    ] {
        assert_eq!(text_before_cap(&pool, &worker(code)).await, "drawn", "{code}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_worker_that_only_ticks_is_not_waited_for() {
    let pool = with_window();
    let script = worker("postMessage('drawn'); setInterval(postMessage, 100, 'tick')");
    assert_eq!(text_before_cap(&pool, &script).await, "drawn");
    pool.finish().await;
}

#[actix::test]
async fn a_canvas_that_a_worker_draws_is_not_waited_for_until_the_cap() {
    let pool = with_window();
    let script = "p.textContent = 'drawn'; const c = document.createElement('canvas').transferControlToOffscreen(); \
        new Worker(URL.createObjectURL(new Blob(['onmessage = () => 0']))).postMessage(c, [c])";
    assert_eq!(text_before_cap(&pool, script).await, "drawn");
    pool.finish().await;
}

#[actix::test]
async fn steps_without_changes_are_waited_for() {
    let pool = with_window();
    // Each step takes twice as long as the one before, until one takes longer than the window.
    let page = "const derive = async n => crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', \
            salt: new Uint8Array(8), iterations: n }, await crypto.subtle.importKey('raw', new Uint8Array(8), \
            'PBKDF2', false, ['deriveBits']), 256); \
        (async () => { for (let n = 1e6, took = 0; took < 700; n *= 2) { \
            const at = performance.now(); await derive(n); took = performance.now() - at } \
            p.textContent = 'drawn' })()";
    assert_eq!(text_before_cap(&pool, page).await, "drawn");
    pool.finish().await;
}

#[actix::test]
async fn a_page_that_floods_the_console_may_remove_a_busy_frame() {
    let pool = with_window();
    let script = "for (let n = 0; n < 700; n++) console.warn('n'); const f = document.createElement('iframe'); \
        f.srcdoc = `<script>const tick = () => { document.title = performance.now(); setTimeout(tick, 50) }; \
            tick()<\\/script>`; document.body.append(f); \
        setTimeout(() => { f.remove(); p.textContent = 'drawn' }, 1500)";
    assert_eq!(text_before_cap(&pool, script).await, "drawn");
    pool.finish().await;
}
