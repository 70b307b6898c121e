//! Elements as text, and properties in the order that the schema wants.

use std::borrow::Cow;
use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::events::Event;

/// The characters of a text or attribute, without those that XML cannot have.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let plain = |one: char| !matches!(one, '&' | '<' | '>' | '"' | '\t' | '\n' | '\r') && allowed(one);
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for one in text.chars().filter(|&one| allowed(one)) {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// Whether XML 1.0 can have it.
fn allowed(one: char) -> bool {
    !matches!(one, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// An empty element: `<w:name w:key="value"/>`. The values are escaped.
pub fn element(prefix: &str, name: &str, attributes: &[(&str, &str)]) -> String {
    let mut out = format!("<{prefix}{name}");
    for (key, value) in attributes {
        // Writing to a string cannot fail.
        let _ = write!(out, " {prefix}{key}=\"{}\"", escaped(value));
    }
    out.push_str("/>");
    out
}

/// Bytes of properties that a text takes over from its place.
const MOST_OF_PLACE: usize = 16 << 10;

/// The children of a `w:pPr`, `w:rPr` and the like, in the schema's order.
#[derive(Debug, Clone)]
pub struct Properties {
    order: &'static [&'static str],
    /// By their places in the order; what the order does not know comes last, as it came.
    items: Vec<(usize, String)>,
}

impl Properties {
    /// None yet.
    pub fn new(order: &'static [&'static str]) -> Self {
        Self { order, items: Vec::new() }
    }

    /// Those of a place in a document, or none if they are no XML or longer than any that a person made.
    pub fn of(order: &'static [&'static str], xml: &str, prefix: &str) -> Self {
        let mut properties = Self::new(order);
        // They are repeated in every run and paragraph.
        if xml.len() > MOST_OF_PLACE {
            return properties;
        }
        for (name, raw) in children(xml).unwrap_or_default() {
            match name.strip_prefix(prefix) {
                Some(local) => properties.set(local, raw.to_owned()),
                None => properties.items.push((usize::MAX, raw.to_owned())),
            }
        }
        properties
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.order.iter().position(|&one| one == name)
    }

    /// Sets one, instead of the present one of its name. One that the order does not know is left out.
    pub fn set(&mut self, name: &str, xml: String) {
        let Some(place) = self.place(name) else { return };
        match self.items.binary_search_by_key(&place, |(one, _)| *one) {
            Ok(at) => {
                if let Some(item) = self.items.get_mut(at) {
                    item.1 = xml;
                }
            }
            Err(at) => self.items.insert(at, (place, xml)),
        }
    }

    /// The text of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        let place = self.place(name)?;
        self.items.iter().find(|(one, _)| *one == place).map(|(_, xml)| xml.as_str())
    }

    /// Leaves out what `keep` does not name.
    pub fn keep(&mut self, keep: &[&str]) {
        let order = self.order;
        self.items.retain(|(place, _)| order.get(*place).is_some_and(|name| keep.contains(name)));
    }

    /// Leaves out what `names` names.
    pub fn drop(&mut self, names: &[&str]) {
        let order = self.order;
        self.items.retain(|(place, _)| order.get(*place).is_none_or(|name| !names.contains(name)));
    }

    /// All within an element of this name, or nothing.
    pub fn within(&self, prefix: &str, name: &str) -> String {
        if self.items.is_empty() {
            return String::new();
        }
        let content: String = self.items.iter().map(|(_, xml)| xml.as_str()).collect();
        format!("<{prefix}{name}>{content}</{prefix}{name}>")
    }
}

/// The elements of a piece of XML, each with its name.
fn children(xml: &str) -> Option<Vec<(String, &str)>> {
    let mut reader = Reader::from_str(xml);
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut depth = 0_usize;
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        let event = reader.read_event().ok()?;
        let end = usize::try_from(reader.buffer_position()).ok()?;
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    open = Some((String::from_utf8_lossy(tag.name().as_ref()).into_owned(), start));
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.checked_sub(1)?;
                if let Some((name, start)) = open.take_if(|_| depth == 0) {
                    found.push((name, xml.get(start..end)?));
                }
            }
            Event::Empty(tag) if depth == 0 => {
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                found.push((name, xml.get(start..end)?));
            }
            Event::Eof => return (depth == 0).then_some(found),
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
}

/// The attributes of an element's first tag, their names without prefix.
pub fn attributes(xml: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(xml);
    match reader.read_event() {
        Ok(Event::Start(tag) | Event::Empty(tag)) => tag
            .attributes()
            .flatten()
            .map(|one| {
                let name = String::from_utf8_lossy(one.key.local_name().as_ref()).into_owned();
                (name, String::from_utf8_lossy(&one.value).into_owned())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// What `w:rPr` contains, in its order, but for changes that are tracked.
pub const RUN: &[&str] = &[
    "rStyle",
    "rFonts",
    "b",
    "bCs",
    "i",
    "iCs",
    "caps",
    "smallCaps",
    "strike",
    "dstrike",
    "outline",
    "shadow",
    "emboss",
    "imprint",
    "noProof",
    "snapToGrid",
    "vanish",
    "webHidden",
    "color",
    "spacing",
    "w",
    "kern",
    "position",
    "sz",
    "szCs",
    "highlight",
    "u",
    "effect",
    "bdr",
    "shd",
    "fitText",
    "vertAlign",
    "rtl",
    "cs",
    "em",
    "lang",
    "eastAsianLayout",
    "specVanish",
    "oMath",
];

/// What `w:pPr` contains, but for a section and changes that are tracked: those belong to one paragraph alone.
pub const PARAGRAPH: &[&str] = &[
    "pStyle",
    "keepNext",
    "keepLines",
    "pageBreakBefore",
    "widowControl",
    "numPr",
    "suppressLineNumbers",
    "pBdr",
    "shd",
    "tabs",
    "suppressAutoHyphens",
    "kinsoku",
    "wordWrap",
    "overflowPunct",
    "topLinePunct",
    "autoSpaceDE",
    "autoSpaceDN",
    "bidi",
    "adjustRightInd",
    "snapToGrid",
    "spacing",
    "ind",
    "contextualSpacing",
    "mirrorIndents",
    "suppressOverlap",
    "jc",
    "textDirection",
    "textAlignment",
    "textboxTightWrap",
    "outlineLvl",
    "rPr",
];

/// What `w:tblPr` contains.
pub const TABLE: &[&str] =
    &["tblStyle", "bidiVisual", "tblW", "jc", "tblInd", "tblBorders", "tblLayout", "tblCellMar", "tblLook"];

/// What `w:trPr` contains.
pub const ROW: &[&str] = &["cantSplit", "trHeight", "tblHeader"];

/// What `w:tcPr` contains.
pub const CELL: &[&str] = &["tcW", "gridSpan", "vMerge", "tcBorders", "shd", "noWrap", "tcMar", "vAlign"];
