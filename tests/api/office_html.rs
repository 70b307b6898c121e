//! Office documents as HTML, through the whole service and LibreOffice: what a reader sees, and that nothing else is in it.

use std::path::Path;

use serde_json::{Value, json};

use crate::app::TestApp;

/// A file of `tests/office_files` as `target`: the job's view, and what was made.
async fn converted(app: &TestApp, file: &str, target: &str) -> (Value, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/office_files").join(file);
    let kind = path.extension().and_then(|one| one.to_str()).unwrap().to_owned();
    let job = app.init(json!({"type": kind, "target": target, "data": {}})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), std::fs::read(path).unwrap()).await, 200);
    let view = app.finish(&job.id).await;
    let url = view["output"]["data"]["url"].as_str().unwrap_or_else(|| panic!("{file}: {view}"));
    let made = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    (view, made.to_vec())
}

fn assert_in_order(html: &str, parts: &[&str]) {
    let mut rest = html;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { panic!("'{part}' is not in\n{rest}") };
        rest = after;
    }
}

fn assert_harmless(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>\n<html"), "{html}");
    for never in ["<script", "javascript:", "<link", "src=\"http", "url(", "LibreOffice", "127.0.0.1"] {
        assert!(!html.contains(never), "{never}");
    }
}

fn warnings(view: &Value) -> String {
    view["warnings"].to_string()
}

#[actix_web::test]
async fn word_excel_and_powerpoint_files_become_one_html_file_each() {
    let app = TestApp::start().await;

    let (view, html) = converted(&app, "report.docx", "html").await;
    let html = String::from_utf8(html).unwrap();
    assert_harmless(&html);
    assert_eq!(warnings(&view), "[]", "its reader's fonts are not ours");
    assert_in_order(
        &html,
        &[
            "<title>Quarterly report</title>",
            ">Überblick</h1>",
            "<b>bold</b>",
            "<u>underlined</u>",
            "background-color:#ffff00",
            "<li>Two\n<ul",
            "<li>Two a</li>",
            "<ol",
            "<li>First</li>",
            "<thead>",
            ">Item</th>",
            "colspan=\"2\"",
            "<img src=\"data:image/png;base64,",
            "alt=\"A white ellipse on blue\"",
            "日本語",
        ],
    );

    let (view, html) = converted(&app, "marked.docx", "html").await;
    let html = String::from_utf8(html).unwrap();
    assert_harmless(&html);
    assert!(warnings(&view).contains("1 picture of the document is not in the html"), "{view}");
    for gone in ["DELETED", "VANISHED"] {
        assert!(!html.contains(gone), "{gone}");
    }
    assert_in_order(
        &html,
        &[
            "Kept inserted",
            "In a box",
            "<img src=\"data:image/png",
            "linked alt",
            "<img src=\"data:image/png",
        ],
    );

    let (_, html) = converted(&app, "sales.xlsx", "html").await;
    let html = String::from_utf8(html).unwrap();
    assert_harmless(&html);
    assert!(!html.contains("HIDDEN"), "{html}");
    assert_in_order(
        &html,
        &[
            ">Sales &amp; more</h1>",
            ">81.00 €</td>",
            ">402.5</td>",
            "<img",
            "<img",
            ">Zweites</h1>",
            "350.00%",
        ],
    );

    let (_, html) = converted(&app, "deck.pptx", "html").await;
    let html = String::from_utf8(html).unwrap();
    assert_harmless(&html);
    assert!(!html.contains("HIDDEN"), "{html}");
    assert_eq!(html.matches("<img src=\"data:image/png;base64,").count(), 3, "a picture a slide");
    assert_in_order(
        &html,
        &[
            "alt=\"Slide 1: The deck\"",
            "Say hello first.",
            "alt=\"Slide 2: Points\"",
            "One a",
            "alt=\"Slide 3: Table\"",
        ],
    );
}

#[actix_web::test]
async fn a_font_that_is_not_installed_is_a_warning_unless_another_has_its_measures() {
    let app = TestApp::start().await;
    let (view, pdf) = converted(&app, "report.docx", "pdf").await;
    assert!(pdf.starts_with(b"%PDF-"));
    let text = warnings(&view);
    assert!(text.contains("the font 'Georgia' is not installed"), "{text}");
    assert!(!text.contains("Calibri") && !text.contains("Cambria"), "{text}");
    let (view, _) = converted(&app, "sales.xlsx", "pdf").await;
    assert_eq!(warnings(&view), "[]");
}
