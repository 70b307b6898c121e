//! A sheet of a workbook, and the table that Excel draws over its cells.

use memchr::{memmem, memrchr};
use std::fmt::Write as _;

use super::pieces::prefix;
use super::table::{Cell, Column, Table, letters, sheet_number};
use crate::error::Error;
use crate::package::entries::entries;
use crate::package::xml::replaced;
use crate::package::xml::{attribute_text, escaped};
use crate::word::attribute::value_in;

/// The heading of the categories where the sheet has none: a table's heading must not be empty.
const CORNER: &str = " ";

/// The sheet with all its cells replaced by these columns; `corner` is the heading of the first one, `style` that of its numbers.
/// `None` where the sheet has no `sheetData`.
pub(super) fn filled(
    xml: &[u8],
    table: &Table,
    (corner, style): (Option<&str>, Option<usize>),
) -> Option<Vec<u8>> {
    let at = memmem::find(xml, b"sheetData")?;
    let begin = memrchr(b'<', xml.get(..at)?)?;
    let prefix = std::str::from_utf8(xml.get(begin + 1..at)?).ok()?;
    let tag_end = at + memchr::memchr(b'>', xml.get(at..)?)? + 1;
    let is_empty = xml.get(..tag_end)?.ends_with(b"/>");
    let closing = format!("</{prefix}sheetData>");
    let end = if is_empty {
        tag_end
    } else {
        tag_end + memmem::find(xml.get(tag_end..)?, closing.as_bytes())? + closing.len()
    };
    let old = xml.get(begin..end)?;
    let styles = [style.map(|style| style.to_string()).or_else(|| style_of(old, "A2")), style_of(old, "B2")];
    let cells = rows(table, prefix, (corner.unwrap_or(CORNER), &styles));
    let mut edits = vec![(begin..end, cells)];
    let dimension = format!("<{prefix}dimension");
    if let Some(from) = memmem::find(xml.get(..begin)?, dimension.as_bytes()) {
        let to = from + memchr::memchr(b'>', xml.get(from..begin)?)? + 1;
        let slash = if xml.get(..to)?.ends_with(b"/>") { "/" } else { "" };
        edits.insert(0, (from..to, format!("{dimension} ref=\"{}\"{slash}>", range(table))));
    }
    Some(replaced(xml, &edits))
}

/// The range of the table's cells, with at least one row under the headings even where there are no data.
fn range(table: &Table) -> String {
    format!("A1:{}{}", letters(table.columns.len().saturating_sub(1)), table.rows.max(1) + 1)
}

/// The style number of the cell of this name.
fn style_of(rows: &[u8], cell: &str) -> Option<String> {
    let at = memmem::find(rows, format!("r=\"{cell}\"").as_bytes())?;
    let begin = memrchr(b'<', rows.get(..at)?)?;
    let tag = rows.get(begin..)?;
    let style = value_in(tag.get(..=memchr::memchr(b'>', tag)?)?, "s");
    style.parse::<u32>().ok().map(|style| style.to_string())
}

fn rows(table: &Table, x: &str, (corner, styles): (&str, &[Option<String>; 2])) -> String {
    let names: Vec<String> = (0..table.columns.len()).map(letters).collect();
    let text = |out: &mut String, name: &str, row: usize, text: &str| {
        let text = escaped(text);
        out.extend([
            &format!("<{x}c r=\"{name}{row}\" t=\"inlineStr\"><{x}is><{x}t xml:space=\"preserve\">"),
            text.as_str(),
            &format!("</{x}t></{x}is></{x}c>"),
        ]);
    };
    let mut out = format!("<{x}sheetData><{x}row r=\"1\">");
    for (index, (column, name)) in table.columns.iter().zip(&names).enumerate() {
        text(&mut out, name, 1, heading(column, index, corner));
    }
    let _ = write!(out, "</{x}row>");
    for at in 0..table.rows {
        let row = at + 2;
        let _ = write!(out, "<{x}row r=\"{row}\">");
        for (index, (column, name)) in table.columns.iter().zip(&names).enumerate() {
            let style = if index == 0 { &styles[0] } else { &styles[1] };
            match column.cells.get(at) {
                None | Some(Cell::Empty) => {}
                Some(Cell::Text(said)) => text(&mut out, name, row, said),
                Some(Cell::Number(number)) => {
                    let style = style.as_deref().map(|style| format!(" s=\"{style}\"")).unwrap_or_default();
                    let number = sheet_number(*number);
                    let _ = write!(out, "<{x}c r=\"{name}{row}\"{style}><{x}v>{number}</{x}v></{x}c>");
                }
            }
        }
        let _ = write!(out, "</{x}row>");
    }
    out + &format!("</{x}sheetData>")
}

fn heading<'a>(column: &'a Column, index: usize, corner: &'a str) -> &'a str {
    if index == 0 && column.heading.is_empty() { corner } else { &column.heading }
}

/// The table's part with these columns, and the name of its first column, which is kept.
pub(super) fn table(part: &str, xml: &[u8], table: &Table) -> Result<(Vec<u8>, Option<String>), Error> {
    let elements = entries(part, xml)?;
    let first =
        elements.iter().find(|element| element.name == "tableColumn").map(|element| element.value("name"));
    // An empty name becomes a blank, as Word writes it.
    let corner = first.map(|name| if name.is_empty() { CORNER.to_owned() } else { name.to_owned() });
    let mut edits = Vec::new();
    for element in &elements {
        let tag = || String::from_utf8_lossy(xml.get(element.tag.clone()).unwrap_or_default()).into_owned();
        match element.name.as_str() {
            "table" | "autoFilter" => {
                let old = element.value("ref");
                let tag = tag().replacen(&format!("ref=\"{old}\""), &format!("ref=\"{}\"", range(table)), 1);
                edits.push((element.tag.clone(), tag));
            }
            "tableColumns" => {
                let x = prefix(xml, element);
                let mut columns = format!("<{x}tableColumns count=\"{}\">", table.columns.len());
                for (index, column) in table.columns.iter().enumerate() {
                    let name = attribute_text(heading(column, index, corner.as_deref().unwrap_or(CORNER)));
                    let _ = write!(columns, "<{x}tableColumn id=\"{}\" name=\"{name}\"/>", index + 1);
                }
                let _ = write!(columns, "</{x}tableColumns>");
                edits.push((element.whole.clone(), columns));
            }
            _ => {}
        }
    }
    Ok((replaced(xml, &edits), corner))
}
