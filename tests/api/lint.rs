//! The tags, variables and faults of a template, from `platen lint` and from the info of a saved template.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::command_line::platen;
use crate::template::{archive, save_request};

const PAGE: &str =
    "<h1><%= customer.name %></h1>\n<% items.forEach(item => { %><%- include('row', {item}) %><% }) %>\n";
const ROW: &str = "<%= item.price %>";

fn lint(folder: &Path, arguments: &[&str]) -> Output {
    platen(folder, &[("log.filter", "off")], &[&["lint"], arguments].concat(), b"")
}

fn stdout_of(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {} {}", stdout_of(output), String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
fn a_folder_and_an_archive_of_it_are_reported_alike() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("letter");
    std::fs::create_dir(&inside).unwrap();
    for (name, text) in [("index.ejs", PAGE), ("row.ejs", ROW), (".hidden.html", "<% } %>")] {
        std::fs::write(inside.join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("letter.zip"), archive(&[("index.ejs", PAGE), ("row.ejs", ROW)]))
        .unwrap();
    std::fs::write(folder.path().join("data.json"), r#"{"customer":{},"items":[{"price":1},{"price":2}]}"#)
        .unwrap();
    let output = lint(folder.path(), &["letter", "--data", "data.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = stdout_of(&output);
    assert!(text.starts_with("tags\n  index.ejs:1  value      <%= customer.name %>\n"), "{text}");
    assert!(text.contains("  row.ejs:1    value      <%= item.price %>\n"), "{text}");
    assert!(
        text.ends_with(
            "variables\n  customer.name\n  items[].price\n\nmissing in the data\n  customer.name\n\nfaults\n  none\n"
        ),
        "{text}"
    );
    let of_folder = json_of(&lint(folder.path(), &["letter", "--json"]));
    assert_eq!(of_folder, json_of(&lint(folder.path(), &["letter.zip", "--json"])));
    assert_eq!(of_folder["variables"], json!(["customer.name", "items[].price"]));
    assert_eq!(
        of_folder["tags"][0],
        json!({"file": "index.ejs", "line": 1, "kind": "value", "tag": "<%= customer.name %>"})
    );
    assert_eq!((&of_folder["type"], of_folder.get("missing")), (&json!("ejs"), None));
}

#[test]
fn faults_are_reported_with_the_status() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.html"), "<p>\n<% if (x) { %>\n").unwrap();
    let output = lint(folder.path(), &["a.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout_of(&output).ends_with("faults\n  a.html:2: '{' is never closed\n"),
        "{}",
        stdout_of(&output)
    );
    let json = json_of(&lint(folder.path(), &["a.html", "--json"]));
    assert_eq!(
        json["faults"],
        json!([{"file": "a.html", "line": 2, "tag": "", "message": "'{' is never closed"}])
    );
    assert_eq!(json["variables"], Value::Null);

    std::fs::write(folder.path().join("b.html"), "<% for (;;) {} throw new Error(why) %>").unwrap();
    let output = lint(folder.path(), &["b.html"]);
    assert!(
        output.status.success() && stdout_of(&output).contains("variables\n  why\n"),
        "{}",
        stdout_of(&output)
    );
}

#[test]
fn a_word_file_is_reported_by_part_and_paragraph() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples/invoice");
    let folder = tempfile::tempdir().unwrap();
    for name in ["invoice.docx", "data.json"] {
        std::fs::copy(samples.join(name), folder.path().join(name)).unwrap();
    }
    let output = lint(folder.path(), &["invoice.docx", "--data", "data.json", "--json"]);
    let json = json_of(&output);
    assert!(output.status.success(), "{json}");
    assert_eq!((&json["faults"], &json["missing"], &json["type"]), (&json!([]), &json!([]), &json!("docx")));
    let variables: Vec<&str> =
        json["variables"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(variables.iter().any(|path| path.contains("[].")), "the rows' names: {variables:?}");
    let tag = &json["tags"][0];
    assert!(tag["part"].as_str().unwrap().starts_with("word/") && tag["paragraph"].is_u64(), "{tag}");
    let output = lint(folder.path(), &["invoice.docx", "--delimiters", "[[", "]]", "--json"]);
    assert_eq!(json_of(&output)["tags"], json!([]));
}

#[tokio::test]
async fn the_info_of_a_saved_template_tells_its_variables() {
    let app =
        TestApp::with(&[("templates.variables_limit", "2"), ("templates.variables_timeout_ms", "20000")])
            .await;
    let page = |text: &str| archive(&[("index.html", text), ("row.ejs", ROW)]);
    // Previews have other data.
    let text = "<%= locals.customer?.name %><% (locals.items ?? []).forEach(item => { %><%- include('row', {item}) %><% }) %>";
    let id = app.saved("One", page(text)).await;
    let template = async |id: &str| app.get(&format!("/v1/templates/{id}")).await.1;
    let kept = json!(["customer.name", "items[].price"]);
    let saved = template(&id).await;
    assert_eq!((&saved["variables"], &saved["moreVariables"]), (&kept, &json!(0)));

    let content =
        app.unzipped(page("<%= locals.c %><%= locals.b %><%= locals.a?.d %><%= locals.a?.e %>")).await;
    let mut body = save_request("Two", &app.previews(&content).await);
    body["contentId"] = json!(content);
    assert_eq!(app.update(&format!("/v1/templates/{id}"), &body).await.0, 200);
    let updated = template(&id).await;
    assert_eq!((&updated["variables"], &updated["moreVariables"]), (&json!(["a.d", "a.e"]), &json!(2)));

    let path = format!("/v1/templates/{id}/index-html");
    assert_eq!(app.post(&path, &json!({"indexHtml": "<p><%= z %></p>"})).await.0, 204);
    assert_eq!(template(&id).await["variables"], json!(["z"]), "the entry's text is another one");
    assert_eq!(app.post(&path, &json!({"indexHtml": "<p><% if { %></p>"})).await.0, 204);
    assert_eq!(template(&id).await["variables"], Value::Null, "with a fault they are unknown");
    assert_eq!(app.post(&path, &json!({"indexHtml": "<p>plain</p>"})).await.0, 204);
    assert_eq!(template(&id).await["variables"], json!([]));
}
