//! The headers and footers of a sheet: tags between Excel's own codes, as `&L{name}&R&P` (ECMA-376 part 1, 18.3.1.39).

use std::borrow::Cow;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::counts::Scope;
use super::tree::Title;
use crate::answer::Answer;
use crate::error::{Error, TagFaults};
use crate::package::xml::{escaped, replaced};
use crate::unfilled::letter;

/// The most characters of a header or footer (Microsoft, "Excel specifications and limits").
const CHARACTERS: usize = 255;

const NAMES: [&[u8]; 6] =
    [b"oddHeader", b"oddFooter", b"evenHeader", b"evenFooter", b"firstHeader", b"firstFooter"];

/// A header or footer with tags.
pub(super) struct Header {
    /// Its bytes in the sheet's part, without its element's tags.
    pub range: Range<usize>,
    pub pieces: Vec<Title>,
}

/// The headers and footers of a sheet: their bytes in its part, and their texts. They follow the cells, which end at `from`.
pub(super) fn texts(xml: &[u8], from: usize) -> Vec<(Range<usize>, String)> {
    let mut reader = Reader::from_reader(xml.get(from..).unwrap_or_default());
    reader.config_mut().check_end_names = false;
    // The sheet's end tag is among these bytes, and its start tag is not.
    reader.config_mut().allow_unmatched_ends = true;
    let (mut texts, mut begin, mut text) = (Vec::new(), None, String::new());
    let mut at = from;
    while let Ok(event) = reader.read_event() {
        let end = from.saturating_add(usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX));
        match event {
            Event::Start(tag) if NAMES.contains(&tag.local_name().as_ref()) => {
                begin = Some(end);
                text.clear();
            }
            Event::End(_) => {
                if let Some(begin) = begin.take() {
                    texts.push((begin..at, std::mem::take(&mut text)));
                }
            }
            Event::Text(piece) if begin.is_some() => text.push_str(&String::from_utf8_lossy(&piece)),
            Event::CData(piece) if begin.is_some() => text.push_str(&String::from_utf8_lossy(&piece)),
            Event::GeneralRef(reference) if begin.is_some() => text.extend(letter(&reference)),
            Event::Eof => break,
            Event::Start(_)
            | Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        at = end;
    }
    texts
}

/// The sheet's part with its headers and footers filled.
pub(super) fn filled<'x>(
    headers: &[Header],
    xml: &'x [u8],
    scope: Scope<'_>,
    faults: &mut TagFaults,
) -> Result<Cow<'x, [u8]>, Error> {
    if headers.is_empty() {
        return Ok(Cow::Borrowed(xml));
    }
    let mut edits = Vec::with_capacity(headers.len());
    for Header { range, pieces } in headers {
        let (mut text, mut last) = (String::new(), None);
        for piece in pieces {
            match piece {
                Title::Text(own) => text.push_str(own),
                Title::Value { tag, at } => {
                    last = Some(*tag);
                    match scope.get(*at)? {
                        Some(Answer::Text(value)) => add(&mut text, value),
                        None | Some(Answer::Null) => {}
                        Some(_) => faults.push((
                            *tag,
                            "a header or footer has texts alone; print one of what it has, as in {x.name}"
                                .to_owned(),
                        )),
                    }
                }
            }
        }
        let characters = text.encode_utf16().count();
        if let (Some(tag), true) = (last, characters > CHARACTERS) {
            faults.push((
                tag,
                format!(
                    "the header or footer would have {characters} characters, and Excel allows {CHARACTERS}; shorten what its tags print, as in \
                     {{x.slice(0, 100)}}"
                ),
            ));
        }
        edits.push((range.clone(), escaped(&text)));
    }
    Ok(Cow::Owned(replaced(xml, &edits)))
}

/// Adds a value as text. Hazard: its `&` would begin a code, and its first digit would belong to a size before it, as in `&12`.
fn add(text: &mut String, value: &str) {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_behind_size = digits.len() < text.len() && ends_in_code(digits);
    if is_behind_size && value.starts_with(|letter: char| letter.is_ascii_digit()) {
        text.push(' ');
    }
    // Hazard: behind a single & of the template the value would be read as a code.
    if ends_in_code(text) && !value.is_empty() {
        text.push('&');
    }
    text.push_str(&value.replace('&', "&&"));
}

/// Whether the `&` at the end of a text begins a code: two of them are the letter.
fn ends_in_code(text: &str) -> bool {
    text.bytes().rev().take_while(|&byte| byte == b'&').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::{add, texts};

    #[test]
    fn headers_are_found_behind_the_cells() {
        let xml = b"<x><sheetData/><headerFooter><oddHeader>&amp;L{a}&amp;R&amp;P</oddHeader><evenFooter/></headerFooter></x>";
        let found = texts(xml, 15);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1, "&L{a}&R&P");
        assert_eq!(&xml[found[0].0.clone()], b"&amp;L{a}&amp;R&amp;P");
    }

    #[test]
    fn a_value_is_no_code_of_excel() {
        for (before, value, after) in [
            ("&L", "R&D", "&LR&&D"),
            ("&12", "5 %", "&12 5 %"),
            ("&12", "x", "&12x"),
            ("a&&1", "5", "a&&15"),
            ("R&", "D", "R&&D"),
            ("1", "5", "15"),
        ] {
            let mut text = before.to_owned();
            add(&mut text, value);
            assert_eq!(text, after);
        }
    }
}
