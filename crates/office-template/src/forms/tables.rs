//! Adds what tables in XML of the data may lack: Word needs properties and a grid in each table, and a paragraph at the end of
//! each cell.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::word::attribute::value;

/// Most columns of a table in Word.
const COLUMNS: usize = 63;

/// An element that is open.
struct Open {
    local: String,
    /// Where its content begins, behind its properties.
    begin: usize,
    has_properties: bool,
    has_grid: bool,
    /// The name of its last child so far.
    last: String,
    /// How many columns a cell takes, the cells of a row in all, or the widest row of a table.
    columns: usize,
}

/// `xml`, which must be well-formed, with what its tables lack.
pub(super) fn completed(xml: &str, prefix: &str) -> String {
    let mut reader = Reader::from_str(xml);
    let mut open: Vec<Open> = Vec::new();
    let mut missing: Vec<(usize, String)> = Vec::new();
    let mut from = 0;
    while let Ok(event) = reader.read_event() {
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Event::Start(tag) => {
                let element = begun(&tag, prefix, end, &mut open);
                open.push(element);
            }
            Event::Empty(tag) => {
                let element = begun(&tag, prefix, end, &mut open);
                ended(&element, end, &mut open);
            }
            Event::End(_) => {
                let Some(element) = open.pop() else { break };
                missing.extend(lacking(&element, prefix, from));
                ended(&element, end, &mut open);
            }
            Event::Eof => break,
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        from = end;
    }
    missing.sort_by_key(|&(at, _)| at);
    let mut whole = String::with_capacity(xml.len());
    let mut from = 0;
    for (at, what) in missing {
        whole.push_str(xml.get(from..at).unwrap_or_default());
        whole.push_str(&what);
        from = at;
    }
    whole + xml.get(from..).unwrap_or_default()
}

/// The element that `tag` begins inside of those that are `open`.
fn begun(tag: &BytesStart<'_>, prefix: &str, begin: usize, open: &mut [Open]) -> Open {
    let name = tag.name();
    let name = std::str::from_utf8(name.as_ref()).unwrap_or_default();
    let local = name.strip_prefix(prefix).unwrap_or_default().to_owned();
    let number = || value(tag, "val").parse().unwrap_or(1).min(COLUMNS);
    match local.as_str() {
        "gridSpan" => change(open, "tc", |cell| cell.columns = number()),
        "gridBefore" | "gridAfter" => change(open, "tr", |row| row.columns += number()),
        _ => {}
    }
    let columns = usize::from(local == "tc");
    Open { local, begin, has_properties: false, has_grid: false, last: String::new(), columns }
}

/// Counts an element that has ended in the elements around it.
fn ended(element: &Open, end: usize, open: &mut [Open]) {
    match element.local.as_str() {
        "tc" => change(open, "tr", |row| row.columns += element.columns),
        "tr" => change(open, "tbl", |table| table.columns = table.columns.max(element.columns)),
        _ => {}
    }
    if let Some(parent) = open.last_mut() {
        parent.last.clone_from(&element.local);
        if element.local == "tblPr" {
            (parent.has_properties, parent.begin) = (true, end);
        }
        parent.has_grid |= element.local == "tblGrid";
    }
}

/// Changes the innermost open element of this name.
fn change(open: &mut [Open], local: &str, change: impl FnOnce(&mut Open)) {
    if let Some(element) = open.iter_mut().rfind(|element| element.local == local) {
        change(element);
    }
}

/// What an element lacks, with the offsets at which it belongs; the element's content ends at `end`.
fn lacking(element: &Open, prefix: &str, end: usize) -> Vec<(usize, String)> {
    let mut missing = Vec::new();
    match element.local.as_str() {
        "tbl" => {
            if !element.has_properties {
                missing.push((element.begin, format!("<{prefix}tblPr/>")));
            }
            if !element.has_grid {
                let columns = format!("<{prefix}gridCol/>").repeat(element.columns.min(COLUMNS));
                missing.push((element.begin, format!("<{prefix}tblGrid>{columns}</{prefix}tblGrid>")));
            }
        }
        "tc" if matches!(element.last.as_str(), "" | "tcPr" | "tbl") => {
            missing.push((end, format!("<{prefix}p/>")));
        }
        _ => {}
    }
    missing
}
