//! What may be only once in a document, as bookmarks and ids, even where the elements around it are repeated.

use super::attribute::{Attribute, attribute, attributes};
use super::{Element, Id, Kind};

/// What must not be written twice.
pub(crate) struct Unique {
    pub range: std::ops::Range<usize>,
    pub kind: UniqueKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UniqueKind {
    /// Only the first copy keeps it: an id that may be left out, a bookmark.
    First,
    /// A number: each copy gets its own.
    Number,
    /// The binding to data, or the mark of a placeholder, of this content control; removed when the control is filled.
    Binding(Id),
    /// The mark that this content control holds plain text; removed when more than text is put in.
    Plain(Id),
}

/// Numbers are below this; one that is not is taken for an error and ignored.
pub(crate) const LARGEST_NUMBER: u64 = 0x7fff_0000;

/// Both ends of ranges that have an id, and the reference to a comment, which may have one only.
const RANGES: [&[u8]; 11] = [
    b"bookmarkStart",
    b"bookmarkEnd",
    b"commentRangeStart",
    b"commentRangeEnd",
    b"commentReference",
    b"permStart",
    b"permEnd",
    b"moveFromRangeStart",
    b"moveFromRangeEnd",
    b"moveToRangeStart",
    b"moveToRangeEnd",
];

/// Tracked changes: each has a number.
pub(crate) const CHANGES: [&[u8]; 14] = [
    b"ins",
    b"del",
    b"moveFrom",
    b"moveTo",
    b"rPrChange",
    b"pPrChange",
    b"sectPrChange",
    b"tblPrChange",
    b"tblPrExChange",
    b"trPrChange",
    b"tcPrChange",
    b"cellIns",
    b"cellDel",
    b"cellMerge",
];

/// Finds what may be only once in a part.
#[derive(Default)]
pub(super) struct Finder {
    pub found: Vec<Unique>,
    /// The largest number of those that each copy has its own of.
    pub largest: u64,
}

impl Finder {
    /// Looks at an element that has ended. `parent` is the kind of the element around it, and `around` the element around that.
    pub(super) fn look_at(
        &mut self,
        xml: &[u8],
        prefix: &str,
        element: &Element,
        (parent, around): (Kind, Id),
    ) {
        let range = element.start_tag();
        let tag = xml.get(range.clone()).unwrap_or_default();
        let is_over = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>' || *byte == b'/';
        let name = tag.get(1..).unwrap_or_default().split(is_over).next().unwrap_or_default();
        // `paraId` and `textId`, by which Word merges the edits of several people: unique, and optional.
        if matches!(element.kind, Kind::Paragraph | Kind::Row) {
            self.attributes(tag, range.start, |name| {
                name.ends_with(b":paraId") || name.ends_with(b":textId")
            });
        }
        // Old drawings (VML): only the first copy keeps the shape's id, so a reference to it is right there alone.
        if name.starts_with(b"v:") {
            self.attributes(tag, range.start, |name| name == b"id" || name == b"o:spid");
        }
        if name.ends_with(b":docPr") {
            self.number(tag, range.start);
        }
        // The ids of rows and columns of PowerPoint's tables.
        if name.ends_with(b":rowId") || name.ends_with(b":colId") {
            self.numbered(tag, range.start, "val");
        }
        let local = name.strip_prefix(prefix.as_bytes()).unwrap_or_default();
        if CHANGES.contains(&local) {
            self.number(tag, range.start);
        }
        if local == b"bookmarkStart" {
            self.count(tag, "id");
        }
        let is_of_control = parent == Kind::ControlProperties;
        let kind = match local {
            b"id" if is_of_control => UniqueKind::First,
            b"showingPlcHdr" if is_of_control => UniqueKind::Binding(around),
            b"text" if is_of_control => UniqueKind::Plain(around),
            _ if is_of_control && name.ends_with(b"dataBinding") => UniqueKind::Binding(around),
            _ if RANGES.contains(&local) => UniqueKind::First,
            _ => return,
        };
        self.found.push(Unique { range: element.range(), kind });
    }

    fn attributes(&mut self, tag: &[u8], begin: usize, is_unique: impl Fn(&[u8]) -> bool) {
        for attribute in attributes(tag) {
            if is_unique(tag.get(attribute.name).unwrap_or_default().trim_ascii_end()) {
                let range = begin + attribute.whole.start..begin + attribute.whole.end;
                self.found.push(Unique { range, kind: UniqueKind::First });
            }
        }
    }

    /// Notes that the number in the attribute `name` is taken.
    fn count(&mut self, tag: &[u8], name: &str) -> Option<Attribute> {
        let id = attribute(tag, name)?;
        let number =
            tag.get(id.value.clone()).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        self.largest = self.largest.max(number.filter(|&number| number < LARGEST_NUMBER).unwrap_or_default());
        Some(id)
    }

    fn number(&mut self, tag: &[u8], begin: usize) {
        self.numbered(tag, begin, "id");
    }

    fn numbered(&mut self, tag: &[u8], begin: usize, name: &str) {
        let Some(id) = self.count(tag, name) else { return };
        let range = begin + id.value.start..begin + id.value.end;
        self.found.push(Unique { range, kind: UniqueKind::Number });
    }
}
