//! The store of objects fails, or disappears and returns: nothing acknowledged is lost, and no answer is wrong.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::objects::proxy::Mode;

/// Impatient enough that a test sees jobs fail, and patient enough that some do not.
const PATIENCE: [(&str, &str); 6] = [
    ("s3.retries", "3"),
    ("s3.retry_pause_ms", "100"),
    ("s3.answer_timeout_ms", "2000"),
    ("s3.stall_timeout_ms", "2000"),
    ("s3.probe_timeout_ms", "1000"),
    ("jobs.queue_account_limit", "1000"),
];

/// The renders in the middle of which the store is killed.
const RENDERS: usize = 40;

async fn prepare(app: &TestApp, number: usize) -> String {
    let template = format!("<p>job {number} <%= 'x'.repeat({}) %>", 10 + number * 1_000);
    app.prepared(if number.is_multiple_of(5) { "pdf" } else { "html" }, &template, json!({})).await
}

async fn start(app: &TestApp, job: &str) -> (u16, Value) {
    app.post(&format!("/v1/documents/{job}/render"), &json!({})).await
}

/// The reasons why the service is not ready; none when it is.
async fn reasons(app: &TestApp) -> Vec<String> {
    let answer = app.client.get(format!("{}/health/ready", app.base)).send().await.unwrap();
    let status = answer.status();
    let body: Value = answer.json().await.unwrap();
    let reasons = body["reasons"].as_array().into_iter().flatten();
    let reasons: Vec<_> = reasons.map(|reason| reason.as_str().unwrap().to_owned()).collect();
    assert_eq!(status == 200, reasons.is_empty(), "{body}");
    reasons
}

/// Says of every job that ended what it says of itself is so.
async fn assert_true(app: &TestApp, job: &str, number: usize) -> bool {
    let view = app.ended(job).await;
    if view["success"] == true {
        let url = view["output"]["data"]["url"].as_str().unwrap();
        let file = app.client.get(url).send().await.unwrap();
        assert_eq!(file.status(), 200, "a success without its document: {view}");
        let file = file.bytes().await.unwrap();
        assert_eq!(file.len() as u64, view["output"]["data"]["bytes"].as_u64().unwrap());
        let text = if view["target"] == "pdf" {
            app.text_of(&file)
        } else {
            String::from_utf8_lossy(&file).into_owned()
        };
        assert!(text.contains(&format!("job {number}")), "another's document: {view}");
        return true;
    }
    assert!(view["output"].is_null(), "{view}");
    let error = view["error"].as_str().unwrap();
    assert!(error.contains("store"), "it says why: {error}");
    false
}

#[tokio::test]
async fn a_store_that_is_killed_in_the_middle_of_many_renders_loses_nothing_acknowledged() {
    let mut app = TestApp::with_bucket(&PATIENCE).await;
    let mut jobs = Vec::new();
    for number in 0..RENDERS {
        jobs.push(prepare(&app, number).await);
    }
    let late = prepare(&app, RENDERS).await;
    for started in jobs.chunks(20) {
        let answers = join_all(started.iter().map(|job| start(&app, job))).await;
        assert!(answers.iter().all(|(status, _)| matches!(status, 200 | 202)), "{answers:?}");
    }
    let mut done_by_job = BTreeMap::new();
    app.until("a fifth of the jobs is done", async || {
        for job in &jobs {
            let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
            done_by_job.insert(job.clone(), view["success"] == true);
        }
        done_by_job.values().filter(|done| **done).count() >= RENDERS / 5
    })
    .await;
    let acknowledged: Vec<_> =
        done_by_job.iter().filter(|(_, done)| **done).map(|(job, _)| job.clone()).collect();
    app.objects.as_mut().unwrap().kill();
    let at_the_kill = acknowledged.len();
    app.until("it is not ready, for its store", async || {
        reasons(&app)
            .await
            .iter()
            .any(|reason| reason.starts_with("store: ") && reason.contains("s3.endpoint"))
    })
    .await;
    let (status, problem) = start(&app, &late).await;
    assert_eq!((status, problem["code"].as_str()), (503, Some("overloaded")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("object store does not answer"), "{problem}");
    app.objects.as_mut().unwrap().revive();
    app.until_ready().await;

    let mut made = 0;
    for (number, job) in jobs.iter().enumerate() {
        let succeeded = assert_true(&app, job, number).await;
        assert!(succeeded || !acknowledged.contains(job), "job {number} was done, and is not any more");
        made += usize::from(succeeded);
    }
    assert!(assert_true(&app, app.finish(&late).await["jobId"].as_str().unwrap(), RENDERS).await);
    println!("of {RENDERS} renders {at_the_kill} were done at the kill, {made} in the end");
    assert!(made > at_the_kill, "what waited for its turn, or for the store, was rendered");
    let accounts = app.command(&["account", "list"]);
    assert!(accounts.contains(&format!("documents={}/", made + 1)), "what failed was given back: {accounts}");
    let outputs = app.objects.as_ref().unwrap().objects("outputs").len();
    assert_eq!(outputs, made + 1, "one document a job");
}

#[tokio::test]
async fn a_service_that_is_killed_while_documents_go_to_the_store_makes_them_again() {
    let (mut app, proxy) = TestApp::behind_a_proxy(&PATIENCE).await;
    let mut jobs = Vec::new();
    for number in 0..12 {
        let template = format!("<p>job {number} <%= 'x'.repeat(6000000) %>");
        let job = app.prepared("html", &template, json!({})).await;
        assert_eq!(start(&app, &job).await.0, 202);
        jobs.push(job);
        if number == 3 {
            // From here on a document takes about two seconds to get there.
            proxy.set(Mode::Slow);
        }
    }
    app.until("documents are on their way", async || {
        let staging = app.data_dir().join("objects/.staging");
        proxy.met.load(std::sync::atomic::Ordering::Relaxed) > 200 && staging.exists()
    })
    .await;
    app.kill();
    let before = app.objects.as_ref().unwrap().objects("outputs").len();
    assert!(before < 12, "documents were on their way at the kill");
    proxy.set(Mode::Pass);
    app.launch();
    app.until_ready().await;
    for (number, job) in jobs.iter().enumerate() {
        assert!(assert_true(&app, job, number).await, "a kill is no fault of a job");
    }
    assert_eq!(app.objects.as_ref().unwrap().objects("outputs").len(), 12, "one document a job");
    assert!(app.command(&["account", "list"]).contains("documents=12/"), "each was counted once");
}

#[tokio::test]
async fn a_store_that_fails_hangs_or_is_slow_is_reported_and_comes_back() {
    let (app, proxy) = TestApp::behind_a_proxy(&PATIENCE).await;
    for (number, mode) in [Mode::Fail, Mode::Hang].into_iter().enumerate() {
        let job = prepare(&app, number).await;
        let other =
            app.init(json!({"type": "html", "target": "html", "data": {"pad": "x".repeat(100)}})).await;
        assert_eq!(app.put(&other.template_url.unwrap(), "<p>job").await, 200);
        proxy.set(mode);
        let began = Instant::now();
        let (status, problem) = start(&app, &job).await;
        assert_eq!((status, problem["code"].as_str()), (503, Some("overloaded")), "{mode:?}: {problem}");
        let large = json!({"type": "html", "target": "html", "data": {"pad": "x".repeat(50_000)}});
        let (status, problem) = app.post("/v1/documents/init", &large).await;
        assert_eq!(status, 503, "what cannot be kept is not acknowledged: {problem}");
        let reported = reasons(&app).await;
        assert!(
            reported.iter().any(|reason| reason.starts_with("store: the store failed: the store 127.0.0.1:")),
            "{reported:?}"
        );
        assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
        proxy.set(Mode::Pass);
        app.until_ready().await;
        assert_eq!(start(&app, &job).await.0 / 100, 2, "the job waited");
        assert!(assert_true(&app, &job, number).await);
    }
    proxy.set(Mode::Slow);
    let job = prepare(&app, 7).await;
    assert_eq!(start(&app, &job).await.0 / 100, 2);
    assert!(assert_true(&app, &job, 7).await, "slow is no failure");
}
