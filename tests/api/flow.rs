//! The clients' flow: init, upload, start, wait, download.

use serde_json::{Value, json};

use crate::app::TestApp;

const TEMPLATE: &str = "<!doctype html><meta charset=utf-8><h1><%= title %></h1><% for (const x of items) { %><p><%= x %></p><% } %>";

#[tokio::test]
async fn uploads_become_a_pdf_with_their_text() {
    let app = TestApp::start().await;
    let job = app.init(json!({"type": "react", "target": "pdf"})).await;
    let data = r#"{"title": "Größe Ångström 漢字", "items": ["eins", "zwei – drei"]}"#;
    assert_eq!(app.put(&job.data_url.unwrap(), data).await, 200);
    assert_eq!(app.put(&job.template_url.unwrap(), TEMPLATE).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!((&view["success"], &view["error"]), (&json!(true), &Value::Null), "{view}");
    assert_eq!(view["type"], "framework");
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let pdf = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    // Between two fonts a reader of the file may see more than one blank.
    let text = app.text_of(&pdf).split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["Größe Ångström 漢字", "eins", "zwei – drei"] {
        assert!(text.contains(word), "{text}");
    }
}

#[tokio::test]
async fn every_target_of_a_page_is_a_file_of_its_kind() {
    let app = TestApp::start().await;
    let data = json!({"title": "Titel", "items": ["eins"]});
    let heads: [(&str, &[u8]); 4] =
        [("pdf", b"%PDF-"), ("png", b"\x89PNG\r\n"), ("jpg", b"\xff\xd8\xff"), ("html", b"<!doctype html>")];
    for (target, head) in heads {
        let (view, file) = app.render(target, TEMPLATE, data.clone()).await;
        assert_eq!(view["success"], true, "{view}");
        assert!(file.starts_with(head), "{target} begins with {:?}", &file[..8]);
        assert_eq!(view["output"]["data"]["bytes"], file.len());
    }
}

#[tokio::test]
async fn an_immediate_render_answers_the_address_of_the_document() {
    let app = TestApp::start().await;
    let body =
        json!({"type": "ejs", "target": "pdf", "template": TEMPLATE, "data": {"title": "T", "items": []}});
    let (status, answer) = app.post("/documents/immediate-render", &body).await;
    assert_eq!(status, 200, "{answer}");
    let file = app.client.get(answer["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(file.headers()["content-type"], "application/pdf");
    assert!(file.bytes().await.unwrap().starts_with(b"%PDF-"));
}

#[tokio::test]
async fn scripts_find_the_data_before_they_run() {
    let app = TestApp::start().await;
    let template = "<!doctype html><html><head><script>window.seen = [window.__POGODOC_DATA__ === window.__PLATEN_DATA__, window.__PLATEN_DATA__.name]</script></head><body><p id=p></p><script>setTimeout(() => { p.textContent = 'name ' + seen.join(' ') }, 50)</script></body></html>";
    let (view, pdf) = app.render("pdf", template, json!({"name": "Zoë"})).await;
    assert_eq!(view["success"], true, "{view}");
    assert!(app.text_of(&pdf).contains("name true Zoë"), "{}", app.text_of(&pdf));
}

#[tokio::test]
async fn a_fault_of_the_template_names_file_and_line_and_gives_the_document_back() {
    let app = TestApp::start().await;
    app.command(&["account", "set", "test", "--documents-per-month", "1"]);
    let template = "<p>\n<%= customer.name %></p>";
    let (view, _) = app.render("pdf", template, json!({})).await;
    assert_eq!((&view["status"], &view["success"]), (&json!("done"), &json!(false)));
    assert_eq!(view["errorCode"], "template_error");
    let error = view["error"].as_str().unwrap();
    assert!(error.contains("index.html:2") && error.contains("customer"), "{error}");
    // The one document of the month is there again: init takes it, and a second one is refused.
    app.init(json!({"type": "html", "target": "pdf"})).await;
    let (status, problem) = app.post("/v1/documents/init", &json!({"type": "html", "target": "pdf"})).await;
    assert_eq!((status, &problem["code"]), (402, &json!("quota_exceeded")));
}
