//! `{@xml}`: Word's own XML from the data.
//!
//! Hazard: data are untrusted. The XML must be well-formed by itself, or the part would not be. It may not refer to parts, files
//! or addresses, by relationships or without, or Word would fetch what a stranger named. Its top elements must be allowed in the
//! tag's place.

mod anew;
mod fields;
mod namespaces;

use super::{Place, tables};
use crate::package::Package;
use crate::written::{Refusal, Written};
use anew::anew;

/// Elements allowed in place of a paragraph, in place of a run, and inside of a run.
const BLOCKS: [&str; 3] = ["p", "tbl", "sdt"];
const INLINES: [&str; 7] = ["r", "hyperlink", "bookmarkStart", "bookmarkEnd", "ins", "fldSimple", "smartTag"];
const PIECES: [&str; 7] = ["t", "br", "tab", "cr", "sym", "noBreakHyphen", "softHyphen"];

pub(super) fn write(xml: &str, place: &Place<'_>, package: &mut Package<'_>) -> Result<Written, Refusal> {
    let xml = xml.trim();
    let xml = xml.strip_prefix('\u{feff}').unwrap_or(xml);
    let xml = match xml.strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>").map_or("", |(_, rest)| rest).trim_start(),
        None => xml,
    };
    // A false or empty value writes nothing.
    if xml.is_empty() || xml == "false" {
        return Ok(Written::Blocks(String::new()));
    }
    let anew::Anew { xml, top } = anew(xml, place, package)?;
    let is_all = |names: &[&str]| top.iter().all(|name| names.contains(&name.as_str()));
    if is_all(&BLOCKS) {
        return Ok(Written::Blocks(tables::completed(&xml, place.source.prefix)));
    }
    if is_all(&INLINES) {
        return Ok(Written::Inline(xml));
    }
    if is_all(&PIECES) {
        return Ok(Written::Run(xml));
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
