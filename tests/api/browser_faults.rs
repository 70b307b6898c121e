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
    processes_of(app, |line| line.contains("--remote-debugging-pipe") && !line.contains("--type="))[0]
}

/// Processes of the service's Chromiums, by their command lines.
fn processes_of(app: &TestApp, is_wanted: impl Fn(&str) -> bool) -> Vec<u32> {
    let family = descendants(app.pid());
    let wanted = family.iter().filter(|(pid, _)| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        is_wanted(&String::from_utf8_lossy(&line))
    });
    wanted.map(|(pid, _)| *pid).collect()
}

#[tokio::test]
async fn a_stopped_process_of_a_browser_fails_no_job_and_delays_it_by_little() {
    let settings = [
        // One browser for all pages: whatever is stopped is in the way.
        ("browser.static_processes", "0"),
        ("browser.hung_ms", "1000"),
        // What is not found by that is found by these, and much later.
        ("browser.load_timeout_ms", "60000"),
        ("browser.print_timeout_ms", "60000"),
    ];
    let app = TestApp::with(&settings).await;
    let render = async || {
        let begun = Instant::now();
        let (view, file) = app.render("pdf", "<p>static", json!({})).await;
        assert_eq!(view["success"], true, "{view}");
        assert!(view["warnings"].as_array().is_none_or(Vec::is_empty), "{view}");
        assert_eq!(app.text_of(&file).trim(), "static");
        begun.elapsed()
    };
    render().await;
    for (kind, argument) in [
        ("renderer", "--type=renderer"),
        ("network", "--utility-sub-type=network.mojom.NetworkService"),
        ("zygote", "--type=zygote"),
        ("browser", "--remote-debugging-pipe"),
    ] {
        let is_wanted =
            |line: &str| line.contains(argument) && (kind != "browser" || !line.contains("--type="));
        let stopped = processes_of(&app, is_wanted);
        assert!(!stopped.is_empty(), "{kind}");
        for pid in stopped.iter().map(|pid| nix::unistd::Pid::from_raw(i32::try_from(*pid).unwrap())) {
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
        }
        let is_gone = || processes_of(&app, is_wanted).iter().all(|pid| !stopped.contains(pid));
        let (begun, mut longest) = (Instant::now(), render().await);
        while !is_gone() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{kind} is still there");
            longest = longest.max(render().await);
        }
        // By the one that took its place: one that is stopped while it starts has the longer limit of a start.
        render().await;
        assert!(longest < Duration::from_secs(30), "{kind}: {longest:?}");
        let hung = format!("platen_browser_hung_total{{process=\"{kind}\"}}");
        assert!(app.metric_of(&hung).await >= 1, "{kind}");
    }
    assert_eq!(app.metric_of("platen_browser_quarantined").await, 0);
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
