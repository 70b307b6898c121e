//! The service with its objects in a bucket: what is so there only.

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;

/// What always runs with a bucket as well; `PLATEN_TEST_STORE=s3` runs all of them so.
const SELECTION: [&str; 4] = ["flow::", "clients::", "templates::", "recovery::"];

/// A service with its objects in a bucket.
pub(crate) async fn start(settings: &[(&str, &str)]) -> TestApp {
    TestApp::with_bucket(settings).await
}

#[test]
fn jobs_and_templates_do_the_same_with_their_objects_in_a_bucket() {
    if std::env::var_os("PLATEN_TEST_STORE").is_some() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let run = Command::new(program).args(SELECTION).env("PLATEN_TEST_STORE", "s3").output().unwrap();
    let message = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{message}{}", String::from_utf8_lossy(&run.stderr));
    assert!(message.contains("test result: ok.") && !message.contains("ok. 0 passed"), "{message}");
}

async fn put(app: &TestApp, url: &str, kind: Option<&str>, body: &str) -> (u16, String) {
    let mut request = app.client.put(url).body(body.to_owned());
    if let Some(kind) = kind {
        request = request.header("content-type", kind);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn presigned_urls_lead_to_the_store_and_keep_what_clients_rely_on() {
    let app = start(&[]).await;
    let job = app.init(json!({"type": "html", "target": "html"})).await;
    let (data, template) = (job.data_url.unwrap(), job.template_url.unwrap());
    assert!(data.starts_with(&app.addresses()) && template.starts_with(&app.addresses()), "{data}");
    for kind in [Some("application/json"), Some("text/html"), Some("application/zip"), Some("a/b"), None] {
        assert_eq!(put(&app, &data, kind, r#"{"name":"Zoë"}"#).await, (200, String::new()), "{kind:?}");
    }
    assert_eq!(put(&app, &template, None, "<p><%= name %>").await.0, 200);
    let view = app.finish(&job.id).await;
    let output = &view["output"]["data"];
    let answer = app.client.get(output["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    for (name, value) in [
        ("content-disposition", "attachment; filename=\"document.html\""),
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "private, no-store"),
    ] {
        assert_eq!(answer.headers()[name], value);
    }
    assert!(answer.text().await.unwrap().contains("Zoë"));
    let inside = output["url"].as_str().unwrap();
    let ranged = app.client.get(inside).header("range", "bytes=0-2").send().await.unwrap();
    assert_eq!((ranged.status().as_u16(), ranged.text().await.unwrap().len()), (206, 3));
}

#[tokio::test]
async fn a_presigned_url_is_for_one_object_one_method_and_one_lifetime() {
    let app = start(&[("storage.address_ttl_s", "10")]).await;
    let job = app.init(json!({"type": "html", "target": "html"})).await;
    let other = app.init(json!({"type": "html", "target": "html"})).await;
    let template = job.template_url.unwrap();
    let altered = [
        (Method::PUT, template.replace("/template?", "/data.json?")),
        (Method::PUT, template.replace(&job.id, &other.id)),
        (Method::PUT, template.replace("/uploads/", "/jobs/")),
        (Method::PUT, template.replace("X-Amz-Expires=10", "X-Amz-Expires=100")),
        (Method::GET, template.clone()),
        (Method::DELETE, template.clone()),
        (Method::PUT, template.split('?').next().unwrap().to_owned()),
    ];
    for (method, url) in altered {
        let answer = app.client.request(method.clone(), &url).body("<p>x").send().await.unwrap();
        assert_eq!(answer.status(), 403, "{method} {url}");
    }
    let server = app.objects.as_ref().unwrap();
    assert_eq!((server.objects("uploads"), server.objects("jobs")), (vec![], vec![]));
    app.until("the address expires", async || put(&app, &template, None, "<p>1").await.0 == 403).await;
}

#[tokio::test]
async fn uploads_after_the_start_change_nothing_and_are_removed() {
    let app = start(&[]).await;
    let slow = "<!doctype html><p><%= name %> of the first<script>setTimeout(() => { document.body.append('!') }, 800)</script>";
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let (data, template) = (job.data_url.unwrap(), job.template_url.unwrap());
    assert_eq!(app.put(&data, r#"{"name":"early"}"#).await, 200);
    assert_eq!(app.put(&template, slow).await, 200);
    let (status, _) = app.post(&format!("/v1/documents/{}/render", job.id), &json!({})).await;
    assert_eq!(status, 202);
    // The store knows nothing of jobs: it takes them.
    assert_eq!(app.put(&data, r#"{"name":"late"}"#).await, 200);
    assert_eq!(app.put(&template, "<p>the second").await, 200);
    let view = app.ended(&job.id).await;
    let file = app.client.get(view["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
    let text = app.text_of(&file.bytes().await.unwrap());
    assert!(text.contains("early of the first"), "{text}");
    let server = app.objects.as_ref().unwrap();
    app.until("all inputs are gone", async || {
        server.objects("uploads").is_empty() && server.objects("jobs").is_empty()
    })
    .await;
}

#[tokio::test]
async fn an_upload_that_is_too_large_is_reported_at_the_start() {
    let app = start(&[("http.upload_limit_bytes", "2048")]).await;
    let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    let template = job.template_url.unwrap();
    let render = format!("/v1/documents/{}/render", job.id);
    assert_eq!(app.put(&template, "x".repeat(2_049)).await, 200);
    let (status, problem) = app.post(&render, &json!({})).await;
    assert_eq!((status, problem["code"].as_str()), (413, Some("payload_too_large")), "{problem}");
    assert!(
        problem["detail"].as_str().unwrap().contains("2048 bytes (http.upload_limit_bytes)"),
        "{problem}"
    );
    assert_eq!(app.get(&format!("/v1/jobs/{}", job.id)).await.1["status"], "initialized");
    assert_eq!(app.put(&template, "<p>small").await, 200);
    assert_eq!(app.finish(&job.id).await["success"], true);

    let (_, begun) = app.get("/v1/templates/init").await;
    let text = |member: &str| begun[member].as_str().unwrap().to_owned();
    let unzip = format!("/v1/templates/{}/unzip", text("templateId"));
    assert_eq!(app.put(&text("presignedTemplateUploadUrl"), "x".repeat(2_049)).await, 200);
    let answer = app.request(Method::PATCH, &unzip).send().await.unwrap();
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], "payload_too_large");
    assert_eq!(app.put(&text("presignedTemplateUploadUrl"), "<p>small").await, 200);
    assert_eq!(app.request(Method::PATCH, &unzip).send().await.unwrap().status(), 204);
}
