//! Header and footer as templates of the job's data, by the whole way.

use serde_json::{Value, json};

use crate::app::TestApp;

/// A finished job of `template` with these options, and the words of its file.
async fn rendered(app: &TestApp, template: Vec<u8>, options: Value) -> (Value, Vec<String>) {
    let data = json!({"name": "Zo\u{eb} & <b>", "items": ["a", "b"], "show": false});
    let body = json!({"type": "ejs", "target": "pdf", "data": data, "formatOpts": options});
    let job = app.init(body).await;
    assert_eq!(app.put(&job.template_url.unwrap(), template).await, 200);
    let view = app.finish(&job.id).await;
    let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
    let file = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    let words = app.text_of(&file).split_whitespace().map(str::to_owned).collect();
    (view, words)
}

#[tokio::test]
async fn header_and_footer_are_made_of_the_data_like_the_page() {
    let app = TestApp::with(&[("assemble.banner_limit_bytes", "2000")]).await;
    let page = || b"<p>for <%= name %></p>".to_vec();
    let options = json!({
        "headerTemplate": "<% for (const item of items) { %><i><%= item %>; </i><% } %><%= name %>",
        "footerTemplate": "<% if (show) { %>hidden<% } %>",
    });
    let (view, words) = rendered(&app, page(), options).await;
    assert_eq!(view["warnings"], json!([]), "{view}");
    assert_eq!(words, ["a;", "b;", "Zo\u{eb}", "&", "<b>", "for", "Zo\u{eb}", "&", "<b>"]);

    for (header, footer, code, error) in [
        (
            "<b>\n<%= nobody %>",
            "",
            "template_error",
            "headerTemplate:2: 'nobody' is not defined; the data has name, show, items",
        ),
        ("ok", "<% if (", "template_error", "footerTemplate:1: the tag '<%' is never closed with '%>'"),
        (
            "<%- include('gone') %>",
            "",
            "template_error",
            "headerTemplate:1: Could not find the include file \"gone\"",
        ),
        (
            "<%= 'x'.repeat(3000) %>",
            "",
            "template_limit",
            "headerTemplate became larger than 2000 bytes (assemble.banner_limit_bytes)",
        ),
    ] {
        let (view, _) =
            rendered(&app, page(), json!({"headerTemplate": header, "footerTemplate": footer})).await;
        assert_eq!((&view["success"], &view["errorCode"]), (&json!(false), &json!(code)), "{view}");
        assert_eq!(view["error"], error);
    }
    // Only a PDF has sheets: nothing of it is run for a picture.
    let body = json!({"type": "ejs", "target": "png", "template": "<p>", "data": {},
        "formatOpts": {"headerTemplate": "<%= nobody %>"}});
    let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn a_header_includes_files_of_its_template() {
    let app = TestApp::start().await;
    let files = [
        ("site/index.html", "<p>page</p>"),
        ("site/parts/name.ejs", "part of <%= items.length %> <%= word %>"),
    ];
    let archive = crate::template::archive(&files);
    let options = json!({"headerTemplate": "<%- include('parts/name', {word: 'words'}) %>"});
    let (view, words) = rendered(&app, archive, options).await;
    assert_eq!(view["success"], true, "{view}");
    assert_eq!(words, ["part", "of", "2", "words", "page"]);
}

#[tokio::test]
async fn rules_of_a_pages_files_are_found_by_the_whole_way() {
    let app = TestApp::start().await;
    let page = "<link rel=stylesheet href=print.css><p>page</p>";
    let message = "@page size 'a5' stands in the middle of the sheet of 210 × 297 mm; preferCssPageSize makes it the sheet";
    let files = [("index.html", page), ("print.css", "@PAGE { size: A5 }")];
    let (view, _) = rendered(&app, crate::template::archive(&files), json!({})).await;
    assert_eq!(view["warnings"], json!([message]), "{view}");
    let (view, _) = rendered(&app, b"<style>@page{size:A5}</style><p>page".to_vec(), json!({})).await;
    assert_eq!(view["warnings"], json!([message]), "{view}");
}
