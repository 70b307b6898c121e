//! One pass over a piece of XML that changes start tags and leaves elements out.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::error::Error;

/// An element that begins.
pub(super) struct Seen<'a> {
    /// Its name, and that of what it stands in, without Word's prefix; with any other.
    pub name: &'a str,
    pub parent: &'a str,
    /// Its start tag.
    pub tag: &'a [u8],
    /// How many elements of the piece it stands in.
    pub depth: usize,
}

/// What becomes of it.
pub(super) enum Change {
    Keep,
    /// It is left out with all that it holds.
    Drop,
    /// These pieces of its start tag become others; in the order in which they stand.
    Tag(Vec<(Range<usize>, String)>),
}

/// The piece, a number of whole elements, with its changes. Comments and instructions are left out.
pub(super) fn rewritten(
    xml: &[u8],
    prefix: &str,
    mut change: impl FnMut(&Seen<'_>) -> Change,
) -> Result<Vec<u8>, Error> {
    let broken = |why: String| Error::NotOffice(format!("its XML is broken ({why}); save it anew in Word"));
    let mut reader = Reader::from_reader(xml);
    let mut out = Vec::with_capacity(xml.len());
    let mut open: Vec<&str> = Vec::new();
    // How deep the element is that is being left out.
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
