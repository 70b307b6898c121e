//! `{@xml}`: Word's own XML as it is.
//!
//! Hazard: it comes from the data. It must be well-formed by itself, or the part would not be; it may not refer to parts or addresses
//! (attributes of the namespace of relationships), for there is nothing that they could lead to; and at its top stands only what may
//! stand in the tag's place.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Place, Refusal, Written, tables};
use crate::word::attribute::attributes;

/// What may stand in the place of a paragraph, of a run, and in the midst of its text.
const BLOCKS: [&str; 3] = ["p", "tbl", "sdt"];
const INLINES: [&str; 7] = ["r", "hyperlink", "bookmarkStart", "bookmarkEnd", "ins", "fldSimple", "smartTag"];
const PIECES: [&str; 7] = ["t", "br", "tab", "cr", "sym", "noBreakHyphen", "softHyphen"];

const DEPTH: usize = 200;

pub(super) fn write(xml: &str, place: &Place<'_>) -> Result<Written, Refusal> {
    let xml = xml.trim();
    let xml = xml.strip_prefix('\u{feff}').unwrap_or(xml);
    let xml = match xml.strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>").map_or("", |(_, rest)| rest).trim_start(),
        None => xml,
    };
    // What is not so has no XML.
    if xml.is_empty() || xml == "false" {
        return Ok(Written::Blocks(String::new()));
    }
    let top = top(xml, place)?;
    let is_all = |names: &[&str]| top.iter().all(|name| names.contains(&name.as_str()));
    if is_all(&BLOCKS) {
        return Ok(Written::Blocks(tables::completed(xml, place.source.prefix)));
    }
    if is_all(&INLINES) {
        return Ok(Written::Inline(xml.to_owned()));
    }
    if is_all(&PIECES) {
        return Ok(Written::Run(xml.to_owned()));
    }
    let prefix = place.source.prefix;
    let known =
        |names: &[&str]| names.iter().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ");
    let message = format!(
        "at its top the XML has what cannot stand here; all of it is of {}, or all of {}, or all of {}",
        known(&BLOCKS),
        known(&INLINES),
        known(&PIECES)
    );
    Err(message.into())
}

/// The names of the elements at the top, without their prefix.
fn top(xml: &str, place: &Place<'_>) -> Result<Vec<String>, String> {
    let mut reader = Reader::from_str(xml);
    let mut known = declared(root(place.source.xml));
    // That of the part's own names is known, wherever it is declared.
    known.extend(prefix(place.source.prefix.as_bytes()));
    let mut open: Vec<BTreeSet<String>> = vec![known];
    let mut top = Vec::new();
    loop {
        let event = reader.read_event();
        match event
            .map_err(|error| format!("the XML is broken at byte {} ({error})", reader.error_position()))?
        {
            Event::Start(tag) => {
                let names = checked(&tag, open.last())?;
                if open.len() == 1 {
                    top.push(local(&tag, place)?);
                }
                if open.len() > DEPTH {
                    return Err(format!("the elements of the XML stand in each other deeper than {DEPTH}"));
                }
                open.push(names);
            }
            Event::Empty(tag) => {
                checked(&tag, open.last())?;
                if open.len() == 1 {
                    top.push(local(&tag, place)?);
                }
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => {
                if open.len() == 1 && !text.trim_ascii().is_empty() {
                    return Err(
                        "the XML has text outside of its elements; {@…} takes WordprocessingML".to_owned()
                    );
                }
                let is_bad = |byte: &u8| *byte < b' ' && !b"\t\r\n".contains(byte);
                if text.iter().any(is_bad) {
                    return Err("the XML has a control character".to_owned());
                }
            }
            Event::GeneralRef(reference) => {
                let is_own = matches!(&*reference, b"amp" | b"lt" | b"gt" | b"quot" | b"apos");
                let letter = reference.resolve_char_ref().ok().flatten();
                let is_letter = letter.is_some_and(|letter| letter >= ' ' || "\t\r\n".contains(letter));
                if open.len() == 1 || !(is_own || is_letter) {
                    return Err("the XML has an entity that is not one of XML's own".to_owned());
                }
            }
            Event::CData(_) | Event::PI(_) | Event::DocType(_) | Event::Decl(_) => {
                return Err("the XML has a declaration, an instruction or a CDATA section".to_owned());
            }
            Event::Comment(_) => {}
            Event::Eof if open.len() == 1 => return Ok(top),
            Event::Eof => return Err("the XML ends within an element".to_owned()),
        }
    }
}

fn local(tag: &BytesStart<'_>, place: &Place<'_>) -> Result<String, String> {
    let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
    let local = name.strip_prefix(place.source.prefix).map(str::to_owned);
    local.ok_or_else(|| {
        format!("at the top of the XML stands <{name}>, which is none of Word's paragraphs, tables and runs")
    })
}

/// The prefixes that are declared inside of an element whose names and attributes are as they must be.
fn checked(tag: &BytesStart<'_>, around: Option<&BTreeSet<String>>) -> Result<BTreeSet<String>, String> {
    let whole = [b"<", &**tag].concat();
    let mut names = BTreeSet::new();
    for attribute in tag.attributes() {
        attribute.map_err(|error| format!("an element of the XML has a broken attribute ({error})"))?;
    }
    let mut declared = around.cloned().unwrap_or_default();
    declared.extend(self::declared(&whole));
    names.extend(prefix(tag.name().as_ref()));
    for attribute in attributes(&whole) {
        let name = whole.get(attribute.name).unwrap_or_default().trim_ascii_end();
        let value = whole.get(attribute.value).unwrap_or_default();
        if value.contains(&b'<') {
            return Err("an attribute of the XML has a <".to_owned());
        }
        if name.starts_with(b"xmlns") {
            if value.ends_with(b"/relationships") && !name.ends_with(b":r") {
                return Err("the XML gives the namespace of relationships another name than r".to_owned());
            }
            continue;
        }
        if name.starts_with(b"r:") {
            return Err(format!(
                "the XML refers to another part ({}); a picture is {{%…}}, a link {{:link …}}",
                String::from_utf8_lossy(name)
            ));
        }
        names.extend(prefix(name));
    }
    match names.into_iter().find(|name| name != "xml" && !declared.contains(name)) {
        Some(name) => {
            Err(format!("the XML uses the prefix {name}:, which neither it nor the document declares"))
        }
        None => Ok(declared),
    }
}

fn prefix(name: &[u8]) -> Option<String> {
    let at = name.iter().position(|&byte| byte == b':')?;
    Some(String::from_utf8_lossy(name.get(..at)?).into_owned())
}

/// The prefixes that a start tag declares.
fn declared(tag: &[u8]) -> BTreeSet<String> {
    let names = attributes(tag).filter_map(|attribute| {
        let name = tag.get(attribute.name)?.trim_ascii_end().strip_prefix(b"xmlns:")?;
        Some(String::from_utf8_lossy(name).into_owned())
    });
    names.collect()
}

/// The start tag of the part's root.
pub(crate) fn root(xml: &[u8]) -> &[u8] {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'<', xml.get(from..).unwrap_or_default()) {
        let begin = from + at;
        let end =
            memchr::memchr(b'>', xml.get(begin..).unwrap_or_default()).map_or(xml.len(), |at| begin + at + 1);
        if xml.get(begin + 1).is_some_and(|byte| !b"?!".contains(byte)) {
            return xml.get(begin..end).unwrap_or_default();
        }
        from = end;
    }
    &[]
}
