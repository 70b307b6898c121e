//! Faults of pages and browsers fail only their own job.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::app::{TestApp, descendants};

const PAGE: &str = "<!doctype html><p>page <%= number %></p><script>1</script>";

#[tokio::test]
async fn a_page_in_an_endless_loop_ends_at_its_own_job() {
    let app = TestApp::with(&[("browser.load_timeout_ms", "8000")]).await;
    let endless = app.prepared("pdf", "<p>1</p><script>for (;;) {}</script>", json!({})).await;
    app.post(&format!("/v1/documents/{endless}/render"), &json!({})).await;
    for number in 0..5 {
        let (view, _) = app.render("pdf", PAGE, json!({"number": number})).await;
        assert_eq!(view["success"], true, "{view}");
    }
    let view = app.ended(&endless).await;
    assert_eq!(view["errorCode"], "load_timeout", "{view}");
    assert!(view["error"].as_str().unwrap().contains("browser.load_timeout_ms"), "{view}");
}

#[tokio::test]
async fn a_page_without_end_is_refused_by_a_deadline_that_names_itself() {
    let app = TestApp::with(&[("browser.readiness_timeout_ms", "2000")]).await;
    let opts =
        json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": {"waitForSelector": "#never"}});
    let job = app.init(opts).await;
    let grows = "<div id=d></div><script>setInterval(() => { d.append('more ') }, 200)</script>";
    assert_eq!(app.put(&job.template_url.unwrap(), grows).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["errorCode"], "readiness_timeout", "{view}");
    let error = view["error"].as_str().unwrap();
    assert!(error.contains("#never") && error.contains("browser.readiness_timeout_ms"), "{error}");
}

#[tokio::test]
async fn a_page_that_fills_its_heap_fails_soon_and_alone() {
    let app = TestApp::with(&[("browser.load_timeout_ms", "100000"), ("browser.heap_limit_mb", "128")]).await;
    let glutton = "<script>const kept = []; for (;;) kept.push('x'.repeat(1000) + kept.length)</script>";
    let started = Instant::now();
    let (view, _) = app.render("pdf", glutton, json!({})).await;
    assert_eq!(view["errorCode"], "page_crashed", "{view}");
    assert!(started.elapsed() < Duration::from_secs(95), "it ended at its deadline, not at its crash");
    let (view, _) = app.render("pdf", PAGE, json!({"number": 1})).await;
    assert_eq!(view["success"], true, "{view}");
}

#[tokio::test]
async fn a_killed_browser_fails_no_job() {
    let app = TestApp::start().await;
    let mut jobs = Vec::new();
    for number in 0..12 {
        let job = app.prepared("pdf", PAGE, json!({"number": number})).await;
        app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        jobs.push(job);
    }
    app.until("some job is done", async || {
        app.get(&format!("/v1/jobs/{}", jobs[0])).await.1["status"] == "done"
    })
    .await;
    let browser = chromium_of(&app);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(browser).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    for job in jobs {
        let view = app.ended(&job).await;
        assert_eq!(view["success"], true, "{view}");
    }
}

/// The browser process: the child of the service that has renderers below it.
fn chromium_of(app: &TestApp) -> u32 {
    let family = descendants(app.pid());
    let browser = family.iter().find(|(pid, _)| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("--remote-debugging-pipe") && !line.contains("--type=")
    });
    browser.expect("a browser runs").0
}

#[tokio::test]
async fn a_page_that_kills_its_browser_again_and_again_fails_alone() {
    let settings = [
        ("browser.own_memory_limit_mb", "500"),
        // It is not stopped before.
        ("browser.blob_limit_mb", "65536"),
        ("browser.memory_watch_ms", "50"),
        // A slow machine takes long to fill it.
        ("browser.rest_cap_ms", "60000"),
        ("browser.tabs", "4"),
        ("jobs.run_timeout_s", "120"),
    ];
    let app = TestApp::with(&settings).await;
    // What blobs hold is in Chromium's own process, so it is that one which is ended.
    let killer = "<script>window.kept = []; setInterval(() => { const bytes = new Uint8Array(8 << 20).fill(7); \
        document.body.append(kept.push(new Blob([bytes]))) }, 10)</script>";
    // Slow enough to be open and unfinished whenever the killer takes its browser down.
    let slow = "<p id=p></p><script>setTimeout(() => p.textContent = 'done', 2500)</script>";
    let killer = app.prepared("pdf", killer, json!({})).await;
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(app.prepared("pdf", slow, json!({})).await);
    }
    for job in jobs.iter().chain([&killer]) {
        app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
    }
    for job in &jobs {
        let view = app.ended(job).await;
        assert_eq!(view["success"], true, "{view}");
    }
    let view = app.ended(&killer).await;
    assert_eq!(view["errorCode"], "page_memory", "{view}");
    assert!(view["error"].as_str().unwrap().contains("browser.own_memory_limit_mb"), "{view}");
}
