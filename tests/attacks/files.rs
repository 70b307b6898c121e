//! Suite A: files of the machine, by every spelling and carrier; the planted ones are world-readable, so the browser's
//! user could read them too.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use futures_util::StreamExt as _;
use serde_json::json;
use tempfile::TempDir;

use crate::app::TestApp;
use crate::service::{Made, Order, archive, render};
use crate::table::{Outcome, report};

/// The text of every planted file, before the name of the carrier that it is for.
const SECRET: &str = "s3cret0f";
/// Text that is in every `/etc/passwd`.
const PASSWD: &str = "root:x:0:0";
/// The colour of the planted picture.
const MAGENTA: [u8; 3] = [251, 3, 247];

/// Spellings of a file's address; `PATH` begins without a slash.
const SPELLINGS: &[&str] = &[
    "file:///PATH",
    "FILE:///PATH",
    "FiLe:///PATH",
    "file:/PATH",
    "file:PATH",
    "file:////PATH",
    "file://localhost/PATH",
    "file://127.0.0.1/PATH",
    "file:\\\\\\PATH",
    "file:%2f%2f%2fPATH",
    "\\\\localhost\\PATH",
    "//localhost/PATH",
    "http://localhost/PATH",
    " file:///PATH",
    "fi\tle:///PATH",
    "view-source:file:///PATH",
    "filesystem:file:///temporary/PATH",
    "blob:file:///PATH",
    "jar:file:///PATH!/",
    "data:text/html,<iframe src='file:///PATH'></iframe>",
    "javascript:location.href='file:///PATH'",
    "/PATH",
    "../../../../../../../../../../PATH",
    "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/PATH",
    "/..%2f..%2f..%2f..%2f..%2fPATH",
    "/..%5c..%5c..%5cPATH",
    "/....//....//....//PATH",
    "/%252e%252e/%252e%252e/PATH",
    "/..;/..;/PATH",
    "/\\..\\..\\..\\PATH",
    "///PATH",
    "chrome://file///PATH",
    "content:///PATH",
    "about:blank#file:///PATH",
];

/// Carriers, each with a planted file of its own, whose name stands in place of `NAME` in the address.
const CARRIERS: &[(&str, &str, &str)] = &[
    ("iframe", "iframe.html", "<iframe src=\"ADDRESS\"></iframe>"),
    ("iframe of text", "plain.txt", "<iframe src=\"ADDRESS\"></iframe>"),
    ("object", "object.html", "<object data=\"ADDRESS\"></object>"),
    ("embed", "embed.html", "<embed src=\"ADDRESS\">"),
    ("embed of svg", "embed.svg", "<embed src=\"ADDRESS\" type=image/svg+xml>"),
    ("img", "img.svg", "<img src=\"ADDRESS\">"),
    ("svg image", "image.svg", "<svg><image href=\"ADDRESS\" width=99 height=99 /></svg>"),
    ("svg use", "use.svg", "<svg><use href=\"ADDRESS#a\" /></svg>"),
    ("stylesheet", "link.css", "<link rel=stylesheet href=\"ADDRESS\"><b class=link></b>"),
    ("import", "import.css", "<style>@import \"ADDRESS\";</style><b class=import></b>"),
    ("url()", "url.svg", "<p style='content:url(\"ADDRESS\")'></p>"),
    ("script", "script.js", "<script src=\"ADDRESS\"></script>"),
    ("module", "module.js", "<script type=module src=\"ADDRESS\"></script>"),
    (
        "preload",
        "preload.js",
        "<link rel=preload as=script href=\"ADDRESS\"><link rel=prefetch href=\"ADDRESS\">",
    ),
    ("video track", "track.vtt", "<video controls src=/own.txt><track default src=\"ADDRESS\"></video>"),
];

/// Carriers that are script, with the address in `to`.
const SCRIPTS: &[(&str, &str, &str)] = &[
    ("fetch", "fetch.txt", "fetch(to).then(it => it.text()).then(say, () => 0)"),
    (
        "XMLHttpRequest",
        "xhr.txt",
        "const x = new XMLHttpRequest(); x.open('GET', to); x.onload = () => say(x.responseText); x.send()",
    ),
    ("dynamic import", "dynamic.js", "import(to).catch(() => 0)"),
    ("worker", "worker.js", "new Worker(to).onmessage = event => say(event.data)"),
    (
        "FontFace",
        "face.ttf",
        "new FontFace('f', `url(\"${to}\")`).load().then(() => say('s3cret0fface.ttf'), () => 0)",
    ),
    ("canvas", "canvas.png", "const i = new Image(); i.onload = () => document.body.append(i); i.src = to"),
    (
        "window.open",
        "open.html",
        "const w = window.open(to); setTimeout(() => { try { say(w.document.body.innerText) } catch {} }, 99)",
    ),
];

/// A folder in which each carrier finds its file.
fn plant() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (_, name, _) in CARRIERS.iter().chain(SCRIPTS) {
        let secret = format!("{SECRET}{name}");
        let stem = name.split('.').next().unwrap();
        let content = match name.rsplit('.').next().unwrap() {
            "html" => format!("<p>{secret}").into_bytes(),
            "svg" => format!("<svg xmlns='http://www.w3.org/2000/svg' width='300' height='30'><text id='a' y='20'>{secret}</text></svg>").into_bytes(),
            "css" => format!(".{stem}::after{{content:'{secret}'}}").into_bytes(),
            "js" => format!("try{{document.body.append('{secret}')}}catch{{postMessage('{secret}')}}").into_bytes(),
            "vtt" => format!("WEBVTT\n\n00:00.000 --> 10:00.000\n{secret}\n").into_bytes(),
            "png" => picture(),
            "ttf" => std::fs::read("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").unwrap(),
            _ => secret.into_bytes(),
        };
        put(folder.path(), name, &content);
    }
    folder
}

fn put(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
}

fn picture() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 60, 60);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&MAGENTA.repeat(60 * 60)).unwrap();
    bytes
}

fn page(spelling: &str, folder: &Path) -> String {
    let folder = folder.to_str().unwrap().trim_start_matches('/');
    let address = |name: &str| spelling.replace("PATH", &format!("{folder}/{name}"));
    let mut page = "<!doctype html><meta charset=utf-8><p>page\
        <script>const say = text => document.body.append(String(text))</script>"
        .to_owned();
    for (_, name, carrier) in CARRIERS {
        page += &carrier.replace("ADDRESS", &address(name).replace('"', "&quot;"));
    }
    for (_, name, carrier) in SCRIPTS {
        let to = json!(address(name)).to_string();
        let script = ["<script>{ const to = ", &to, "; try { ", carrier, " } catch {} }</script>"];
        page.extend(script);
    }
    let passwd = spelling.replace("PATH", "etc/passwd").replace('"', "&quot;");
    page + &format!("<iframe src=\"{passwd}\"></iframe><object data=\"{passwd}\"></object>")
}

/// Content of the planted files in what the owner got.
fn leaks_of(made: &Made, name: &str) -> Vec<String> {
    let mut leaks = Vec::new();
    leaks.extend(made.holds(&format!("{SECRET}{name}")).then(|| format!("the bytes of {name}")));
    leaks.extend(made.holds(PASSWD).then(|| "the bytes of /etc/passwd".to_owned()));
    if made.target == "png" && name.contains(".png") && !made.file.is_empty() {
        let seen = crate::support::picture_of(&made.file).count([MAGENTA[0], MAGENTA[1], MAGENTA[2], 255]);
        leaks.extend((seen > 100).then(|| format!("{seen} pixels of {name}")));
    }
    leaks
}

#[actix::test]
async fn no_spelling_of_a_file_is_read() {
    let (app, planted) = (TestApp::start().await, plant());
    let attempts = SPELLINGS.iter().enumerate().flat_map(|(number, spelling)| {
        // A picture of the page and the page itself for some of them: what is not in one is not in the others.
        let targets: &[&str] = if number % 4 == 0 { &["pdf", "png", "html"] } else { &["pdf"] };
        targets.iter().map(move |target| (spelling, *target))
    });
    let attempts = attempts.map(async |(spelling, target)| {
        let made = render(&app, &app.token, Order::packed(&page(spelling, planted.path()), target)).await;
        let all = CARRIERS.iter().chain(SCRIPTS);
        let of_carrier = |(carrier, name, _): &(&str, &str, &str)| Outcome {
            name: format!("{} to {target}", spelling.replace(['\t', '\n'], " ")),
            carrier: (*carrier).to_owned(),
            leaks: leaks_of(&made, name),
            messages: made.messages(),
        };
        all.map(of_carrier).collect::<Vec<_>>()
    });
    let outcomes: Vec<_> = futures_util::stream::iter(attempts).buffer_unordered(3).collect().await;
    report(
        "suite A, files by spelling and carrier (bytes in what the owner got)",
        outcomes.into_iter().flatten().collect(),
    );
}

/// Carriers that show nothing on paper although the file was read, or only show it as a picture.
const UNSEEN: [&str; 4] = ["preload.js", "track.vtt", "canvas.png", "open.html"];

#[actix::test]
async fn a_carrier_that_reaches_a_file_shows_it() {
    let (app, planted) = (TestApp::start().await, plant());
    let names: Vec<_> = CARRIERS.iter().chain(SCRIPTS).map(|(_, name, _)| *name).collect();
    let contents: Vec<_> =
        names.iter().map(|name| std::fs::read(planted.path().join(name)).unwrap()).collect();
    let page = page("/PATH", Path::new("planted"));
    let paths: Vec<_> = names.iter().map(|name| format!("planted/{name}")).collect();
    let mut files: Vec<(&str, &[u8])> =
        paths.iter().map(String::as_str).zip(contents.iter().map(Vec::as_slice)).collect();
    files.push(("index.html", page.as_bytes()));
    for target in ["pdf", "png"] {
        let made =
            render(&app, &app.token, Order { template: archive(&files), target, opts: json!({}) }).await;
        for name in &names {
            let expected = if target == "pdf" { !UNSEEN.contains(name) } else { *name == "canvas.png" };
            assert_eq!(
                !leaks_of(&made, name).is_empty(),
                expected,
                "{name} to {target}: {}",
                made.messages()
            );
        }
    }
}

/// A carrier that navigates.
const LEAVING: &[(&str, &str)] = &[
    ("meta refresh", "<meta http-equiv=refresh content='0;url=ADDRESS'>"),
    ("location", "<script>location.href = 'ADDRESS'</script>"),
    ("location.replace", "<script>location.replace('ADDRESS')</script>"),
    ("form", "<form action='ADDRESS'></form><script>document.forms[0].submit()</script>"),
    ("form post", "<form method=post action='ADDRESS'></form><script>document.forms[0].submit()</script>"),
    ("base", "<base href='ADDRESS'><iframe src=iframe.html></iframe><script src=script.js></script>"),
    ("link click", "<a href='ADDRESS'>a</a><script>document.querySelector('a').click()</script>"),
    ("link download", "<a href='ADDRESS' download>a</a><script>document.querySelector('a').click()</script>"),
    ("window.open", "<script>window.open('ADDRESS')</script>"),
    ("history", "<script>try { history.pushState(0, '', 'ADDRESS'); location.reload() } catch {}</script>"),
    ("frame of a frame", "<iframe srcdoc=\"<script>top.location = 'ADDRESS'</script>\"></iframe>"),
    ("document.write", "<script>document.write(\"<iframe src='ADDRESS'></iframe>\")</script>"),
    ("service worker", "<script>navigator.serviceWorker.register('ADDRESS').catch(() => 0)</script>"),
    (
        "sandboxed frame",
        "<iframe sandbox='allow-scripts allow-top-navigation' srcdoc=\"<iframe src='ADDRESS'></iframe>\"></iframe>",
    ),
];

#[actix::test]
async fn no_page_goes_to_a_file() {
    // A form that leads to a file keeps the load event from coming, which is waited for this long.
    let app = TestApp::with(&[("browser.load_timeout_ms", "5000")]).await;
    let planted = plant();
    let folder = planted.path().to_str().unwrap().to_owned();
    let leaving = LEAVING.iter().flat_map(|(name, carrier)| {
        let planted = (format!("file://{folder}/iframe.html"), "a planted file");
        [planted, ("file:///etc/passwd".to_owned(), "/etc/passwd")].map(|(address, of)| {
            let order = Order::pdf(&format!("<p>page{}", carrier.replace("ADDRESS", &address)));
            ((*name).to_owned(), of, order)
        })
    });
    let headers = CARRIERS.iter().map(|(name, file, carrier)| {
        let header = carrier.replace("ADDRESS", &format!("file://{folder}/{file}"));
        let opts =
            json!({"headerTemplate": header, "footerTemplate": "<iframe src='file:///etc/passwd'></iframe>"});
        (format!("header with {name}"), "header, footer", Order { opts, ..Order::pdf("<p>page") })
    });
    let archives = archives(&folder)
        .into_iter()
        .map(|(name, template)| (name, "an archive", Order { template, ..Order::pdf("") }));
    let attempts = leaving.chain(headers).chain(archives).map(async |(name, carrier, order)| {
        let made = render(&app, &app.token, order).await;
        let mut leaks: Vec<_> = CARRIERS.iter().flat_map(|(_, file, _)| leaks_of(&made, file)).collect();
        let taken = carrier == "an archive" && made.view["success"] == true;
        leaks.extend(taken.then(|| "it was taken for a template".to_owned()));
        Outcome { name, carrier: carrier.to_owned(), leaks, messages: made.messages() }
    });
    let outcomes = futures_util::stream::iter(attempts).buffer_unordered(4).collect().await;
    report(
        "suite A, pages that leave, headers and footers, archives (bytes in what the owner got)",
        outcomes,
    );
}

/// Archives whose entries lead out of them.
fn archives(folder: &str) -> Vec<(String, Vec<u8>)> {
    let page: &[u8] = b"<iframe src=a.html></iframe>";
    let link = |target: &str| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let plain = zip::write::SimpleFileOptions::default();
        writer.start_file("index.html", plain).unwrap();
        std::io::Write::write_all(&mut writer, page).unwrap();
        writer.add_symlink("a.html", target, plain).unwrap();
        writer.finish().unwrap().into_inner()
    };
    let entry = |name: &str| archive(&[("index.html", page), (name, b"x")]);
    vec![
        ("symlink to a file".to_owned(), link(&format!("{folder}/iframe.html"))),
        ("symlink upwards".to_owned(), link("../../../../etc/passwd")),
        ("entry upwards".to_owned(), entry("../a.html")),
        ("absolute entry".to_owned(), entry("/etc/a.html")),
        ("entry with backslashes".to_owned(), entry("..\\..\\a.html")),
    ]
}
