//! Suites D and E for what stands in `formatOpts`: passwords, names, metadata and every other text, by each route and engine. A
//! document opens with exactly its password, and no process ever shows that; no text becomes a header, a path, a command or an
//! action of the file.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use crate::app::{TestApp, read};
use crate::canary::Canary;
use crate::documents::made::lines;
use crate::remains::WatchedApp;
use crate::service::text_of;
use crate::table::{Outcome, report};

const PAGE: &str = "<title>T</title><p>own text</p>";
const LATEX: &str = "\\documentclass{article}\\pagestyle{empty}\\begin{document}own text\\end{document}";

/// A template of each engine that makes a PDF.
fn templates() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("html", PAGE.into()),
        ("docx", lines("docx", &[])),
        ("xlsx", lines("xlsx", &["own text".to_owned()])),
        ("pptx", lines("pptx", &[])),
        ("latex", LATEX.into()),
    ]
}

/// Passwords that are taken; each has `MARK`, which nothing else has.
const TAKEN: &[&str] = &[
    "@MARK",
    "@/etc/passwd MARK",
    "--MARK",
    "--job-json-file=MARK",
    "-MARK --",
    "'MARK'",
    "\"MARK\\\"",
    "$(id) `id` %s MARK",
    "MARK,\"ownerPassword\":\"x\"",
    "MARK;--",
    "../MARK",
    "MARK\\u0000",
    "пароль MARK",
    "密码🔒MARK",
    " MARK ",
    "MARK)/Encrypt<<",
];
/// Passwords that are refused.
const REFUSED: &[&str] = &[
    "MARK\0",
    "MARK\n",
    "MARK\r\nx",
    "\tMARK",
    "MARK\u{7f}",
    "MARK\u{202e}",
    "MARK\u{fb01}",
    "e\u{301}MARK",
    "\u{feff}MARK",
];

/// Looks through the processes of this machine until it is stopped, and answers which of them showed a mark and whether qpdf ran.
fn watch(mark: String, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<(bool, Vec<String>)> {
    std::thread::spawn(move || {
        let (mut ran, mut found) = (false, Vec::new());
        while !stop.load(Ordering::Relaxed) {
            for entry in std::fs::read_dir("/proc").unwrap().flatten() {
                for name in ["cmdline", "environ"] {
                    let shown = std::fs::read(entry.path().join(name)).unwrap_or_default();
                    let shown = String::from_utf8_lossy(&shown);
                    ran |= shown.starts_with("/usr/bin/qpdf");
                    found.extend(shown.contains(&mark).then(|| shown.into_owned()));
                }
            }
        }
        (ran, found)
    })
}

fn form(kind: &str, template: &[u8], fields: &[(&str, &str)], as_files: bool) -> Vec<u8> {
    let extension = if kind == "latex" { "tex" } else { kind };
    let mut body = Vec::new();
    let mut part = |head: &str, content: &[u8]| {
        body.extend(format!("--b--b\r\ncontent-disposition: form-data; name={head}\r\n\r\n").into_bytes());
        body.extend([content, b"\r\n"].concat());
    };
    part("\"type\"", kind.as_bytes());
    for (name, value) in fields {
        let file = if as_files { "; filename=\"word\"" } else { "" };
        part(&format!("\"{name}\"{file}"), value.as_bytes());
    }
    part(&format!("\"files\"; filename=\"index.{extension}\""), template);
    body.extend(b"--b--b--\r\n");
    body
}

async fn by_form(app: &TestApp, body: Vec<u8>) -> (u16, Value) {
    let request = app.request(reqwest::Method::POST, "/v1/documents/immediate-render");
    let request = request.header("content-type", "multipart/form-data; boundary=b--b");
    read(request.body(body).send().await.unwrap()).await
}

/// The answer of a job with options, by init or by a form.
async fn by_init(
    app: &TestApp,
    (kind, target): (&str, &str),
    template: &[u8],
    options: &Value,
) -> (u16, Value) {
    let body = json!({"type": kind, "target": target, "data": {}, "formatOpts": options});
    let (status, answer) = app.post("/v1/documents/init", &body).await;
    if status != 200 {
        return (status, answer);
    }
    let url = answer["presignedTemplateUploadUrl"].as_str().unwrap();
    assert_eq!(app.put(url, template.to_vec()).await, 200);
    let view = app.finish(answer["jobId"].as_str().unwrap()).await;
    let url = view["output"]["data"]["url"].clone();
    (status, json!({"url": url, "view": view}))
}

async fn file_of(app: &TestApp, (status, answer): &(u16, Value)) -> Vec<u8> {
    assert!(*status == 200 && answer["url"].is_string(), "{status} {answer}");
    app.fetch(&answer["url"]).await.1
}

/// What `qpdf` says of a file: 0 when it wants a password and this is none, 3 when this opens it or it wants none.
fn requires(file: &[u8], password: &str) -> Option<i32> {
    let given = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(given.path(), file).unwrap();
    let mut qpdf = Command::new("qpdf");
    qpdf.arg("--requires-password").arg(format!("--password={password}")).arg(given.path());
    qpdf.output().unwrap().status.code()
}

#[actix::test]
async fn a_pdf_of_every_engine_opens_with_exactly_its_password_and_no_process_shows_it() {
    let watched = WatchedApp::start(&[]).await;
    let app = &watched.app;
    let mark = format!("s3cr3t-{}", std::process::id());
    let stop = Arc::new(AtomicBool::new(false));
    let watcher = watch(mark.clone(), Arc::clone(&stop));
    let templates = templates();
    let mut made = Vec::new();
    for (at, password) in TAKEN.iter().enumerate() {
        let password = password.replace("MARK", &mark);
        let (kind, template) = &templates[at % templates.len()];
        let answer = match at % 3 {
            0 => by_init(app, (kind, "pdf"), template, &json!({ "password": password })).await,
            of_three => by_form(app, form(kind, template, &[("password", &password)], of_three == 2)).await,
        };
        made.push((format!("{kind}, {password}"), password, file_of(app, &answer).await));
    }
    let refused: Vec<_> = REFUSED.iter().map(|password| password.replace("MARK", &mark)).collect();
    let long = mark.repeat(10_240 / mark.len());
    for (at, password) in refused.iter().chain([&long]).enumerate() {
        let (kind, template) = &templates[at % templates.len()];
        for (status, answer) in [
            by_init(
                app,
                (kind, "pdf"),
                template,
                &json!({ "ownerPassword": password, "userPassword": password }),
            )
            .await,
            by_form(app, form(kind, template, &[("userPassword", password)], false)).await,
            by_form(app, form(kind, template, &[("userPassword", password)], true)).await,
        ] {
            let pointer = answer["errors"][0]["pointer"].as_str().unwrap_or_default();
            assert!(status == 422 && pointer.ends_with("Password"), "{password:?}: {status} {answer}");
            assert!(!answer.to_string().contains(&mark), "{answer}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    let (ran, shown) = watcher.join().unwrap();
    assert!(ran && shown.is_empty(), "qpdf was seen: {ran}; a process showed {shown:?}");
    for (what, password, file) in made {
        assert_eq!(requires(&file, &password), Some(3), "{what} does not open it");
        let shorter: String = password.chars().take(password.chars().count() - 1).collect();
        for other in
            ["", &shorter, &format!("{password} "), &password.to_uppercase(), &password.replace('@', "")]
        {
            assert!(other == password || requires(&file, other) == Some(0), "{what}: {other:?} opens it");
        }
    }
    watched.finish().await;
}

/// Names for files and metadata.
const NAMES: &[&str] = &[
    "a\r\nX-Evil: 1",
    "a\nSet-Cookie: x=1",
    "../../evil",
    "/etc/evil",
    "..\\evil",
    "a\0.pdf",
    "CON",
    "a\";filename*=UTF-8''evil.exe;x=\"",
    "a; b=c, d",
    "=?utf-8?B?ZXZpbA==?=",
    "%0d%0aX-Evil:%201",
    "a\u{2028}b",
    "a\u{202e}fdp.exe",
    "<script>alert(1)</script>",
    "é\u{301}🔒",
    ")/OpenAction<</S/JavaScript/JS(app.alert(1))>>(",
    "\\input{/etc/passwd}",
    "}\\directlua{os.exit()}{",
    "$(touch evil)`touch evil`|touch evil",
    "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>&e;",
    "]]></rdf:li><evil/>",
    "\\ { } $ % & # _ ^ ~",
    "\u{feff}\u{fffe}",
    "{name} <%= 7 * 6 %>",
];

/// The names of everything in the file that acts.
fn actions(file: &[u8]) -> Vec<String> {
    let given = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(given.path(), file).unwrap();
    let output =
        Command::new("qpdf").args(["--json=2", "--json-key=qpdf"]).arg(given.path()).output().unwrap();
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (mut values, mut found) = (vec![&all], Vec::new());
    while let Some(value) = values.pop() {
        match value {
            Value::Object(members) => {
                let acts = |key: &&String| {
                    ["/OpenAction", "/AA", "/JavaScript", "/JS", "/Launch"].contains(&key.as_str())
                };
                // A page to begin with is no action, but a place.
                found.extend(
                    members
                        .iter()
                        .filter(|(key, to)| acts(key) && !to.is_array())
                        .map(|(key, _)| key.clone()),
                );
                values.extend(members.values());
            }
            Value::Array(items) => values.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Whether the header has one file name in two spellings, and nothing behind them.
fn is_one_name(disposition: &str) -> bool {
    let quoted = disposition.strip_prefix("inline; filename=\"").and_then(|rest| rest.split_once('"'));
    let Some((plain, rest)) = quoted else { return false };
    let rest = rest.strip_prefix("; filename*=UTF-8''").unwrap_or(rest);
    !plain.contains(['\\', '/'])
        && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || "%-._~!#$&+^`|".contains(letter))
}

/// What a reader sees of a text.
fn visible(text: &str) -> String {
    let is_seen = |letter: &char| {
        !letter.is_control()
            && !letter.is_whitespace()
            && !matches!(letter, '\u{feff}' | '\u{fffd}' | '\u{fffe}')
    };
    text.chars().filter(is_seen).collect()
}

fn title_of(file: &[u8]) -> String {
    let given = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(given.path(), file).unwrap();
    let output = Command::new("pdfinfo").args(["-enc", "UTF-8"]).arg(given.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, title) = text.split_once("Title:").unwrap_or_default();
    title.split("\nSubject:").next().unwrap_or_default().to_owned()
}

#[actix::test]
async fn a_name_is_a_name_in_the_header_and_in_the_file() {
    let watched = WatchedApp::start(&[]).await;
    let app = &watched.app;
    let mut outcomes = Vec::new();
    let templates = templates();
    for (at, name) in NAMES.iter().enumerate() {
        let (kind, template) = &templates[at % templates.len()];
        let mut leaks = Vec::new();
        let about = json!({"title": name, "author": name, "subject": name, "keywords": name});
        let mut options = json!({"fileName": name, "metadata": about});
        let (mut status, mut answer) = by_init(app, (kind, "pdf"), template, &options).await;
        let messages = answer["errors"].to_string();
        for key in ["fileName", "metadata"] {
            if status == 422 && messages.contains(&format!("/formatOpts/{key}")) {
                options.as_object_mut().unwrap().remove(key);
            }
        }
        if status == 422 {
            (status, answer) = by_init(app, (kind, "pdf"), template, &options).await;
        }
        let file = file_of(app, &(status, answer.clone())).await;
        let headers = app.client.get(answer["url"].as_str().unwrap()).send().await.unwrap().headers().clone();
        let disposition = headers["content-disposition"].to_str().unwrap_or_default().to_owned();
        let is_whole = is_one_name(&disposition);
        leaks.extend(
            (!is_whole || headers.contains_key("x-evil") || headers.contains_key("set-cookie"))
                .then_some(disposition),
        );
        leaks.extend(actions(&file));
        leaks.extend((text_of(&file).trim() != "own text").then(|| text_of(&file)));
        if options.get("metadata").is_some() {
            let (shown, wanted) = (visible(&title_of(&file)), visible(name));
            leaks.extend((shown != wanted).then(|| format!("the title is {shown:?}")));
        }
        outcomes.push(Outcome { name: format!("{name:?}"), carrier: (*kind).to_owned(), leaks, messages });
    }
    report("Suite E: names of files and metadata", outcomes);
    watched.finish().await;
}

/// Every option that takes a text.
const TEXTS: &[&str] = &[
    "format",
    "width",
    "height",
    "margin",
    "baseUrl",
    "selector",
    "mediaType",
    "timezone",
    "locale",
    "waitForSelector",
    "waitForExpression",
    "pages",
    "engine",
    "pdfa",
    "fileName",
    "headerTemplate",
];
const STRINGS: &[&str] = &[
    "../../../../etc/passwd",
    "$(touch FOLDER/run)`touch FOLDER/run`;touch FOLDER/run|touch FOLDER/run",
    "--shell-escape\r\nX-Evil: 1",
    "file:///etc/passwd\0",
    "javascript:fetch('HTTP/y')",
    "pdflatex\\input{/etc/passwd}<iframe src=file:///etc/passwd></iframe><img src=HTTP/w>",
];

/// The job with these options, without those that are refused: at init by their pointers, later by their names.
async fn admitted(
    app: &TestApp,
    kinds: (&str, &str),
    template: &[u8],
    mut options: Map<String, Value>,
) -> (Value, Vec<u8>) {
    loop {
        let (status, answer) = by_init(app, kinds, template, &Value::Object(options.clone())).await;
        let messages =
            if status == 200 { answer["view"]["error"].to_string() } else { answer["errors"].to_string() };
        if let Some(url) = answer["url"].as_str() {
            return (answer["view"].clone(), app.fetch(&json!(url)).await.1);
        }
        let is_named = |key: &String| {
            messages.contains(&format!("/formatOpts/{key}\""))
                || status == 200 && messages.contains(key.as_str())
        };
        let before = options.len();
        options.retain(|key, _| !is_named(key));
        assert!(options.len() < before, "no option is named: {status} {answer}");
    }
}

#[actix::test]
async fn no_text_of_an_option_is_a_path_or_a_command_or_leads_anywhere() {
    let watched = WatchedApp::start(&[]).await;
    let (canary, folder) = (Canary::listen(), tempfile::tempdir().unwrap());
    let path = folder.path().display().to_string();
    let mut outcomes = Vec::new();
    for string in STRINGS {
        let string = canary.aim(&string.replace("FOLDER", &path));
        for (kind, template) in
            templates().iter().filter(|(kind, _)| ["html", "docx", "latex"].contains(kind))
        {
            let options = TEXTS.iter().map(|key| ((*key).to_owned(), json!(string))).collect();
            let (view, file) = admitted(&watched.app, (kind, "pdf"), template, options).await;
            let mut leaks = canary.hits();
            let text = text_of(&file);
            leaks.extend((!text.contains("own text") || text.contains("root:x:0")).then(|| text.clone()));
            leaks.extend(std::fs::read_dir(folder.path()).unwrap().map(|made| format!("{made:?}")));
            let messages = view["warnings"].to_string();
            outcomes.push(Outcome { name: string.clone(), carrier: (*kind).to_owned(), leaks, messages });
        }
    }
    report("Suite D: texts of options", outcomes);
    watched.finish().await;
}
