//! A part's elements as ranges of its text, and changes to that text.
//!
//! References are rewritten, and all else is copied byte for byte: unknown elements stay whole.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use quick_xml::events::Event;
use quick_xml::{Reader, escape};

use crate::error::Error;

/// An element as ranges of the part's text.
#[derive(Debug)]
pub(crate) struct Element {
    /// Its start tag.
    pub tag: Range<usize>,
    /// All of it.
    pub whole: Range<usize>,
    /// What is between its tags.
    pub inner: Range<usize>,
    pub parent: Option<usize>,
    /// The index of the first element behind it.
    pub behind: usize,
    name: Range<usize>,
}

/// A part whose elements are known.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub xml: &'a str,
    pub elements: Vec<Element>,
}

/// How a part is read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// How many elements there may be.
    pub elements: usize,
    /// The element whose content is skipped: the cells of a sheet may be millions.
    pub skipped: Option<&'static str>,
    /// Whether elements may be left open, as `<br>` is in VML.
    pub is_loose: bool,
}

/// Elements while they are read.
struct Tree<'a> {
    xml: &'a str,
    elements: Vec<Element>,
    open: Vec<usize>,
}

impl Tree<'_> {
    /// Adds an element that begins with this tag, whose name has so many bytes.
    fn add(&mut self, tag: Range<usize>, name: usize) {
        self.elements.push(Element {
            whole: tag.clone(),
            inner: tag.end..tag.end,
            parent: self.open.last().copied(),
            behind: self.elements.len() + 1,
            name: tag.start + 1..tag.start + 1 + name,
            tag,
        });
    }

    /// Ends the innermost element of this name, and those that are open in it; an end tag without one is ignored.
    fn end(&mut self, tag: Range<usize>, name: &[u8]) {
        let (elements, xml) = (&mut self.elements, self.xml);
        let is_own = |index: &usize| xml[elements[*index].name.clone()].as_bytes() == name;
        let Some(from) = self.open.iter().rposition(is_own) else { return };
        let behind = elements.len();
        for index in self.open.drain(from..) {
            let element = &mut elements[index];
            element.behind = behind;
            element.inner.end = tag.start;
            element.whole.end = tag.end;
        }
    }
}

/// How many elements may be within each other.
const DEEPEST: usize = 1_000;

impl<'a> Document<'a> {
    /// # Errors
    /// [`Error::Xml`] for what is no XML in UTF-8, or has a document type; [`Error::Elements`].
    pub fn read(xml: &'a [u8], reading: Reading) -> Result<Self, Error> {
        let xml = std::str::from_utf8(xml).map_err(|_| Error::Xml("it is not UTF-8".to_owned()))?;
        let mark = if xml.starts_with('\u{feff}') { 3 } else { 0 };
        let mut reader = Reader::from_str(&xml[mark..]);
        let config = reader.config_mut();
        config.check_end_names = !reading.is_loose;
        config.allow_unmatched_ends = reading.is_loose;
        let mut tree = Tree { xml, elements: Vec::new(), open: Vec::new() };
        let (mut at, mut skipping) = (mark, 0_usize);
        loop {
            let event = reader.read_event().map_err(|error| Error::Xml(error.to_string()))?;
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).saturating_add(mark);
            let place = at..end.min(xml.len());
            at = place.end;
            if tree.elements.len() > reading.elements {
                return Err(Error::Elements(reading.elements));
            }
            match event {
                Event::Start(_) if skipping > 0 => skipping += 1,
                Event::End(_) if skipping > 1 => skipping -= 1,
                Event::Start(tag) => {
                    let is_skipped = |it: &str| tag.local_name().as_ref() == it.as_bytes();
                    skipping = usize::from(reading.skipped.is_some_and(is_skipped));
                    tree.add(place, tag.name().as_ref().len());
                    tree.open.push(tree.elements.len() - 1);
                    // Hazard: where elements may be left open, each end tag is looked for among all that are open.
                    if tree.open.len() > DEEPEST {
                        return Err(Error::Xml(format!("more than {DEEPEST} elements are open")));
                    }
                }
                Event::Empty(tag) if skipping == 0 => tree.add(place, tag.name().as_ref().len()),
                Event::End(tag) => {
                    skipping = 0;
                    tree.end(place, tag.name().as_ref());
                }
                Event::DocType(_) => return Err(Error::Xml("it has a document type".to_owned())),
                Event::Eof => break,
                Event::Empty(_)
                | Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::GeneralRef(_) => {}
            }
        }
        if !tree.open.is_empty() || tree.elements.is_empty() {
            return Err(Error::Xml("an element has no end".to_owned()));
        }
        Ok(Self { xml, elements: tree.elements })
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// The element's name without its prefix.
    pub fn name(&self, index: usize) -> &'a str {
        let name = self.qualified(index);
        name.rsplit_once(':').map_or(name, |(_, local)| local)
    }

    /// The element's name with its prefix.
    pub fn qualified(&self, index: usize) -> &'a str {
        &self.xml[self.elements[index].name.clone()]
    }

    pub fn parent_name(&self, index: usize) -> &'a str {
        self.elements[index].parent.map_or("", |parent| self.name(parent))
    }

    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let behind = self.elements[index].behind;
        let first = (index + 1 < behind).then_some(index + 1);
        std::iter::successors(first, move |&at| Some(self.elements[at].behind).filter(|&next| next < behind))
    }

    pub fn child(&self, index: usize, name: &str) -> Option<usize> {
        self.children(index).find(|&child| self.name(child) == name)
    }

    /// All elements in it.
    pub fn within(&self, index: usize) -> Range<usize> {
        index + 1..self.elements[index].behind
    }

    /// The value of an attribute, whose name is given with its prefix.
    pub fn value(&self, index: usize, name: &str) -> Option<Cow<'a, str>> {
        let (_, place) = self.attribute(index, |it| it == name)?;
        Some(unescaped(&self.xml[place]))
    }

    pub fn number(&self, index: usize, name: &str) -> Option<u32> {
        self.value(index, name)?.trim().parse().ok()
    }

    /// The value of an attribute with some prefix, as that of `r:id`.
    pub fn foreign(&self, index: usize, local: &str) -> Option<Cow<'a, str>> {
        let (_, place) = self.attribute(index, is_foreign(local))?;
        Some(unescaped(&self.xml[place]))
    }

    /// An attribute with the blank before it, and its value.
    fn attribute(
        &self,
        index: usize,
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let Element { tag, name, .. } = &self.elements[index];
        let mut at = name.end;
        loop {
            let rest = self.xml.get(at..tag.end)?;
            let begin = at + rest.find(|sign: char| !sign.is_ascii_whitespace())?;
            let equals = begin + self.xml.get(begin..tag.end)?.find('=')?;
            let opening = equals + self.xml.get(equals..tag.end)?.find(['"', '\''])?;
            let quote = char::from(self.xml.as_bytes()[opening]);
            let closing = opening + 1 + self.xml.get(opening + 1..tag.end)?.find(quote)?;
            if is_meant(self.xml[begin..equals].trim_end()) {
                return Some((at..closing + 1, opening + 1..closing));
            }
            at = closing + 1;
        }
    }

    /// The text right in an element.
    pub fn text(&self, index: usize) -> Cow<'a, str> {
        let inner = &self.xml[self.elements[index].inner.clone()];
        if !inner.contains('<') {
            return unescaped(inner);
        }
        let mut reader = Reader::from_str(inner);
        let (mut text, mut depth) = (String::new(), 0);
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Text(piece) if depth == 0 => text.push_str(&String::from_utf8_lossy(&piece)),
                Event::GeneralRef(name) if depth == 0 => {
                    let _ = write!(text, "&{};", String::from_utf8_lossy(&name));
                }
                Event::CData(piece) if depth == 0 => {
                    text.push_str(&escaped(&String::from_utf8_lossy(&piece)));
                }
                Event::Eof => break,
                Event::Empty(_)
                | Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_)
                | Event::GeneralRef(_) => {}
            }
        }
        Cow::Owned(unescaped(&text).into_owned())
    }
}

fn is_foreign(local: &str) -> impl Fn(&str) -> bool + '_ {
    move |name| name.split_once(':').is_some_and(|(prefix, it)| it == local && prefix != "xmlns")
}

/// A text with its entities resolved; as it is written where one is not known.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    escape::unescape(text).unwrap_or(Cow::Borrowed(text))
}

/// A text as it is written between tags. What XML cannot hold is left out.
pub(crate) fn escaped(text: &str) -> String {
    let is_lost = |letter: char| matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let text = text.replace(is_lost, "");
    if !text.contains(['&', '<', '>']) {
        return text;
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text as it is written between quotes of this kind. Ends of lines and tabs become codes, because a parser would make blanks
/// of them.
fn attribute_text(text: &str, quote: char) -> String {
    let text = escaped(text);
    if !text.contains(['\n', '\r', '\t', quote]) {
        return text;
    }
    let text = text.replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;");
    text.replace(quote, if quote == '"' { "&quot;" } else { "&apos;" })
}

/// Changes to a part's text, in any order. A change within a range that another one replaces is lost.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    all: Vec<(Range<usize>, String)>,
}

impl Edits {
    pub fn replace(&mut self, place: Range<usize>, text: String) {
        self.all.push((place, text));
    }

    pub fn remove(&mut self, document: &Document<'_>, index: usize) {
        self.replace(document.elements[index].whole.clone(), String::new());
    }

    /// Replaces all that is in an element by a text. The element must not be an empty tag, as `<f/>`, which has no inside.
    pub fn set_text(&mut self, document: &Document<'_>, index: usize, text: &str) {
        self.replace(document.elements[index].inner.clone(), escaped(text));
    }

    pub fn set(&mut self, document: &Document<'_>, index: usize, name: &str, value: &str) {
        match document.attribute(index, |it| it == name) {
            Some((_, place)) if document.xml[place.clone()] == *value => {}
            Some((_, place)) => self.set_value(document, place, value),
            None => {
                let behind = document.elements[index].name.end;
                self.replace(behind..behind, format!(" {name}=\"{}\"", attribute_text(value, '"')));
            }
        }
    }

    /// Sets the value of an attribute with some prefix, if it is there.
    pub fn set_foreign(&mut self, document: &Document<'_>, index: usize, local: &str, value: &str) {
        if let Some((_, place)) = document.attribute(index, is_foreign(local)) {
            self.set_value(document, place, value);
        }
    }

    fn set_value(&mut self, document: &Document<'_>, place: Range<usize>, value: &str) {
        let quote = if document.xml[..place.start].ends_with('\'') { '\'' } else { '"' };
        self.replace(place, attribute_text(value, quote));
    }

    pub fn unset(&mut self, document: &Document<'_>, index: usize, name: &str) {
        if let Some((place, _)) = document.attribute(index, |it| it == name) {
            self.replace(place, String::new());
        }
    }

    pub fn unset_foreign(&mut self, document: &Document<'_>, index: usize, local: &str) {
        if let Some((place, _)) = document.attribute(index, is_foreign(local)) {
            self.replace(place, String::new());
        }
    }

    /// Replaces all that is in an element; without any content the element is removed.
    pub fn fill(&mut self, document: &Document<'_>, index: usize, content: String) {
        if content.is_empty() {
            self.remove(document, index);
        } else {
            self.replace(document.elements[index].inner.clone(), content);
        }
    }

    /// A range of the text with the changes in it.
    pub fn applied(mut self, xml: &str, place: Range<usize>) -> String {
        self.all.sort_by_key(|(range, _)| (range.start, range.end));
        let added: usize = self.all.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(place.len() + added);
        let mut from = place.start;
        for (range, text) in self.all {
            if range.start >= from && range.end <= place.end {
                out.push_str(&xml[from..range.start]);
                out.push_str(&text);
                from = range.end;
            }
        }
        out.push_str(&xml[from..place.end]);
        out
    }

    /// The text before and behind a range, with the changes in it.
    pub fn around(self, xml: &str, place: Range<usize>) -> (String, String) {
        let (before, behind) = self.all.into_iter().partition(|(range, _)| range.end <= place.start);
        let head = Self { all: before }.applied(xml, 0..place.start);
        (head, Self { all: behind }.applied(xml, place.end..xml.len()))
    }

    /// The whole part with them.
    pub fn into_part(self, document: &Document<'_>) -> Vec<u8> {
        self.applied(document.xml, 0..document.xml.len()).into_bytes()
    }
}

/// An element as it is with some changes.
pub(crate) fn rewritten(document: &Document<'_>, index: usize, change: impl FnOnce(&mut Edits)) -> String {
    let mut edits = Edits::default();
    change(&mut edits);
    edits.applied(document.xml, document.elements[index].whole.clone())
}
