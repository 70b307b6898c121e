//! Suite F: no work that grows with a caller's bytes holds a thread that others share.
//!
//! The service observes these threads by itself (`src/telemetry/threads.rs`); here it does so often, while one account sends what
//! takes long to look at. A debug build is ten to thirty times slower than a release: the inputs are as much smaller than the
//! limits allow, and the rule is that of a release, 50 ms.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use reqwest::Method;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::app::TestApp;

/// Bytes of a text, of data.
const LENGTH: usize = 3 << 20;
/// Of one that TeX reads to its end.
const READ_LENGTH: usize = 128 << 10;
/// Of a part of a JSON body.
const PART_LENGTH: usize = 512 << 10;
/// What a source may be full of.
const FILLINGS: [&str; 8] = ["\n", "\r\n", "\\", "{", "%", "<", " ", "%\n"];

/// An input of a job by init and upload.
struct Input {
    what: String,
    kind: &'static str,
    target: &'static str,
    template: Vec<u8>,
    data: Vec<u8>,
    opts: Value,
}

impl Input {
    fn new(what: &str, (kind, target): (&'static str, &'static str), template: Vec<u8>) -> Self {
        Self { what: what.to_owned(), kind, target, template, data: b"{}".to_vec(), opts: json!({}) }
    }

    fn with_data(self, data: String) -> Self {
        Self { data: data.into_bytes(), ..self }
    }

    /// Runs the job to its end, which may be an error.
    async fn run(&self, app: &TestApp) {
        let job = app.init(json!({"type": self.kind, "target": self.target, "formatOpts": &self.opts})).await;
        assert_eq!(app.put(&job.data_url.unwrap(), self.data.clone()).await, 200, "{}", self.what);
        assert_eq!(app.put(&job.template_url.unwrap(), self.template.clone()).await, 200, "{}", self.what);
        app.finish(&job.id).await;
    }
}

/// An archive without compression: a repeated text would be packed too well to be admitted.
fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (path, content) in files {
        writer.start_file(*path, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Sources of LaTeX: each full of one thing behind an error, at which TeX ends soon, and some with an error behind all of it.
fn sources() -> Vec<Input> {
    let latex = |what: &str, text: &str| {
        let text = format!("\\documentclass{{article}}\n{text}");
        Input::new(what, ("latex", "pdf"), text.into_bytes())
    };
    let full =
        |filling: &&str| latex(filling, &format!("\\missing\n{}", filling.repeat(LENGTH / filling.len())));
    let lines = "\n".repeat(READ_LENGTH);
    let behind = [
        ("an error", format!("\\begin{{document}}{lines}\\missing{lines}\\end{{document}}")),
        ("a package", format!("{lines}\\usepackage{{missing}}{lines}\\begin{{document}}")),
        ("tags", format!("{lines}<%= 1 %>{lines}\\begin{{document}}{lines}")),
    ];
    FILLINGS.iter().map(full).chain(behind.iter().map(|(what, text)| latex(what, text))).collect()
}

/// Pages as files, and data; nothing of these needs a browser.
fn pages() -> Vec<Input> {
    let full = "<".repeat(LENGTH);
    let numbers = format!("{{\"a\":[{}0]}}", format!("{},", "1".repeat(40)).repeat(LENGTH / 41));
    let array = format!("{}{},", "[".repeat(60), "]".repeat(60));
    let deep = format!("{{\"a\":[{}0]}}", array.repeat(LENGTH / array.len()));
    let blank = " ".repeat(LENGTH);
    let page = |what: &str, template: &str| Input::new(what, ("html", "html"), template.as_bytes().to_vec());
    let packed = |what: &str, files: &[(&str, &[u8])]| Input::new(what, ("html", "html"), stored(files));
    let names: Vec<_> = (1..10_000).map(|number| format!("{}/{number}.txt", "e\u{301}".repeat(60))).collect();
    let names = names.iter().map(|name| (name.as_str(), &b"x"[..]));
    let files =
        |entry: &'static str| -> Vec<_> { names.clone().chain([("index.html", entry.as_bytes())]).collect() };
    let include = "<% for (let i = 0; i < 20; i++) { %><%- include('a.html').length %><% } %>";
    vec![
        page("a page of <", &full),
        page("an EJS page of <", &format!("<%= 1 %>{full}")),
        page("comments", &"<!---->".repeat(LENGTH / 7)),
        page("long numbers", "<p>x").with_data(numbers),
        page("nested data", "<p>x").with_data(deep),
        page("blanks", "<%= 1 %>").with_data(format!("{blank}{{{blank}}}{blank}")),
        packed("files", &files("<p>x")),
        packed("files beside EJS", &files("<%= 1 %>")),
        packed("an included file", &[("index.html", include.as_bytes()), ("a.html", full.as_bytes())]),
    ]
}

/// Pages that a browser prints, and that have it say much.
fn printed() -> Vec<Input> {
    let page = |what: &str, template: String| Input::new(what, ("html", "pdf"), template.into_bytes());
    let script = |what: &str, code: &str| page(what, format!("<p>x<script>{code}</script>"));
    let headings = format!("<h2>{}</h2>", "a\u{ad}bc ".repeat(90)).repeat(1_500);
    let sheet = "p{color:red}".repeat(LENGTH / 12);
    let beside = [
        ("index.html", &b"<link rel=stylesheet href=a.css><p>x<script></script>"[..]),
        ("a.css", sheet.as_bytes()),
    ];
    vec![
        Input { opts: json!({"outline": true}), ..page("headings", headings) },
        Input::new("a style sheet", ("html", "pdf"), stored(&beside)),
        page("words", format!("<p style='display:none'>{}", "word ".repeat(LENGTH / 5))),
        page("styles", format!("<p>x<style>{}</style>", "@page{margin:1cm}".repeat(LENGTH / 34))),
        script("lines of a console", "for (let i = 0; i < 3000; i++) console.error('x'.repeat(500))"),
        script("a long line of a console", "console.error('x'.repeat(4e6))"),
        script("errors", "for (let i = 0; i < 1000; i++) Promise.reject(new Error('x'.repeat(5000)))"),
        script("missing files", "for (let i = 0; i < 300; i++) fetch('a'.repeat(1000) + i).catch(() => 0)"),
        script("a title", "document.title = 'x'.repeat(4e6)"),
    ]
}

/// An Office file of many parts.
fn office() -> Vec<Input> {
    let parts: Vec<_> =
        (0..2_000).map(|number| (format!("word/media/{number}.xml"), "<a/>".repeat(50))).collect();
    let of = |kind: &'static str, name: &str, family: &str| {
        let types = format!(
            "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override \
             PartName=\"/{name}\" ContentType=\"application/vnd.openxmlformats-officedocument.{family}.main+xml\"/></Types>"
        );
        let fixed = [("[Content_Types].xml", types.as_bytes()), (name, &b"<a/>"[..])];
        let parts = parts.iter().map(|(path, content)| (path.as_str(), content.as_bytes()));
        let files: Vec<_> = fixed.into_iter().chain(parts).collect();
        Input::new(kind, (kind, kind), stored(&files))
    };
    vec![
        of("docx", "word/document.xml", "wordprocessingml.document"),
        of("xlsx", "xl/workbook.xml", "spreadsheetml.sheet"),
        of("pptx", "ppt/presentation.xml", "presentationml.presentation"),
    ]
}

/// Requests that are refused, or small, and long to read.
async fn requests(app: &TestApp) {
    let form = (0..900).fold(String::new(), |mut form, number| {
        let _ = write!(form, "--b\r\ncontent-disposition: form-data; name=\"f{number}\"\r\n\r\n{number}\r\n");
        form
    });
    let files = (0..2_000).fold(String::new(), |mut form, number| {
        let _ = write!(
            form,
            "--b\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{number}.txt\"\r\n\r\n{}\r\n",
            "x".repeat(500)
        );
        form
    });
    for body in [form, files] {
        let sent = app.request(Method::POST, "/v1/documents/immediate-render");
        let sent =
            sent.header("content-type", "multipart/form-data; boundary=b").body(format!("{body}--b--\r\n"));
        assert_eq!(sent.send().await.unwrap().status().as_u16() / 100, 4);
    }
    let text = "<".repeat(PART_LENGTH);
    let body =
        json!({"type": "html", "target": "html", "template": text, "data": {"a": "\"".repeat(PART_LENGTH)}});
    app.post("/v1/documents/immediate-render", &body).await;
    app.post(
        "/v1/documents/init",
        &json!({"type": "x".repeat(PART_LENGTH), "formatOpts": vec![0; PART_LENGTH / 2]}),
    )
    .await;
    for path in [
        "a/".repeat(4_000),
        format!("v1/objects/{}", "%61".repeat(4_000)),
        format!("v1/jobs?{}", "a=1&".repeat(2_000)),
    ] {
        let answer = app.request(Method::GET, &format!("/{path}")).send().await.unwrap();
        assert!(answer.status().as_u16() < 500, "{path}");
    }
    let job = app.init(json!({"type": "html", "target": "pdf"})).await;
    let long = format!("{}&{}", job.data_url.unwrap(), "x=%20&".repeat(2_000));
    app.client.put(&long).body("{}").send().await.unwrap();
    let mut flood = app.request(Method::GET, "/v1/jobs");
    for number in 0..90 {
        flood = flood.header(format!("x-{number}"), "y".repeat(400));
    }
    flood.send().await.unwrap();
}

/// How often each thread was held for more than 50 ms.
async fn held(app: &TestApp) -> [u64; 4] {
    let text = app.client.get(format!("{}/metrics", app.base)).send().await.unwrap().text().await.unwrap();
    ["main", "control", "jobs", "http"].map(|thread| {
        let count = |to: &str| {
            let series = format!("platen_thread_held_seconds_bucket{{le=\"{to}\",thread=\"{thread}\"}} ");
            let count =
                text.lines().find_map(|line| line.strip_prefix(&series)).unwrap_or_else(|| panic!("{text}"));
            count.parse::<u64>().unwrap()
        };
        assert!(count("+Inf") > 0, "{thread} is not observed");
        count("+Inf") - count("0.05")
    })
}

/// How often something is tried that held a thread.
const TRIES: usize = 3;

/// How often each thread had been held before each try of `what` and after it, if one was held at all of them. A thread that was
/// kept from the processor for long does much at once when it gets it, so one try is not enough.
async fn tried(app: &TestApp, what: &str, send: impl AsyncFn()) -> Option<String> {
    let mut tries = Vec::new();
    for _ in 0..TRIES {
        let before = held(app).await;
        send().await;
        let after = held(app).await;
        if after == before {
            return None;
        }
        tries.push(format!("{before:?}, then {after:?}"));
    }
    Some(format!("{what}: {}", tries.join("; ")))
}

#[actix::test]
async fn nothing_that_a_caller_sends_holds_a_shared_thread() {
    let app = TestApp::with(&[("metrics.watch_ms", "2")]).await;
    let mut failed = Vec::new();
    failed.extend(tried(&app, "requests", async || requests(&app).await).await);
    for input in sources().into_iter().chain(pages()).chain(printed()).chain(office()) {
        let what = format!("{} to {}: {}", input.kind, input.target, input.what);
        failed.extend(tried(&app, &what, async || input.run(&app).await).await);
    }
    assert!(failed.is_empty(), "held for more than 50 ms (main, control, jobs, http): {failed:#?}");
}
