//! Workbooks made by code.

use std::fmt::Write as _;

use super::read::{Address, address, read_address};
use crate::support::{escape, zipped};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// A sheet to write.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    pub name: String,
    pub cells: Vec<(Address, String)>,
    /// What stands behind the cells, in the order of the format: merged cells, conditional formats, validations …
    pub behind: String,
    /// A table: its name, where it lies, its columns, and the function of the total of its last one.
    pub table: Option<(&'static str, &'static str, &'static [&'static str], Option<&'static str>)>,
}

impl Sheet {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Sets a cell: `=…` is a formula, `{=…}` one of an array, what reads as a number is one, all else is a text.
    pub fn set(&mut self, place: &str, content: impl Into<String>) {
        self.cells.push((read_address(place), content.into()));
    }

    /// Rows of cells parted by `|`, from a cell on.
    pub fn rows(mut self, from: &str, rows: &str) -> Self {
        let (row, column) = read_address(from);
        for (row, line) in (row..).zip(rows.lines().filter(|line| !line.trim().is_empty())) {
            for (column, cell) in (column..).zip(line.split('|')) {
                if !cell.trim().is_empty() {
                    self.cells.push(((row, column), cell.trim().to_owned()));
                }
            }
        }
        self
    }

    fn xml(&self) -> String {
        let mut cells: Vec<&(Address, String)> = self.cells.iter().collect();
        cells.sort();
        let (mut rows, mut last) = (String::new(), 0);
        for &((row, column), ref content) in cells {
            if row != last {
                rows.push_str(if last == 0 { "" } else { "</row>" });
                write!(rows, "<row r=\"{row}\">").expect("a text grows");
                last = row;
            }
            let place = address((row, column));
            let text = escape(content);
            let array = content.strip_prefix("{=").and_then(|rest| rest.strip_suffix('}'));
            let cell = if let Some(formula) = array {
                format!(
                    "<c r=\"{place}\"><f t=\"array\" ref=\"{place}\">{}</f><v>-1</v></c>",
                    escape(formula)
                )
            } else if let Some(formula) = text.strip_prefix('=') {
                // A value that is not its own any more: who keeps it is found out.
                format!("<c r=\"{place}\"><f>{formula}</f><v>-1</v></c>")
            } else if content.parse::<f64>().is_ok() {
                format!("<c r=\"{place}\"><v>{content}</v></c>")
            } else {
                format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
            };
            rows.push_str(&cell);
        }
        rows.push_str(if last == 0 { "" } else { "</row>" });
        let table =
            self.table.map_or("", |_| "<tableParts count=\"1\"><tablePart r:id=\"rId1\"/></tableParts>");
        format!(
            "<worksheet xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheetData>{rows}</sheetData>{}{table}</worksheet>",
            self.behind
        )
    }

    fn table_xml(&self, id: usize) -> Option<String> {
        let (name, range, columns, total) = self.table?;
        let last = columns.len();
        let column = |(index, column): (usize, &&str)| {
            let total = total.filter(|_| index + 1 == last);
            let total = total.map_or(String::new(), |total| format!(" totalsRowFunction=\"{total}\""));
            format!("<tableColumn id=\"{}\" name=\"{column}\"{total}/>", index + 1)
        };
        let columns: String = columns.iter().enumerate().map(column).collect();
        let totals = if total.is_some() { "totalsRowCount=\"1\"" } else { "totalsRowShown=\"0\"" };
        let (from, to) = range.split_once(':').expect("a range");
        let (row, to_column) = read_address(to);
        let filtered = address((row - u32::from(total.is_some()), to_column));
        Some(format!(
            "<table xmlns=\"{MAIN}\" id=\"{id}\" name=\"{name}\" displayName=\"{name}\" ref=\"{range}\" {totals}>\
             <autoFilter ref=\"{from}:{filtered}\"/><tableColumns count=\"{last}\">{columns}</tableColumns></table>"
        ))
    }
}

/// The file of a workbook of these sheets, with names for cells.
pub fn book(sheets: &[Sheet], names: &[(&str, &str)]) -> Vec<u8> {
    let sheet_type = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let mut files = Vec::new();
    let (mut types, mut links, mut tabs) = (String::new(), String::new(), String::new());
    for (sheet, id) in sheets.iter().zip(1..) {
        let name = escape(&sheet.name);
        write!(tabs, "<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"rId{id}\"/>").expect("a text grows");
        write!(
            links,
            "<Relationship Id=\"rId{id}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{id}.xml\"/>"
        )
        .expect("a text grows");
        let mut part = |name: String, kind: &str, xml: String| {
            write!(types, "<Override PartName=\"/{name}\" ContentType=\"{sheet_type}.{kind}+xml\"/>")
                .expect("a text grows");
            files.push((name, xml));
        };
        part(format!("xl/worksheets/sheet{id}.xml"), "worksheet", sheet.xml());
        if let Some(table) = sheet.table_xml(id) {
            part(format!("xl/tables/table{id}.xml"), "table", table);
            let link = format!(
                "<Relationship Id=\"rId1\" Type=\"{OFFICE}/table\" Target=\"../tables/table{id}.xml\"/>"
            );
            files.push((format!("xl/worksheets/_rels/sheet{id}.xml.rels"), relationships(&link)));
        }
    }
    let names: String = names
        .iter()
        .map(|(name, of)| format!("<definedName name=\"{name}\">{}</definedName>", escape(of)))
        .collect();
    let names = if names.is_empty() { names } else { format!("<definedNames>{names}</definedNames>") };
    let workbook =
        format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{tabs}</sheets>{names}</workbook>");
    let types = format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Override PartName=\"/xl/workbook.xml\" ContentType=\"{sheet_type}.sheet.main+xml\"/>{types}</Types>"
    );
    let root =
        format!("<Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/>");
    let mut all = vec![
        ("[Content_Types].xml".to_owned(), types),
        ("_rels/.rels".to_owned(), relationships(&root)),
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/_rels/workbook.xml.rels".to_owned(), relationships(&links)),
    ];
    all.extend(files);
    let all: Vec<(String, String)> = all
        .into_iter()
        .map(|(name, xml)| (name, format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{xml}")))
        .collect();
    let all: Vec<(&str, &[u8])> = all.iter().map(|(name, xml)| (name.as_str(), xml.as_bytes())).collect();
    zipped(&all)
}

/// A workbook of one sheet that says this in its first cell.
pub fn one_cell(text: &str) -> Vec<u8> {
    let mut sheet = Sheet::new("S");
    sheet.set("A1", text);
    book(&[sheet], &[])
}

fn relationships(links: &str) -> String {
    format!("<Relationships xmlns=\"{PACKAGE}\">{links}</Relationships>")
}
