//! Suite D for Office tags: expressions, filters, sections and commands that want everything, in Word, Excel and PowerPoint files;
//! and template code without end in LaTeX and in a header. Each ends with an error that helps or with a document, and the next
//! document is made.

use std::time::Instant;

use futures_util::StreamExt as _;

use crate::app::{PATIENCE, TestApp};
use crate::documents::made::lines;
use crate::remains::WatchedApp;
use crate::routes::{Route, Sent, made, words};
use crate::table::{Outcome, report};

/// The error codes that a bomb may end with; any other is a fault of the service.
const ENDS: [&str; 4] = ["template_error", "template_invalid", "template_limit", "output_too_large"];
/// Largest file that may be made of any of them; they are a few kilobytes themselves.
const LARGEST: usize = 120 << 20;
const WORD: &[&str] = &["docx"];
const EXCEL: &[&str] = &["xlsx"];
const SLIDES: &[&str] = &["pptx"];
const ALL: &[&str] = &["docx", "xlsx", "pptx"];
/// Names what a bomb is, the types of files that it goes off in, its text, and words of the error; none where it may be made.
type Bomb = (&'static str, &'static [&'static str], &'static str, &'static str);

const BOMBS: &[Bomb] = &[
    ("doubled text", ALL, r#"{(() => { let s = "x"; for (;;) { s += s + "y"; s.indexOf("z") } })()}"#, ""),
    (
        "kept texts",
        ALL,
        r#"{(() => { const all = []; for (;;) all.push("x".repeat(1e6) + all.length) })()}"#,
        "(assemble.",
    ),
    ("repeat", ALL, r#"{"x".repeat(2 ** 30)}"#, ""),
    ("repeat as a filter", ALL, r#"{"xy" | repeat(700000000)}"#, ""),
    ("padding", ALL, r#"{"x" | padStart(1000000000, "ab")}"#, ""),
    ("join", EXCEL, r#"{Array(30000000) | join("xxxxxxxxxxxxxxxxxxxx")}"#, ""),
    ("a number's pattern", ALL, r#"{1 | number("0".repeat(1e5))}"#, "number"),
    ("a number's width", ALL, r"{1 | number({minimumIntegerDigits: 1e9})}", ""),
    ("places of percent", ALL, r"{1 | percent(999)}", ""),
    ("a date's pattern", SLIDES, r#"{"2026-01-01" | date("D".repeat(1e7))}"#, ""),
    ("a loop", WORD, "{(() => { for (;;) {} })()}", "(assemble.timeout_ms)"),
    ("a sort without end", EXCEL, "{[3, 1, 2].sort(() => { for (;;) {} })}", "(assemble.timeout_ms)"),
    ("a text without end", SLIDES, "{({toString() { for (;;) {} }})}", "(assemble.timeout_ms)"),
    ("recursion", ALL, "{(f => f(f))(f => f(f) + 1)}", "Maximum call stack"),
    (
        "backtracking",
        WORD,
        r#"{(() => { for (;;) RegExp("(a*)*(a*)*b").test("a".repeat(40)) })()}"#,
        "(assemble.timeout_ms)",
    ),
    ("powers", EXCEL, "{(() => { let b = 3n ** 100000n; for (;;) b * b })()}", "(assemble.timeout_ms)"),
    ("turns of turns", ALL, "{#Array(1000)}{#Array(1000000)}x{/}{/}", "(office.items_limit"),
    ("the longest list", ALL, "{#Array(2 ** 32 - 1)}x{/}", "(office.items_limit"),
    ("a long text in each turn", SLIDES, r#"{#Array(900000)}{"x".repeat(300)}{/}"#, "(assemble."),
    (
        "a list in itself",
        ALL,
        "{(() => { const list = []; list.push(list); return list })()}",
        "Maximum call stack",
    ),
    ("no text", ALL, "{Object.setPrototypeOf({}, null)}", ""),
    ("spans of cells", WORD, r#"{~"<table><tr><td colspan=1000000000 rowspan=1000000000>x</table>"}"#, ""),
    ("columns", WORD, r#"{~"<table><tr>" + "<td>x".repeat(100000) + "</table>"}"#, ""),
    ("elements in each other", WORD, r#"{~"<div><i>".repeat(100000) + "x"}"#, ""),
    ("tables in each other", WORD, r#"{~"<table><tr><td>".repeat(5000) + "x"}"#, ""),
    ("lists in each other", WORD, r#"{~"<ol start=999999999999999999><li>".repeat(5000) + "x"}"#, ""),
    ("styles", WORD, r#"{~"<p style='" + "color:red;".repeat(200000) + "'>x"}"#, ""),
    ("XML in itself", WORD, r#"{@"<w:r>".repeat(100000) + "</w:r>".repeat(100000)}"#, "200"),
    ("entities of XML", WORD, r#"{@"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>]><w:r><w:t>&a;</w:t></w:r>"}"#, ""),
    ("levels of contents", WORD, "{:toc 1000000000}", ""),
    ("a picture's size", WORD, r#"{%qr "x" | size("999999999999cm", "999999999999cm")}"#, ""),
    ("a code's text", ALL, r#"{%qr "x".repeat(1e7)}"#, ""),
    ("a bar code's text", ALL, r#"{%barcode "x".repeat(1e7)}"#, ""),
    ("a code's margin", WORD, r#"{%qr "x" | margin(1000000000)}"#, ""),
    ("an address", WORD, r#"{:link "x" "https://example.org/".padEnd(1e7, "x")}"#, ""),
    ("a file of itself", WORD, r#"{:include "index.docx"}"#, ""),
    ("all cells", EXCEL, "{-rows Array(1e6).fill(1)}{-right Array(16384)}x{/}{/}", ""),
    ("all columns", EXCEL, "{-columns Array(16384)}{#Array(70)}x{/}{/}", ""),
    ("sheets", EXCEL, "{:sheet Array(3000).fill(1)}", "office.slides_limit"),
    ("a formula in itself", EXCEL, r#"{"SUM(".repeat(100000) + "1" + ")".repeat(100000) | formula}"#, ""),
    ("slides", SLIDES, "{:slides Array(3000).fill(1)}", "office.slides_limit"),
    ("code of LaTeX", &["latex"], "<% for (;;) {} %>", "(assemble.timeout_ms)"),
    ("a value of LaTeX", &["latex"], "<% let s = '\\\\%'; for (;;) s += s %><%= s %>", "(assemble."),
    ("lines of LaTeX", &["latex"], "<%- latex.lines('%\\n'.repeat(3e7)) %>", "(assemble."),
    ("code of a header", &["header"], "<% for (;;) {} %>", "(assemble.timeout_ms)"),
    ("text of a header", &["header"], "<%= 'x'.repeat(2e6) %>", "(assemble.banner_limit_bytes)"),
    ("pages of a header", &["header"], "<% for (;;) { %>xxxxxxxxxxxxxxxx<% } %>", "(assemble."),
];

async fn made_of(app: &TestApp, kind: &str, text: &str) -> Result<Vec<u8>, String> {
    let latex = format!("\\documentclass{{article}}\\begin{{document}}{text}\\end{{document}}");
    let (route, kind, template) = match kind {
        "header" => (Route::Header, "html", text.as_bytes().to_vec()),
        "latex" => (Route::Init, kind, latex.into_bytes()),
        _ => (Route::Init, kind, lines(kind, &[text.to_owned()])),
    };
    let target = if kind == "latex" { "html" } else { kind };
    made(app, route, &Sent { kind, target, template: &template, data: "{}" }).await
}

async fn outcome(app: &TestApp, kind: &'static str, (name, _, text, expected): &Bomb) -> Outcome {
    let begun = Instant::now();
    let made = made_of(app, kind, text).await;
    let mut leaks = Vec::new();
    leaks.extend((begun.elapsed() > PATIENCE).then(|| format!("after {:?}", begun.elapsed())));
    let messages = match &made {
        Ok(file) => {
            leaks.extend((!expected.is_empty()).then(|| "it was made".to_owned()));
            leaks.extend((file.len() > LARGEST).then(|| format!("a file of {} bytes", file.len())));
            format!("a file of {} bytes", file.len())
        }
        Err(error) => {
            let is_named = ENDS.iter().any(|code| error.contains(&format!("\"errorCode\":\"{code}\"")));
            leaks.extend((!is_named || !error.contains(expected)).then(|| error.clone()));
            error.split_once("\"error\":").map_or(error.as_str(), |(_, error)| error).to_owned()
        }
    };
    Outcome { name: (*name).to_owned(), carrier: kind.to_owned(), leaks, messages }
}

#[actix::test]
async fn a_tag_takes_no_more_than_its_limits_and_the_next_document_is_made() {
    let watched = WatchedApp::start(&[("assemble.timeout_ms", "1500")]).await;
    let app = &watched.app;
    let bombs = BOMBS.iter().flat_map(|bomb| bomb.1.iter().map(move |kind| outcome(app, kind, bomb)));
    let outcomes = futures_util::stream::iter(bombs).buffer_unordered(2).collect().await;
    report("Suite D: what template code of Office files, LaTeX and headers may take", outcomes);
    for kind in ALL.iter().chain(&["latex"]) {
        // A machine that is busy may be late.
        let is_made = async || {
            let good = made_of(app, kind, if *kind == "latex" { "<%= 6 * 7 %>" } else { "{6 * 7}" }).await;
            good.is_ok_and(|file| words(&file).contains("42"))
        };
        app.until("the next document is made", is_made).await;
    }
    watched.finish().await;
}
