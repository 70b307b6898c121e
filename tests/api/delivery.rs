//! Delivery to a URL of the caller's: the request that arrives, refused receivers, retries and failures.
//!
//! Receivers listen on the loopback; those that must be reached are opened by `outbound.allow`.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::receiver::Receiver;

const PAGE: &str = "<p>Grüße";

/// A service that may deliver to `receiver`.
async fn app_for(receiver: &Receiver, settings: &[(&str, &str)]) -> TestApp {
    let allow = format!("[{{ host = \"127.0.0.1:{}\", private = true }}]", receiver.port);
    let mut all = vec![("outbound.allow", allow.as_str())];
    all.extend(settings);
    TestApp::with(&all).await
}

/// Renders a page that is to be delivered to `address`; gives the job's view.
async fn deliver(app: &TestApp, address: &str) -> Value {
    let job = app.prepared("pdf", PAGE, json!({})).await;
    let body = json!({"uploadPresignedStorageUrl": address, "shouldWaitForRenderCompletion": true});
    let (status, answer) = app.post(&format!("/v1/documents/{job}/render"), &body).await;
    assert!(matches!(status, 200 | 202), "{answer}");
    app.ended(&job).await
}

async fn file_of(app: &TestApp, view: &Value) -> Vec<u8> {
    let url = view["output"]["data"]["url"].as_str().expect("the output is kept");
    app.client.get(url).send().await.unwrap().bytes().await.unwrap().to_vec()
}

fn failed(view: &Value) -> &str {
    assert_eq!(
        (&view["success"], view["errorCode"].as_str()),
        (&json!(false), Some("delivery_failed")),
        "{view}"
    );
    assert!(view["output"]["data"]["url"].is_string(), "{view}");
    view["error"].as_str().unwrap()
}

#[tokio::test]
async fn the_document_arrives_as_it_is_kept() {
    let receiver = Receiver::new(|_| "200 OK".to_owned()).await;
    let app = app_for(&receiver, &[]).await;
    let view = deliver(&app, &receiver.url("/bucket/key?X-Signature=a%20b")).await;
    assert_eq!(view["success"], true, "{view}");
    let requests = receiver.requests();
    let [request] = &requests[..] else { panic!("{} requests", requests.len()) };
    assert!(request.head.starts_with("PUT /bucket/key?X-Signature=a%20b HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains("content-type: application/pdf\r\n"), "{}", request.head);
    assert!(
        request.head.contains(&format!("content-length: {}\r\n", request.body.len())),
        "{}",
        request.head
    );
    assert!(!request.head.to_lowercase().contains("authorization"), "{}", request.head);
    assert_eq!(request.body, file_of(&app, &view).await);

    let body = json!({"type": "html", "target": "html", "template": PAGE, "data": {},
                      "uploadPresignedS3Url": receiver.url("/now")});
    let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!(status, 200, "{answer}");
    assert!(String::from_utf8_lossy(&receiver.requests()[1].body).contains("Grüße"));
}

#[tokio::test]
async fn a_redirect_is_decided_upon_like_the_first_address() {
    let canary = Receiver::new(|_| "200 OK".to_owned()).await;
    let elsewhere = canary.url("/stolen");
    let receiver = Receiver::new(move |head| match head.split(' ').nth(1) {
        Some("/away") => format!("307 Temporary Redirect\r\nLocation: {elsewhere}"),
        Some("/get") => format!("303 See Other\r\nLocation: {elsewhere}"),
        Some("/file") => "308 Permanent Redirect\r\nLocation: file:///etc/passwd".to_owned(),
        Some("/round") => "307 Temporary Redirect\r\nLocation: /round".to_owned(),
        Some("/moved") => "308 Permanent Redirect\r\nLocation: ../here".to_owned(),
        _ => "200 OK".to_owned(),
    })
    .await;
    let app = app_for(&receiver, &[]).await;
    for (path, words) in [
        ("/away", "the address is refused"),
        ("/get", "answered 303"),
        ("/file", "'file:' is not https"),
        ("/round", "more than 3 times (outbound.redirect_limit)"),
    ] {
        let view = deliver(&app, &receiver.url(path)).await;
        assert!(failed(&view).contains(words), "{path}: {view}");
        assert!(file_of(&app, &view).await.starts_with(b"%PDF"));
    }
    assert_eq!(canary.hits(), 0);
    let view = deliver(&app, &receiver.url("/moved")).await;
    assert_eq!(view["success"], true, "{view}");
    let last = receiver.requests().pop().unwrap();
    assert!(last.head.starts_with("PUT /here "), "{}", last.head);
    assert_eq!(last.body, file_of(&app, &view).await, "the whole document again");
}

#[tokio::test]
async fn a_failing_receiver_is_tried_again_and_one_that_refuses_is_not() {
    let receiver = Receiver::counting(|count, head| match head.split(' ').nth(1) {
        Some("/late") if count < 3 => "503 Service Unavailable".to_owned(),
        Some("/never?X-Signature=secret") => "500 Internal Server Error".to_owned(),
        Some("/closed") => "403 Forbidden".to_owned(),
        _ => "204 No Content".to_owned(),
    })
    .await;
    let app = app_for(&receiver, &[]).await;
    let view = deliver(&app, &receiver.url("/late")).await;
    assert_eq!((&view["success"], receiver.hits()), (&json!(true), 3), "{view}");
    let view = deliver(&app, &receiver.url("/closed")).await;
    assert!(failed(&view).contains("answered 403 Forbidden"), "{view}");
    assert_eq!(receiver.hits(), 4);
    let view = deliver(&app, &receiver.url("/never?X-Signature=secret")).await;
    assert!(failed(&view).contains("500 Internal Server Error; tried 3 time(s)"), "{view}");
    assert!(!failed(&view).contains("secret"), "{view}");
    assert_eq!(receiver.hits(), 7);
}

#[tokio::test]
async fn a_receiver_that_never_answers_ends_at_its_deadline() {
    let receiver = Receiver::silent().await;
    let app = app_for(&receiver, &[("outbound.delivery_timeout_s", "1")]).await;
    let view = deliver(&app, &receiver.url("/")).await;
    assert!(failed(&view).contains("not done within 1 s (outbound.delivery_timeout_s)"), "{view}");
}

#[tokio::test]
async fn a_delivery_survives_a_kill() {
    let silent = Receiver::silent().await;
    let mut app = app_for(&silent, &[]).await;
    let job = app.prepared("pdf", PAGE, json!({})).await;
    let body = json!({"uploadPresignedStorageUrl": silent.url("/")});
    let (status, answer) = app.post(&format!("/v1/documents/{job}/render"), &body).await;
    assert_eq!(status, 202, "{answer}");
    app.until("the receiver is asked", async || silent.hits() == 1).await;
    app.kill();
    silent.answer_with("200 OK");
    app.launch();
    let view = app.ended(&job).await;
    assert_eq!(view["success"], true, "{view}");
    assert_eq!(silent.requests().pop().unwrap().body, file_of(&app, &view).await);
}

#[tokio::test]
async fn a_document_that_is_being_delivered_counts_when_it_is_cancelled() {
    let silent = Receiver::silent().await;
    let app = app_for(&silent, &[]).await;
    let job = app.prepared("pdf", PAGE, json!({})).await;
    let body = json!({"uploadPresignedStorageUrl": silent.url("/")});
    assert_eq!(app.post(&format!("/v1/documents/{job}/render"), &body).await.0, 202);
    app.until("the receiver has it", async || silent.hits() == 1).await;
    let answer = app.request(reqwest::Method::DELETE, &format!("/v1/jobs/{job}")).send().await.unwrap();
    let view: Value = answer.json().await.unwrap();
    assert_eq!((&view["success"], view["errorCode"].as_str()), (&json!(false), Some("cancelled")), "{view}");
    assert_eq!(file_of(&app, &view).await, silent.requests()[0].body, "it is kept");
    let accounts = app.command(&["account", "list"]);
    assert!(accounts.contains("documents=1/"), "{accounts}");
}
