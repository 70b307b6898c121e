//! The documents: each has a number of its own in its data, and shows it.

use std::io;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::common::document::Document;
use crate::common::office_files::{presentation, word, workbook};
use crate::common::program::Program;
use crate::common::request::Body;

/// What stands before the number in every document but a picture.
const MARK: &str = "order ";
/// A picture is so many pixels wide, and as many more as the number's last digits say.
const LEAST_WIDTH: u64 = 200;
const WIDTHS: u64 = 500;
/// Rows of a document that has some; each shows the number.
const ROWS: usize = 30;

/// One kind of document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Html,
    Ejs,
    Bundle,
    Saved,
    Latex,
    Word,
    Excel,
    PowerPoint,
    Picture,
    WordAsHtml,
}

/// All kinds.
pub const KINDS: [Kind; 10] = [
    Kind::Html,
    Kind::Ejs,
    Kind::Bundle,
    Kind::Saved,
    Kind::Latex,
    Kind::Word,
    Kind::Excel,
    Kind::PowerPoint,
    Kind::Picture,
    Kind::WordAsHtml,
];

/// The templates that are files.
pub struct Files {
    word: Vec<u8>,
    workbook: Vec<u8>,
    presentation: Vec<u8>,
}

impl Files {
    /// Makes them.
    pub fn make() -> io::Result<Self> {
        // Nothing stands beside it: a text is cut where the next cell has one.
        let row = "<row><c t=\"inlineStr\"><is><t>{#rows}order {number}, row {row}{/rows}</t></is></c></row>";
        Ok(Self {
            word: word("{#rows}order {number}, row {row}. {/rows}")?,
            workbook: workbook(row)?,
            presentation: presentation("order {number}")?,
        })
    }
}

/// Saves the template with files that jobs name by its id.
pub async fn save(program: &Program, token: &str) -> io::Result<String> {
    let page = "<link rel=stylesheet href=style.css><h1>order <%= number %></h1>".to_owned();
    let files = vec![("style.css".to_owned(), b"h1 { color: navy }".to_vec())];
    let data = json!({"number": 0}).to_string();
    program.save_as(token, &Document { files, ..Document::of("order", page, data)? }).await
}

impl Kind {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html → pdf",
            Self::Ejs => "ejs → pdf",
            Self::Bundle => "bundle → pdf",
            Self::Saved => "saved template → pdf",
            Self::Latex => "latex → pdf",
            Self::Word => "docx → pdf",
            Self::Excel => "xlsx → pdf",
            Self::PowerPoint => "pptx → pdf",
            Self::Picture => "html → png",
            Self::WordAsHtml => "docx → html",
        }
    }

    /// What is asked for; `saved` is the account's own template.
    pub fn body(self, number: u64, files: &Files, saved: &str) -> Body {
        let rows: Vec<Value> = (0..ROWS).map(|row| json!({"number": number, "row": row})).collect();
        let members = |kind: &str, target: &str| json!({"type": kind, "target": target, "data": {"number": number, "rows": rows}});
        let text = |kind: &str, target: &str, template: &str| {
            let mut members = members(kind, target);
            members["template"] = template.into();
            members
        };
        match self {
            Self::Html => Body::json(&text("html", "pdf", "<h1>order <%= number %></h1>")),
            Self::Ejs => Body::json(&text("ejs", "pdf", LIST)),
            Self::Bundle => {
                Body::form(&[("index.html", INDEX), ("assets/app.js", SCRIPT)], &members("framework", "pdf"))
            }
            Self::Saved => {
                let mut members = members("ejs", "pdf");
                members["templateId"] = saved.into();
                Body::json(&members)
            }
            Self::Latex => Body::json(&text("latex", "pdf", LETTER)),
            Self::Word => Body::form(&[("order.docx", &files.word)], &members("docx", "pdf")),
            Self::Excel => Body::form(&[("order.xlsx", &files.workbook)], &members("xlsx", "pdf")),
            Self::PowerPoint => Body::form(&[("order.pptx", &files.presentation)], &members("pptx", "pdf")),
            Self::Picture => {
                let mut members = text("html", "png", "<h1>order <%= number %></h1>");
                members["formatOpts"] = json!({"viewport": {"width": width(number), "height": 300}});
                Body::json(&members)
            }
            Self::WordAsHtml => Body::form(&[("order.docx", &files.word)], &members("docx", "html")),
        }
    }

    /// Why the file is not the document of this number; nothing if it is.
    pub async fn fault(self, file: &[u8], number: u64) -> io::Result<Option<String>> {
        match self {
            Self::Picture => {
                let side = file.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
                let is_own = file.starts_with(b"\x89PNG") && side.map(u64::from) == Some(width(number));
                Ok((!is_own).then(|| format!("a picture {side:?} wide in place of {}", width(number))))
            }
            Self::WordAsHtml => Ok(fault_of_text(&String::from_utf8_lossy(file), number)),
            Self::Html
            | Self::Ejs
            | Self::Bundle
            | Self::Saved
            | Self::Latex
            | Self::Word
            | Self::Excel
            | Self::PowerPoint => Ok(fault_of_text(&text_of(file).await?, number)),
        }
    }
}

/// Every number in the text must be the document's own, and there must be one.
fn fault_of_text(text: &str, number: u64) -> Option<String> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let found: Vec<String> = text.split(MARK).skip(1).map(digits).collect();
    let is_own = !found.is_empty() && found.iter().all(|found| *found == number.to_string());
    (!is_own).then(|| format!("{found:?} in place of {number}"))
}

async fn text_of(pdf: &[u8]) -> io::Result<String> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), pdf)?;
    let output = Command::new("pdftotext").arg(file.path()).arg("-").output().await?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn width(number: u64) -> u64 {
    LEAST_WIDTH + number % WIDTHS
}

const LIST: &str = "<% for (const row of rows) { %><p>order <%= number %>, row <%= row.row %></p><% } %>";
const INDEX: &[u8] = b"<!doctype html><div id=app></div><script type=module src=/assets/app.js></script>";
const SCRIPT: &[u8] =
    b"document.getElementById('app').textContent = `order ${window.__PLATEN_DATA__.number}`";
const LETTER: &str = "\\documentclass{article}\\begin{document}\n\
    <% for (const row of rows) { %>order <%= number %>, row <%= row.row %>\\par\n<% } %>\\end{document}\n";
