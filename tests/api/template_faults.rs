//! Faults of templates and of their changes: no request that succeeds leaves a broken template.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::{archive, page, save_request};

fn code(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn an_entry_text_that_is_no_page_is_refused_and_the_template_unchanged() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let path = format!("/v1/templates/{id}/index-html");
    for text in ["%PDF-1.4 hi", "GIF89a", "{\\rtf1", "PK\u{3}\u{4}", "a\0b", "BZh91"] {
        let answer = app.post(&path, &json!({"indexHtml": text})).await;
        assert_eq!(code(&answer), (422, "template_archive_invalid"), "{text:?}: {}", answer.1);
        assert!(app.shown(&id).await.unwrap().contains("first Bob"), "{text:?}");
    }
    // Its text decides whether the entry is a template or a page.
    assert_eq!(app.post(&path, &json!({"indexHtml": "<p>plain</p>"})).await.0, 204);
    assert_eq!(app.shown(&id).await.unwrap(), "<p>plain</p>");
    assert_eq!(app.post(&path, &json!({"indexHtml": "<p><%= name %></p>"})).await.0, 204);
    assert_eq!(app.shown(&id).await.unwrap(), "<p>Bob</p>");
}

#[tokio::test]
async fn an_archive_is_accepted_only_if_its_package_can_be_opened() {
    let app = TestApp::start().await;
    let begun = app.begin().await;
    let odd = archive(&[("dist/index.html", "<p>1</p>"), ("dist/a:b.png", "x"), ("dist/./c", "y")]);
    assert_eq!(app.put(&begun.upload_url, odd).await, 200);
    let (status, answer) = app.send(Method::PATCH, &format!("/v1/templates/{}/unzip", begun.id)).await;
    let read = app.get(&format!("/v1/templates/{}/index-html", begun.id)).await;
    assert!(
        (status == 204 && read.0 == 200)
            || (status == 422 && code(&read) == (422, "template_archive_invalid")),
        "{answer} {}",
        read.1
    );
}

#[tokio::test]
async fn previews_of_old_content_are_refused_for_new_content() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let old = app.previews(&id).await;
    let content = app.unzipped(page("second")).await;
    let mut body = save_request("Two", &old);
    body["contentId"] = json!(content);
    let answer = app.update(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!(code(&answer), (422, "preview_not_usable"), "{}", answer.1);
    assert!(app.shown(&id).await.unwrap().contains("first Bob"));
    // With the present content they are what they should be.
    body["contentId"] = json!(id);
    assert_eq!(app.update(&format!("/v1/templates/{id}"), &body).await.0, 200);
    assert_eq!(app.get(&format!("/v1/templates/{id}")).await.1["title"], "Two");
}

#[tokio::test]
async fn an_idempotency_key_keeps_its_job_when_the_template_is_deleted() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let body =
        json!({"type": "html", "target": "html", "templateId": id, "data": {"name": "Ann"}}).to_string();
    let send = async |path: &str, key: &str| {
        let request = app.request(Method::POST, path).header("idempotency-key", key).body(body.clone());
        crate::app::read(request.send().await.unwrap()).await
    };
    let (init, immediate) = ("/v1/documents/init", "/v1/documents/immediate-render");
    let first = send(init, "a").await;
    assert_eq!((first.0, send(immediate, "b").await.0), (200, 200));
    assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{id}")).await.0, 200);
    assert_eq!(send(init, "a").await.1["jobId"], first.1["jobId"]);
    assert_eq!(send(immediate, "b").await.0, 200);
    for path in [init, immediate] {
        assert_eq!(code(&send(path, "c").await), (404, "template_not_found"));
    }
    let view = app.finish(first.1["jobId"].as_str().unwrap()).await;
    assert_eq!(view["errorCode"], "template_missing", "{view}");
}

#[tokio::test]
async fn a_type_that_does_not_match_the_content_is_refused_and_members_of_other_types_are_ignored() {
    let app = TestApp::start().await;
    let id = app.unzipped(page("first")).await;
    let previews = app.previews(&id).await;
    let mut body = save_request("One", &previews);
    body["templateInfo"]["type"] = json!("docx");
    let answer = app.post(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!(code(&answer), (422, "validation_failed"));
    assert_eq!(answer.1["errors"][0]["pointer"], "/templateInfo/type");
    body["templateInfo"]["type"] = json!("ejs");
    body["contentId"] = json!(0);
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &body).await.0, 204);
    let answer = app.update(&format!("/v1/templates/{id}"), &body).await;
    assert_eq!(answer.1["errors"][0]["pointer"], "/contentId", "{}", answer.1);
}

#[tokio::test]
async fn the_second_document_of_a_template_costs_no_unzip() {
    let app = TestApp::start().await;
    let id = app.saved("One", page("first")).await;
    let counted = async |outcome: &str| -> u64 {
        let page =
            app.client.get(format!("{}/metrics", app.base)).send().await.unwrap().text().await.unwrap();
        let line = format!("platen_template_cache_total{{outcome=\"{outcome}\"}} ");
        page.lines().find_map(|found| found.strip_prefix(&line)).unwrap().parse().unwrap()
    };
    app.shown(&id).await.unwrap();
    let (hits, misses) = (counted("hit").await, counted("miss").await);
    for _ in 0..10 {
        app.shown(&id).await.unwrap();
    }
    assert_eq!((counted("hit").await, counted("miss").await), (hits + 10, misses));
}

#[tokio::test]
async fn an_expired_template_url_says_where_to_get_a_new_one() {
    let app = TestApp::on_disk(&[]).await;
    let id = app.saved("One", page("first")).await;
    let (_, address) = app.get(&format!("/v1/templates/{id}/presigned-url")).await;
    assert_eq!(
        app.post(&format!("/v1/templates/{id}/index-html"), &json!({"indexHtml": "<p>2"})).await.0,
        204
    );
    let (status, body) = app.fetch(&address["presignedUrl"]).await;
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, problem["code"].as_str()), (404, Some("object_not_found")));
    assert!(problem["detail"].as_str().unwrap().contains("GET /templates"), "{problem}");
}
