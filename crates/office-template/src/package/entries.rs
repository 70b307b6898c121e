//! The elements of a small part, such as a `_rels` part or the list of content types.

use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Error, quoted};
use crate::limits::Limit;

/// An element below the root.
#[derive(Clone)]
pub(crate) struct Entry {
    /// Its name, without a prefix.
    pub name: String,
    /// Its range, from the start tag to the end tag.
    pub whole: Range<usize>,
    /// The range of its start tag.
    pub tag: Range<usize>,
    attributes: Vec<(String, String)>,
}

impl Entry {
    /// An attribute's value, unescaped and trimmed; empty where there is none.
    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.trim())
    }
}

/// The elements of `xml`, the part `part`, at any depth.
pub(crate) fn entries(part: &str, xml: &[u8]) -> Result<Vec<Entry>, Error> {
    read(part, xml, None)
}

/// As [`entries`], with a limit, for a part whose elements have not been counted: an element of four bytes takes about twenty
/// times the memory.
pub(crate) fn counted(part: &str, xml: &[u8], limit: &Limit) -> Result<Vec<Entry>, Error> {
    read(part, xml, Some(limit))
}

fn read(part: &str, xml: &[u8], limit: Option<&Limit>) -> Result<Vec<Entry>, Error> {
    let broken = |why: &str| {
        let shown = quoted(part);
        Error::NotOffice(format!("{shown} is broken XML ({why}); save the file anew in Word"))
    };
    // Hazard: in UTF-16 no name would be recognised, so nothing that must be removed would be found.
    if memchr::memchr(0, xml).is_some() {
        return Err(broken("it is not UTF-8"));
    }
    let mark = if xml.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut reader = Reader::from_reader(xml.get(mark..).unwrap_or_default());
    let mut entries: Vec<Entry> = Vec::new();
    let mut open = Vec::new();
    loop {
        let begin = place(&reader, mark);
        let event = reader.read_event().map_err(|error| broken(&error.to_string()))?;
        let end = place(&reader, mark);
        if let Some(limit) = limit.filter(|limit| entries.len() as u64 > limit.value) {
            return Err(Error::limit(limit, &format!("{} has more elements than the limit", quoted(part))));
        }
        match event {
            Event::Start(tag) => {
                open.push(entries.len());
                entries.push(entry(&tag, begin..end).map_err(|why| broken(&why))?);
            }
            Event::Empty(tag) => entries.push(entry(&tag, begin..end).map_err(|why| broken(&why))?),
            Event::End(_) => {
                if let Some(entry) = open.pop().and_then(|index| entries.get_mut(index)) {
                    entry.whole.end = end;
                }
            }
            Event::DocType(_) => {
                let shown = quoted(part);
                let why = format!("{shown} has a document type (<!DOCTYPE), which is refused");
                return Err(Error::NotOffice(why));
            }
            Event::Eof => return Ok(entries),
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

fn place(reader: &Reader<&[u8]>, mark: usize) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).saturating_add(mark)
}

fn entry(tag: &BytesStart<'_>, place: Range<usize>) -> Result<Entry, String> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        // Only XML's own entities are resolved; others are an error.
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(attribute.key.local_name().as_ref()).into_owned();
        attributes.push((name, value.into_owned()));
    }
    let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
    Ok(Entry { name, whole: place.clone(), tag: place, attributes })
}

/// `xml` without these ranges, which must be in order.
pub(super) fn without(xml: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(xml.len());
    let mut from = 0;
    for range in ranges {
        kept.extend_from_slice(xml.get(from..range.start).unwrap_or_default());
        from = from.max(range.end);
    }
    kept.extend_from_slice(xml.get(from..).unwrap_or_default());
    kept
}
