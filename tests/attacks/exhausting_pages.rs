//! Suite F for pages, by the whole service: dialogs, windows and navigation without end, documents and pictures of any size. Each
//! job ends by itself or at a limit, another account's page is made meanwhile, and nothing is left.

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::documents::made::huge_png;
use crate::remains::WatchedApp;
use crate::service::{Order, archive, render, text_of};
use crate::table::{Outcome, report};

/// The error codes that such pages may end with.
const ENDS: [&str; 9] = [
    "load_timeout",
    "readiness_timeout",
    "print_timeout",
    "page_crashed",
    "page_memory",
    "output_too_large",
    "options_invalid",
    "template_limit",
    "run_timeout",
];
const PDF: &[&str] = &["pdf"];
/// A picture is made of a tab as a PDF is.
const FILES: &[&str] = &["pdf", "html"];
const ALL: &[&str] = &["pdf", "png", "html"];
const PICTURES: &[&str] = &["pdf", "png"];

/// A name, targets, the page, its options, and whether it is made.
type Page = (&'static str, &'static [&'static str], String, Value, Option<bool>);

fn script(code: &str) -> String {
    format!("<p>own text</p><script>{code}</script>")
}

fn pages() -> Vec<Page> {
    let none = || json!({});
    let deep = "<div>".repeat(100_000);
    let made = Some(true);
    vec![
        ("dialogs", FILES, script("document.body.append([alert(1), confirm(2), prompt(3, 4)].join())"), none(), made),
        ("dialogs without end", PDF, script("for (;;) alert(1)"), none(), Some(false)),
        ("dialogs of a frame", PDF, format!("<p>own text<iframe srcdoc=\"{}\"></iframe>", "<script>for (;;) confirm(1)</script>"), none(), None),
        ("a dialog before it is left", FILES, script("onbeforeunload = event => { event.preventDefault(); alert(1); return 'stay' }; onpagehide = onunload = () => { for (let i = 0; i < 99; i++) alert(i) }"), none(), made),
        ("dialogs before it is printed", PDF, script("onbeforeprint = onafterprint = () => { for (let i = 0; i < 99; i++) alert(i) }; matchMedia('print').onchange = () => { for (let i = 0; i < 99; i++) alert(i) }"), none(), made),
        // By the hundred: with more of them a loaded machine does not load the page in the brief time that it has here.
        ("windows", FILES, script("for (let i = 0; i < 100; i++) { window.open('/' + i); window.open(); } const a = document.createElement('a'); a.target = '_blank'; a.href = '/x'; document.body.append(a); for (let i = 0; i < 100; i++) a.click()"), none(), made),
        ("printing and closing", ALL, script("print(); close(); print()"), none(), None),
        ("navigation without end", PDF, script("onload = () => setTimeout(() => { location.href = '/?' + Math.random() }, 30)"), none(), Some(false)),
        ("loading again without end", PDF, script("onload = () => setTimeout(() => location.reload(), 30)"), none(), None),
        ("a form without end", PDF, "<p>own text<form></form><script>onload = () => setTimeout(() => document.forms[0].submit(), 30)</script>".to_owned(), none(), None),
        ("a frame that navigates without end", PDF, "<p>own text<iframe srcdoc=\"<script>location.href = 'about:srcdoc?' + Math.random(); setInterval(() => location.reload(), 20)</script>\"></iframe>".to_owned(), none(), None),
        ("history without end", PDF, script("let n = 0; setInterval(() => { history.pushState(0, '', '?' + n++); history.back() }, 10)"), none(), None),
        ("elements in each other", ALL, format!("{deep}own text"), none(), None),
        ("elements in each other by script", PDF, format!("{}<p>", script("let at = document.body; for (let i = 0; i < 100000; i++) at = at.appendChild(document.createElement('i')); at.textContent = 'deep'")), none(), None),
        ("frames in each other", PDF, script("const nest = w => { const f = w.document.createElement('iframe'); w.document.body.append(f); nest(f.contentWindow) }; try { nest(window) } catch {}"), none(), None),
        ("a canvas", PICTURES, script("const c = document.createElement('canvas'); c.width = c.height = 50000; document.body.append(c); const x = c.getContext('2d'); x?.fillRect(0, 0, 50000, 50000); document.body.append(c.toDataURL().length)"), none(), None),
        ("many canvases", PDF, script("for (let i = 0; i < 60; i++) { const c = document.createElement('canvas'); c.width = c.height = 16000; c.getContext('2d').fillRect(0, 0, 16000, 16000); document.body.append(c) }"), none(), None),
        ("a drawing", PDF, "<p>own text<svg width=50000 height=50000><filter id=f width=50000 height=50000><feTurbulence baseFrequency=.9 numOctaves=9 /><feGaussianBlur stdDeviation=900 /></filter><rect width=50000 height=50000 filter='url(#f)'/></svg>".to_owned(), none(), None),
        ("a high page", PDF, "<p>own text<div style='height:1e8px'>".to_owned(), none(), None),
        ("a high sheet", PDF, "<p>own text<div style='height:1e8px'>".to_owned(), json!({"height": "auto"}), None),
        ("a high picture", &["png", "jpg"], "<p>own text<div style='height:1e8px;width:1e8px'>".to_owned(), json!({"fullPage": true}), Some(false)),
        ("a wide element as a picture", &["png"], "<p id=p style='height:1e6px;width:1e6px'>own text".to_owned(), json!({"selector": "#p"}), Some(false)),
        ("columns and spans", PDF, "<p>own text<table><tr><td colspan=1000 rowspan=65534>x</table><div style='columns:9999'>x</div><div style='display:grid;grid-template-columns:repeat(1000000,1px)'>x</div>".to_owned(), none(), None),
        ("counters", PDF, format!("<style>@page{{margin:1cm;@top-left{{content:{}}}}}</style><p>own text", "counter(page) ".repeat(10_000)), none(), None),
    ]
}

/// A picture of 50,000 × 50,000 dots in a page.
fn picture() -> Vec<u8> {
    archive(&[
        ("index.html", b"<p>own text<img src=p.png><img src=p.png style='width:50000px'>"),
        ("p.png", &huge_png()),
    ])
}

async fn outcome(
    app: &TestApp,
    others: &str,
    (name, order, expected): (&str, Order, Option<bool>),
) -> Outcome {
    let target = order.target;
    let made = render(app, &app.token, order).await;
    let code = made.view["errorCode"].as_str().unwrap_or_default();
    let mut leaks = Vec::new();
    let is_made = made.view["success"] == true;
    leaks.extend((!is_made && !ENDS.contains(&code)).then(|| made.view.to_string()));
    leaks.extend(
        (expected.is_some_and(|expected| expected != is_made))
            .then(|| format!("made: {is_made}, {}", made.view)),
    );
    if is_made && target == "pdf" && expected == Some(true) {
        leaks.extend((!text_of(&made.file).contains("own text")).then(|| text_of(&made.file)));
    }
    let other = render(app, others, Order::pdf("<p>other<script>1</script>")).await;
    leaks.extend((!other.holds("other")).then(|| format!("another account: {}", other.view)));
    Outcome {
        name: name.to_owned(),
        carrier: target.to_owned(),
        leaks,
        messages: format!("{code} {}", made.messages()),
    }
}

#[actix::test]
async fn a_page_that_wants_everything_costs_its_own_job_only() {
    let brief = [
        ("browser.tabs", "4"),
        ("browser.load_timeout_ms", "3000"),
        ("browser.readiness_timeout_ms", "2500"),
        ("browser.rest_cap_ms", "1500"),
        ("browser.print_timeout_ms", "2500"),
        ("browser.long_page_ms_per_mb", "1000"),
        ("browser.renderer_memory_limit_mb", "1024"),
    ];
    let watched = WatchedApp::start(&brief).await;
    let app = &watched.app;
    app.command(&["account", "create", "other"]);
    let others = app.command(&["token", "create", "--account", "other"]);
    let pages = pages();
    let written = pages.iter().flat_map(|(name, targets, page, opts, expected)| {
        targets.iter().map(move |target| {
            let order = Order { opts: opts.clone(), ..Order::packed(page, target) };
            (*name, order, *expected)
        })
    });
    let drawn = PICTURES
        .iter()
        .map(|target| ("a picture", Order { template: picture(), target, opts: json!({}) }, None));
    let outcomes = futures_util::stream::iter(written.chain(drawn)).map(|page| outcome(app, &others, page));
    let outcomes = outcomes.buffer_unordered(3).collect().await;
    report("Suite F: pages by target", outcomes);
    watched.finish().await;
}

/// Sizes that nobody can have, by type and target, and the option or the limit that the answer names.
const SIZES: &[(&str, &str, &str, &str)] = &[
    ("html", "png", r#"{"viewport":{"width":50000,"height":50000}}"#, "viewport_side_limit_px"),
    ("html", "png", r#"{"viewport":{"width":16384,"height":16384}}"#, "picture_limit_pixels"),
    ("html", "png", r#"{"viewport":{"deviceScaleFactor":1e308}}"#, "deviceScaleFactor"),
    ("html", "pdf", r#"{"viewport":{"width":-1}}"#, "/viewport/width"),
    ("html", "pdf", r#"{"width":"1e9in","height":"1e9in"}"#, "/formatOpts/width"),
    ("html", "pdf", r#"{"margin":"1e9cm"}"#, "/formatOpts/margin"),
    ("html", "pdf", r#"{"scale":1e-300}"#, "/formatOpts/scale"),
    ("html", "pdf", r#"{"fromPage":4294967295,"toPage":1}"#, "Page"),
    ("html", "jpg", r#"{"quality":1e18}"#, "/formatOpts/quality"),
    ("html", "pptx", r#"{"dpi":1e18}"#, "/formatOpts/dpi"),
    ("latex", "png", r#"{"dpi":1201}"#, "/formatOpts/dpi"),
    ("latex", "png", r#"{"pages":"1-4294967296"}"#, "/formatOpts/pages"),
    ("html", "pdf", r#"{"waitForTimeout":1e18}"#, "wait_limit_ms"),
    ("latex", "png", r#"{"dpi":1200}"#, "raster.picture_limit_pixels"),
    ("docx", "png", r#"{"dpi":1200}"#, "raster.picture_limit_pixels"),
    ("latex", "pptx", r#"{"dpi":1200}"#, "raster.picture_limit_pixels"),
];

#[actix::test]
async fn a_picture_of_any_size_is_refused_with_the_limit() {
    let watched = WatchedApp::start(&[]).await;
    let app = &watched.app;
    // Two metres wide and high.
    let latex = "\\documentclass{article}\\pdfpagewidth=2000mm \\pdfpageheight=2000mm \\begin{document}x\\end{document}";
    let word = "<w:p><w:pPr><w:sectPr><w:pgSz w:w=\"31680\" w:h=\"31680\"/></w:sectPr></w:pPr></w:p>";
    let word = crate::documents::made::word(word, &[], &[]);
    for (kind, target, options, named) in SIZES {
        let options: Value = serde_json::from_str(options).unwrap();
        let body = json!({"type": kind, "target": target, "data": {}, "formatOpts": options});
        let (status, answer) = app.post("/v1/documents/init", &body).await;
        let messages = if status == 200 {
            let template = match *kind {
                "latex" => latex.as_bytes().to_vec(),
                "docx" => word.clone(),
                _ => b"<p>x".to_vec(),
            };
            assert_eq!(app.put(answer["presignedTemplateUploadUrl"].as_str().unwrap(), template).await, 200);
            let view = app.finish(answer["jobId"].as_str().unwrap()).await;
            assert_eq!(view["success"], false, "{kind} {target} {options}: {view}");
            view.to_string()
        } else {
            assert_eq!(status, 422, "{answer}");
            answer.to_string()
        };
        assert!(messages.contains(named), "{kind} {target} {options}: {messages}");
    }
    watched.finish().await;
}
