//! What is filled: an invoice with few, many and very many rows.

use std::io::{self, Cursor, Read as _};

use serde_json::{Value, json};
use zip::ZipArchive;

/// Made with a word processor's own styles, table style, header and footer; five tags in each row.
pub const INVOICE: &[u8] = include_bytes!("invoice.docx");

/// Rows, and how many times a measurement fills them.
const SIZES: [(usize, usize); 3] = [(30, 300), (1_000, 40), (10_000, 6)];

/// A Word template and its data.
pub struct Document {
    pub file: &'static [u8],
    pub data: Value,
    pub rows: usize,
    pub times: usize,
}

/// All of them.
pub fn all() -> [Document; SIZES.len()] {
    SIZES.map(|(rows, times)| Document { file: INVOICE, data: data(rows), rows, times })
}

/// Texts alone: neither of the others formats numbers without further packages.
fn data(rows: usize) -> Value {
    let item = |row: usize| {
        json!({ "position": row.to_string(), "title": format!("Menu cards & “letterpress”, batch {row}"),
            "quantity": format!("{} pcs", row % 90 + 1), "price": format!("{}.85 €", row % 40), "amount": format!("{}.40 €", row * 3) })
    };
    let items: Vec<Value> = (1..=rows).map(item).collect();
    json!({ "number": "2026-0147", "due": "16 March", "recipient": "Café Blåbær A/S", "issued": "2 March", "total": "5,043.07 €",
        "items": items })
}

impl Document {
    /// Whether the file has all rows, and the last one's text.
    pub fn check(&self, file: &[u8]) -> io::Result<()> {
        let mut archive = ZipArchive::new(Cursor::new(file)).map_err(io::Error::other)?;
        let mut xml = String::new();
        archive.by_name("word/document.xml").map_err(io::Error::other)?.read_to_string(&mut xml)?;
        let rows = xml.matches("</w:tr>").count();
        let has_last = xml.contains(&format!("batch {}<", self.rows));
        if rows == self.rows + 1 && has_last && !xml.contains('{') {
            return Ok(());
        }
        Err(io::Error::other(format!("{rows} rows came in place of {}", self.rows + 1)))
    }
}
