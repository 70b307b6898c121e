//! Cancelling what runs in a real browser, and erasing what is done.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;

const ENDLESS: &str = "<p>1</p><script>setInterval(() => document.body.append('.'), 20)</script>";

async fn delete(app: &TestApp, job: &str) -> (u16, Value) {
    let answer = app.request(Method::DELETE, &format!("/v1/jobs/{job}")).send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test]
async fn a_page_that_runs_is_stopped_and_its_tab_comes_back() {
    let app = TestApp::with(&[("browser.tabs", "1"), ("jobs.concurrency", "1")]).await;
    let (running, queued) =
        (app.prepared("pdf", ENDLESS, json!({})).await, app.prepared("pdf", "<p>2", json!({})).await);
    for job in [&running, &queued] {
        assert_eq!(app.post(&format!("/v1/documents/{job}/render"), &json!({})).await.0, 202);
    }
    app.until("the page runs", async || {
        let metrics = app.client.get(format!("{}/metrics", app.base)).send().await.unwrap();
        metrics.text().await.unwrap().contains("platen_browser_leased_tabs{lane=\"scripted\"} 1")
    })
    .await;
    let waiter = tokio::spawn({
        let request = app.request(Method::GET, &format!("/v1/jobs/{running}?wait=30"));
        async move { request.send().await.unwrap().json::<Value>().await.unwrap() }
    });
    let (status, view) = delete(&app, &running).await;
    assert_eq!((status, view["errorCode"].as_str()), (200, Some("cancelled")), "{view}");
    assert_eq!(waiter.await.unwrap()["errorCode"], "cancelled", "who waits is told");
    assert_eq!(app.ended(&queued).await["success"], true, "the tab is free again");
    assert_eq!(delete(&app, &running).await.0, 200, "sent again it means the same");
    assert_eq!(delete(&app, &queued).await.0, 204);
    assert_eq!(app.get(&format!("/v1/jobs/{queued}")).await.0, 404);
    assert_eq!(delete(&app, &queued).await.1["code"], "job_not_found");
}

#[tokio::test]
async fn the_document_of_a_deleted_job_is_gone_with_its_url() {
    let mut app = TestApp::start().await;
    let (view, file) = app.render("pdf", "<p>secret", json!({})).await;
    assert!(file.starts_with(b"%PDF"));
    let (job, url) = (view["jobId"].as_str().unwrap(), view["output"]["data"]["url"].as_str().unwrap());
    assert_eq!(delete(&app, job).await.0, 204);
    assert_eq!(app.client.get(url).send().await.unwrap().status(), 404);
    app.kill();
    app.launch();
    app.until_ready().await;
    assert_eq!(app.get(&format!("/v1/jobs/{job}")).await.0, 404, "an erased job stays erased");
}
