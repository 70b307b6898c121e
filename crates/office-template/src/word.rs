//! A part of a Word file: its elements, and the text of its paragraphs.

pub(crate) mod attribute;
mod reader;

use std::ops::Range;

pub(crate) use reader::{Unreadable, read};

/// An element's place in [`Part::elements`].
pub(crate) type Id = u32;

/// The parent of the root.
pub(crate) const NONE: Id = Id::MAX;

/// A part of the file, read.
pub(crate) struct Part {
    /// The part's bytes, without a mark of their order.
    pub xml: Vec<u8>,
    /// In the order in which they begin.
    pub elements: Vec<Element>,
    /// In the order in which they begin.
    pub paragraphs: Vec<Paragraph>,
    /// What stands once in the document, however often it is repeated.
    pub singles: Vec<Single>,
    /// What Word's names begin with, as `w:`.
    pub prefix: String,
}

/// An element; positions are bytes of the part. No more than this is kept of each: a part may have millions.
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

    /// Its end tag; where it has none, the place behind it.
    pub(crate) fn end_tag(&self) -> Range<usize> {
        self.end as usize..self.end_end as usize
    }
}

/// What is to be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Paragraph,
    Run,
    Text,
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
    MovedAway,
    Other,
}

/// A paragraph: its text joined over all of its runs.
pub(crate) struct Paragraph {
    pub element: Id,
    pub text: String,
    pub pieces: Vec<Piece>,
}

/// Where a piece of a paragraph's text comes from.
pub(crate) struct Piece {
    /// In the paragraph's text.
    pub text: Range<usize>,
    /// In the part.
    pub raw: Range<usize>,
    /// The `w:t` that it stands in, or the element that it is.
    pub element: Id,
    pub kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// The same bytes in the part and in the text.
    Text,
    /// A letter that is written in another way: an entity, or an element as `w:tab`.
    Character,
    /// A picture, a field, a section break: no text, but not nothing.
    Object,
}

/// What must not be written twice.
pub(crate) struct Single {
    pub range: Range<usize>,
    pub kind: SingleKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SingleKind {
    /// Only the first copy keeps it: an id that may be left out, a bookmark.
    First,
    /// Only the last copy keeps it: a section break.
    Last,
    /// A number that each copy has its own of.
    Number,
}

impl Part {
    pub(crate) fn element(&self, id: Id) -> Option<&Element> {
        self.elements.get(id as usize)
    }

    pub(crate) fn kind(&self, id: Id) -> Kind {
        self.element(id).map_or(Kind::Other, |element| element.kind)
    }

    /// The element and what it stands in, up to the root.
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

    /// What stands once, inside of `range`.
    pub(crate) fn singles_in(&self, range: Range<usize>) -> impl Iterator<Item = &Single> {
        self.singles
            .iter()
            .filter(move |single| range.start <= single.range.start && single.range.end <= range.end)
    }

    /// The part's bytes, as text.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        self.xml.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}
