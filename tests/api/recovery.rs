//! kill -9 of the service: nothing acknowledged is lost, every started job ends by itself.

use serde_json::json;

use crate::app::TestApp;

const TEMPLATE: &str = "<!doctype html><p>job <%= number %></p><script>1</script>";

#[tokio::test]
async fn a_killed_service_ends_every_started_job_when_it_comes_back() {
    let mut app = TestApp::start().await;
    let mut done = Vec::new();
    for number in 0..6 {
        let job = app.prepared("pdf", TEMPLATE, json!({"number": number})).await;
        assert_eq!(app.finish(&job).await["success"], true);
        done.push(job);
    }
    let mut initialized = Vec::new();
    for number in 0..6 {
        initialized.push(app.prepared("pdf", TEMPLATE, json!({"number": number})).await);
    }
    let mut started = Vec::new();
    for number in 0..12 {
        let job = app.prepared("pdf", TEMPLATE, json!({"number": number})).await;
        let (status, _) = app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        assert!(matches!(status, 200 | 202));
        started.push(job);
    }
    app.kill();
    app.launch();
    app.until_ready().await;
    for job in done {
        let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
        assert_eq!((&view["status"], &view["success"]), (&json!("done"), &json!(true)), "{view}");
        let url = view["output"]["data"]["url"].as_str().unwrap();
        assert_eq!(app.client.get(url).send().await.unwrap().status(), 200);
    }
    for job in started {
        let view = app.ended(&job).await;
        assert_eq!(view["success"], true, "{view}");
    }
    for job in initialized {
        let (_, view) = app.get(&format!("/v1/jobs/{job}")).await;
        assert_eq!(view["status"], "initialized");
        assert_eq!(app.finish(&job).await["success"], true);
    }
}

#[tokio::test]
async fn a_stopped_service_parks_what_it_cannot_finish() {
    let mut app = TestApp::with(&[("http.shutdown_grace_s", "0"), ("browser.tabs", "1")]).await;
    let slow = "<!doctype html><p>slow</p><script>setTimeout(() => { window.late = 1 }, 300)</script>";
    let mut jobs = Vec::new();
    for _ in 0..4 {
        let job = app.prepared("pdf", slow, json!({})).await;
        app.post(&format!("/v1/documents/{job}/render"), &json!({})).await;
        jobs.push(job);
    }
    app.stop();
    app.launch();
    for job in jobs {
        assert_eq!(app.ended(&job).await["success"], true);
    }
}
