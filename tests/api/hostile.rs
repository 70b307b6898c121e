//! Bad input, each with its clear answer.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::app::TestApp;

#[tokio::test]
async fn an_upload_of_200_mb_is_refused_with_its_limit() {
    let app = TestApp::on_disk(&[]).await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let url = job.template_url.unwrap();
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(
        (0..200).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1 << 20])),
    ));
    // The service answers before it has read all of it, so the client may see the answer or a reset.
    if let Ok(answer) = app.client.put(&url).body(body).send().await {
        assert_eq!(answer.status(), 413);
        let problem: Value = answer.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().contains("104857600"), "{problem}");
    }
    let address = app.base.strip_prefix("http://").unwrap();
    let path = url.strip_prefix(&app.base).unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 209715200\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("http.upload_limit_bytes"), "{answer}");
    let view = app.finish(&job.id).await;
    assert_eq!(view["errorCode"], "template_missing");
}

#[tokio::test]
async fn deep_json_is_refused_in_a_body_and_in_an_upload() {
    let app = TestApp::start().await;
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let body = format!(r#"{{"type": "html", "target": "pdf", "data": {{"a": {deep}}}}}"#);
    let request = app.request(reqwest::Method::POST, "/v1/documents/init").body(body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["code"], "malformed_json");
    assert!(problem["detail"].as_str().unwrap().contains("128"), "{problem}");
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), "<p>1</p>").await, 200);
    assert_eq!(app.put(&job.data_url.unwrap(), deep).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["errorCode"], "data_invalid", "{view}");
}

#[tokio::test]
async fn a_truncated_upload_of_data_fails_the_job_with_the_reason() {
    let app = TestApp::start().await;
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), "<p>1</p>").await, 200);
    assert_eq!(app.put(&job.data_url.unwrap(), r#"{"name": "Zo"#).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["errorCode"], "data_invalid");
    assert!(view["error"].as_str().unwrap().contains("not complete JSON"), "{view}");
}

#[tokio::test]
async fn a_wrong_or_revoked_token_opens_nothing() {
    let app = TestApp::start().await;
    let url = format!("{}/v1/documents/init", app.base);
    for token in ["", "pl_wrong", &"x".repeat(5_000)] {
        let answer = app.client.post(&url).bearer_auth(token).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), 401);
        assert!(answer.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
    }
    let list = app.command(&["token", "list"]);
    let id = list.split_whitespace().find(|word| word.len() == 36).expect("a token id").to_owned();
    app.command(&["token", "revoke", &id]);
    let (status, problem) = app.post("/v1/documents/init", &json!({})).await;
    assert_eq!((status, &problem["code"]), (401, &json!("unauthorized")));
}

#[tokio::test]
async fn two_starts_at_once_are_one_start() {
    let app = TestApp::start().await;
    app.command(&["account", "set", "test", "--documents-per-month", "1"]);
    let job = app.prepared("pdf", "<p>once</p>", json!({})).await;
    let path = format!("/v1/documents/{job}/render");
    let body = json!({"shouldWaitForRenderCompletion": true});
    let (first, second) = tokio::join!(app.post(&path, &body), app.post(&path, &body));
    for (status, answer) in [first, second] {
        assert_eq!((status, &answer["success"]), (200, &json!(true)), "{answer}");
    }
}

#[tokio::test]
async fn an_upload_after_the_start_is_refused() {
    let app = TestApp::on_disk(&[]).await;
    let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    let url = job.template_url.unwrap();
    assert_eq!(app.put(&url, "<p>first</p>").await, 200);
    app.finish(&job.id).await;
    let answer = app.client.put(&url).body("<p>second</p>").send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "upload_closed");
}

#[tokio::test]
async fn another_accounts_job_is_not_there() {
    let app = TestApp::start().await;
    let job = app.prepared("html", "<p>mine</p>", json!({})).await;
    app.command(&["account", "create", "other"]);
    let stranger = app.command(&["token", "create", "--account", "other"]);
    for (method, path) in [
        (reqwest::Method::GET, format!("/v1/jobs/{job}")),
        (reqwest::Method::POST, format!("/v1/documents/{job}/render")),
    ] {
        let url = format!("{}{path}", app.base);
        let answer = app.client.request(method, &url).bearer_auth(&stranger).send().await.unwrap();
        assert_eq!(answer.status(), 404);
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], "job_not_found");
    }
}
