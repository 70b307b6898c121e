//! Texts beside those of the paragraphs: in attributes, in the codes of fields, in the addresses of links.

use std::ops::Range;

use super::Scanner;
use crate::word::attribute::{Attribute, attribute};
use crate::word::place::{Dialect, Place};
use crate::word::{Id, Kind, Paragraph, Piece, PieceKind};

/// The code of a field that is open.
#[derive(Default)]
pub(super) struct Code {
    /// Its result has begun.
    is_over: bool,
    /// Its text, by its place among the paragraphs, once it has some.
    text: Option<usize>,
}

impl Scanner<'_> {
    /// Adds the texts in the attributes of an element that begins.
    pub(super) fn asides(&mut self, id: Id, name: &[u8], local: &[u8]) {
        if self.dialect == Dialect::Properties || self.moves > 0 {
            return;
        }
        let own = name.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        match own {
            b"docPr" | b"cNvPr" => self.shown(id, &["descr", "title"]),
            b"hlinkClick" | b"hlinkHover" => {
                self.shown(id, &["tooltip"]);
                self.address(id);
            }
            _ if name.starts_with(b"v:") => self.shown(id, &["alt", "title", "string"]),
            _ if self.dialect == Dialect::Word => self.of_word(id, local),
            _ => {}
        }
    }

    fn of_word(&mut self, id: Id, local: &[u8]) {
        match local {
            b"hyperlink" => {
                self.shown(id, &["tooltip"]);
                self.address(id);
            }
            b"tblCaption" | b"tblDescription" => self.shown(id, &["val"]),
            b"fldSimple" => self.attribute(id, "instr", Place::CodeAttribute),
            b"alias" | b"tag" | b"statusText" | b"helpText" => {
                let parent = self.parent(id);
                let is_named = match local {
                    b"alias" | b"tag" => self.kind_of(parent) == Kind::ControlProperties,
                    _ => true,
                };
                if is_named {
                    self.attribute(id, "val", Place::Tick(parent));
                }
            }
            b"checkBox" => {
                self.tick_boxes.insert(self.parent(id));
            }
            _ => {}
        }
    }

    /// Notes that a control is a tick box, if this element of its properties says so.
    pub(super) fn tick_box(&mut self, id: Id, name: &[u8]) {
        let parent = self.parent(id);
        if name.ends_with(b":checkbox") && self.kind_of(parent) == Kind::ControlProperties {
            self.tick_boxes.insert(parent);
        }
    }

    fn parent(&self, id: Id) -> Id {
        self.elements.get(id as usize).map_or(super::NONE, |element| element.parent)
    }

    fn kind_of(&self, id: Id) -> Kind {
        self.elements.get(id as usize).map_or(Kind::Other, |element| element.kind)
    }

    fn shown(&mut self, id: Id, names: &[&str]) {
        for name in names {
            self.attribute(id, name, Place::Attribute);
        }
    }

    fn attribute(&mut self, id: Id, name: &str, place: Place) {
        let Some(value) = self.value(id, name) else { return };
        let written = self.xml.get(value.clone()).and_then(|value| std::str::from_utf8(value).ok());
        let Some(written) = written.filter(|written| !written.is_empty()) else { return };
        let (text, pieces) = unescaped(written, value.start, id);
        self.aside(Paragraph { element: id, place, text, pieces, number: 0, section_break: None });
    }

    /// The bytes of the part that an attribute's value takes.
    fn value(&self, id: Id, name: &str) -> Option<Range<usize>> {
        let tag = self.elements.get(id as usize)?.start_tag();
        let Attribute { value, .. } = attribute(self.xml.get(tag.clone())?, name)?;
        Some(tag.start + value.start..tag.start + value.end)
    }

    /// Adds the address of a link, if it may have tags.
    fn address(&mut self, id: Id) {
        if self.addresses.is_empty() {
            return;
        }
        let Some(range) = self.value(id, "id") else { return };
        let relationship = self.xml.get(range.clone()).and_then(|id| std::str::from_utf8(id).ok());
        if let Some(target) = self.addresses.get(relationship.unwrap_or_default()).cloned() {
            let (text, pieces) = decoded(&target, id);
            let place = Place::Address { target, id: range };
            self.aside(Paragraph { element: id, place, text, pieces, number: 0, section_break: None });
        }
    }

    fn aside(&mut self, text: Paragraph) {
        let around = self.open_paragraphs.last().and_then(|&index| self.paragraphs.get(index));
        let number = around.map_or(0, |paragraph| paragraph.number);
        self.paragraphs.push(Paragraph { number, ..text });
    }

    /// Opens, separates or closes a field: a `w:fldChar` of this kind.
    pub(super) fn field(&mut self, kind: &str) {
        match kind {
            "begin" => self.codes.push(Code::default()),
            "separate" => {
                if let Some(code) = self.codes.last_mut() {
                    code.is_over = true;
                }
            }
            "end" => {
                self.codes.pop();
            }
            _ => {}
        }
    }

    /// The index of the text that collects the code of the innermost field; `None` where its result has begun.
    pub(super) fn code(&mut self, element: Id) -> Option<usize> {
        let code = self.codes.last().filter(|code| !code.is_over)?;
        if let Some(index) = code.text {
            return Some(index);
        }
        let index = self.paragraphs.len();
        let (text, pieces) = (String::new(), Vec::new());
        self.aside(Paragraph { element, place: Place::Code, text, pieces, number: 0, section_break: None });
        self.codes.last_mut()?.text = Some(index);
        Some(index)
    }
}

/// The text of an attribute, and the bytes of the part that its pieces take; its value begins at `at`.
fn unescaped(written: &str, at: usize, element: Id) -> (String, Vec<Piece>) {
    pieces(written, at, element, |rest| {
        let end = rest.strip_prefix('&')?.find(';')? + 2;
        let letter = match rest.get(1..end - 1)? {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let number = number.strip_prefix('#')?;
                let code = match number.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                char::from_u32(code.ok()?)?
            }
        };
        Some((letter, end))
    })
}

/// The text of an address with its percent codes decoded.
fn decoded(written: &str, element: Id) -> (String, Vec<Piece>) {
    pieces(written, 0, element, |rest| {
        let mut bytes = Vec::new();
        let mut codes = rest;
        while let Some(code) = codes.strip_prefix('%').and_then(|codes| codes.get(..2)) {
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            codes = codes.get(3..)?;
            if let Ok(text) = std::str::from_utf8(&bytes) {
                return Some((text.chars().next()?, bytes.len() * 3));
            }
            if bytes.len() == 4 {
                return None;
            }
        }
        None
    })
}

/// A text of pieces that are written as they are, and of letters that are written as codes. `letter` finds a code at the begin of
/// a text: the letter, and how many bytes the code takes.
fn pieces(
    written: &str,
    at: usize,
    element: Id,
    letter: impl Fn(&str) -> Option<(char, usize)>,
) -> (String, Vec<Piece>) {
    let mut text = String::with_capacity(written.len());
    let mut found = Vec::new();
    let mut add = |text: &mut String, raw: Range<usize>, what: &str, kind| {
        if !what.is_empty() {
            let begin = text.len();
            text.push_str(what);
            found.push(Piece { text: begin..text.len(), raw: at + raw.start..at + raw.end, element, kind });
        }
    };
    let (mut from, mut here) = (0, 0);
    while let Some(next) = written.get(here..).and_then(|rest| rest.find(['&', '%'])) {
        here += next;
        let Some((letter, length)) = written.get(here..).and_then(&letter) else {
            here += 1;
            continue;
        };
        add(&mut text, from..here, written.get(from..here).unwrap_or_default(), PieceKind::Text);
        let end = here + length;
        add(&mut text, here..end, letter.encode_utf8(&mut [0; 4]), PieceKind::Character);
        (from, here) = (end, end);
    }
    add(&mut text, from..written.len(), written.get(from..).unwrap_or_default(), PieceKind::Text);
    (text, found)
}
