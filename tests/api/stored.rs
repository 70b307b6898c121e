//! Limits of what an account may store and start, against the real program: refused by name, freed by deletion, and kept
//! over kill -9.

use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use crate::app::{NewJob, TestApp};
use crate::template::page;

const INIT: &str = "/v1/documents/init";

impl TestApp {
    /// What `account list` says behind `stored-bytes=` and `open-jobs=`.
    fn counted(&self) -> (String, String) {
        let list = self.command(&["account", "list"]);
        let of = |name: &str| {
            let (_, rest) = list.split_once(name).unwrap();
            rest.split("  ").next().unwrap().trim().to_owned()
        };
        (of("stored-bytes="), of("open-jobs="))
    }

    async fn waiting(&self) -> NewJob {
        self.init(json!({"type": "html", "target": "html"})).await
    }

    /// PUTs so many bytes to the path and query of an address.
    async fn put_bytes(&self, path: &str, bytes: usize) -> (u16, Value) {
        let url = format!("{}{path}", self.base);
        crate::app::read(self.client.put(url).body(vec![b' '; bytes]).send().await.unwrap()).await
    }
}

#[tokio::test]
async fn uploads_of_unstarted_jobs_are_bounded_also_after_a_kill() {
    let mut app = TestApp::on_disk(&[("accounts.stored_bytes_limit", "100000")]).await;
    let first = app.waiting().await;
    assert_eq!(app.put(first.template_url.as_ref().unwrap(), vec![b' '; 60_000]).await, 200);
    assert_eq!(app.counted().0, "60000/100000");
    let second = app.waiting().await;
    // After a restart the service has another port.
    let path = second.template_url.unwrap().strip_prefix(&app.base).unwrap().to_owned();
    for _ in 0..2 {
        let (status, problem) = app.put_bytes(&path, 40_001).await;
        assert_eq!((status, &problem["code"]), (402, &json!("storage_exceeded")), "{problem}");
        assert_eq!((&problem["used"], &problem["limit"]), (&json!(60_000), &json!(100_000)));
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("accounts.stored_bytes_limit") && detail.contains("DELETE"), "{detail}");
        app.kill();
        app.launch();
        assert_eq!(app.counted(), ("60000/100000".to_owned(), "2/1000".to_owned()), "after kill -9");
    }
    assert_eq!(app.put_bytes(&path, 40_000).await.0, 200);
    let body = json!({"type": "html", "target": "html", "data": {"a": 1}});
    let (status, problem) = app.post(INIT, &body).await;
    assert_eq!(
        (status, &problem["code"]),
        (402, &json!("storage_exceeded")),
        "data counts as well: {problem}"
    );

    app.command(&["account", "set", "test", "--stored-bytes-limit", "200000"]);
    assert_eq!(app.counted().0, "100000/200000 (own)");
    assert_eq!(app.post(INIT, &body).await.0, 200);
    app.command(&["account", "set", "test", "--stored-bytes-limit", "default"]);
    assert_eq!(app.send(Method::DELETE, &format!("/v1/jobs/{}", first.id)).await.0, 200);
    assert_eq!(app.counted().0, "40007/100000");
    assert_eq!(app.get("/v1/templates/init").await.0, 200);
}

#[tokio::test]
async fn templates_count_until_they_are_deleted_and_a_kill_changes_nothing() {
    let mut app = TestApp::on_disk(&[]).await;
    let id = app.unzipped(page("Hello")).await;
    let (before, _) = app.counted();
    assert!(before.ends_with("/10737418240"), "{before}");
    app.kill();
    app.launch();
    assert_eq!(app.counted().0, before);
    let (used, _) = before.split_once('/').unwrap();
    app.command(&["account", "set", "test", "--stored-bytes-limit", used]);
    let (status, problem) = app.get("/v1/templates/init").await;
    assert_eq!((status, &problem["code"]), (402, &json!("storage_exceeded")), "{problem}");
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await.0, 200);
    assert_eq!(app.counted().0, format!("0/{used} (own)"));
}

#[tokio::test]
async fn unstarted_jobs_are_bounded_like_queued_ones() {
    let mut app = TestApp::on_disk(&[("accounts.open_jobs_limit", "2")]).await;
    let (first, _) = (app.waiting().await, app.waiting().await);
    let body = json!({"type": "html", "target": "html"}).to_string();
    let answer = app.request(Method::POST, INIT).body(body.clone()).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (429, &HeaderValue::from(3_600))
    );
    let (_, problem) = crate::app::read(answer).await;
    assert!(problem["detail"].as_str().unwrap().contains("accounts.open_jobs_limit"), "{problem}");
    app.kill();
    app.launch();
    assert_eq!(app.counted().1, "2/2");
    assert_eq!(
        app.request(Method::POST, INIT).body(body).send().await.unwrap().status(),
        429,
        "after kill -9"
    );
    let immediate = json!({"type": "html", "target": "html", "template": "<p>at once</p>"});
    assert_eq!(app.post("/v1/documents/immediate-render", &immediate).await.0, 200);
    let view = app.finish(&first.id).await;
    assert_eq!(view["errorCode"], "template_missing", "{view}");
    app.waiting().await;
    app.command(&["account", "set", "test", "--open-jobs-limit", "unlimited"]);
    app.waiting().await;
    assert_eq!(app.counted().1, "3/unlimited (own)");
}

#[tokio::test]
async fn previews_cost_a_subscription_with_a_document_left() {
    let app = TestApp::start().await;
    let id = app.unzipped(page("Hello")).await;
    app.command(&["account", "set", "test", "--documents-per-month", "1"]);
    app.previews(&id).await;
    assert!(app.command(&["account", "list"]).contains("documents=0/1"), "previews count nothing");
    app.render("html", "<p>the last one</p>", json!({})).await;
    let path = format!("/v1/templates/{id}/render-previews");
    let (status, problem) = app.post(&path, &json!({"type": "html", "data": {"name": "Ann"}})).await;
    assert_eq!((status, &problem["code"]), (402, &json!("quota_exceeded")), "{problem}");
    assert_eq!((&problem["used"], &problem["limit"]), (&json!(1), &json!(1)));
    let (_, jobs) = app.get("/v1/jobs").await;
    assert_eq!(jobs["items"].as_array().unwrap().len(), 3, "no job was begun for it: {jobs}");
}
