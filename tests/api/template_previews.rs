//! Which previews a template may be saved with: those that show its content as it is.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::{page, save_request};

#[tokio::test]
async fn a_preview_of_former_content_is_refused() {
    let app = TestApp::start().await;
    let id = app.unzipped(page("first")).await;
    let (path, text) = (format!("/v1/templates/{id}"), format!("/v1/templates/{id}/index-html"));
    let rewrite = async |to: &str| {
        assert_eq!(app.post(&text, &json!({"indexHtml": format!("<p>{to} <%= name %></p>")})).await.0, 204);
    };
    let refused = async |body: &Value| {
        let (status, answer) = app.post(&path, body).await;
        assert_eq!((status, answer["code"].as_str()), (422, Some("preview_not_usable")), "{answer}");
        assert!(
            answer["detail"].as_str().unwrap().contains("before the template's content changed"),
            "{answer}"
        );
    };
    let first = save_request("One", &app.previews(&id).await);
    rewrite("second").await;
    refused(&first).await;
    let second = save_request("One", &app.previews(&id).await);
    for _ in 0..2 {
        assert_eq!(app.post(&path, &second).await, (204, Value::Null), "also repeated");
    }
    let third = save_request("Two", &app.previews(&id).await);
    assert_eq!(app.post(&path, &third).await.0, 204, "the saved files are the same ones");
    let (_, copy) = app.post(&format!("{path}/clone"), &json!({})).await;
    let copy = copy["newTemplateId"].as_str().unwrap();
    assert_eq!(app.post(&format!("/v1/templates/{copy}"), &third).await.0, 204, "a clone has them as well");
    rewrite("third").await;
    refused(&third).await;
    refused(&second).await;
    let fourth = save_request("Two", &app.previews(&id).await);
    assert_eq!(app.post(&path, &fourth).await.0, 204);
    let (_, template) = app.get(&path).await;
    let (_, pdf) = app.fetch(&template["preview"]["pdf"]["url"]).await;
    assert_eq!(app.text_of(&pdf).trim(), "third Ann");
}
