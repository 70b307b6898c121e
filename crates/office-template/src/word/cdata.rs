//! Replaces CDATA sections by escaped text: Word writes none, and a tag within one could not be cut into pieces.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::unreadable::{Unreadable, broken, position};

/// The same XML with its CDATA sections written as other text is.
pub(super) fn without_sections(xml: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut out = Vec::with_capacity(xml.len());
    let mut reader = Reader::from_reader(xml);
    let mut from = 0;
    loop {
        let event = reader.read_event().map_err(|error| broken(&reader, &error))?;
        let end = position(&reader);
        match event {
            Event::CData(text) => {
                out.extend_from_slice(
                    text.escape().map_err(|error| broken(&reader, &error.into()))?.as_ref(),
                );
            }
            Event::Eof => return Ok(out),
            Event::Start(_)
            | Event::End(_)
            | Event::Empty(_)
            | Event::Text(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => out.extend_from_slice(xml.get(from..end).unwrap_or_default()),
        }
        from = end;
    }
}
