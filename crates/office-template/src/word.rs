//! A part of a file, parsed: its elements, and the text of its paragraphs.

pub(crate) mod attribute;
mod cdata;
mod dialect;
mod field;
mod place;
mod prefixes;
mod reader;
mod unique;
mod unreadable;
mod width;

use std::ops::Range;

use field::Fields;
pub(crate) use place::{Dialect, Origin, Place};
pub(crate) use prefixes::Prefixes;
pub(crate) use reader::read;
pub(crate) use unique::{CHANGES, LARGEST_NUMBER, ReferenceKind, Unique, UniqueKind};
pub(crate) use unreadable::Unreadable;
pub(crate) use width::{Sections, Twips};

/// An element's index in [`Part::elements`].
pub(crate) type Id = u32;

/// Ends the text of a paragraph with a section break. It counts as a blank, so the paragraph may still be empty otherwise.
pub(crate) const SECTION_BREAK: char = '\u{2029}';

/// The parent of the root.
pub(crate) const NONE: Id = Id::MAX;

/// Word's namespace in the strict form.
pub(crate) const STRICT: &str = "http://purl.oclc.org/ooxml/wordprocessingml/main";

/// The namespace of slides in the strict form.
const STRICT_SLIDES: &str = "http://purl.oclc.org/ooxml/presentationml/main";

/// Word's namespace in the transitional form, the usual one.
pub(crate) const TRANSITIONAL: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/// Word's namespace in both forms.
pub(crate) const NAMESPACES: [&str; 2] = [TRANSITIONAL, STRICT];

/// The namespace of attributes that hold relationships' ids, and the beginning of relationships' types: in the transitional form
/// and in the strict one.
pub(crate) const RELATIONSHIPS: [&str; 2] = [
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
];

/// A part of the file, parsed.
pub(crate) struct Part {
    /// The part's bytes, without a byte order mark.
    pub xml: Vec<u8>,
    pub dialect: Dialect,
    /// In the order in which they begin.
    pub elements: Vec<Element>,
    /// Paragraphs and other texts that may have tags, in the order in which they begin.
    pub paragraphs: Vec<Paragraph>,
    /// What must be unique in the document, in the order in which it begins.
    pub uniques: Vec<Unique>,
    /// The largest of the numbers that each copy gets anew.
    pub largest_number: u64,
    pub fields: Fields,
    /// The prefix of the dialect's names, such as `w:`.
    pub prefix: String,
    /// Of a piece of a part, such as one of its notes: from which of its paragraphs on how many more stand before them in the
    /// whole part.
    pub left_out: Vec<(usize, usize)>,
}

/// An element; positions are bytes of the part. It is kept small, since a part may have millions.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub kind: Kind,
    pub parent: Id,
    /// Its properties: `w:rPr` of a run, `w:pPr` of a paragraph.
    pub properties: Id,
    begin: u32,
    begin_end: u32,
    end: u32,
    end_end: u32,
}

impl Element {
    /// The whole element.
    pub(crate) fn range(&self) -> Range<usize> {
        self.begin as usize..self.end_end as usize
    }

    /// Its start tag, or all of it where it is empty.
    pub(crate) fn start_tag(&self) -> Range<usize> {
        self.begin as usize..self.begin_end as usize
    }

    /// The range of its end tag; where it has none, the empty range behind it.
    pub(crate) fn end_tag(&self) -> Range<usize> {
        self.end as usize..self.end_end as usize
    }
}

/// The kinds of elements that are treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Paragraph,
    Run,
    Text,
    /// A piece of a field's code.
    Code,
    /// Holds only a text, such as a property of the document.
    Value,
    Table,
    Row,
    Cell,
    /// Holds paragraphs and cannot be empty: a text box, a header, a note.
    Box,
    Control,
    ControlContent,
    ControlProperties,
    ParagraphProperties,
    Properties,
    /// `w:moveFrom`: its text has been moved elsewhere.
    MoveFrom,
    Other,
}

/// A paragraph, its text joined over all of its runs, or another text that may have tags.
pub(crate) struct Paragraph {
    pub element: Id,
    pub place: Place,
    /// The paragraph's number from 1; of any other text that of the paragraph around it, or 0.
    pub number: usize,
    pub text: String,
    pub pieces: Vec<Piece>,
    /// Its section break, if it has one.
    pub section_break: Option<Id>,
}

/// Where a piece of a paragraph's text comes from.
pub(crate) struct Piece {
    /// In the paragraph's text.
    pub text: Range<usize>,
    /// In the part.
    pub raw: Range<usize>,
    /// The `w:t` around it, or the element that it is.
    pub element: Id,
    pub kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// The same bytes in the part and in the text.
    Text,
    /// A character that is written in another way: an entity, or an element such as `w:tab`.
    Character,
    /// A picture, a field or a section break: no text, but the paragraph is not empty.
    Object,
}

impl Part {
    pub(crate) fn element(&self, id: Id) -> Option<&Element> {
        self.elements.get(id as usize)
    }

    pub(crate) fn kind(&self, id: Id) -> Kind {
        self.element(id).map_or(Kind::Other, |element| element.kind)
    }

    /// The property of this name of a paragraph.
    pub(crate) fn property(&self, paragraph: Id, name: &str) -> Option<Id> {
        self.child(self.element(paragraph)?.properties, name)
    }

    /// The value (`w:val`) of an element, as it is written.
    pub(crate) fn val(&self, id: Id) -> Option<&str> {
        let tag = self.xml.get(self.element(id)?.start_tag())?;
        std::str::from_utf8(tag.get(attribute::attribute(tag, "val")?.value)?).ok()
    }

    /// The index of a paragraph in the part that this is a piece of.
    pub(crate) fn index_in_whole(&self, index: usize) -> usize {
        let behind = self.left_out.partition_point(|&(from, _)| from <= index);
        let more = behind.checked_sub(1).and_then(|last| self.left_out.get(last));
        index + more.map_or(0, |&(_, more)| more)
    }

    /// Where each paragraph begins.
    pub(crate) fn begins(&self) -> Vec<usize> {
        let begin = |text: &Paragraph| self.element(text.element).map_or(0, |element| element.range().start);
        self.paragraphs.iter().map(begin).collect()
    }

    /// Whether it is written in the strict form of the format.
    pub(crate) fn is_strict(&self) -> bool {
        let root = self.element(0).and_then(|root| self.xml.get(root.start_tag())).unwrap_or_default();
        [STRICT, STRICT_SLIDES].iter().any(|name| memchr::memmem::find(root, name.as_bytes()).is_some())
    }

    /// The element and those around it, up to the root.
    pub(crate) fn path(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |&id| self.element(id).map(|element| element.parent))
            .take_while(|&id| id != NONE)
    }

    /// The element's name, with its prefix.
    pub(crate) fn name(&self, id: Id) -> &str {
        let tag = self.element(id).and_then(|element| self.xml.get(element.start_tag())).unwrap_or_default();
        let is_over = |&byte: &u8| byte.is_ascii_whitespace() || byte == b'>' || byte == b'/';
        let name = tag.get(1..).unwrap_or_default().split(|byte| is_over(byte)).next().unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// Those of [`Part::uniques`] inside of `range`.
    pub(crate) fn uniques_in(&self, range: Range<usize>) -> impl Iterator<Item = &Unique> {
        let first = self.uniques.partition_point(|unique| unique.range.start < range.start);
        let from = self.uniques.iter().skip(first);
        from.take_while(move |unique| unique.range.start < range.end)
            .filter(move |unique| unique.range.end <= range.end)
    }

    /// The first element that begins behind the end of this one.
    pub(crate) fn behind(&self, id: Id) -> Id {
        let end = self.element(id).map_or(0, |element| element.range().end);
        let first = self.elements.partition_point(|element| element.range().start < end);
        Id::try_from(first).unwrap_or(NONE)
    }

    /// The element's children.
    pub(crate) fn children(&self, of: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.element(of).map_or(0, |element| element.range().end);
        let behind = (of as usize).saturating_add(1)..self.elements.len();
        let behind = behind.map_while(move |id| Some((Id::try_from(id).ok()?, self.elements.get(id)?)));
        behind
            .take_while(move |(_, element)| element.range().start < end)
            .filter(move |(_, element)| element.parent == of)
            .map(|(id, _)| id)
    }

    /// Whether the element may be split, as a run may.
    pub(crate) fn is_divisible(&self, id: Id) -> bool {
        const NAMES: [&str; 9] =
            ["hyperlink", "ins", "del", "moveTo", "smartTag", "customXml", "fldSimple", "bdo", "dir"];
        match self.kind(id) {
            Kind::Run | Kind::Text | Kind::Code | Kind::Control | Kind::ControlContent => true,
            Kind::Other => {
                self.name(id).strip_prefix(&self.prefix).is_some_and(|local| NAMES.contains(&local))
            }
            Kind::Paragraph
            | Kind::Value
            | Kind::Table
            | Kind::Row
            | Kind::Cell
            | Kind::Box
            | Kind::ControlProperties
            | Kind::ParagraphProperties
            | Kind::Properties
            | Kind::MoveFrom => false,
        }
    }

    /// The part's bytes, as text.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        self.xml.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}
