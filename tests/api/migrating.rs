//! Published clients of this API with their base URL changed to this service: requests and answers of older and newer
//! versions.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::app::TestApp;
use crate::template::page;

const PAGE: &str = "<!doctype html><p><%= typeof name === 'undefined' ? 'nobody' : name %></p>";

#[tokio::test]
async fn the_archive_of_a_template_is_there_from_its_unzip_on() {
    let app = TestApp::start().await;
    let (status, begun) = app.get("/v1/templates/init").await;
    assert_eq!((status, &begun["jobId"]), (200, &begun["templateId"]), "older clients read jobId");
    let id = begun["templateId"].as_str().unwrap();
    let path = format!("/v1/templates/{id}/presigned-url");
    let (status, answer) = app.get(&path).await;
    assert_eq!((status, &answer["code"]), (422, &json!("template_archive_invalid")), "{answer}");
    assert_eq!(app.put(begun["presignedTemplateUploadUrl"].as_str().unwrap(), page("Hello")).await, 200);
    assert_eq!(app.send(Method::PATCH, &format!("/v1/templates/{id}/unzip")).await.0, 204);
    let (status, answer) = app.get(&path).await;
    assert_eq!(status, 200, "{answer}");
    let fetched = app.client.get(answer["presignedUrl"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(
        (fetched.status().as_u16(), &fetched.headers()["content-type"]),
        (200, &"application/zip".parse().unwrap())
    );
    assert!(fetched.bytes().await.unwrap().starts_with(b"PK"));
}

#[tokio::test]
async fn the_entrys_text_has_two_names_and_the_newer_one_counts() {
    let app = TestApp::start().await;
    let id = app.unzipped(page("Hello")).await;
    let path = format!("/v1/templates/{id}/index-html");
    for (sent, expected) in [
        (json!({"templateIndex": "<p>older"}), "<p>older"),
        (json!({"indexHtml": "<p>newer"}), "<p>newer"),
        (json!({"templateIndex": "<p>older", "indexHtml": "<p>both"}), "<p>both"),
    ] {
        assert_eq!(app.post(&path, &sent).await, (204, Value::Null), "{sent}");
        let (status, answer) = app.get(&path).await;
        assert_eq!(
            (status, &answer["indexHtml"], &answer["templateIndex"]),
            (200, &json!(expected), &json!(expected))
        );
    }
    let (status, problem) = app.post(&path, &json!({})).await;
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/indexHtml")));
}

/// How one client writes a map without entries. Its announced length may be shorter than what it sends: bytes beyond it
/// are never read.
#[tokio::test]
async fn a_data_upload_of_an_empty_map_is_no_data() {
    let app = TestApp::on_disk(&[]).await;
    for (sent, announced) in [("map[]", 5), ("map[]\n", 6), ("map[]\n", 5)] {
        let job = app.init(json!({"type": "html", "target": "html"})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), PAGE).await, 200);
        let url = job.data_url.unwrap();
        let path = url.strip_prefix(&app.base).unwrap();
        let request = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {announced}\r\n\r\n{sent}");
        let mut stream = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let view = app.finish(&job.id).await;
        assert_eq!(view["success"], true, "{sent:?} as {announced} bytes: {view}");
        let page = app.client.get(view["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
        assert!(page.text().await.unwrap().contains("nobody"));
    }
    let job = app.init(json!({"type": "html", "target": "html"})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), PAGE).await, 200);
    assert_eq!(app.put(&job.data_url.unwrap(), "map[a:1]").await, 200);
    assert_eq!(app.finish(&job.id).await["errorCode"], "data_invalid", "what is data must be JSON");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_answered_with_the_key_first() {
    let app = TestApp::on_disk(&[("http.json_limit_bytes", "2048")]).await;
    let body = json!({"type": "html", "target": "pdf", "template": "x".repeat(3_000)});
    for path in ["/v1/documents/immediate-render", "/v1/documents/init"] {
        let (status, problem) = app.post(path, &body).await;
        assert_eq!((status, &problem["code"]), (413, &json!("payload_too_large")));
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.starts_with("http.json_limit_bytes: ") && detail.contains("/documents/init"),
            "{detail}"
        );
    }
}
