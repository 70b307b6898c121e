//! What a hostile document makes pandoc read, run and fetch, script in its output, and the limits of such documents.

use std::io::{Cursor, Read as _};

use serde_json::{Value, json};

use super::{PlantedFiles, SECRET, USERS, contains};
use crate::app::{TestApp, descendants};
use crate::canary::Canary;
use crate::service::archive;
use crate::table::{Outcome, report};

/// A name and the code. `FOLDER` is a folder with mode 0777, `PORT` a port that must not be reached.
const TRIES: &[(&str, &str)] = &[
    ("read: input", r"\input{/etc/passwd}"),
    ("read: input of ours", r"\input{FOLDER/secret}"),
    ("read: include", r"\include{FOLDER/secret}"),
    ("read: going up", r"\input{../../../../../../../../../../etc/passwd}"),
    ("read: subfile", r"\subfile{FOLDER/secret}"),
    ("read: usepackage", r"\usepackage{FOLDER/secret}\secret"),
    ("read: listing", r"\lstinputlisting{/etc/passwd}"),
    ("read: listing of ours", r"\lstinputlisting{FOLDER/secret.tex}"),
    ("read: verbatim", r"\verbatiminput{/etc/passwd}"),
    ("read: minted", r"\inputminted{text}{FOLDER/secret.tex}"),
    ("read: csv", r"\csvautotabular{FOLDER/secret.tex}"),
    ("read: picture", r"\includegraphics{/etc/passwd}"),
    ("read: picture of ours", r"\includegraphics{FOLDER/secret.png}"),
    ("read: picture going up", r"\includegraphics{x/../../../../../../../FOLDER/secret.png}"),
    ("read: drawing of ours", r"\includesvg{FOLDER/secret}"),
    ("read: picture by its address", r"\includegraphics{file:///etc/passwd}"),
    (
        "read: graphicspath",
        r"\graphicspath{{/etc/}{FOLDER/}}\includegraphics{secret.png}\includegraphics{passwd}",
    ),
    ("read: bibliography", r"\bibliography{/etc/passwd}\cite{x}"),
    ("read: bibliography of ours", r"\addbibresource{FOLDER/secret.bib}\cite{x}"),
    ("read: processes", r"\input{/proc/self/environ}\lstinputlisting{/proc/1/cmdline}"),
    ("read: program", r"\lstinputlisting{/usr/local/lib/platen/pandoc.txt}"),
    ("net: picture", r"\includegraphics{http://127.0.0.1:PORT/x.png}"),
    ("net: bibliography", r"\addbibresource{http://127.0.0.1:PORT/x.bib}\cite{x}"),
    ("net: input", r"\input{http://127.0.0.1:PORT/x}"),
    ("run: write18", r"\immediate\write18{touch FOLDER/run}"),
    ("run: pipe", r#"\input{|"touch FOLDER/run"}"#),
    ("run: lua", r#"\directlua{os.execute("touch FOLDER/run")}"#),
    ("write: openout", r"\immediate\openout5=FOLDER/written \immediate\write5{x}"),
    ("write: filecontents", r"\begin{filecontents}{FOLDER/written}x\end{filecontents}"),
    (
        "script: link",
        r"\href{javascript:alert(1)}{x}\href{JaVa Script:alert(1)}{x}\url{vbscript:x}\href{data:text/html,GOT}{x}",
    ),
    (
        "script: listing",
        "\\begin{lstlisting}[onclick=alert(1),onmouseover=alert(1),style=x]\nx\n\\end{lstlisting}",
    ),
    ("script: markup", r"<script>alert(1)</script> \verb|<img src=x onerror=alert(1)>| $\text{<script>}$"),
    (
        "script: label",
        r#"\section{x}\label{"><script>alert(1)</script>}\hypertarget{x" onclick="alert(1)}{x}"#,
    ),
    ("script: title", r"\title{</title><script>alert(1)</script>\href{javascript:x}{y}}\maketitle"),
    ("script: colour", r"\textcolor{red;background:url(http://127.0.0.1:PORT/x)}{x}"),
    (
        "script: raw",
        r"\begin{rawhtml}<script>alert(1)</script>\end{rawhtml}\begin{html}<script>alert(1)</script>\end{html}",
    ),
];

/// A name, the code, and words of the message; none where the document is made after all.
const BOMBS: &[(&str, &str, &str)] = &[
    ("a loop", r"\def\a{\a}\a", "calls itself"),
    ("doubling", r"\def\a{\b\b}\def\b{\c\c}\def\c{xxxxxxxxxxxxxxxxxxxx\a}\a", "(pandoc."),
    (
        "powers",
        r"\def\a{xxxxxxxxxx}\def\b{\a\a\a\a\a\a\a\a\a\a}\def\c{\b\b\b\b\b\b\b\b\b\b}\def\d{\c\c\c\c\c\c\c\c\c\c}\def\e{\d\d\d\d\d\d\d\d\d\d}\def\f{\e\e\e\e\e\e\e\e\e\e}\def\g{\f\f\f\f\f\f\f\f\f\f}\g\g\g",
        "(pandoc.",
    ),
    ("includes of itself", r"\input{platen-own/source}", "(pandoc."),
];

/// What is made by pandoc of a document that says `code`, and all that is in the file, unpacked.
async fn made(app: &TestApp, target: &str, code: &str) -> (Value, Vec<u8>) {
    let body = json!({"type": "latex", "target": target, "data": {}});
    let job = app.init(body).await;
    let source =
        format!("\\documentclass{{article}}\n\\begin{{document}}\nhere\n\n{code}\n\n\\end{{document}}\n");
    let files = archive(&[("main.tex", source.as_bytes())]);
    assert_eq!(app.put(&job.template_url.unwrap(), files).await, 200);
    let view = app.finish(&job.id).await;
    let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
    let file = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    if target == "html" {
        return (view, file.to_vec());
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).unwrap();
    let mut all = Vec::new();
    for at in 0..archive.len() {
        archive.by_index(at).unwrap().read_to_end(&mut all).unwrap();
    }
    (view, all)
}

/// Data of the machine, or script that runs, in the file or in the job's view.
fn leaks(view: &Value, file: &[u8]) -> Vec<String> {
    let messages = view.to_string();
    let bad = [
        "<script",
        "=\"javascript:",
        "=\"vbscript:",
        "=\"data:text",
        " onclick=\"",
        " onmouseover=\"",
        " onerror=\"",
        "url(http",
    ];
    let out = [SECRET, USERS].into_iter().filter(|words| messages.contains(words) || contains(file, words));
    let lower = file.to_ascii_lowercase();
    out.chain(bad.into_iter().filter(|words| contains(&lower, words)))
        .map(|words| format!("'{words}' came out"))
        .collect()
}

#[actix::test]
async fn pandoc_reads_fetches_and_runs_nothing_and_lets_no_script_out() {
    let (app, canary) = (TestApp::start().await, Canary::listen());
    let mut outcomes = Vec::new();
    for (name, code) in TRIES {
        for target in ["html", "docx"] {
            let planted = PlantedFiles::new();
            for name in ["secret.png", "secret.svg"] {
                std::fs::write(planted.path().join(name), format!("<svg>{SECRET}</svg>")).unwrap();
            }
            let folder = planted.path().display().to_string();
            let (view, file) = made(&app, target, &canary.aim(&code.replace("FOLDER", &folder))).await;
            for name in ["secret.png", "secret.svg"] {
                std::fs::remove_file(planted.path().join(name)).unwrap();
            }
            let mut leaks = leaks(&view, &file);
            leaks.extend(planted.changes());
            leaks.extend(canary.hits());
            leaks.extend((view["errorCode"] == "internal").then(|| view.to_string()));
            let messages = view["error"].as_str().unwrap_or("made").to_owned();
            outcomes.push(Outcome { name: (*name).to_owned(), carrier: target.to_owned(), leaks, messages });
        }
    }
    let (view, html) = made(&app, "html", "good").await;
    assert!(contains(&html, "good"), "{view}");
    report("suites A, B, D for pandoc", outcomes);
}

#[actix::test]
async fn an_endless_conversion_is_stopped_and_the_next_document_is_made() {
    let app = TestApp::with(&[
        // Of the processor's time, so that a busy machine has what is good end well.
        ("pandoc.processor_limit_s", "5"),
        ("pandoc.timeout_ms", "100000"),
        ("pandoc.memory_limit_mb", "512"),
    ])
    .await;
    let deep = format!("{}x{}", "{".repeat(200_000), "}".repeat(200_000));
    let lists = format!("{}x{}", "\\begin{itemize}\\item ".repeat(4_000), "\\end{itemize}".repeat(4_000));
    let row = format!("{}\\\\\n", vec!["x"; 2_000].join("&")).repeat(200);
    let table = format!("\\begin{{tabular}}{{{}}}{row}\\end{{tabular}}", "c".repeat(2_000));
    let formula = format!("${}x{}$", "\\frac{1}{".repeat(5_000), "}".repeat(5_000));
    let made_up = [
        ("braces", &deep),
        ("lists in lists", &lists),
        ("a large table", &table),
        ("a deep formula", &formula),
    ];
    let bombs = BOMBS.iter().map(|(name, code, words)| (*name, (*code).to_owned(), *words));
    let bombs = bombs.chain(made_up.map(|(name, code)| (name, code.clone(), "")));
    let mut outcomes = Vec::new();
    for (name, code, words) in bombs {
        let (view, _) = made(&app, "html", &code).await;
        let messages = view["error"].as_str().unwrap_or("made").to_owned();
        let mut leaks = Vec::new();
        leaks.extend((!messages.contains(words)).then(|| format!("no '{words}' in: {messages}")));
        leaks.extend((view["errorCode"] == "internal").then(|| view.to_string()));
        let (view, html) = made(&app, "html", "good").await;
        leaks.extend((!contains(&html, "good")).then(|| view.to_string()));
        outcomes.push(Outcome { name: name.to_owned(), carrier: "html".to_owned(), leaks, messages });
    }
    let is_pandoc = |pid: u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "pandoc")
    };
    app.until("no pandoc is left", async || descendants(app.pid()).iter().all(|(pid, _)| !is_pandoc(*pid)))
        .await;
    report("suite D for pandoc: what a document may take", outcomes);
}
