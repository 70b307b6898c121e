//! Cells over several rows of a table: corrects their numbers of rows after rows were repeated or left out.
//!
//! Such a cell has the number of its rows, and each further row has a cell that is merged with the one above. Where these do not
//! agree, `PowerPoint` calls the file damaged.

use std::ops::Range;

use memchr::memmem;

use crate::error::Error;
use crate::limits::Limit;
use crate::package::entries::{Entry, counted};
use crate::package::xml::replaced;
use crate::word::attribute::attribute;

/// The part with correct numbers of rows in its tables.
pub(crate) fn spanned(part: &str, xml: Vec<u8>, limit: &Limit) -> Result<Vec<u8>, Error> {
    if memmem::find(&xml, b"vMerge=").is_none() && memmem::find(&xml, b"rowSpan=").is_none() {
        return Ok(xml);
    }
    let all = counted(part, &xml, limit)?;
    let mut edits = Vec::new();
    let mut read_to = 0;
    for table in all.iter().filter(|entry| entry.name == "tbl") {
        // `PowerPoint` has no tables inside of tables; cells of one are read with the outer table's.
        if table.whole.start >= read_to {
            read_to = table.whole.end;
            cells(&all, table, &xml, &mut edits);
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    Ok(replaced(&xml, &edits))
}

/// Adds the edits of a table, read from its last row to its first: `columns` collects the cells that are merged with the next one
/// above.
fn cells(all: &[Entry], table: &Entry, xml: &[u8], edits: &mut Vec<(Range<usize>, String)>) {
    let mut columns: Vec<Vec<&Entry>> = Vec::new();
    let rows: Vec<Vec<&Entry>> =
        within(all, &table.whole, "tr").map(|row| within(all, &row.whole, "tc").collect()).collect();
    for row in rows.into_iter().rev() {
        columns.resize_with(columns.len().max(row.len()), Vec::new);
        for (cell, merged) in row.into_iter().zip(&mut columns) {
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
    }
    // The row with the cell above these is gone, so they are no longer merged.
    for cell in columns.into_iter().flatten() {
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
    use crate::limits::Limit;

    fn spans(rows: &[&[&str]]) -> String {
        let mut xml = "<a:tbl>".to_owned();
        for row in rows {
            let cells = row.iter().flat_map(|cell| ["<a:tc", cell, "/>"]);
            xml.extend(["<a:tr>"].into_iter().chain(cells).chain(["</a:tr>"]));
        }
        xml.push_str("</a:tbl>");
        let limit = Limit { name: "test.elements", value: 100 };
        let spanned = spanned("x", xml.into_bytes(), &limit).expect("is read");
        String::from_utf8(spanned).expect("UTF-8")
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
