//! An immediate render: its answer by `Accept` and `Prefer`, and the forms that it accepts.

use std::path::Path;
use std::process::{Command, Output};

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, read};

const PATH: &str = "/v1/documents/immediate-render";

/// One that warns: its picture is not there.
fn order(name: &str) -> Value {
    json!({"type": "html", "target": "pdf", "template": "<p>Hello <%= name %></p><img src='gone.png'>",
           "data": {"name": name}, "formatOpts": {"fileName": "Größe 1"}})
}

async fn sent(app: &TestApp, body: &Value, headers: &[(&str, &str)]) -> reqwest::Response {
    let request = app.request(Method::POST, PATH).body(body.to_string());
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

const NAMED: &str = "inline; filename=\"Gr__e 1.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%201.pdf";

#[tokio::test]
async fn a_request_that_accepts_the_document_gets_it_as_the_body() {
    let app = TestApp::start().await;
    let answer = sent(&app, &order("Zoë"), &[("accept", "application/pdf, */*;q=0.1")]).await;
    assert_eq!(answer.status(), 200);
    for (name, value) in [
        ("content-type", "application/pdf"),
        ("content-disposition", NAMED),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox"),
        ("cache-control", "private, no-store"),
        ("x-warnings", "1"),
    ] {
        assert_eq!(header(&answer, name), value, "{name}");
    }
    let id = header(&answer, "x-job-id").to_owned();
    let document = answer.bytes().await.unwrap();
    assert!(app.text_of(&document).contains("Hello Zoë"));
    // What was streamed is what is kept.
    let (_, view) = app.get(&format!("/v1/jobs/{id}")).await;
    assert_eq!(view["output"]["data"]["fileName"], "Größe 1.pdf", "{view}");
    let kept = app.client.get(view["output"]["data"]["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!((kept.status().as_u16(), header(&kept, "content-disposition")), (200, NAMED));
    assert_eq!(kept.bytes().await.unwrap(), document);

    for accept in ["*/*", "application/json, application/pdf", "application/*"] {
        let (status, body) = read(sent(&app, &order("Ann"), &[("accept", accept)]).await).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(
            (&body["url"], body["warnings"].as_array().unwrap().len()),
            (&body["output"]["data"]["url"], 1)
        );
        assert_eq!(
            (body["jobId"].as_str().unwrap().len(), &body["output"]["metadata"]["pages"]),
            (36, &json!(1))
        );
    }
    // Of so many not all are listed, and all are counted.
    let many: Vec<_> = (0..60).map(|number| format!("<img src='gone-{number}.png'>")).collect();
    let many = json!({"type": "html", "target": "pdf", "template": many.concat()});
    let answer = sent(&app, &many, &[("accept", "application/pdf")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "x-warnings")), (200, "60"));
    let (_, view) = app.get(&format!("/v1/jobs/{}", header(&answer, "x-job-id"))).await;
    let listed = view["warnings"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[50]), (51, &json!("and 10 more")));

    let faulty = json!({"type": "html", "target": "pdf", "template": "<%= nobody %>"});
    let answer = sent(&app, &faulty, &[("accept", "application/pdf")]).await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "content-type")),
        (422, "application/problem+json")
    );
}

#[tokio::test]
async fn prefer_respond_async_answers_with_the_job() {
    let app = TestApp::start().await;
    let answer =
        sent(&app, &order("Ann"), &[("prefer", "respond-async"), ("accept", "application/pdf")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "preference-applied")), (202, "respond-async"));
    let place = header(&answer, "location").to_owned();
    assert!(!header(&answer, "retry-after").is_empty());
    let (_, view) = read(answer).await;
    assert_eq!(
        (place, &view["status"]),
        (format!("/v1/jobs/{}", view["jobId"].as_str().unwrap()), &json!("in-progress"))
    );
    assert_eq!(app.ended(view["jobId"].as_str().unwrap()).await["success"], true);
    // Done within the wait that it allows, it is answered as ever.
    let answer = sent(&app, &order("Ann"), &[("prefer", "respond-async, wait=20")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "preference-applied")), (200, ""));
}

/// Sends a form as `curl -F` does and returns the status; the body is in the file `answer`.
fn form(app: &TestApp, folder: &Path, arguments: &[&str]) -> (u16, Vec<u8>) {
    let mut curl = Command::new("curl");
    curl.current_dir(folder).args(["-sS", "-o", "answer", "-w", "%{http_code}", "--noproxy", "*"]);
    curl.args(["-H", &format!("Authorization: Bearer {}", app.token)]).args(arguments);
    let Output { stdout, stderr, .. } = curl.arg(format!("{}{PATH}", app.base)).output().unwrap();
    let status = String::from_utf8_lossy(&stdout).parse();
    let status = status.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&stderr)));
    (status, std::fs::read(folder.join("answer")).unwrap())
}

fn problem(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).unwrap()
}

#[tokio::test]
async fn a_form_brings_the_page_its_files_data_and_options() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir_in(app.scratch()).unwrap();
    let here = |name: &str| folder.path().join(name);
    let page = "<link rel=stylesheet href=style.css><p>Hello <%= name %></p><script src='js/a.js'></script>";
    for (name, content) in [
        ("index.html", page),
        ("style.css", "p::after { content: ' styled' }"),
        ("a.js", "document.body.append('from a script')"),
        ("data.json", r#"{"name": "Zoë"}"#),
    ] {
        std::fs::write(here(name), content).unwrap();
    }
    let files = [
        "-F",
        "files=@index.html",
        "-F",
        "files=@style.css",
        "-F",
        "files=@a.js;filename=js/a.js",
        "-F",
        "data=<data.json",
    ];
    let pdf = ["-H", "Accept: application/pdf"];
    let options = ["-F", "landscape=true", "-F", r#"formatOpts={"format": "a5"}"#];
    let (status, answer) = form(&app, folder.path(), &[&files[..], &pdf, &options].concat());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    let text = app.text_of(&answer);
    assert!(text.contains("Hello Zoë styled") && text.contains("from a script"), "{text}");
    let [width, height] = size_of(&here("answer"))[..] else { panic!("no size") };
    assert!((width - 595.0).abs() < 2.0 && (height - 420.0).abs() < 2.0, "{width} × {height}");

    // Options and a password that come as files are options and a password.
    std::fs::write(here("opts.json"), r#"{"format": "a5"}"#).unwrap();
    std::fs::write(here("word"), "secret").unwrap();
    let options = ["-F", "formatOpts=@opts.json", "-F", "userPassword=@word"];
    let (status, answer) = form(&app, folder.path(), &[&files[..], &pdf, &options].concat());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    assert_eq!(size_of(&here("answer")), [0.0; 0], "nobody reads it without the password");
    // A name outside ASCII comes twice (RFC 8187): .NET sends both.
    let name = "Content-Disposition: form-data; name=files; filename=\"=?utf-8?B?Z3LDtsOfZS5jc3M=?=\"; filename*=utf-8''gr%C3%B6%C3%9Fe.css";
    let boundary = ["-H", "Content-Type: multipart/form-data; boundary=b", "--data-binary", "@body"];
    let page = "<link rel=stylesheet href=größe.css><p>One</p>";
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=files; filename=index.html\r\n\r\n{page}\r\n\
         --b\r\n{name}\r\n\r\np::after {{ content: ' styled' }}\r\n--b--\r\n"
    );
    std::fs::write(here("body"), body).unwrap();
    let (status, answer) = form(&app, folder.path(), &[&pdf[..], &boundary].concat());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    assert!(app.text_of(&answer).contains("One styled"));

    // HTML in a file named .doc is a page.
    let page = ["-F", "files=@body.html;filename=letter.doc"];
    std::fs::write(here("body.html"), "<p>Saved by a mail program</p>").unwrap();
    let (status, answer) = form(&app, folder.path(), &[&pdf[..], &page].concat());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    assert!(app.text_of(&answer).contains("Saved by a mail program"));

    // A boundary is another one each time; what it parts is the same request.
    let again = [&files[..], &["-H", "Idempotency-Key: one"]].concat();
    let jobs = [(), ()].map(|()| problem(&form(&app, folder.path(), &again).1)["jobId"].clone());
    assert!(jobs[0].is_string() && jobs[0] == jobs[1], "{jobs:?}");
    // One file is what it is, here an archive.
    let mut zip = Command::new("python3");
    zip.args(["-m", "zipfile", "-c", "page.zip", "index.html"]).current_dir(folder.path());
    assert!(zip.status().unwrap().success());
    let (status, answer) = form(
        &app,
        folder.path(),
        &["-F", "files=@page.zip", "-F", r#"data={"name": "Zip"}"#, "-F", "target=html"],
    );
    let made = problem(&answer);
    assert_eq!(
        (status, &made["output"]["data"]["contentType"]),
        (200, &json!("text/html; charset=utf-8")),
        "{made}"
    );
}

/// What is sent, and its status, its code and what its detail says.
type Refused = (&'static [&'static str], u16, &'static str, &'static str);

const REFUSED: [Refused; 16] = [
    (&["-F", "files=@index.html", "-F", "files=@large"], 413, "payload_too_large", "http.json_limit_bytes"),
    (&["-F", "files=@index.html", "-F", "files=@a.js;filename=../a.js"], 422, "render_failed", "../a.js"),
    (
        &["-F", "files=@index.html", "-F", "files=@index.html"],
        422,
        "template_archive_invalid",
        "'index.html' twice",
    ),
    (
        &["-F", "a=@a.js", "-F", "b=@style.css", "-F", "c=@index.html", "-F", "d=@data.json"],
        422,
        "template_archive_invalid",
        "more than 3 files",
    ),
    (&["-F", "target=pdf"], 422, "validation_failed", "template: is required"),
    (
        &["-F", "files=@index.html", "-F", "scale=9", "-F", "data=7"],
        422,
        "validation_failed",
        "give a number from 0.1 to 2; /data: must be an object",
    ),
    // What is an option is one, also where it comes as a file.
    (&["-F", "files=@index.html", "-F", "encrypt=@a.js"], 422, "validation_failed", "/formatOpts/encrypt: "),
    (
        &["-F", "files=@index.html", "-F", "fileName=@data.json", "-F", "fileName=@a.js"],
        422,
        "validation_failed",
        "/fileName: is given twice",
    ),
    (
        &["-F", "files=@index.html", "-F", "fileName=@long"],
        422,
        "validation_failed",
        "jobs.format_opts_limit_bytes",
    ),
    (
        &["-F", "a=1", "-F", "b=1", "-F", "c=1", "-F", "d=1", "-F", "files=@index.html"],
        422,
        "validation_failed",
        "http.form_fields_limit",
    ),
    (
        &["-F", "files=@index.html", "-F", "data={name: 1}"],
        400,
        "malformed_json",
        "The part 'data' is not valid JSON at line 1",
    ),
    (
        &["-F", "files=@letter;filename=letter.docx"],
        422,
        "validation_failed",
        "/type: is required with this file: set it to docx",
    ),
    (&["-H", "Content-Type: multipart/form-data", "-d", "x"], 400, "bad_request", "The form cannot be read"),
    (
        &["-H", "Content-Type: multipart/form-data", "-d", "{\"type\": \"html\"}"],
        400,
        "bad_request",
        "The body is JSON, but it was sent with the Content-Type multipart/form-data; send it as application/json",
    ),
    (
        &["-H", "Content-Type: application/json", "-F", "files=@index.html"],
        400,
        "malformed_json",
        "The body is a form (multipart/form-data), but it was sent with the Content-Type application/json; let the client",
    ),
    (
        &["-H", "Content-Type:", "-F", "files=@index.html"],
        400,
        "malformed_json",
        "The body is a form (multipart/form-data), but no Content-Type says so",
    ),
];

#[tokio::test]
async fn a_form_that_cannot_be_taken_says_why() {
    let app = TestApp::with(&[
        ("http.json_limit_bytes", "60000"),
        ("templates.archive_entries_limit", "3"),
        ("http.form_fields_limit", "3"),
        ("jobs.format_opts_limit_bytes", "1000"),
    ])
    .await;
    let folder = tempfile::tempdir_in(app.scratch()).unwrap();
    let sizes = [
        ("index.html", 9),
        ("style.css", 9),
        ("a.js", 9),
        ("data.json", 9),
        ("large", 70_000),
        ("long", 2_000),
    ];
    for (name, length) in sizes {
        std::fs::write(folder.path().join(name), "x".repeat(length)).unwrap();
    }
    std::fs::write(folder.path().join("letter"), b"PK\x03\x04").unwrap();
    for (arguments, status, code, part) in REFUSED {
        let (found, answer) = form(&app, folder.path(), arguments);
        let problem = problem(&answer);
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{arguments:?}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{arguments:?}: {problem}");
    }
}

/// Width and height of the first page, in points.
fn size_of(pdf: &Path) -> Vec<f64> {
    let output = Command::new("pdfinfo").arg(pdf).output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    let size = message.lines().find_map(|line| line.strip_prefix("Page size:")).unwrap_or_default();
    size.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[tokio::test]
async fn a_sheet_may_be_as_high_as_its_page() {
    let app = TestApp::start().await;
    let lines =
        |count: usize| format!("<body style='margin:0'>{}", "<div style='height:20px'>x</div>".repeat(count));
    let scripted = "<body style='margin:0;min-height:100vh'><script>for (let i = 0; i < 100; i++) {
        const line = document.createElement('div'); line.style.height = '20px'; line.textContent = 'x';
        document.body.append(line); }</script>";
    let file = app.scratch().join("sheet.pdf");
    for (template, more, points) in [
        (lines(100), "{}", 1_500.0),
        (lines(3), r#"{"margin": "10mm"}"#, 45.0 + 56.7),
        (scripted.to_owned(), "{}", 1_500.0),
        (lines(100), r#"{"scale": 0.5}"#, 750.0),
        (format!("<style>@page{{margin:10mm}}</style>{}", lines(3)), "{}", 45.0 + 56.7),
        (format!("<style>@page{{margin:10mm}}</style>{}", lines(30)), r#"{"scale": 0.5}"#, 225.0 + 56.7),
        (
            format!("<style>@page{{margin:9cm 1em}} @page:first{{margin-top:1cm}}</style>{}", lines(3)),
            "{}",
            45.0 + 283.5,
        ),
        (format!("<style>@page{{size:A4;margin:0}}</style>{}", lines(100)), "{}", 1_500.0),
        (
            format!("<style>@page{{size:A4;margin:5mm}}</style>{}", lines(20)),
            r#"{"scale": 0.5}"#,
            150.0 + 28.3,
        ),
        (format!("<style>@page{{size:portrait}}</style>{}", lines(2)), "{}", 30.0),
        (
            format!(
                "<style>@layer a{{@page{{size:A4!important}}}} @page{{margin:5mm!important}}</style>{}",
                lines(20)
            ),
            "{}",
            300.0 + 28.3,
        ),
        (
            format!("<style>@page x{{size:A5 landscape!important}} body{{page:x}}</style>{}", lines(40)),
            "{}",
            600.0,
        ),
        (format!("<style>@page{{size:A5}}</style>{}", lines(20)), r#"{"preferCssPageSize": true}"#, 300.0),
    ] {
        let mut options: Value = serde_json::from_str(more).unwrap();
        (options["width"], options["height"]) = (json!("80mm"), json!("auto"));
        let body = json!({"type": "html", "target": "pdf", "template": template, "formatOpts": options});
        let (status, made) = app.post(PATH, &body).await;
        assert_eq!((status, &made["output"]["metadata"]["pages"]), (200, &json!(1)), "{more}: {made}");
        for (part, message) in [("size:", "size '"), ("1em", "(right 1em)")] {
            let warnings = made["warnings"].to_string();
            assert_eq!(template.contains(part), warnings.contains(message), "{template}: {warnings}");
            assert!(!warnings.contains("fills"), "{warnings}");
        }
        let document =
            app.client.get(made["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
        std::fs::write(&file, document).unwrap();
        let [width, height] = size_of(&file)[..] else { panic!("no size") };
        assert!(
            (width - 226.8).abs() < 1.0 && (points..points + 4.0).contains(&height),
            "{more}: {width} × {height}"
        );
    }
    // No PDF has higher sheets.
    let body =
        json!({"type": "html", "target": "pdf", "template": lines(1_000), "formatOpts": {"height": "auto"}});
    let (_, made) = app.post(PATH, &body).await;
    assert_eq!(made["output"]["metadata"]["pages"], 2, "{made}");
    assert!(
        made["warnings"][0].as_str().unwrap().starts_with("height auto: the page fills 2 sheets of 5080 mm"),
        "{made}"
    );
}
