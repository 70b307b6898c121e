//! `Idempotency-Key`: one key is one job, at once, later, and after a crash; it counts one document.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;

const INIT: &str = "/v1/documents/init";
const IMMEDIATE: &str = "/documents/immediate-render";

async fn post(app: &TestApp, path: &str, key: &str, body: &Value) -> (u16, Value) {
    let request = app.request(Method::POST, path).header("idempotency-key", key).body(body.to_string());
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn pdf() -> Value {
    json!({"type": "html", "target": "pdf", "data": {"name": "Zoë"}})
}

#[tokio::test]
async fn a_repeated_init_answers_the_same_job_also_after_a_crash() {
    let mut app = TestApp::start().await;
    app.command(&["account", "set", "test", "--documents-per-month", "2"]);
    let (status, first) = post(&app, INIT, "order-1", &pdf()).await;
    assert_eq!(status, 200, "{first}");
    let (_, again) = post(&app, INIT, "order-1", &pdf()).await;
    assert_eq!(first["jobId"], again["jobId"]);
    assert!(again["presignedDataUploadUrl"].is_null());
    app.kill();
    app.launch();
    let (status, after) = post(&app, "//documents/init/", "order-1", &pdf()).await;
    assert_eq!((status, &after["jobId"]), (200, &first["jobId"]), "{after}");
    let url = after["presignedTemplateUploadUrl"].as_str().unwrap();
    assert!(url.starts_with(&app.addresses()), "minted anew: {url}");
    assert_eq!(app.put(url, "<p><%= name %></p>").await, 200);
    let job = first["jobId"].as_str().unwrap();
    assert_eq!(app.finish(job).await["success"], true);
    assert_eq!(post(&app, INIT, "order-1", &pdf()).await.1["jobId"], first["jobId"], "also when it is done");
    let (_, other) = post(&app, INIT, "order-2", &pdf()).await;
    assert_ne!(other["jobId"], first["jobId"]);
    assert_eq!(post(&app, INIT, "order-3", &pdf()).await.0, 402, "two keys were two documents");
    assert_eq!(post(&app, INIT, "order-2", &pdf()).await.1["jobId"], other["jobId"], "no document is needed");
}

#[tokio::test]
async fn another_request_with_the_key_is_refused_and_another_account_has_its_own() {
    let mut app = TestApp::start().await;
    let (_, first) = post(&app, INIT, "key", &pdf()).await;
    let mut other = pdf();
    other["target"] = json!("png");
    let mut immediate = pdf();
    immediate["template"] = json!("<p>1</p>");
    for (path, body) in [(INIT, &other), (IMMEDIATE, &immediate), (IMMEDIATE, &pdf())] {
        let (status, problem) = post(&app, path, "key", body).await;
        assert_eq!(status, 422, "{problem}");
        let wrong = body.get("template").is_none() && path == IMMEDIATE;
        let code = if wrong { "validation_failed" } else { "idempotency_mismatch" };
        assert_eq!(problem["code"], code, "{problem}");
    }
    let (status, problem) = post(&app, INIT, &"k".repeat(256), &pdf()).await;
    assert_eq!((status, &problem["code"]), (422, &json!("validation_failed")), "{problem}");
    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);
    let (status, own) = post(&app, INIT, "key", &other).await;
    assert!(status == 200 && own["jobId"] != first["jobId"], "{own}");
}

#[tokio::test]
async fn requests_at_the_same_moment_are_one_job_and_one_document() {
    let app = TestApp::start().await;
    app.command(&["account", "set", "test", "--documents-per-month", "2"]);
    let body = pdf();
    let answers = join_all((0..40).map(|_| post(&app, INIT, "double click", &body))).await;
    let jobs: BTreeSet<_> =
        answers.iter().map(|(status, body)| (*status, body["jobId"].to_string())).collect();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    let immediate = json!({"type": "html", "target": "html", "template": "<p>1</p>"});
    let answers = join_all((0..40).map(|_| post(&app, IMMEDIATE, "buy", &immediate))).await;
    let mut objects = BTreeSet::new();
    for (status, answer) in answers {
        assert_eq!(status, 200, "{answer}");
        objects.insert(answer["url"].as_str().unwrap().split_once('?').unwrap().0.to_owned());
    }
    assert_eq!(objects.len(), 1, "{objects:?}");
    let (_, page) = app.get("/v1/jobs").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let refused = join_all((0..10).map(|_| post(&app, INIT, "one more", &body))).await;
    assert!(refused.iter().all(|(status, _)| *status == 402), "each of them is told: {refused:?}");
    app.command(&["account", "set", "test", "--documents-per-month", "3"]);
    assert_eq!(post(&app, INIT, "one more", &body).await.0, 200, "a refusal is not kept");
}

#[tokio::test]
async fn a_repeated_immediate_render_waits_for_the_same_job() {
    let settings =
        [("http.wait_default_s", "1"), ("http.shutdown_grace_s", "0"), ("browser.rest_cap_ms", "5000")];
    let mut app = TestApp::with(&settings).await;
    let endless = "<script>setInterval(() => document.body.append('x'), 20)</script>";
    let body = json!({"type": "html", "target": "pdf", "template": endless});
    let (status, pending) = post(&app, IMMEDIATE, "slow", &body).await;
    assert_eq!((status, &pending["code"]), (422, &json!("render_pending")), "{pending}");
    let (_, again) = post(&app, IMMEDIATE, "slow", &body).await;
    assert_eq!(again["jobId"], pending["jobId"], "{again}");
    app.kill();
    app.launch();
    app.until_ready().await;
    let job = pending["jobId"].as_str().unwrap();
    assert_eq!(app.ended(job).await["success"], true);
    let (status, done) = post(&app, IMMEDIATE, "slow", &body).await;
    assert_eq!(status, 200, "{done}");
    assert!(done["url"].as_str().unwrap().contains(job));
    let broken = json!({"type": "html", "target": "html", "template": "<%= missing %>"});
    let (_, failed) = post(&app, IMMEDIATE, "broken", &broken).await;
    let (status, again) = post(&app, IMMEDIATE, "broken", &broken).await;
    assert_eq!((status, &again["code"]), (422, &json!("render_failed")));
    assert_eq!(again["jobId"], failed["jobId"]);
}

#[tokio::test]
async fn an_idempotency_key_keeps_its_job_for_the_configured_time() {
    let app = TestApp::with(&[("jobs.idempotency_window_s", "2")]).await;
    let (_, first) = post(&app, INIT, "key", &pdf()).await;
    app.until("the key stands for a new job", async || {
        let (status, next) = post(&app, INIT, "key", &pdf()).await;
        assert_eq!(status, 200, "{next}");
        next["jobId"] != first["jobId"]
    })
    .await;
    let (_, view) = app.get(&format!("/v1/jobs/{}", first["jobId"].as_str().unwrap())).await;
    assert_eq!(view["status"], "initialized", "the first job is there still");
}
