//! What is asked for: the jobs of the account that is measured, and the floods of the others.

use std::io;

use serde_json::{Value, json};

use crate::common::office_files::workbook;
use crate::common::request::Body;

/// A job of the account that is measured; it makes a PDF.
pub struct Job {
    pub name: &'static str,
    pub body: Body,
}

/// What the hostile accounts ask for, each client one body after the other.
pub struct Flood {
    pub name: &'static str,
    pub bodies: Vec<Body>,
    /// What is made once before anything is measured: lualatex reads the machine's fonts in its first document, and takes
    /// half a minute for it.
    pub first: Option<Job>,
}

/// The jobs that are measured.
pub fn jobs() -> io::Result<[Job; 3]> {
    let sample =
        |name: &str| std::fs::read(format!("{}/assets/samples/invoice/{name}", env!("CARGO_MANIFEST_DIR")));
    let data: Value = serde_json::from_slice(&sample("data.json")?)?;
    let page = String::from_utf8_lossy(&sample("index.html")?).into_owned();
    let letter = include_str!("../../latex/letter.tex");
    let word = json!({"type": "docx", "target": "pdf", "data": data});
    Ok([
        Job {
            name: "invoice",
            body: Body::json(&json!({"type": "html", "target": "pdf", "template": page, "data": data})),
        },
        Job { name: "docx → pdf", body: Body::form(&[("invoice.docx", &sample("invoice.docx")?)], &word) },
        Job {
            name: "latex",
            body: Body::json(
                &json!({"type": "latex", "target": "pdf", "template": letter, "data": {"name": "Zoe"}}),
            ),
        },
    ])
}

/// All floods, the last of which is all the others at once.
pub fn floods() -> io::Result<Vec<Flood>> {
    let flood = |name, body| Flood { name, bodies: vec![body], first: None };
    let first = || Some(Job { name: "lualatex", body: text("latex", FIRST) });
    let mut floods = vec![
        flood("html of 10,000 pages", text("html", SHEETS)),
        flood("scripts without end", text("html", "<script>while(1);</script>")),
        flood("EJS without end", text("ejs", "<% while (1); %>")),
        Flood { first: first(), ..flood("lualatex of 20 s", text("latex", LUALATEX)) },
        flood(
            "200 pages to pictures at 300 dpi",
            Body::json(&json!({"type": "latex", "target": "png", "template": PAGES, "data": {},
                "formatOpts": {"pages": "all", "dpi": 300}})),
        ),
        flood(
            "LibreOffice of 30 s",
            Body::form(
                &[("matrices.xlsx", &matrices()?)],
                &json!({"type": "xlsx", "target": "pdf", "data": {}}),
            ),
        ),
    ];
    let bodies = floods.iter().flat_map(|flood| flood.bodies.clone()).collect();
    floods.push(Flood { name: "all of these", bodies, first: first() });
    Ok(floods)
}

fn text(kind: &str, template: &str) -> Body {
    Body::json(&json!({"type": kind, "target": "pdf", "template": template, "data": {"name": "Zoe"}}))
}

const SHEETS: &str =
    "<% for (let i = 0; i < 10000; i++) { %><p style='break-after:page'>page <%= i %></p><% } %>";
const FIRST: &str =
    "% !TeX program = lualatex\n\\documentclass{article}\\begin{document}\nfonts\n\\end{document}\n";
/// It ends by `tex.processor_limit_s`, 20 s.
const LUALATEX: &str = "% !TeX program = lualatex\n\\documentclass{article}\\begin{document}\n\
    \\directlua{while true do end}\n\\end{document}\n";
const PAGES: &str = "\\documentclass{article}\\newcount\\page\\begin{document}\n\
    \\loop\\advance\\page1 Page \\number\\page\\newpage\\ifnum\\page<200\\repeat\n\\end{document}\n";

/// A workbook that LibreOffice computes until `office.timeout_ms`, 30 s: products of large matrices. Each is another one, or
/// LibreOffice would compute them by several threads.
fn matrices() -> io::Result<Vec<u8>> {
    let row = |row: usize| {
        let columns = "COLUMN($A$1:$ALL$1)";
        format!(
            "<row r=\"{row}\"><c r=\"C{row}\"><f>SUMPRODUCT(MMULT(ROW($A$1:$A${row})*{columns},\
             ROW($A$1:$A$1000)*{columns}))</f></c></row>"
        )
    };
    workbook(&(1_000..1_200).map(row).collect::<Vec<_>>().concat())
}
