//! Suites B and E for Word templates: what their pictures' addresses reach, and containers that are refused when they
//! are uploaded.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::app::TestApp;
use crate::canary::Canary;
use crate::host::{Host, Reply};
use crate::service::archive;
use crate::table::{Outcome, report};

const TYPES: &str = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
    <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
    <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
const ROOT: &str = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
    <Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
    Target=\"word/document.xml\"/></Relationships>";

/// A Word file of one paragraph.
fn docx(text: &str) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r><w:t>\
         {text}</w:t></w:r></w:p><w:sectPr/></w:body></w:document>"
    );
    archive(&[
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", ROOT.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ])
}

/// A picture that is one.
fn png() -> Vec<u8> {
    use base64::Engine as _;
    let text =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

/// What became of a document with pictures at these addresses.
async fn filled(app: &TestApp, addresses: &[String]) -> Value {
    let job = app.init(json!({"type": "docx", "target": "docx", "data": {"all": addresses}})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), docx("{#all}{%.}{/all}")).await, 200);
    app.finish(&job.id).await
}

/// A document with one picture, whose warning must contain `words`.
async fn attack(app: &TestApp, (name, address, words): (&str, &str, &str), canary: &Canary) -> Outcome {
    let view = filled(app, &[canary.aim(address)]).await;
    let messages = view["error"].as_str().unwrap_or_default().to_owned();
    let mut leaks = canary.hits();
    leaks.extend((view["errorCode"] != "template_error").then(|| view.to_string()));
    leaks.extend((!messages.contains(words)).then(|| format!("no '{words}' in: {messages}")));
    Outcome { name: name.to_owned(), carrier: "a Word picture".to_owned(), leaks, messages }
}

#[actix::test]
async fn pictures_reach_no_host_that_is_not_allowed() {
    let (app, canary) = (TestApp::start().await, Canary::listen());
    let mut outcomes = Vec::new();
    for (address, words) in [
        ("HTTP/x.png", "outbound.allow can open it: { host = "),
        ("https://127.0.0.1:PORT/x.png", "outbound.allow can open it: { host = "),
        ("http://localhost:PORT/x.png", "outbound.allow can open it"),
        ("http://127.1:PORT/x.png", "outbound.allow can open it"),
        ("http://2130706433:PORT/", "outbound.allow can open it"),
        ("http://[::1]:PORT/", "outbound.allow can open it"),
        ("http://[::ffff:127.0.0.1]:PORT/", "outbound.allow can open it"),
        ("http://127.0.0.2:PORT/", "outbound.allow can open it"),
        ("HtTp://127.0.0.1:PORT/", "outbound.allow can open it"),
        ("http://user:password@127.0.0.1:PORT/", "user name or a password"),
        ("//127.0.0.1:PORT/x.png", ""),
        ("ftp://127.0.0.1:PORT/x.png", ""),
        ("ws://127.0.0.1:PORT/", ""),
        ("file:///etc/passwd", ""),
        ("/etc/passwd", ""),
        ("../../../../etc/passwd", ""),
    ] {
        outcomes.push(attack(&app, (address, address, words), &canary).await);
    }
    report("suite B, pictures of Word templates (default configuration)", outcomes);
}

/// A host that sends without end and declares no length.
async fn endless() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4_096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n").await;
                while stream.write_all(&[0; 16 << 10]).await.is_ok() {}
            });
        }
    });
    port
}

#[actix::test]
async fn an_allowed_host_is_bounded_and_leads_nowhere_else() {
    let canary = Canary::listen();
    let aim = canary.aim("HTTP/x.png");
    let host = Host::http(move |asked| match asked.path() {
        "/never" => Reply::never(),
        "/half" => Reply::ok("image/png", png()).hanging(),
        "/large" => Reply::ok("image/png", vec![0; 9_000]),
        "/loop" => Reply::redirect(302, "/loop"),
        "/file" => Reply::redirect(302, "file:///etc/passwd"),
        "/missing" => Reply::status("404 Not Found"),
        path => match path.strip_prefix("/to/").and_then(|status| status.parse().ok()) {
            Some(status) => Reply::redirect(status, &aim),
            None => Reply::ok("image/png", png()),
        },
    })
    .await;
    let endless = endless().await;
    let allow = format!("[{}, {{ host = \"127.0.0.1:{endless}\", private = true }}]", host.entry());
    let settings = [
        ("outbound.allow", allow.as_str()),
        ("office.pictures_limit", "3"),
        ("office.picture_limit_bytes", "8192"),
        ("office.pictures_timeout_ms", "3000"),
    ];
    let app = TestApp::with(&settings).await;
    let base = format!("http://127.0.0.1:{}", host.port);
    let mut outcomes = Vec::new();
    for (path, words) in [
        ("/never", "not fetched within 3000 ms (office.pictures_timeout_ms)"),
        ("/half", "not fetched within 3000 ms (office.pictures_timeout_ms)"),
        ("/large", "larger than 8192 bytes (office.picture_limit_bytes)"),
        ("/loop", "(outbound.redirect_limit)"),
        ("/file", "'file:' is not https"),
        ("/missing", "404"),
        ("/to/301", "outbound.allow can open it"),
        ("/to/302", "outbound.allow can open it"),
        ("/to/303", "outbound.allow can open it"),
        ("/to/307", "outbound.allow can open it"),
        ("/to/308", "outbound.allow can open it"),
    ] {
        outcomes.push(attack(&app, (path, &format!("{base}{path}"), words), &canary).await);
    }
    let address = format!("http://127.0.0.1:{endless}/");
    let words = "larger than 8192 bytes (office.picture_limit_bytes)";
    outcomes.push(attack(&app, ("endless", &address, words), &canary).await);
    report("suite B, a Word picture's allowed host (hits on the canary, what is told)", outcomes);

    let addresses = |names: &[&str]| names.iter().map(|name| format!("{base}/{name}")).collect::<Vec<_>>();
    let view = filled(&app, &addresses(&["a", "b", "a", "a", "c", "b"])).await;
    assert_eq!(view["success"], true, "{view}");
    let hits = host.hits();
    assert!(["/a", "/b", "/c"].iter().all(|path| hits.get(*path) == Some(&1)), "each once: {hits:?}");
    let sent = host.requests().into_iter().find(|asked| asked.path() == "/a").unwrap();
    let messages: Vec<_> =
        ["authorization", "cookie", "referer"].iter().filter_map(|name| sent.header(name)).collect();
    assert_eq!(messages, [""; 0], "{}", sent.head);
    let view = filled(&app, &addresses(&["d", "e", "f", "g"])).await;
    assert!(
        view["error"].as_str().unwrap().contains("more than 3 pictures (office.pictures_limit)"),
        "{view}"
    );
    let metrics = app.client.get(format!("{}/metrics", app.base)).send().await.unwrap().text().await.unwrap();
    let count = |outcome: &str| {
        let series = format!("platen_office_pictures_total{{outcome=\"{outcome}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&series)).unwrap().to_owned()
    };
    let ended = ["fetched", "refused", "failed", "too_long", "late"].map(count);
    assert_eq!(ended, ["6", "6", "2", "2", "2"]);
}

#[actix::test]
async fn a_slow_host_of_two_accounts_keeps_no_third_one_waiting() {
    let host = Host::http(|_| Reply::never()).await;
    let allow = format!("[{}]", host.entry());
    let settings = [
        ("outbound.allow", allow.as_str()),
        ("office.pictures_timeout_ms", "600000"),
        ("jobs.concurrency", "8"),
        ("assemble.processes", "2"),
        ("assemble.waiting_limit", "2"),
    ];
    let mut app = TestApp::with(&settings).await;
    let address = format!("http://127.0.0.1:{}/x.png", host.port);
    for account in ["test", "other"] {
        if account == "other" {
            app.command(&["account", "create", account]);
            app.token = app.command(&["token", "create", "--account", account]);
        }
        for _ in 0..2 {
            let job = app.init(json!({"type": "docx", "target": "docx", "data": {"all": [address]}})).await;
            assert_eq!(app.put(&job.template_url.unwrap(), docx("{#all}{%.}{/all}")).await, 200);
            let (status, answer) = app.post(&format!("/v1/documents/{}/render", job.id), &json!({})).await;
            assert!(matches!(status, 200 | 202), "{status} {answer}");
        }
    }
    app.until("all four wait for the host", async || host.connections() == 4).await;
    app.command(&["account", "create", "third"]);
    app.token = app.command(&["token", "create", "--account", "third"]);
    let (view, page) = app.render("html", "<%= 1 + 1 %>", json!({})).await;
    assert_eq!((view["success"].as_bool(), page.as_slice()), (Some(true), &b"2"[..]), "{view}");
    assert_eq!(host.connections(), 4, "they wait still");
    // It would wait for them.
    app.kill();
}

#[actix::test]
async fn many_warnings_and_strange_names_are_reported() {
    let app = TestApp::start().await;
    let filled = async |text: &str, data: Value| {
        let job = app.init(json!({"type": "docx", "target": "docx", "data": data})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), docx(text)).await, 200);
        app.finish(&job.id).await
    };
    let rows: Vec<_> =
        (0..1_000).map(|row| format!("<p>{row}<img src=\"{}{row}.png\"></p>", "x".repeat(90))).collect();
    let view = filled("{#all}{~.}{/all}", json!({"all": rows})).await;
    assert_eq!(view["success"], true, "{view}");
    let warnings = view["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 50, "{view}");
    assert_eq!(warnings.last().unwrap(), "and 951 more");
    for name in ["\u{1}".repeat(12_000), "y\"".repeat(1_500), "y".repeat(12_000)] {
        for text in ["{:include name}", "{%name}"] {
            let view = filled(text, json!({"name": name})).await;
            assert_eq!(view["errorCode"], "template_error", "{text}: {view}");
        }
    }
    let view = filled("{:include name}", json!({"name": "a\u{1}"})).await;
    assert!(view["error"].as_str().unwrap().contains("has no control characters"), "{view}");
}

#[actix::test]
async fn hostile_containers_are_refused_when_they_come_and_nothing_is_kept() {
    let app = TestApp::on_disk(&[]).await;
    let parts = |more: &[(&str, &[u8])]| {
        let basis = [("[Content_Types].xml", TYPES.as_bytes()), ("word/document.xml", &b"<x/>"[..])];
        archive(&[&basis, more].concat())
    };
    let zeros = vec![0; 8 << 20];
    let mut twice = parts(&[("word/a.xml", b"1"), ("word/b.xml", b"2")]);
    for at in 0..twice.len() - 10 {
        if &twice[at..at + 10] == b"word/b.xml" {
            twice[at..at + 10].copy_from_slice(b"word/a.xml");
        }
    }
    for (name, upload) in [
        ("a bomb", parts(&[("word/a.xml", &zeros)])),
        ("an archive behind a program", [b"MZ\0\0".as_slice(), &docx("good")].concat()),
        ("a name that leads out", parts(&[("../../evil.sh", b"x")])),
        ("an absolute name", parts(&[("/etc/evil", b"x")])),
        ("a name twice", twice),
        ("a name twice but for its capitals", parts(&[("word/a.xml", b"1"), ("word/A.xml", b"2")])),
    ] {
        let job = app.init(json!({"type": "docx", "target": "docx", "data": {}})).await;
        assert_eq!(app.put(job.template_url.as_deref().unwrap(), upload).await, 422, "{name}");
        let view = app.finish(&job.id).await;
        assert_eq!(view["errorCode"], "template_missing", "{name} was kept: {view}");
        let job = app.init(json!({"type": "docx", "target": "docx", "data": {}})).await;
        assert_eq!(app.put(job.template_url.as_deref().unwrap(), docx("good")).await, 200);
        assert_eq!(app.finish(&job.id).await["success"], true, "after {name}");
    }
    // What stays packed may be packed well: Word packs a white picture so.
    let picture = archive(&[
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", ROOT.as_bytes()),
        ("word/media/image1.emf", &zeros),
        ("word/document.xml", b"<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p/></w:body></w:document>"),
    ]);
    let job = app.init(json!({"type": "docx", "target": "docx", "data": {}})).await;
    assert_eq!(app.put(job.template_url.as_deref().unwrap(), picture).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["success"], true, "{view}");
}
