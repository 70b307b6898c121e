//! The styles of a document (`styles.xml`; ECMA-376, part 1, 17.7).

use std::collections::BTreeMap;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::word::attribute::{is_on, value};

/// The longest chain of styles based on styles that is followed; it may be a circle.
const CHAIN: usize = 100;

/// The last level of an outline; the next one is body text.
const OUTLINE: u8 = 9;

#[derive(Debug, Default)]
pub(crate) struct Style {
    pub id: String,
    /// `paragraph`, `character`, `table` or `numbering`.
    pub kind: String,
    /// In lower case; built-in styles have the same names in every language.
    pub name: String,
    pub based_on: String,
    pub link: String,
    pub next: String,
    /// Whether it is its kind's default.
    pub is_default: bool,
    /// The outline level from 0; 9 is body text.
    outline: Option<u8>,
    /// The number of the list that its paragraphs are items of; "0" for none.
    list: Option<String>,
    /// The level in the list, from 0.
    list_level: Option<u8>,
    /// The whole definition, in the part.
    pub range: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Styles {
    /// The prefix of Word's names in the part, such as `w:`.
    pub prefix: String,
    pub all: Vec<Style>,
    by_id: BTreeMap<String, usize>,
    by_name: BTreeMap<(String, String), usize>,
}

impl Styles {
    /// Reads the styles of `xml`, up to where it can be parsed.
    pub(crate) fn read(xml: &[u8]) -> Self {
        let mut reader = Reader::from_reader(xml);
        let (mut from, mut depth) = (0, 0_u32);
        let mut styles = Self::default();
        let mut style = Style::default();
        while let Ok(event) = reader.read_event() {
            let end = position(&reader);
            match event {
                // Hundreds of elements, and none is a style.
                Event::Start(tag) if depth == 1 && tag.local_name().as_ref() == b"latentStyles" => {
                    if reader.read_to_end(tag.name()).is_err() {
                        break;
                    }
                }
                Event::Start(tag) => {
                    if depth == 0 {
                        let name = tag.name();
                        let local = tag.local_name().as_ref().len();
                        let prefix = name.as_ref().get(..name.as_ref().len() - local).unwrap_or_default();
                        styles.prefix = String::from_utf8_lossy(prefix).into_owned();
                    }
                    style.note(&tag, depth, from);
                    depth += 1;
                }
                Event::Empty(tag) => style.note(&tag, depth, from),
                Event::End(tag) => {
                    depth = depth.saturating_sub(1);
                    if depth == 1 && tag.local_name().as_ref() == b"style" {
                        style.range.end = end;
                        styles.add(std::mem::take(&mut style));
                    }
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_)
                | Event::GeneralRef(_) => {}
            }
            from = position(&reader);
        }
        styles
    }

    fn add(&mut self, style: Style) {
        self.by_id.entry(style.id.clone()).or_insert(self.all.len());
        self.by_name.entry((style.kind.clone(), style.name.clone())).or_insert(self.all.len());
        self.all.push(style);
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Style> {
        self.all.get(*self.by_id.get(id)?)
    }

    /// The style of this kind with this name in lower case.
    pub(crate) fn named(&self, kind: &str, name: &str) -> Option<&Style> {
        self.all.get(*self.by_name.get(&(kind.to_owned(), name.to_owned()))?)
    }

    pub(crate) fn default_of(&self, kind: &str) -> Option<&Style> {
        self.all.iter().find(|style| style.is_default && style.kind == kind)
    }

    pub(crate) fn free_id(&self, wanted: &str) -> String {
        let numbered = (2_u32..).map(|number| format!("{wanted}_{number}"));
        let mut ids = std::iter::once(wanted.to_owned()).chain(numbered);
        ids.find(|id| !self.by_id.contains_key(id)).unwrap_or_default()
    }

    /// The heading's level that a paragraph style gives, from 1: its own, or that of the styles that it is based on.
    pub(crate) fn level(&self, id: &str) -> Option<u8> {
        let first = self.get(id).or_else(|| self.default_of("paragraph"));
        let chain = std::iter::successors(first, |style| self.get(&style.based_on));
        chain.take(CHAIN).find_map(Style::level).filter(|&level| level <= OUTLINE)
    }

    /// The number of the list that a style's paragraphs are items of: its own, or that of the styles that it is based on.
    pub(crate) fn list(&self, id: &str) -> Option<&str> {
        let chain = std::iter::successors(self.get(id), |style| self.get(&style.based_on));
        chain.take(CHAIN).find_map(|style| style.list.as_deref()).filter(|&list| list != "0")
    }

    /// The level in the list that a style's paragraphs have, from 0.
    pub(crate) fn list_level(&self, id: &str) -> u8 {
        let chain = std::iter::successors(self.get(id), |style| self.get(&style.based_on));
        chain.take(CHAIN).find_map(|style| style.list_level).unwrap_or_default()
    }
}

/// How many bytes are read.
fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

impl Style {
    fn note(&mut self, tag: &BytesStart<'_>, depth: u32, from: usize) {
        match (depth, tag.local_name().as_ref()) {
            (1, b"style") => {
                *self = Self {
                    id: value(tag, "styleId"),
                    kind: value(tag, "type"),
                    is_default: is_on(&value(tag, "default")),
                    range: from..from,
                    ..Self::default()
                };
            }
            (2, b"name") => self.name = value(tag, "val").trim().to_lowercase(),
            (2, b"basedOn") => self.based_on = value(tag, "val"),
            (2, b"link") => self.link = value(tag, "val"),
            (2, b"next") => self.next = value(tag, "val"),
            (4, b"numId") => self.list = Some(value(tag, "val")),
            (4, b"ilvl") => self.list_level = value(tag, "val").parse().ok(),
            (3, b"outlineLvl") => self.outline = value(tag, "val").parse().ok(),
            _ => {}
        }
    }

    /// The outline level from 1; 10 is body text.
    fn level(&self) -> Option<u8> {
        let named = || self.name.strip_prefix("heading ")?.trim().parse().ok();
        let level = self.outline.map(|level| level.min(OUTLINE) + 1).or_else(named);
        level.filter(|&level| level > 0)
    }
}
