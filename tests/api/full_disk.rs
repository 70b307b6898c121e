//! The service on a disk that is full: every write is refused at once, reads go on, and so do writes when there is
//! space again.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, bounded};
use crate::small_disk::{SmallDisk, rerun_in_mount_namespace};
use crate::template::{page, save_request};

/// A write that waits for the disk to be cleared would take as long as the test lets it.
const SOON: Duration = Duration::from_secs(10);
/// It runs until the page is printed all the same, after `browser.rest_cap_ms`.
const TICKING: &str = "<p>ticking<script>setInterval(() => document.body.append('x'), 20)</script>";

/// Jobs, templates and a token that exist before the disk is full.
struct ExistingData {
    done: String,
    document: Value,
    bytes: Vec<u8>,
    prepared: String,
    running: String,
    upload_url: String,
    saved: String,
    uploaded: String,
    info: Value,
    token: String,
}

async fn existing_data(app: &TestApp) -> ExistingData {
    let job = app.prepared("pdf", "<p>kept", json!({})).await;
    let view = app.finish(&job).await;
    let document = view["output"]["data"]["url"].clone();
    let (_, bytes) = app.fetch(&document).await;
    let info = save_request("Saved", &app.previews(&app.saved("One", page("first")).await).await);
    let listed = app.get("/v1/templates").await.1;
    let waiting = app.init(json!({"type": "html", "target": "pdf"})).await;
    let running = app.prepared("pdf", TICKING, json!({})).await;
    let token = app.command(&["token", "list"]);
    let begun = app.begin().await;
    assert_eq!(app.put(&begun.upload_url, page("second")).await, 200);
    ExistingData {
        done: job,
        document,
        bytes,
        prepared: app.prepared("pdf", "<p>prepared", json!({})).await,
        running,
        upload_url: waiting.template_url.unwrap(),
        saved: listed["items"][0]["uuid"].as_str().unwrap().to_owned(),
        uploaded: begun.id,
        info,
        token: token.split_whitespace().next().unwrap().to_owned(),
    }
}

/// Every operation that writes is refused at once, with a time to come again.
async fn assert_writes_are_refused(app: &TestApp, existing: &ExistingData) {
    let ExistingData { done, prepared, running, saved, uploaded, .. } = existing;
    let immediate = json!({"type": "html", "target": "html", "template": "<p>1"});
    let (render, template) = (format!("/v1/documents/{prepared}/render"), format!("/v1/templates/{saved}"));
    let text = json!({"indexHtml": "<p>new"});
    let preview = json!({"type": "html", "data": {}});
    let writes = [
        (Method::POST, "/v1/documents/init".to_owned(), json!({"type": "html", "target": "pdf"})),
        (Method::POST, "/v1/documents/immediate-render".to_owned(), immediate),
        (Method::POST, render, json!({})),
        (Method::GET, "/v1/templates/init".to_owned(), Value::Null),
        (Method::PATCH, format!("/v1/templates/{uploaded}/unzip"), Value::Null),
        (Method::POST, format!("{template}/index-html"), text),
        (Method::POST, format!("{template}/clone"), Value::Null),
        (Method::POST, format!("{template}/render-previews"), preview),
        (Method::POST, template.clone(), existing.info.clone()),
        (Method::DELETE, template, Value::Null),
        (Method::DELETE, format!("/v1/jobs/{done}"), Value::Null),
        (Method::DELETE, format!("/v1/jobs/{prepared}"), Value::Null),
        (Method::DELETE, format!("/v1/jobs/{running}"), Value::Null),
    ];
    for (method, path, body) in writes {
        let request = app.request(method.clone(), &path);
        let request = if body.is_null() { request } else { request.body(body.to_string()) };
        let answer = tokio::time::timeout(SOON, request.send()).await;
        let answer = answer.unwrap_or_else(|_| panic!("{method} {path} waits")).unwrap();
        let (status, later) = (answer.status(), answer.headers().get("retry-after").cloned());
        let problem: Value = answer.json().await.unwrap_or_default();
        assert_eq!(
            (status.as_u16(), &problem["code"]),
            (503, &json!("overloaded")),
            "{method} {path}: {problem}"
        );
        assert_eq!(later.unwrap(), "60", "{method} {path}");
        assert!(problem["detail"].as_str().unwrap().contains("disk is full"), "{method} {path}: {problem}");
    }
    let upload = app.client.put(&existing.upload_url).body("<p>1").send();
    assert_eq!(tokio::time::timeout(SOON, upload).await.expect("an upload waits").unwrap().status(), 503);
    let token = existing.token.as_str();
    for command in [
        &["account", "create", "more"] as &[_],
        &["account", "set", "test", "--plan", "gold"],
        &["token", "create", "--account", "test"],
        &["token", "revoke", token],
    ] {
        let since = Instant::now();
        let message = app.refused(command);
        let folder = app.data_dir().join("index").display().to_string();
        assert!(message.contains(&folder) && message.contains("free some space"), "{command:?}: {message}");
        assert!(since.elapsed() < SOON, "{command:?} took {:?}", since.elapsed());
    }
}

async fn assert_reads_go_on(app: &TestApp, existing: &ExistingData) {
    for path in [
        format!("/v1/jobs/{}", existing.done),
        format!("/v1/jobs/{}", existing.running),
        "/v1/jobs".to_owned(),
        format!("/v1/templates/{}", existing.saved),
        format!("/v1/templates/{}/index-html", existing.saved),
        "/v1/templates".to_owned(),
    ] {
        assert_eq!(app.get(&path).await.0, 200, "{path}");
    }
    assert_eq!(
        app.fetch(&existing.document).await,
        (200, existing.bytes.clone()),
        "the document is read still"
    );
    assert!(app.command(&["account", "list"]).contains("test"));
    app.until("it is not ready, for its index", async || {
        let ready = app.client.get(format!("{}/health/ready", app.base)).send().await.unwrap();
        let (status, reasons) = (ready.status(), ready.text().await.unwrap());
        status == 503 && reasons.contains("index: the disk of the index") && reasons.contains("is full")
    })
    .await;
}

#[tokio::test]
async fn writes_to_a_full_disk_are_refused_at_once_and_resume_with_space() {
    let name = "full_disk::writes_to_a_full_disk_are_refused_at_once_and_resume_with_space";
    if let Some(message) = rerun_in_mount_namespace(name) {
        assert!(
            message.contains("the disk of the index /") && message.contains("/data/index is full"),
            "{message}"
        );
        return;
    }
    let limits = [
        ("storage.objects_free_limit_bytes", "8388608"),
        ("storage.free_limit_bytes", "4194304"),
        ("http.shutdown_grace_s", "1"),
        ("browser.rest_cap_ms", "2000"),
        // A Chromium that starts with the page would end the run after the wait of 5 s below.
        ("browser.start", "eager"),
    ];
    let app = TestApp::on_small_disk(96, &limits).await;
    let mut existing = existing_data(&app).await;
    let disk = app.disk.as_ref().unwrap();
    for left_bytes in [2 << 20, 0] {
        assert_eq!(app.post(&format!("/v1/documents/{}/render", existing.running), &json!({})).await.0, 202);
        disk.fill(left_bytes);
        assert_writes_are_refused(&app, &existing).await;
        // Its run ends, but the end cannot be written: to callers the job is still running.
        assert_reads_go_on(&app, &existing).await;
        let (_, view) = app.get(&format!("/v1/jobs/{}?wait=5", existing.running)).await;
        assert_eq!(view["status"], "in-progress", "{view}");
        assert_writes_are_refused(&app, &existing).await;
        disk.clear();
        let view = app.ended(&existing.running).await;
        assert_eq!(view["errorCode"], "internal", "there was no space for its document: {view}");
        app.until_ready().await;
        existing.running = app.prepared("pdf", TICKING, json!({})).await;
    }

    assert_eq!(app.finish(&existing.prepared).await["success"], true);
    assert_eq!(app.put(&existing.upload_url, "<p>1").await, 200);
    assert_eq!(app.post(&format!("/v1/templates/{}", existing.saved), &existing.info).await.0, 204);
    assert_eq!(app.send(Method::DELETE, &format!("/v1/jobs/{}", existing.done)).await.0, 204);
    assert_eq!(app.send(Method::DELETE, &format!("/v1/jobs/{}", existing.running)).await.0, 200);
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{}", existing.saved)).await.0, 200);
    app.command(&["account", "create", "more"]);
    at_the_start(app, &existing).await;
}

/// It ends in order on a full disk, and what does not start there names the remedy.
async fn at_the_start(mut app: TestApp, existing: &ExistingData) {
    app.disk.as_ref().unwrap().fill(0);
    app.stop();
    let elsewhere = app.scratch().join("new").display().to_string();
    let mut messages = Vec::new();
    for data in [app.data_dir().display().to_string(), elsewhere] {
        for arguments in [&["serve"] as &[_], &["account", "create", "late"]] {
            let mut command = app.set(bounded());
            let output = command.env("PLATEN__STORAGE__DATA_DIR", &data).args(arguments).output().unwrap();
            messages.push(String::from_utf8_lossy(&output.stderr).into_owned());
            assert_eq!(output.status.code(), Some(1), "{arguments:?} in {data}: {messages:?}");
        }
    }
    for message in messages {
        assert!(
            message.contains("free some") && message.contains(app.scratch().to_str().unwrap()),
            "{message}"
        );
        assert!(!message.contains("rebuild") && !message.contains("backup"), "{message}");
    }
    app.disk.as_ref().unwrap().clear();
    app.launch();
    app.until_ready().await;
    assert_eq!(app.get(&format!("/v1/jobs/{}", existing.prepared)).await.1["success"], true);
}

#[test]
fn a_small_disk_is_full_when_it_is_filled() {
    if rerun_in_mount_namespace("full_disk::a_small_disk_is_full_when_it_is_filled").is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::over(folder.path(), 4);
    disk.fill(1 << 20);
    assert!((900_000..=1 << 20).contains(&disk.free_bytes()), "{}", disk.free_bytes());
    disk.fill(0);
    assert!(std::fs::write(folder.path().join("one"), "more").is_err());
    disk.clear();
    assert!(disk.free_bytes() > 3 << 20);
}
