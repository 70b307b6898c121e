//! What is filled: an invoice of Word with few, many and very many rows, and a list of Excel with as many as workbooks have.

use std::io::{self, Cursor, Read as _, Write as _};

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::decks;

/// Made with a word processor's own styles, table style, header and footer; five tags in each row.
pub const INVOICE: &[u8] = include_bytes!("invoice.docx");

/// Rows, and how many times a measurement fills them.
const SIZES: [(usize, usize); 3] = [(30, 400), (1_000, 150), (10_000, 25)];

/// Rows of workbooks, and how many times a measurement fills them.
const WORKBOOKS: [(usize, usize); 2] = [(10_000, 40), (100_000, 5)];

/// A template and its data.
pub struct Document {
    /// `docx`, `xlsx` or `pptx`.
    pub kind: &'static str,
    pub file: Vec<u8>,
    /// The same with tags as xlsx-template writes them.
    pub foreign: Vec<u8>,
    /// The same with a filter in one of its tags, so that it takes the engine.
    pub computed: Vec<u8>,
    pub data: Value,
    pub rows: usize,
    pub times: usize,
}

/// Those of Word.
pub fn all() -> io::Result<Vec<Document>> {
    let computed = computed()?;
    let document = |(rows, times)| {
        let (file, foreign, computed) = (INVOICE.to_vec(), Vec::new(), computed.clone());
        Document { kind: "docx", file, foreign, computed, data: data(rows), rows, times }
    };
    Ok(SIZES.into_iter().map(document).collect())
}

/// The invoice with a filter in a tag of its rows.
fn computed() -> io::Result<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(INVOICE)).map_err(io::Error::other)?;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).map_err(io::Error::other)?;
        let mut xml = String::new();
        part.read_to_string(&mut xml)?;
        writer.start_file(part.name()?, SimpleFileOptions::default()).map_err(io::Error::other)?;
        writer.write_all(xml.replace("{title}", "{title | trim}").as_bytes())?;
    }
    Ok(writer.finish().map_err(io::Error::other)?.into_inner())
}

/// Those of Excel: ten columns, five of them numbers, and their sums.
pub fn workbooks() -> io::Result<Vec<Document>> {
    let ours = |at: usize, name: &str| match at {
        0 => format!("{{#items}}{{{name}}}"),
        9 => format!("{{{name}}}{{/items}}"),
        _ => format!("{{{name}}}"),
    };
    let computed = |at: usize, name: &str| ours(at, name).replace("{article}", "{article | trim}");
    let (file, computed) = (workbook(ours)?, workbook(computed)?);
    let foreign = workbook(|_, name| format!("${{table:items.{name}}}"))?;
    let document = |(rows, times)| {
        let (file, foreign, computed) = (file.clone(), foreign.clone(), computed.clone());
        Document { kind: "xlsx", file, foreign, computed, data: numbers(rows), rows, times }
    };
    Ok(WORKBOOKS.into_iter().map(document).collect())
}

/// Columns of the list; from the sixth on they are numbers.
const COLUMNS: [&str; 10] =
    ["number", "day", "customer", "city", "article", "quantity", "price", "discount", "tax", "amount"];

fn numbers(rows: usize) -> Value {
    let item = |row: usize| {
        json!({ "number": format!("R-{row}"), "day": "2026-03-16", "customer": format!("Café Blåbær {}", row % 700),
            "city": "Aarhus", "article": format!("Menu cards, batch {row}"), "quantity": row % 90 + 1, "price": 0.85,
            "discount": 0.05, "tax": 0.25, "amount": row % 1_000 })
    };
    json!({ "items": (1..=rows).map(item).collect::<Vec<_>>() })
}

/// A workbook of one sheet: heads, the list's row, sums.
fn workbook(tag: impl Fn(usize, &str) -> String) -> io::Result<Vec<u8>> {
    let letter = |at: usize| char::from(b'A' + u8::try_from(at).unwrap_or_default());
    let text =
        |row: usize, at: usize, text: &str| format!("<c r=\"{}{row}\" t=\"s\"><v>{text}</v></c>", letter(at));
    let row = |row: usize, from: usize| {
        let cells: String = (0..10).map(|at| text(row, at, &(from + at).to_string())).collect();
        format!("<row r=\"{row}\">{cells}</row>")
    };
    let sums: Vec<_> =
        (5..10).map(|at| format!("<c r=\"{0}3\"><f>SUM({0}2:{0}2)</f></c>", letter(at))).collect();
    let sums = sums.concat();
    let heads = COLUMNS.iter().map(|name| (*name).to_owned());
    let tags = COLUMNS.iter().enumerate().map(|(at, name)| tag(at, name));
    let strings: Vec<_> = heads.chain(tags).map(|text| format!("<si><t>{text}</t></si>")).collect();
    let strings = strings.concat();
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let link = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{office}/{kind}\" Target=\"{target}\"/>")
    };
    let links =
        |links: &str| format!("<Relationships xmlns=\"{package}/relationships\">{links}</Relationships>");
    let files = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"{package}/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override \
                 PartName=\"/xl/workbook.xml\" ContentType=\"{kind}.sheet.main+xml\"/><Override \
                 PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"{kind}.worksheet+xml\"/><Override \
                 PartName=\"/xl/sharedStrings.xml\" ContentType=\"{kind}.sharedStrings+xml\"/></Types>"
            ),
        ),
        ("_rels/.rels", links(&link("rId1", "officeDocument", "xl/workbook.xml"))),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"List\" sheetId=\"1\" \
                 r:id=\"rId1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            links(
                &[
                    link("rId1", "worksheet", "worksheets/sheet1.xml"),
                    link("rId2", "sharedStrings", "sharedStrings.xml"),
                ]
                .concat(),
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(
                "<worksheet xmlns=\"{main}\"><dimension ref=\"A1:J3\"/><sheetData>{}{}<row r=\"3\">{sums}</row></sheetData></worksheet>",
                row(1, 0),
                row(2, 10)
            ),
        ),
        (
            "xl/sharedStrings.xml",
            format!("<sst xmlns=\"{main}\" count=\"20\" uniqueCount=\"20\">{strings}</sst>"),
        ),
    ];
    zipped(&files)
}

/// An archive of these parts.
pub fn zipped<N: AsRef<str>>(parts: &[(N, String)]) -> io::Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, xml) in parts {
        writer.start_file(name.as_ref(), SimpleFileOptions::default()).map_err(io::Error::other)?;
        writer.write_all(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{xml}").as_bytes())?;
    }
    Ok(writer.finish().map_err(io::Error::other)?.into_inner())
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
        if self.kind == "pptx" {
            return decks::check(&archive, self.rows);
        }
        let mut part = |name: &str| -> io::Result<String> {
            let mut xml = String::new();
            archive.by_name(name).map_err(io::Error::other)?.read_to_string(&mut xml)?;
            Ok(xml)
        };
        let (xml, end, others) = match self.kind {
            "docx" => (part("word/document.xml")?, "</w:tr>", 1),
            // Texts may stand in the cells or in a part of their own.
            _ => (
                part("xl/worksheets/sheet1.xml")? + &part("xl/sharedStrings.xml").unwrap_or_default(),
                "</row>",
                2,
            ),
        };
        let rows = xml.matches(end).count();
        let has_last = xml.contains(&format!("batch {}<", self.rows));
        if rows == self.rows + others && has_last {
            return Ok(());
        }
        Err(io::Error::other(format!("{rows} rows came in place of {}", self.rows + others)))
    }
}
