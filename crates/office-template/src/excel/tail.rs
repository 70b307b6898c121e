//! The elements behind the cells of a sheet: where its drawing is named, or where a new one must be, because their order is
//! fixed.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::package::xml::attribute_of;

/// The most elements of a list of a part that grows with the turns: merged cells, pictures, comments.
pub(super) const LIST_LIMIT: usize = 200_000;

/// The elements that follow a sheet's drawing (ECMA-376 part 1, 18.3.1.99); `AlternateContent` is around controls.
const BEHIND: [&[u8]; 10] = [
    b"legacyDrawing",
    b"legacyDrawingHF",
    b"drawingHF",
    b"picture",
    b"oleObjects",
    b"controls",
    b"webPublishItems",
    b"tableParts",
    b"extLst",
    b"AlternateContent",
];

/// A sheet's drawing.
pub(super) enum Drawing {
    /// The id of its relationship.
    There(String),
    /// The byte at which its element is to be inserted.
    At(usize),
}

/// Looks for the drawing in the bytes behind a sheet's cells.
pub(super) fn drawing(tail: &[u8]) -> Drawing {
    let (mut id, mut found) = (None, None);
    let end = each(tail, |name, begin, written| {
        if name == b"drawing" {
            id = attribute_of(written, |name| name.ends_with(b":id"));
        }
        if BEHIND.contains(&name) {
            found = found.or(Some(begin));
        }
        id.is_some()
    });
    id.map_or_else(|| Drawing::At(found.unwrap_or(end)), Drawing::There)
}

/// The byte before the first of `others`, the drawing, or what follows it.
pub(super) fn before(tail: &[u8], others: &[&[u8]]) -> usize {
    each(tail, |name, _, _| others.contains(&name) || name == b"drawing" || BEHIND.contains(&name))
}

/// Goes through the elements behind a sheet's cells: `is_meant` sees the name, the first byte and the start tag of each. The
/// first byte of the one that it accepts, or else where the sheet ends.
fn each(tail: &[u8], mut is_meant: impl FnMut(&[u8], usize, &[u8]) -> bool) -> usize {
    let mut reader = Reader::from_reader(tail);
    reader.config_mut().check_end_names = false;
    // The sheet's end tag is among these bytes, and its start tag is not.
    reader.config_mut().allow_unmatched_ends = true;
    let (mut depth, mut begin) = (0_usize, 0);
    loop {
        let event = reader.read_event();
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) if depth == 0 => {
                let name = tag.local_name();
                let written = tail.get(begin..end).unwrap_or_default();
                if is_meant(name.as_ref(), begin, written) {
                    return begin;
                }
                depth += usize::from(!written.ends_with(b"/>"));
            }
            Ok(Event::Start(_)) => depth += 1,
            Ok(Event::End(_)) if depth > 0 => depth -= 1,
            Ok(Event::End(_) | Event::Eof) | Err(_) => return begin,
            Ok(_) => {}
        }
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::{Drawing, drawing};

    #[test]
    fn a_drawing_is_found_or_has_its_place() {
        let at = |tail: &str| match drawing(tail.as_bytes()) {
            Drawing::There(id) => id,
            Drawing::At(at) => tail.get(at..).unwrap_or_default().to_owned(),
        };
        assert_eq!(at("<pageMargins/><drawing r:id=\"rId2\"/><tableParts/></worksheet>"), "rId2");
        assert_eq!(
            at("<x:pageMargins/><x:extLst><x:drawing/></x:extLst></x:worksheet>"),
            "<x:extLst><x:drawing/></x:extLst></x:worksheet>"
        );
        assert_eq!(at("<a><picture/></a>\n</worksheet>"), "</worksheet>");
        assert_eq!(
            at("<legacyDrawing r:id=\"a\"/><mc:AlternateContent/></worksheet>"),
            "<legacyDrawing r:id=\"a\"/><mc:AlternateContent/></worksheet>"
        );
    }
}
