//! One pass over a part's XML: elements, paragraphs' texts, and what must not be repeated.
//!
//! Hazard: the part is untrusted. Document types, and with them entities, are refused; depth, elements and attributes are
//! bounded. The parser checks that end tags match, so that what is copied from the part piece by piece is well-formed again.

mod asides;

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::limits::{Limit, Limits};

use super::attribute::attribute;
use super::cdata::without_sections;
use super::field::Fields;
use super::place::{Dialect, Origin, Place};
use super::unique::Finder;
use super::unreadable::{Unreadable, broken, position};
use super::{Element, Id, Kind, NONE, Paragraph, Part, Piece, PieceKind, SECTION_BREAK};
use asides::Code;

/// The placeholder in a paragraph's text for what is no text.
const OBJECT: &str = "\u{fffc}";

/// Reads a part, which may have `elements_left` elements.
pub(crate) fn read(
    mut xml: Vec<u8>,
    elements_left: u64,
    limits: &Limits,
    origin: &Origin,
) -> Result<Part, Unreadable> {
    if xml.starts_with(b"\xef\xbb\xbf") {
        xml.drain(..3);
    }
    if u32::try_from(xml.len()).is_err() {
        return Err(Unreadable::Xml("it is larger than 4 GiB".to_owned()));
    }
    if std::str::from_utf8(&xml).is_err() {
        return Err(Unreadable::Xml("it is not written in UTF-8".to_owned()));
    }
    if memchr::memmem::find(&xml, b"<![CDATA[").is_some() {
        xml = without_sections(&xml)?;
    }
    let mut scanner = Scanner::new(&xml, (elements_left, limits), origin);
    scanner.scan()?;
    let Scanner { elements, mut paragraphs, uniques, fields, prefix, tick_boxes, .. } = scanner;
    // Names were taken from all controls and form fields, because what makes one a tick box may come behind its name.
    paragraphs.retain(|text| !matches!(text.place, Place::Tick(of) if !tick_boxes.contains(&of)));
    let Finder { found: mut uniques, largest, .. } = uniques;
    uniques.sort_by_key(|unique| unique.range.start);
    Ok(Part {
        xml,
        dialect: origin.dialect,
        elements,
        paragraphs,
        uniques,
        largest_number: largest,
        fields,
        prefix,
        left_out: Vec::new(),
    })
}

/// A position of the part, which `read` has refused if it was longer than `u32` can count.
fn short(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

struct Scanner<'a> {
    xml: &'a [u8],
    elements_left: u64,
    limits: &'a Limits,
    dialect: Dialect,
    addresses: &'a BTreeMap<String, String>,
    elements: Vec<Element>,
    paragraphs: Vec<Paragraph>,
    uniques: Finder,
    fields: Fields,
    prefix: String,
    /// The elements that are open.
    open: Vec<Id>,
    /// The open texts, as indices of `paragraphs`: a text box has paragraphs inside of one.
    open_paragraphs: Vec<usize>,
    /// How many paragraphs there are; `paragraphs` has other texts as well.
    count: usize,
    /// The fields that are open, with their codes.
    codes: Vec<Code>,
    /// The properties of controls, and the data of form fields, that say that they are tick boxes.
    tick_boxes: BTreeSet<Id>,
    /// How many `w:moveFrom` are open.
    moves: u32,
}

impl<'a> Scanner<'a> {
    fn new(xml: &'a [u8], (elements_left, limits): (u64, &'a Limits), origin: &'a Origin) -> Self {
        Self {
            xml,
            elements_left,
            limits,
            dialect: origin.dialect,
            addresses: &origin.addresses,
            elements: Vec::new(),
            paragraphs: Vec::new(),
            uniques: Finder::new(xml),
            fields: Fields::default(),
            prefix: String::new(),
            open: Vec::new(),
            open_paragraphs: Vec::new(),
            count: 0,
            codes: Vec::new(),
            tick_boxes: BTreeSet::new(),
            moves: 0,
        }
    }

    fn scan(&mut self) -> Result<(), Unreadable> {
        let mut reader = Reader::from_reader(self.xml);
        let mut from = 0;
        loop {
            let event = reader.read_event().map_err(|error| broken(&reader, &error))?;
            let end = position(&reader);
            match event {
                Event::Start(start) => self.begin(&start, from, end, false)?,
                Event::Empty(start) => self.begin(&start, from, end, true)?,
                Event::End(_) => self.end(from, end),
                Event::Text(_) => self.text(from, end),
                Event::GeneralRef(reference) => self.reference(&reference, from, end)?,
                Event::DocType(_) => {
                    return Err(Unreadable::Xml(
                        "it has a document type (<!DOCTYPE), which is refused".to_owned(),
                    ));
                }
                Event::Decl(declaration) => {
                    let encoding = declaration.encoding().and_then(Result::ok);
                    if encoding.is_some_and(|name| !name.eq_ignore_ascii_case(b"utf-8")) {
                        return Err(Unreadable::Xml("it is not written in UTF-8".to_owned()));
                    }
                }
                Event::Eof => break,
                Event::CData(_) | Event::Comment(_) | Event::PI(_) => {}
            }
            from = end;
        }
        if self.open.is_empty() && !self.elements.is_empty() {
            return Ok(());
        }
        Err(Unreadable::Xml("its XML ends too early".to_owned()))
    }

    fn begin(
        &mut self,
        start: &BytesStart<'_>,
        from: usize,
        end: usize,
        is_empty: bool,
    ) -> Result<(), Unreadable> {
        if self.open.len() as u64 >= self.limits.depth.value {
            let what = "elements stand in each other deeper than the limit";
            return Err(Unreadable::Limit(self.limits.depth, what));
        }
        if self.elements.len() as u64 >= self.elements_left {
            let what = "with it, the template has more elements than the limit";
            return Err(Unreadable::Limit(self.limits.elements, what));
        }
        let tag = self.xml.get(from..end).unwrap_or_default();
        check_attributes(start, from, &self.limits.attributes)?;
        if self.elements.is_empty() {
            self.prefix = self.dialect.prefix(tag);
        }
        let name = start.name().into_inner();
        let local = name.strip_prefix(self.prefix.as_bytes());
        let local = local.or_else(|| self.dialect.in_equation(name)).unwrap_or_default();
        let kind = self.dialect.kind(name, local);
        let id = short(self.elements.len());
        let parent = self.open.last().copied().unwrap_or(NONE);
        self.elements.push(Element {
            kind,
            parent,
            properties: NONE,
            begin: short(from),
            begin_end: short(end),
            end: short(end),
            end_end: short(end),
        });
        self.note(id, name, local);
        self.asides(id, name, local);
        self.open.push(id);
        if is_empty {
            self.end(end, end);
        }
        Ok(())
    }

    /// Notes what the element means for the text and for the elements around it.
    fn note(&mut self, id: Id, name: &[u8], local: &[u8]) {
        let Some(&Element { kind, parent, .. }) = self.elements.get(id as usize) else { return };
        let parent_kind = self.elements.get(parent as usize).map_or(Kind::Other, |element| element.kind);
        match kind {
            Kind::Paragraph => {
                self.count += 1;
                self.open_text_at(id, Place::Paragraph, self.count);
            }
            Kind::Value => self.open_text_at(id, Place::Element, 0),
            Kind::Properties | Kind::ParagraphProperties | Kind::ControlProperties => {
                if let Some(parent) = self.elements.get_mut(parent as usize) {
                    parent.properties = id;
                }
            }
            Kind::MoveFrom => self.moves += 1,
            Kind::Run
            | Kind::Text
            | Kind::Code
            | Kind::Table
            | Kind::Row
            | Kind::Cell
            | Kind::Box
            | Kind::Control
            | Kind::ControlContent
            | Kind::Other => {
                if parent_kind == Kind::Run {
                    self.in_run(id, local);
                } else if self.dialect.is_drawn() && parent_kind == Kind::Paragraph {
                    self.between_runs(id, local);
                } else if parent_kind == Kind::ControlProperties {
                    self.tick_box(id, name);
                } else if name.ends_with(b":oMath") {
                    self.piece(OBJECT, id, PieceKind::Object);
                } else if parent_kind == Kind::ParagraphProperties && local == b"sectPr" {
                    let last = self.open_paragraphs.last().and_then(|&index| self.paragraphs.get_mut(index));
                    if let Some(paragraph) = last {
                        paragraph.section_break = Some(id);
                    }
                }
            }
        }
    }

    fn open_text_at(&mut self, element: Id, place: Place, number: usize) {
        self.open_paragraphs.push(self.paragraphs.len());
        self.paragraphs.push(Paragraph {
            element,
            place,
            number,
            text: String::new(),
            pieces: Vec::new(),
            section_break: None,
        });
    }

    /// Elements beside the runs of a drawing's paragraph.
    fn between_runs(&mut self, id: Id, local: &[u8]) {
        match local {
            b"br" => self.piece(" ", id, PieceKind::Character),
            b"fld" => self.piece(OBJECT, id, PieceKind::Object),
            _ => {}
        }
    }

    /// A run's child that is not its text.
    fn in_run(&mut self, id: Id, local: &[u8]) {
        let tag = self.elements.get(id as usize).and_then(|element| self.xml.get(element.start_tag()));
        let tag = tag.unwrap_or_default();
        let value = |name| attribute(tag, name).and_then(|attribute| tag.get(attribute.value));
        if local == b"fldChar" {
            let kind =
                value("fldCharType").and_then(|kind| std::str::from_utf8(kind).ok()).unwrap_or_default();
            self.fields.add(self.elements.get(id as usize).map_or(0, |element| element.begin), kind);
            self.field(kind);
        }
        match local {
            b"t" | b"delText" | b"lastRenderedPageBreak" => {}
            b"br" if matches!(value("type"), Some(b"page" | b"column")) => {
                self.piece(OBJECT, id, PieceKind::Object);
            }
            b"tab" | b"br" | b"cr" => self.piece(" ", id, PieceKind::Character),
            b"noBreakHyphen" => self.piece("-", id, PieceKind::Character),
            b"softHyphen" => self.piece("\u{ad}", id, PieceKind::Character),
            _ => self.piece(OBJECT, id, PieceKind::Object),
        }
    }

    /// Adds an element to the text of the paragraph; where it ends in the part is set when the element ends.
    fn piece(&mut self, text: &str, element: Id, kind: PieceKind) {
        let raw = self.elements.get(element as usize).map_or(0..0, Element::range);
        self.add(text, raw, element, kind);
    }

    fn add(&mut self, text: &str, raw: std::ops::Range<usize>, element: Id, kind: PieceKind) {
        if self.moves > 0 {
            return;
        }
        let is_code = kind != PieceKind::Object
            && self.elements.get(element as usize).is_some_and(|element| element.kind == Kind::Code);
        let index = if is_code { self.code(element) } else { self.open_paragraphs.last().copied() };
        let Some(paragraph) = index.and_then(|index| self.paragraphs.get_mut(index)) else { return };
        let begin = paragraph.text.len();
        paragraph.text.push_str(text);
        paragraph.pieces.push(Piece { text: begin..paragraph.text.len(), raw, element, kind });
    }

    /// The element with text that is open, as a `w:t`, if one is.
    fn open_text(&self) -> Option<Id> {
        let &id = self.open.last()?;
        let element = self.elements.get(id as usize)?;
        matches!(element.kind, Kind::Text | Kind::Code | Kind::Value).then_some(id)
    }

    fn text(&mut self, from: usize, end: usize) {
        let xml = self.xml;
        let text = xml.get(from..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        if let (Some(id), Some(text)) = (self.open_text(), text) {
            self.add(text, from..end, id, PieceKind::Text);
        }
    }

    fn reference(&mut self, reference: &BytesRef<'_>, from: usize, end: usize) -> Result<(), Unreadable> {
        let named = match &**reference {
            b"amp" => Some('&'),
            b"lt" => Some('<'),
            b"gt" => Some('>'),
            b"quot" => Some('"'),
            b"apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        let Some(letter) = named else {
            let message =
                format!("it has an entity that is not one of XML's own, at byte {from}, which is refused");
            return Err(Unreadable::Xml(message));
        };
        if let Some(id) = self.open_text() {
            self.add(letter.encode_utf8(&mut [0; 4]), from..end, id, PieceKind::Character);
        }
        Ok(())
    }

    fn end(&mut self, from: usize, end: usize) {
        let Some(id) = self.open.pop() else { return };
        let Some(element) = self.elements.get_mut(id as usize) else { return };
        element.end = short(from);
        element.end_end = short(end);
        let element = *element;
        match element.kind {
            Kind::Paragraph => {
                let index = self.open_paragraphs.last();
                let section_break = index.and_then(|&index| self.paragraphs.get(index)?.section_break);
                if let Some(id) = section_break {
                    self.piece(SECTION_BREAK.encode_utf8(&mut [0; 4]), id, PieceKind::Object);
                }
                self.open_paragraphs.pop();
            }
            Kind::Value => {
                self.open_paragraphs.pop();
            }
            Kind::MoveFrom => self.moves = self.moves.saturating_sub(1),
            Kind::Other
            | Kind::Run
            | Kind::Text
            | Kind::Code
            | Kind::Table
            | Kind::Row
            | Kind::Cell
            | Kind::Box
            | Kind::Control
            | Kind::ControlContent
            | Kind::ControlProperties
            | Kind::ParagraphProperties
            | Kind::Properties => {}
        }
        let parent = self.elements.get(element.parent as usize);
        let parent = parent.map_or((Kind::Other, NONE), |parent| (parent.kind, parent.parent));
        self.uniques.look_at(self.xml, &self.prefix, &element, parent);
        let last = self.open_paragraphs.last().and_then(|&index| self.paragraphs.get_mut(index));
        if let Some(piece) = last.and_then(|paragraph| paragraph.pieces.last_mut())
            && piece.element == id
            && !matches!(element.kind, Kind::Text | Kind::Value)
        {
            piece.raw = element.range();
        }
    }
}

/// Refuses start tags with broken or duplicate attributes: copies of them are put together from bytes, so they would pass into
/// the result.
fn check_attributes(start: &BytesStart<'_>, at: usize, limit: &Limit) -> Result<(), Unreadable> {
    let broken = |what: &str| Unreadable::Xml(format!("its XML is broken at byte {at} ({what})"));
    let mut names = Vec::new();
    // The parser's own check compares each with each, which is quadratic.
    for attribute in start.attributes().with_checks(false) {
        if names.len() as u64 >= limit.value {
            return Err(Unreadable::Limit(*limit, "an element has more attributes than the limit"));
        }
        names.push(attribute.map_err(|error| broken(&error.to_string()))?.key.into_inner());
    }
    names.sort_unstable();
    if names.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        return Err(broken("an attribute stands twice in an element"));
    }
    Ok(())
}
