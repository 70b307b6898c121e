//! The content types of a container's parts, which `[Content_Types].xml` lists (ECMA-376, part 2, 10.1.2).

use std::collections::{BTreeMap, btree_map};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::word::Dialect;
use crate::word::attribute::value;

pub(crate) const LIST: &str = "[Content_Types].xml";

/// The ends of content types of parts that may hold tags besides the main part, and their dialects.
const OTHER_PARTS: [(&str, Dialect); 20] = [
    ("wordprocessingml.header+xml", Dialect::Word),
    ("wordprocessingml.footer+xml", Dialect::Word),
    ("wordprocessingml.footnotes+xml", Dialect::Word),
    ("wordprocessingml.endnotes+xml", Dialect::Word),
    ("wordprocessingml.comments+xml", Dialect::Word),
    ("drawingml.diagramdata+xml", Dialect::Drawing),
    // The drawing of SmartArt that older programs, and all but Word, show.
    ("ms-office.drawingml.diagramdrawing+xml", Dialect::Drawing),
    ("drawingml.chart+xml", Dialect::Drawing),
    // The text boxes of a workbook's sheets.
    ("officedocument.drawing+xml", Dialect::Drawing),
    ("drawingml.chartshapes+xml", Dialect::Drawing),
    ("ms-office.chartex+xml", Dialect::Drawing),
    // The masters and layouts of slides, notes and handouts.
    ("presentationml.slidelayout+xml", Dialect::Drawing),
    ("presentationml.slidemaster+xml", Dialect::Drawing),
    ("presentationml.notesmaster+xml", Dialect::Drawing),
    ("presentationml.handoutmaster+xml", Dialect::Drawing),
    ("spreadsheetml.comments+xml", Dialect::Properties),
    ("ms-excel.threadedcomments+xml", Dialect::Properties),
    ("package.core-properties+xml", Dialect::Properties),
    ("extended-properties+xml", Dialect::Properties),
    ("custom-properties+xml", Dialect::Properties),
];

/// The dialect of a part of this content type, in lower case, where it is one of the other parts with tags.
pub(crate) fn other(kind: &str) -> Option<Dialect> {
    OTHER_PARTS.iter().find(|(end, _)| kind.ends_with(end)).map(|&(_, dialect)| dialect)
}

/// As [`other`], only for dialects of drawings, which all programs share.
pub(crate) fn drawn(kind: &str) -> Option<Dialect> {
    other(kind).filter(|dialect| dialect.is_drawn())
}

/// A part with text: its name, and its number among the entries.
pub(crate) struct TextPart {
    pub name: String,
    /// Its name in faults: the part's name, or its slide.
    pub title: String,
    /// Whether it is the document itself.
    pub is_main: bool,
    pub entry: usize,
    pub dialect: Dialect,
    /// The entry's number of the part's relationships, if there are any.
    pub relationships: Option<usize>,
    /// The index of the slide that it belongs to and is copied with.
    pub slide: Option<usize>,
}

/// The content types of parts: of single parts, and of all others by the extensions of their names. Names and extensions ignore
/// case.
#[derive(Default)]
pub(crate) struct Kinds {
    by_extension: BTreeMap<String, Arc<str>>,
    by_name: BTreeMap<String, Arc<str>>,
    /// The names of `by_name` in the order of the list.
    names: Vec<String>,
}

impl Kinds {
    pub(crate) fn of(&self, name: &str) -> Option<&Arc<str>> {
        let name = name.to_ascii_lowercase();
        let by_extension = || self.by_extension.get(name.rsplit_once('.')?.1);
        self.by_name.get(&name).or_else(by_extension)
    }

    /// The parts that have a type of their own, in the order of the list: their names in lower case, and the types.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().filter_map(|name| Some((name.as_str(), &**self.by_name.get(name)?)))
    }

    /// Adds what a line of the list says; whether it names a part. Of two lines for one part the first counts.
    pub(crate) fn add(&mut self, tag: &BytesStart<'_>) -> bool {
        let kind = || Arc::from(value(tag, "ContentType").trim());
        let name = tag.local_name();
        if name.as_ref() == b"Default" {
            self.by_extension.entry(value(tag, "Extension").to_ascii_lowercase()).or_insert_with(kind);
        }
        let is_of_part = name.as_ref() == b"Override";
        if is_of_part {
            let name = value(tag, "PartName").trim_start_matches('/').to_ascii_lowercase();
            if let btree_map::Entry::Vacant(free) = self.by_name.entry(name) {
                self.names.push(free.key().clone());
                free.insert(kind());
            }
        }
        is_of_part
    }
}

/// Reads the list up to where it can be read; the types behind that are missing.
pub(crate) fn kinds(list: &[u8]) -> Kinds {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut kinds = Kinds::default();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                kinds.add(&tag);
            }
            Event::Eof => break,
            Event::End(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
    kinds
}
