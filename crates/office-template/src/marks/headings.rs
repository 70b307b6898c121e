//! Finds the headings of a filled part, and the places of its tables of contents.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Mark, Marks, unreadable};
use crate::error::Error;
use crate::word::attribute::value;

/// A paragraph that may be a heading.
pub(super) struct Heading {
    pub style: String,
    /// The paragraph's own outline level, from 0; 9 is body text.
    pub outline: Option<u8>,
    pub text: String,
    /// The paragraph's content, behind its properties.
    pub content: Range<usize>,
}

/// A table of contents.
pub(super) struct Contents {
    pub levels: u8,
    /// The paragraph that it replaces.
    pub range: Range<usize>,
}

/// What was found in a part.
#[derive(Default)]
pub(super) struct Found {
    pub headings: Vec<Heading>,
    pub contents: Vec<Contents>,
    /// The end offsets of sections, and the widths of their columns in twentieths of a point.
    pub sections: Vec<(usize, i64)>,
    /// The largest id of a bookmark, and the names of bookmarks that begin with [`BOOKMARK`].
    pub largest: u64,
    pub names: std::collections::HashSet<String>,
}

/// The prefix of names of headings' bookmarks.
pub(super) const BOOKMARK: &str = "_Toc";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Paragraph,
    ParagraphProperties,
    Text,
    TextBox,
    Section,
    Other,
}

#[derive(Default)]
struct Paragraph {
    begin: usize,
    content: usize,
    style: String,
    outline: Option<u8>,
    text: String,
    levels: Option<u8>,
    is_in_box: bool,
}

/// The page of a section, in twentieths of a point; A4 where it gives no size.
struct Section {
    width: i64,
    margins: i64,
    columns: i64,
    space: i64,
}

impl Default for Section {
    fn default() -> Self {
        Self { width: 11_906, margins: 0, columns: 1, space: 720 }
    }
}

struct Walk<'a> {
    prefix: &'a str,
    marks: &'a Marks,
    found: Found,
    open: Vec<Name>,
    paragraphs: Vec<Paragraph>,
    boxes: usize,
    section: Section,
}

pub(super) fn find(xml: &[u8], marks: &Marks, prefix: &str) -> Result<Found, Error> {
    let mut walk = Walk {
        prefix,
        marks,
        found: Found::default(),
        open: Vec::new(),
        paragraphs: Vec::new(),
        boxes: 0,
        section: Section::default(),
    };
    let mut reader = Reader::from_reader(xml);
    let mut from = 0;
    loop {
        let event = reader.read_event().map_err(|error| unreadable(&error))?;
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        match event {
            Event::Start(tag) => walk.begin(&tag, from, end),
            Event::Empty(tag) => {
                walk.begin(&tag, from, end);
                walk.end(end, end);
            }
            Event::End(_) => walk.end(from, end),
            Event::Text(text) => walk.text(&String::from_utf8_lossy(&text)),
            Event::GeneralRef(reference) => {
                let written = format!("&{};", String::from_utf8_lossy(&reference));
                walk.text(&quick_xml::escape::unescape(&written).unwrap_or_default());
            }
            Event::PI(instruction) => walk.mark(&instruction),
            Event::Eof => return Ok(walk.found),
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::DocType(_) => {}
        }
        from = end;
    }
}

impl Walk<'_> {
    fn begin(&mut self, tag: &BytesStart<'_>, from: usize, end: usize) {
        let name = tag.name();
        let local = name.as_ref().strip_prefix(self.prefix.as_bytes()).unwrap_or_default();
        let parent = self.open.last().copied().unwrap_or(Name::Other);
        let name = match local {
            b"p" => Name::Paragraph,
            b"pPr" if parent == Name::Paragraph => Name::ParagraphProperties,
            b"t" => Name::Text,
            b"txbxContent" => Name::TextBox,
            // A `sectPr` inside of another is the section before a tracked change, and no section.
            b"sectPr" if !self.open.contains(&Name::Section) => Name::Section,
            _ => Name::Other,
        };
        match name {
            Name::Paragraph => {
                let is_in_box = self.boxes > 0;
                self.paragraphs.push(Paragraph {
                    begin: from,
                    content: end,
                    is_in_box,
                    ..Paragraph::default()
                });
            }
            Name::TextBox => self.boxes += 1,
            Name::Section => self.section = Section::default(),
            Name::Other => self.note(local, parent, tag),
            Name::ParagraphProperties | Name::Text => {}
        }
        self.open.push(name);
    }

    fn note(&mut self, local: &[u8], parent: Name, tag: &BytesStart<'_>) {
        let number =
            |name| value(tag, name).parse::<i64>().ok().filter(|number| (0..100_000).contains(number));
        match (parent, local) {
            (Name::ParagraphProperties, b"pStyle") => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.style = value(tag, "val");
                }
            }
            (Name::ParagraphProperties, b"outlineLvl") => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.outline = value(tag, "val").parse().ok();
                }
            }
            (Name::Section, b"pgSz") => self.section.width = number("w").unwrap_or(self.section.width),
            (Name::Section, b"pgMar") => {
                let sides = ["left", "right", "gutter"].map(|side| number(side).unwrap_or_default());
                self.section.margins = sides.iter().sum();
            }
            (Name::Section, b"cols") => {
                self.section.columns = number("num").unwrap_or(1).max(1);
                self.section.space = number("space").unwrap_or(self.section.space);
            }
            // A `tab` in properties is a tab stop, and not text.
            (Name::Other, b"tab" | b"br" | b"cr") if !self.open.contains(&Name::ParagraphProperties) => {
                self.add(" ");
            }
            (Name::Other, b"noBreakHyphen") => self.add("-"),
            (_, b"bookmarkStart") => {
                let id = value(tag, "id").parse().unwrap_or_default();
                self.found.largest = self.found.largest.max(id);
                let name = value(tag, "name");
                if name.starts_with(BOOKMARK) {
                    self.found.names.insert(name);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.open.last() == Some(&Name::Text) {
            self.add(text);
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn mark(&mut self, instruction: &[u8]) {
        if let (Some((Mark::Contents(levels), _)), Some(paragraph)) =
            (self.marks.read(instruction), self.paragraphs.last_mut())
        {
            paragraph.levels = Some(*levels);
        }
    }

    fn end(&mut self, from: usize, end: usize) {
        match self.open.pop() {
            Some(Name::ParagraphProperties) => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.content = end;
                }
            }
            Some(Name::TextBox) => self.boxes = self.boxes.saturating_sub(1),
            Some(Name::Section) => {
                let Section { width, margins, columns, space } = std::mem::take(&mut self.section);
                self.found.sections.push((end, (width - margins - space * (columns - 1)) / columns));
            }
            Some(Name::Paragraph) => {
                let Some(paragraph) = self.paragraphs.pop() else { return };
                let Paragraph { begin, content, style, outline, text, levels, is_in_box } = paragraph;
                if let Some(levels) = levels {
                    self.found.contents.push(Contents { levels, range: begin..end });
                } else if !is_in_box && !text.trim().is_empty() {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    self.found.headings.push(Heading { style, outline, text, content: content..from });
                }
            }
            Some(Name::Text | Name::Other) | None => {}
        }
    }
}
