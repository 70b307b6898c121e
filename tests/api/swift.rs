//! The service with its objects in Swift: a store that is no work of ours, over its S3 interface.

use reqwest::Method;
use serde_json::json;

use crate::app::TestApp;
use crate::objects::swift::{self, SwiftServer};
use crate::objects::{BUCKET, settings};
use crate::template::page;

#[tokio::test]
async fn documents_and_templates_work_with_swift_and_a_presigned_url_opens_its_object_only() {
    let folder = tempfile::tempdir().unwrap();
    let server = SwiftServer::start(folder.path());
    let mut there = settings(&server.endpoint);
    there.push(("s3.access_key", swift::ACCESS_KEY));
    let app = TestApp::on_disk(&there).await;

    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let other = app.init(json!({"type": "html", "target": "pdf"})).await;
    let (data, template) = (job.data_url.unwrap(), job.template_url.unwrap());
    assert!(data.starts_with(&format!("{}/{BUCKET}/uploads/", server.endpoint)), "{data}");
    for (method, url) in [
        (Method::PUT, template.replace("/template?", "/data.json?")),
        (Method::PUT, template.replace(&job.id, &other.id)),
        (Method::PUT, template.replace("X-Amz-Expires=3600", "X-Amz-Expires=36000")),
        (Method::GET, template.clone()),
        (Method::DELETE, template.clone()),
        (Method::PUT, template.split('?').next().unwrap().to_owned()),
    ] {
        let answer = app.client.request(method.clone(), &url).body("<p>x").send().await.unwrap();
        assert!(answer.status().is_client_error(), "{method} {url}: {}", answer.status());
    }
    assert_eq!(app.put(&data, r#"{"name":"Zoë"}"#).await, 200);
    assert_eq!(app.put(&template, "<p>Hello <%= name %>").await, 200);
    let view = app.finish(&job.id).await;
    let output = app.client.get(view["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
    let named = "inline; filename=\"document.pdf\"";
    assert_eq!(
        (output.status().as_u16(), &output.headers()["content-disposition"]),
        (200, &named.parse().unwrap())
    );
    assert_eq!(app.text_of(&output.bytes().await.unwrap()).trim(), "Hello Zoë");

    let id = app.saved("Greeting", page("Hello")).await;
    assert!(app.shown(&id).await.unwrap().contains("Hello Bob"));
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await.0, 200);
    assert_eq!(app.shown(&id).await, Err((404, "template_not_found".to_owned())));
}
