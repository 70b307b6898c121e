//! A letter and invoices, as templates with their data and as sources that are filled in.

use std::io;
use std::process::Command;

use serde_json::{Value, json};

const LETTER: &str = include_str!("letter.tex");
const INVOICE: &str = include_str!("invoice.tex");
/// The line of an invoice that is there for each of its rows.
const ROW: &str = "<%= row.name %> & <%= row.count %> & <%= row.price %> \\\\";

/// A document to be made.
pub struct Document {
    /// Its name in the table.
    pub name: &'static str,
    /// The template.
    pub template: &'static str,
    /// What is put into it.
    pub data: Value,
    /// The same without a template.
    pub filled: String,
    /// How many pages its PDF has.
    pages: usize,
}

/// All of them.
pub fn all() -> Vec<Document> {
    let letter = Document {
        name: "letter",
        template: LETTER,
        data: json!({ "name": "Ada Lovelace" }),
        filled: LETTER.replace("<%= name %>", "Ada Lovelace"),
        pages: 1,
    };
    vec![letter, invoice("invoice of 12 rows", 12, 1), invoice("invoice of 60 rows", 60, 2)]
}

fn invoice(name: &'static str, rows: usize, pages: usize) -> Document {
    let items: Vec<Value> = (1..=rows)
        .map(|row| json!({ "name": format!("Article {row}"), "count": row, "price": format!("{row}.50") }))
        .collect();
    let lines: Vec<String> = (1..=rows).map(|row| format!("Article {row} & {row} & {row}.50 \\\\")).collect();
    let looped = format!("<% for (const row of rows) {{ -%>\n{ROW}\n<% }} -%>");
    let filled = INVOICE.replace(&looped, &lines.join("\n")).replace("<%= number %>", "2026-17");
    Document { name, template: INVOICE, data: json!({ "number": "2026-17", "rows": items }), filled, pages }
}

impl Document {
    /// Whether it is a PDF.
    pub fn check(&self, pdf: &[u8]) -> io::Result<()> {
        let is_pdf = pdf.starts_with(b"%PDF-") && pdf.len() > 1_000;
        is_pdf.then_some(()).ok_or_else(|| io::Error::other(format!("{}: no PDF", self.name)))
    }

    /// Whether the PDF has all pages, as another program counts them: not for the time that is measured.
    pub fn check_pages(&self, pdf: &[u8]) -> io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), pdf)?;
        let output = Command::new("pdfinfo").arg(file.path()).output()?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let pages = told.lines().find_map(|line| line.strip_prefix("Pages:")?.trim().parse().ok());
        if pages == Some(self.pages) {
            return Ok(());
        }
        Err(io::Error::other(format!("{}: {pages:?} pages came in place of {}", self.name, self.pages)))
    }
}
