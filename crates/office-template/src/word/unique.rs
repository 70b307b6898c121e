//! What may be only once in a document, as bookmarks and ids, even where the elements around it are repeated.

use super::attribute::{Attribute, attribute, attributes};
use super::{Element, Id, Kind, Prefixes};

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
    /// The id of a shape, or its use: all of a turn have the same, and each turn another.
    Shape,
    /// One end of a bookmark: each copy has its own.
    Bookmark,
    /// The name of the bookmark that a link leads to.
    Anchor,
    /// The id of the relationship of a link, which may lead to a bookmark.
    Link,
    /// Refers to what is kept in another part: each copy may have its own of it.
    Reference(ReferenceKind),
    /// The binding to data, or the mark of a placeholder, of this content control; removed when the control is filled.
    Binding(Id),
    /// The mark that this content control holds plain text; removed when more than text is put in.
    Plain(Id),
}

/// What a reference leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    /// A note, an endnote or a comment, in the part that a relationship of this kind leads to.
    Note(&'static str),
    /// A part, by the id of a relationship.
    Part,
}

impl ReferenceKind {
    pub(crate) fn is_of_comment(self) -> bool {
        self == Self::Note("comments")
    }

    pub(crate) fn is_of_part(self) -> bool {
        self == Self::Part
    }
}

/// Numbers are below this; one that is not is taken for an error and ignored.
pub(crate) const LARGEST_NUMBER: u64 = 0x7fff_0000;

/// Both ends of ranges that have an id.
const RANGES: [&[u8]; 6] = [
    b"permStart",
    b"permEnd",
    b"moveFromRangeStart",
    b"moveFromRangeEnd",
    b"moveToRangeStart",
    b"moveToRangeEnd",
];

/// Elements that refer to parts by relationships, without their prefixes.
const REFERRING: [&[u8]; 9] = [
    b"headerReference",
    b"footerReference",
    b"altChunk",
    b"subDoc",
    b"contentPart",
    b"control",
    b"OLEObject",
    b"chart",
    b"relIds",
];

/// Links whose address is a relationship's target, without their prefixes.
const LINKS: [&[u8]; 3] = [b"hyperlink", b"hlinkClick", b"hlinkHover"];

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
    /// The prefixes of attributes with ids of relationships.
    relationships: Prefixes,
}

impl Finder {
    pub(super) fn new(xml: &[u8]) -> Self {
        Self { relationships: Prefixes::of(xml), ..Self::default() }
    }

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
        let without_prefix = name.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        // Old drawings (VML): embedded objects and controls name the shape that shows them. Other ids stay with the first copy.
        let is_shape = name == b"v:shape";
        if name.starts_with(b"v:") {
            self.attributes(tag, range.start, |name| name == b"id" && !is_shape || name == b"o:spid");
        }
        self.shape(tag, (range.start, without_prefix), is_shape);
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
        if REFERRING.contains(&without_prefix) {
            let found = { attributes(tag) }.filter(|one| self.relationships.hold(named(tag, one)));
            for found in found.collect::<Vec<_>>() {
                self.value(range.start, Some(found), UniqueKind::Reference(ReferenceKind::Part));
            }
        }
        if LINKS.contains(&without_prefix) {
            return self.link(tag, range.start, local == b"hyperlink");
        }
        let is_of_control = parent == Kind::ControlProperties;
        let kind = match local {
            b"id" if is_of_control => UniqueKind::First,
            b"showingPlcHdr" if is_of_control => UniqueKind::Binding(around),
            b"text" if is_of_control => UniqueKind::Plain(around),
            _ if is_of_control && name.ends_with(b"dataBinding") => UniqueKind::Binding(around),
            b"bookmarkStart" | b"bookmarkEnd" => UniqueKind::Bookmark,
            b"commentRangeStart" | b"commentRangeEnd" | b"commentReference" => {
                UniqueKind::Reference(ReferenceKind::Note("comments"))
            }
            b"footnoteReference" | b"endnoteReference" => {
                let notes = if local == b"footnoteReference" { "footnotes" } else { "endnotes" };
                let kind = UniqueKind::Reference(ReferenceKind::Note(notes));
                return self.value(range.start, attribute(tag, "id"), kind);
            }
            _ if RANGES.contains(&local) => UniqueKind::First,
            _ => return,
        };
        self.found.push(Unique { range: element.range(), kind });
    }

    /// The id of a shape, or where the element of this name uses one.
    fn shape(&mut self, tag: &[u8], (begin, name): (usize, &[u8]), is_shape: bool) {
        let found = match name {
            // A shape has a number of Office's besides, `o:id`.
            b"shape" if is_shape => attributes(tag).find(|one| named(tag, one) == b"id"),
            b"OLEObject" => attribute(tag, "ShapeID"),
            b"control" => attribute(tag, "shapeid"),
            _ => None,
        };
        self.value(begin, found, UniqueKind::Shape);
    }

    /// Where a link leads. With a relationship, its anchor is one of another document.
    fn link(&mut self, tag: &[u8], begin: usize, may_have_anchor: bool) {
        let id = attributes(tag).find(|one| self.relationships.hold(named(tag, one)));
        let anchor = || attribute(tag, "anchor").filter(|_| may_have_anchor);
        match id {
            Some(id) => self.value(begin, Some(id), UniqueKind::Link),
            None => self.value(begin, anchor(), UniqueKind::Anchor),
        }
    }

    fn attributes(&mut self, tag: &[u8], begin: usize, is_unique: impl Fn(&[u8]) -> bool) {
        for attribute in attributes(tag) {
            if is_unique(tag.get(attribute.name).unwrap_or_default().trim_ascii_end()) {
                let range = begin + attribute.whole.start..begin + attribute.whole.end;
                self.found.push(Unique { range, kind: UniqueKind::First });
            }
        }
    }

    /// Notes the value of an attribute, if there is one; `begin` is where its tag begins.
    fn value(&mut self, begin: usize, found: Option<Attribute>, kind: UniqueKind) {
        if let Some(Attribute { value, .. }) = found {
            self.found.push(Unique { range: begin + value.start..begin + value.end, kind });
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

/// The name of an attribute of `tag`.
fn named<'t>(tag: &'t [u8], attribute: &Attribute) -> &'t [u8] {
    tag.get(attribute.name.clone()).unwrap_or_default()
}
