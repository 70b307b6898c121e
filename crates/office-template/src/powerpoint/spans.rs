//! Cells over several rows of a table: when rows were repeated or left out, each has as many as follow it now.
//!
//! PowerPoint writes such a cell with the number of its rows, and in each further row one that is merged with the cell above. Where the two do
//! not agree it calls the file damaged.

use std::ops::Range;

use memchr::memmem;

use crate::error::Error;
use crate::package::{Entry, entries, replaced};
use crate::word::attribute::attribute;

/// The part with the numbers that its tables have now.
pub(crate) fn spanned(part: &str, xml: Vec<u8>) -> Result<Vec<u8>, Error> {
    if memmem::find(&xml, b"vMerge=").is_none() && memmem::find(&xml, b"rowSpan=").is_none() {
        return Ok(xml);
    }
    let all = entries(part, &xml)?;
    let mut edits = Vec::new();
    for table in all.iter().filter(|entry| entry.name == "tbl") {
        let rows: Vec<Vec<&Entry>> =
            within(&all, &table.whole, "tr").map(|row| within(&all, &row.whole, "tc").collect()).collect();
        for at in 0..rows.iter().map(Vec::len).max().unwrap_or_default() {
            column(&rows, at, &xml, &mut edits);
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(replaced(&xml, &edits))
}

/// The edits of a table's column, from its last cell to its first.
fn column(rows: &[Vec<&Entry>], at: usize, xml: &[u8], edits: &mut Vec<(Range<usize>, String)>) {
    let mut merged: Vec<&Entry> = Vec::new();
    for cell in rows.iter().rev().filter_map(|row| row.get(at)) {
        if matches!(cell.value("vMerge"), "1" | "true") {
            merged.push(cell);
            continue;
        }
        let rows = merged.len() + 1;
        merged.clear();
        if cell.value("rowSpan").parse().unwrap_or(1) == rows {
            continue;
        }
        let tag = xml.get(cell.tag.clone()).unwrap_or_default();
        let name = tag.iter().position(|byte| b" />\r\n\t".contains(byte)).unwrap_or_default();
        let own = attribute(tag, "rowSpan").map(|own| (own.value, rows.to_string()));
        let (range, written) = own.unwrap_or_else(|| (name..name, format!(" rowSpan=\"{rows}\"")));
        edits.push((cell.tag.start + range.start..cell.tag.start + range.end, written));
    }
    // The cell above these is gone with its row: they are cells of their own.
    for cell in merged {
        let tag = xml.get(cell.tag.clone()).unwrap_or_default();
        let own = attribute(tag, "vMerge").map(|own| own.whole);
        edits.extend(own.map(|own| (cell.tag.start + own.start..cell.tag.start + own.end, String::new())));
    }
}

/// The elements of this name in a range.
fn within<'e>(all: &'e [Entry], range: &Range<usize>, name: &'static str) -> impl Iterator<Item = &'e Entry> {
    let first = all.partition_point(|entry| entry.whole.start < range.start);
    let end = range.end;
    let inside = all.iter().skip(first).take_while(move |entry| entry.whole.start < end);
    inside.filter(move |entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::spanned;

    fn spans(rows: &[&[&str]]) -> String {
        let mut xml = "<a:tbl>".to_owned();
        for row in rows {
            let cells = row.iter().flat_map(|cell| ["<a:tc", cell, "/>"]);
            xml.extend(["<a:tr>"].into_iter().chain(cells).chain(["</a:tr>"]));
        }
        xml.push_str("</a:tbl>");
        String::from_utf8(spanned("x", xml.into_bytes()).expect("is read")).expect("UTF-8")
    }

    #[test]
    fn a_cell_spans_the_rows_that_follow_it() {
        let merged: &[&str] = &[" vMerge=\"1\"", ""];
        let grown = spans(&[&[" rowSpan=\"2\"", ""], merged, merged, merged, &["", ""]]);
        assert!(grown.starts_with("<a:tbl><a:tr><a:tc rowSpan=\"4\"/>"), "{grown}");
        let shrunk = spans(&[&[" rowSpan=\"3\"", ""], &["", ""]]);
        assert!(shrunk.contains("rowSpan=\"1\""), "{shrunk}");
        let headless = spans(&[&[" rowSpan=\"2\"", ""], merged]);
        assert!(
            headless.contains("rowSpan=\"2\"") && headless.contains("vMerge"),
            "nothing changes: {headless}"
        );
        let orphan = spans(&[merged, &["", ""]]);
        assert!(!orphan.contains("vMerge"), "{orphan}");
    }
}
