//! A letter and invoices, as templates with their data and as sources that are filled in.

use std::io;

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
    /// Whether the PDF has all pages.
    pub fn check(&self, pdf: &[u8]) -> io::Result<()> {
        let pages = pdf_metadata::pages(pdf).and_then(|pages| usize::try_from(pages).ok());
        if pages == Some(self.pages) {
            return Ok(());
        }
        Err(io::Error::other(format!("{}: {pages:?} pages came in place of {}", self.name, self.pages)))
    }
}
