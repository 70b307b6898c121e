//! Templates that are archives, as builds and strangers make them: uploaded, unpacked, rendered or refused.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::process::Command;

use bytes::Bytes;
use platen::config::Config;
use platen::templates::package::Package;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::app::TestApp;

const INDEX: &str = r#"<!doctype html><html><head><meta charset="utf-8"><title>Build</title>
<link rel="stylesheet" crossorigin href="/assets/index-4f2a.css">
<script type="module" crossorigin src="/assets/index-9c1b.js"></script></head>
<body><%- include('partials/head', {title}) %><img src="/assets/logo.png" alt=""><div id="root"></div>
<% for (const item of items) { %><%- include('/partials/row.ejs', {item}) %><% } %></body></html>"#;
const SCRIPT: &str = "import { words } from './words-11aa.js';
const image = document.querySelector('img');
await image.decode();
const style = getComputedStyle(document.body).getPropertyValue('--style');
const answer = await fetch('/assets/more.json');
const more = (await answer.json()).more;
document.querySelector('#root').textContent =
  `${words}: image ${image.naturalWidth}, style ${style.trim()}, fetched ${more}, data ${window.__POGODOC_DATA__.items.length}`;";

fn archive(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn picture() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 7, 3);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[200; 7 * 3 * 3]).unwrap();
    bytes
}

/// A build in its folder, with what a system leaves behind beside it.
fn build() -> Vec<u8> {
    let picture = picture();
    let files: [(&str, &[u8]); 11] = [
        ("dist/", b""),
        ("dist/index.html", INDEX.as_bytes()),
        ("dist/assets/index-9c1b.js", SCRIPT.as_bytes()),
        ("dist/assets/words-11aa.js", b"export const words = 'module words';"),
        ("dist/assets/index-4f2a.css", b":root { --style: fromtheoutside }"),
        ("dist/assets/logo.png", &picture),
        ("dist/assets/more.json", br#"{"more": "yes"}"#),
        (
            "dist/partials/head.ejs",
            b"<h1>Partial <%= title %></h1><%- include('../partials/row', {item: 0}) %>",
        ),
        ("dist/partials/row.ejs", b"<p>row <%= item %></p>"),
        ("dist/.DS_Store", b"\0\0"),
        ("__MACOSX/dist/._index.html", b"\0junk"),
    ];
    archive(&files, CompressionMethod::Deflated)
}

/// The view of a job that was started with this upload as its template.
async fn rendered(app: &TestApp, kind: &str, target: &str, upload: Vec<u8>) -> Value {
    let data = json!({"title": "Größe", "items": [1, 2]});
    let job = app.init(json!({"type": kind, "target": target, "data": data})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), upload).await, 200);
    app.finish(&job.id).await
}

#[tokio::test]
async fn a_build_renders_with_everything_that_it_brings() {
    let app = TestApp::start().await;
    let view = rendered(&app, "react", "pdf", build()).await;
    assert_eq!((&view["success"], &view["error"]), (&json!(true), &Value::Null), "{view}");
    assert_eq!(view["warnings"], json!([]), "{view}");
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let pdf = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    let text = app.text_of(&pdf);
    for words in ["Partial Größe", "row 0", "row 1", "row 2", "module words: image 7", "fetched yes, data 2"]
    {
        assert!(text.contains(words), "no '{words}' in: {text}");
    }
    assert!(text.contains("style fromtheoutside"), "{text}");
}

#[tokio::test]
async fn the_html_of_a_build_is_one_file_as_its_reader_sees_it() {
    let app = TestApp::start().await;
    let view = rendered(&app, "react", "html", build()).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let url = view["output"]["data"]["url"].as_str().unwrap();
    let html = app.client.get(url).send().await.unwrap().text().await.unwrap();
    for part in [
        "<meta charset=\"utf-8\">",
        "<h1>Partial Größe</h1>",
        "<div id=\"root\">module words: image 7, style fromtheoutside, fetched yes, data 2</div>",
        "<img src=\"data:image/png;base64,iVBOR",
        "<style>:root { --style: fromtheoutside }</style>",
    ] {
        assert!(html.contains(part), "no '{part}' in: {html}");
    }
    for part in ["<script", "/assets/", ".localhost", "crossorigin"] {
        assert!(!html.contains(part), "'{part}' in: {html}");
    }
}

#[tokio::test]
async fn unusable_archives_fail_the_job_with_the_reason() {
    let app = TestApp::start().await;
    let page: &[u8] = b"<p>page</p>";
    let zeros = vec![0; 8 << 20];
    let bomb = archive(&[("index.html", page), ("assets/bomb.bin", &zeros)], CompressionMethod::Deflated);
    assert!(bomb.len() < 20_000);
    let outside = archive(&[("index.html", page), ("../../evil.sh", b"x")], CompressionMethod::Stored);
    let empty = archive(&[("readme.md", b"x")], CompressionMethod::Stored);
    let mut cut = archive(&[("index.html", page)], CompressionMethod::Stored);
    cut.truncate(40);
    let types = "<Override ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>";
    let word = archive(&[("[Content_Types].xml", types.as_bytes())], CompressionMethod::Stored);
    let cases: [(Vec<u8>, &str); 8] = [
        (bomb, "'assets/bomb.bin' becomes more than 200 times as large when it is unpacked"),
        (outside, "'../../evil.sh' leads out of its folder by '..'"),
        (empty, "no index.html at its top, only 'readme.md'"),
        (cut, "the archive is damaged or cut off"),
        (word, "but the job's type is html; set the type to docx, or give a template of the type html"),
        (b"\\documentclass{article}".to_vec(), "the template is of the type latex (index.tex)"),
        (b"%PDF-1.7".to_vec(), "the template is a PDF"),
        (Vec::new(), "the template is empty"),
    ];
    for (upload, words) in cases {
        let view = rendered(&app, "html", "html", upload).await;
        assert_eq!(
            (&view["success"], &view["errorCode"]),
            (&json!(false), &json!("template_invalid")),
            "{view}"
        );
        assert!(view["error"].as_str().unwrap().contains(words), "no '{words}' in: {view}");
    }
    // Text in a request is read the same way.
    let body = json!({"type": "html", "target": "html", "template": "PK\u{3}\u{4} no archive", "data": {}});
    let (status, problem) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!((status, &problem["errorCode"]), (422, &json!("template_invalid")), "{problem}");
    let body = json!({"type": "html", "target": "html", "template": "PK is no archive", "data": {}});
    assert_eq!(app.post("/v1/documents/immediate-render", &body).await.0, 200);
}

/// The folder of real Office files that `PLATEN_CORPUS` names. A checkout has none, for we may not publish them: the test
/// prints that it did not run. In CI the variable must say `none`, or a lost variable would let the test pass without files.
fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("PLATEN_CORPUS").filter(|named| !named.is_empty());
    let is_none = named.as_ref().is_none_or(|named| named == "none");
    assert!(
        named.is_some() || std::env::var_os("CI").is_none(),
        "PLATEN_CORPUS is not set: set it to a folder with real docx, xlsx and pptx files, or to 'none' where you have \
         none (as .ci/run does); without it nothing is tested here"
    );
    if is_none {
        // Past the harness, which keeps what a test prints when it passes.
        let message = "NOT TESTED: real Office files, for PLATEN_CORPUS names no folder of them\n";
        std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    named.filter(|_| !is_none).map(PathBuf::from)
}

#[test]
fn every_office_file_of_the_corpus_is_recognised() {
    let Some(corpus) = corpus() else { return };
    let mut found = 0;
    let mut folders = vec![corpus];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some(extension @ ("docx" | "xlsx" | "pptx")) =
                path.extension().and_then(|text| text.to_str())
            else {
                continue;
            };
            let upload = Bytes::from(std::fs::read(&path).unwrap());
            let package = Package::read(&upload, &Config::default().templates)
                .unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
            assert_eq!(package.kind.name(), extension, "{}", path.display());
            assert_eq!(package.files[&package.entry], upload);
            assert_eq!(Package::reopen(&package.pack().unwrap()).unwrap(), package);
            found += 1;
        }
    }
    assert!(found > 0, "PLATEN_CORPUS has no Office file in it");
    println!("{found} Office files recognised");
}

#[test]
fn a_corpus_that_is_not_there_is_never_passed_over_in_silence() {
    let run = |corpus: &[(&str, &str)]| {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "archives::every_office_file_of_the_corpus_is_recognised"]);
        again.env_remove("PLATEN_CORPUS").env_remove("CI").envs(corpus.iter().copied());
        let output = again.output().unwrap();
        (output.status.success(), [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()))
    };
    for corpus in [&[] as &[_], &[("CI", "true"), ("PLATEN_CORPUS", "none")]] {
        let (passed, [_, message]) = run(corpus);
        assert!(passed && message.contains("NOT TESTED: real Office files"), "{corpus:?}: {message}");
    }
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    for (corpus, sentence) in [
        ([("CI", "true"), ("PLATEN_CORPUS", "")], "PLATEN_CORPUS is not set: set it to a folder"),
        ([("CI", "true"), ("PLATEN_CORPUS", empty)], "PLATEN_CORPUS has no Office file in it"),
    ] {
        let (passed, [message, _]) = run(&corpus);
        assert!(!passed && message.contains(sentence), "{corpus:?}: {message}");
    }
}
