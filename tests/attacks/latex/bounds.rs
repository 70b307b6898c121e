//! Limits of documents: each of these uses one resource without end and is stopped, and a good one after it is made.

use super::{document, made};
use crate::app::{TestApp, descendants};
use crate::service::text_of;
use crate::table::{Outcome, report};

/// A name, the program, the code, and words of the message.
const BOMBS: &[(&str, &str, &str, &str)] = &[
    ("a loop", "pdflatex", r"\def\x{\x}\x", "tex.processor_limit_s"),
    ("a loop of lua", "lualatex", r"\directlua{while true do end}", "tex.processor_limit_s"),
    (
        "sleep",
        "lualatex",
        r"\directlua{local t = os.time() while os.time() < t + 600 do end}",
        "tex.processor_limit_s",
    ),
    ("doubling", "pdflatex", r"\def\x{\x\x}\x", "TeX capacity exceeded"),
    (
        "doubled definitions",
        "pdflatex",
        r"\def\x{a}\loop\edef\x{\x\x}\iftrue\repeat",
        "TeX capacity exceeded",
    ),
    (
        "memory of lua",
        "lualatex",
        r#"\directlua{local t, n = {}, 0 while true do n = n + 1 table.insert(t, string.rep("x", 20000000) .. n) end}"#,
        "tex.memory_limit_mb",
    ),
    (
        "one large text",
        "lualatex",
        r#"\directlua{local t = string.rep("x", 2000000000) .. "y" tex.print(string.len(t))}"#,
        "",
    ),
    (
        "a file without an end",
        "pdflatex",
        r"\immediate\openout5=x \def\x{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}\loop\immediate\write5{\x\x\x\x\x\x\x\x\x\x\x\x}\iftrue\repeat",
        "tex.files_limit_mb",
    ),
    (
        "a file of lua",
        "lualatex",
        r#"\directlua{local file = io.open("x", "w") local t = string.rep("x", 1000000) while true do file:write(t) end}"#,
        "tex.files_limit_mb",
    ),
    (
        "a log without an end",
        "pdflatex",
        r"\def\x{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}\loop\wlog{\x\x\x\x\x\x\x\x\x\x\x\x\x\x}\iftrue\repeat",
        "tex.files_limit_mb",
    ),
    (
        "files",
        "lualatex",
        r#"\directlua{local n = 0 while true do n = n + 1 io.open("f" .. n, "w"):close() end}"#,
        "tex.files_limit",
    ),
    (
        "folders in folders",
        "lualatex",
        r#"\directlua{while lfs.mkdir("x") and lfs.chdir("x") do end while true do end}"#,
        "tex.",
    ),
    (
        "words without an end",
        "lualatex",
        r#"\directlua{while true do io.write("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") end}"#,
        "tex.printed_limit_bytes",
    ),
    ("pages without an end", "pdflatex", r"\loop\shipout\hbox{x}\iftrue\repeat", "tex."),
    (
        "a page too large",
        "pdflatex",
        r"\pdfpagewidth=16000pt \loop\advance\pdfpagewidth by 16000pt \iftrue\repeat",
        "tex.",
    ),
];

#[actix::test]
async fn an_endless_document_is_stopped_and_the_next_one_is_made() {
    let app = TestApp::with(&[
        // Of the processor's time, so that a busy machine has what is good end well.
        ("tex.processor_limit_s", "4"),
        ("tex.timeout_ms", "100000"),
        ("tex.memory_limit_mb", "400"),
        ("tex.files_limit_mb", "32"),
        ("tex.files_limit", "300"),
    ])
    .await;
    let mut outcomes = Vec::new();
    // The font cache is made first, so that no bomb's deadline is spent on it.
    let (view, pdf) = made(&app, "lualatex", &document("good")).await;
    assert!(text_of(&pdf).contains("good"), "{view}");
    for (name, engine, code, words) in BOMBS {
        let (view, _) = made(&app, engine, &document(code)).await;
        let messages = view["error"].as_str().unwrap_or("made").to_owned();
        let mut leaks = Vec::new();
        leaks.extend((!messages.contains(words)).then(|| format!("no '{words}' in: {messages}")));
        leaks.extend((view["errorCode"] == "internal").then(|| view.to_string()));
        let (view, pdf) = made(&app, "pdflatex", &document("good")).await;
        leaks.extend((pdf.is_empty() || !text_of(&pdf).contains("good")).then(|| view.to_string()));
        outcomes.push(Outcome { name: (*name).to_owned(), carrier: (*engine).to_owned(), leaks, messages });
    }
    app.until("no TeX is left", async || descendants(app.pid()).iter().all(|(pid, _)| !is_tex(*pid))).await;
    report("suite D for LaTeX: what a document may take", outcomes);
}

fn is_tex(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    ["pdflatex", "lualatex", "xelatex", "xdvipdfmx"].contains(&name.trim())
}
