//! What stands behind the cells of a sheet: where its drawing is named, or would be.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::package::attribute_of;

/// What stands behind a sheet's drawing (ECMA-376 part 1, 18.3.1.99); alternatives are of controls.
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
    /// Where it is to be named.
    At(usize),
}

/// Looks for the drawing in what stands behind a sheet's cells.
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

/// The place before the first of these elements, and before the drawing and all that stands behind it.
pub(super) fn before(tail: &[u8], others: &[&[u8]]) -> usize {
    each(tail, |name, _, _| others.contains(&name) || name == b"drawing" || BEHIND.contains(&name))
}

/// Goes through the elements of a sheet that stand behind its cells: their names, where they begin, and their tags. Tells where the one is
/// that is looked for, or else where the sheet ends.
fn each(tail: &[u8], mut is_meant: impl FnMut(&[u8], usize, &[u8]) -> bool) -> usize {
    let mut reader = Reader::from_reader(tail);
    reader.config_mut().check_end_names = false;
    // The end of the sheet itself is there, and its begin is not.
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
