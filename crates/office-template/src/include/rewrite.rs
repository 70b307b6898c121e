//! One pass over a piece of XML that changes start tags and leaves elements out.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::error::Error;
use crate::package::xml::attribute_text;
use crate::word::attribute::attribute;

/// An element that begins.
pub(super) struct Seen<'a> {
    /// Its name and its parent's, without Word's prefix but with any other.
    pub name: &'a str,
    pub parent: &'a str,
    pub tag: &'a [u8],
    /// How many elements of the piece are around it.
    pub depth: usize,
}

/// What is done with an element.
pub(super) enum Change {
    Keep,
    /// Leave it out with its content.
    Drop,
    /// Replace these ranges of its start tag, given in ascending order.
    Tag(Vec<(Range<usize>, String)>),
}

/// Rewrites `xml`, a sequence of whole elements, as `change` says. Comments and instructions are left out.
pub(super) fn rewritten(
    xml: &[u8],
    prefix: &str,
    mut change: impl FnMut(&Seen<'_>) -> Change,
) -> Result<Vec<u8>, Error> {
    let broken = |why: String| Error::NotOffice(format!("its XML is broken ({why}); save it anew in Word"));
    let mut reader = Reader::from_reader(xml);
    let mut out = Vec::with_capacity(xml.len());
    let mut open: Vec<&str> = Vec::new();
    // The depth of the element that is being left out.
    let mut dropped: Option<usize> = None;
    let mut from = 0;
    loop {
        let event = reader.read_event().map_err(|error| broken(error.to_string()))?;
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let piece = xml.get(from..end).unwrap_or_default();
        match event {
            Event::Start(_) | Event::Empty(_) => {
                let name = name(piece, prefix);
                let parent = open.last().copied().unwrap_or_default();
                if dropped.is_none() {
                    match change(&Seen { name, parent, tag: piece, depth: open.len() }) {
                        Change::Keep => out.extend_from_slice(piece),
                        Change::Tag(changes) => changed(&mut out, piece, &changes),
                        Change::Drop if piece.ends_with(b"/>") => {}
                        Change::Drop => dropped = Some(open.len()),
                    }
                }
                if !piece.ends_with(b"/>") {
                    open.push(name);
                }
            }
            Event::End(_) => {
                open.pop();
                if dropped.is_none() {
                    out.extend_from_slice(piece);
                } else if dropped == Some(open.len()) {
                    dropped = None;
                }
            }
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                if dropped.is_none() {
                    out.extend_from_slice(piece);
                }
            }
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
            Event::Eof if open.is_empty() => return Ok(out),
            Event::Eof => return Err(broken("an element has no end".to_owned())),
        }
        from = end;
    }
}

fn changed(out: &mut Vec<u8>, tag: &[u8], changes: &[(Range<usize>, String)]) {
    let mut from = 0;
    for (range, text) in changes {
        out.extend_from_slice(tag.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(text.as_bytes());
        from = range.end;
    }
    out.extend_from_slice(tag.get(from..).unwrap_or_default());
}

/// An element's name, without `prefix`.
fn name<'a>(tag: &'a [u8], prefix: &str) -> &'a str {
    let is_over = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>' || *byte == b'/';
    let name = tag.get(1..).unwrap_or_default().split(is_over).next().unwrap_or_default();
    let name = std::str::from_utf8(name).unwrap_or_default();
    name.strip_prefix(prefix).unwrap_or(name)
}

/// The start tag with another value of an attribute.
pub(super) fn with_value(tag: &[u8], local: &str, text: &str) -> Change {
    match attribute(tag, local) {
        Some(attribute) => Change::Tag(vec![(attribute.value, attribute_text(text))]),
        None => Change::Keep,
    }
}
