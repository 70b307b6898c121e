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
        let cell = |row: usize, at: usize| rows.get(row)?.get(at).copied();
        let is_merged = |row: usize, at: usize| {
            cell(row, at).is_some_and(|cell| matches!(cell.value("vMerge"), "1" | "true"))
        };
        for (number, row) in rows.iter().enumerate() {
            for (at, cell) in row.iter().enumerate() {
                let tag = xml.get(cell.tag.clone()).unwrap_or_default();
                let place = |range: Range<usize>| cell.tag.start + range.start..cell.tag.start + range.end;
                let told = cell.value("rowSpan").parse::<usize>().unwrap_or(1);
                let merged = (number + 1..).take_while(|&row| is_merged(row, at)).count();
                if is_merged(number, at) {
                    // The cell above is gone with its row: this one is a cell of its own.
                    let is_alone = !(0..number).rev().any(|row| !is_merged(row, at));
                    let own = attribute(tag, "vMerge").filter(|_| is_alone);
                    edits.extend(own.map(|own| (place(own.whole), String::new())));
                } else if told != merged + 1
                    && let Some(own) = attribute(tag, "rowSpan")
                {
                    edits.push((place(own.value), (merged + 1).to_string()));
                } else if told != merged + 1 {
                    let name = tag.iter().position(|byte| b" />\r\n\t".contains(byte)).unwrap_or_default();
                    edits.push((place(name..name), format!(" rowSpan=\"{}\"", merged + 1)));
                }
            }
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(replaced(&xml, &edits))
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
        let row = |cells: &&[&str]| {
            format!("<a:tr>{}</a:tr>", cells.iter().map(|cell| format!("<a:tc{cell}/>")).collect::<String>())
        };
        let xml = format!("<a:tbl>{}</a:tbl>", rows.iter().map(row).collect::<String>());
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
