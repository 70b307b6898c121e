//! Which parts of a container hold Word's text: `[Content_Types].xml` says so (ECMA-376, part 2, 10.1.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::container::{Archive, entries_by_name, unpack};
use crate::error::Error;
use crate::family::Family;
use crate::limits::Limits;
use crate::package::relationships_of;
use crate::powerpoint::{Deck, deck};
use crate::word::Dialect;
use crate::word::attribute::{attribute, value};

pub(crate) const LIST: &str = "[Content_Types].xml";

/// How the content types of the other parts with tags end, and what these are written in.
const OTHER_PARTS: [(&str, Dialect); 20] = [
    ("wordprocessingml.header+xml", Dialect::Word),
    ("wordprocessingml.footer+xml", Dialect::Word),
    ("wordprocessingml.footnotes+xml", Dialect::Word),
    ("wordprocessingml.endnotes+xml", Dialect::Word),
    ("wordprocessingml.comments+xml", Dialect::Word),
    ("drawingml.diagramdata+xml", Dialect::Drawing),
    // What older programs, and all that are not Word, show of SmartArt.
    ("ms-office.drawingml.diagramdrawing+xml", Dialect::Drawing),
    ("drawingml.chart+xml", Dialect::Drawing),
    // The text boxes of a workbook's sheets.
    ("officedocument.drawing+xml", Dialect::Drawing),
    ("drawingml.chartshapes+xml", Dialect::Drawing),
    ("ms-office.chartex+xml", Dialect::Drawing),
    // What slides, notes and printed pages are made after.
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

/// The dialect of a part of this content type, in lower case, where drawings of any program have it.
pub(crate) fn drawn(kind: &str) -> Option<Dialect> {
    let found = OTHER_PARTS.iter().find(|(end, _)| kind.ends_with(end)).map(|&(_, dialect)| dialect);
    found.filter(|dialect| dialect.is_drawn())
}

/// A part with text: its name, and its number among the entries.
pub(crate) struct TextPart {
    pub name: String,
    /// What it is called in faults: its name, or which slide's it is.
    pub title: String,
    /// Whether it is the document itself.
    pub is_main: bool,
    pub entry: usize,
    pub dialect: Dialect,
    /// The number of the entry that says what the part refers to, if there is one.
    pub relationships: Option<usize>,
    /// The place of the slide that it is copied with.
    pub slide: Option<usize>,
}

/// What there is to read in a file.
pub(crate) struct Listing {
    pub family: Family,
    /// The main part's name.
    pub main: String,
    /// The parts with text: the main one first, or the slides in their order.
    pub parts: Vec<TextPart>,
    /// The slides of a presentation.
    pub deck: Option<Deck>,
}

/// What a file of Microsoft Office has to read.
pub(crate) fn listing(archive: &mut Archive<'_>, limits: &Limits) -> Result<Listing, Error> {
    let Some(index) = archive.index_for_name(LIST) else {
        return Err(Error::NotOffice(without_list(archive)));
    };
    let mut room = limits.unpacked_bytes.value;
    let list = unpack(archive, index, &mut room, limits)?;
    let overrides = overrides(&list, limits)?;
    let main = overrides.iter().find_map(|(name, kind)| {
        let family = Family::of_main(kind)?;
        (family != Family::OpenDocument).then_some((name, family))
    });
    let Some((main, family)) = main else { return Err(Error::NotOffice(other_document(&overrides))) };
    // Names of parts are the same whatever their case.
    let entries = entries_by_name(archive);
    // A part that is listed and not there is the program's to complain of; the main one cannot be done without.
    if !entries.contains_key(&main.to_ascii_lowercase()) {
        return Err(Error::NotOffice(format!("its main part {main} is missing; save it anew in Word")));
    }
    let mut parts = Vec::new();
    for (name, kind) in &overrides {
        let is_main = family == Family::Word && name == main;
        let other = OTHER_PARTS.iter().find(|(end, _)| kind.ends_with(end)).map(|&(_, dialect)| dialect);
        let Some(dialect) = is_main.then_some(Dialect::Word).or(other) else { continue };
        let Some(&entry) = entries.get(&name.to_ascii_lowercase()) else { continue };
        let relationships = entries.get(&relationships_of(name).to_ascii_lowercase()).copied();
        let (title, name) = (name.clone(), name.clone());
        parts.push(TextPart { name, title, is_main, entry, dialect, relationships, slide: None });
    }
    parts.sort_by(|one, other| (!one.is_main, &one.name).cmp(&(!other.is_main, &other.name)));
    let mut deck = None;
    if family == Family::PowerPoint {
        let (read, mut slides) = deck::read(archive, (main, &entries), &kinds(&list), limits)?;
        slides.append(&mut parts);
        parts = slides;
        deck = Some(read);
    }
    // However often it is named, and as whatever: a part is filled once.
    let mut seen = BTreeSet::new();
    let parts = parts.into_iter().filter(|part| seen.insert(part.entry)).collect();
    Ok(Listing { family, main: main.clone(), parts, deck })
}

/// The parts that are named, without their leading slash, and their content types in lower case.
fn overrides(list: &[u8], limits: &Limits) -> Result<Vec<(String, String)>, Error> {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut overrides = Vec::new();
    loop {
        let event = reader.read_event();
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == b"Override" => {
                // With the `<` that the reader leaves out.
                let tag = [b"<", &*tag].concat();
                let value = |name| {
                    attribute(&tag, name)
                        .and_then(|attribute| tag.get(attribute.value))
                        .map(|value| String::from_utf8_lossy(value).into_owned())
                };
                if let (Some(name), Some(kind)) = (value("PartName"), value("ContentType")) {
                    overrides.push((name.trim_start_matches('/').to_owned(), kind.to_lowercase()));
                }
                if overrides.len() as u64 > limits.entries.value {
                    return Err(Error::limit(
                        &limits.entries,
                        &format!("{LIST} names more files than the limit"),
                    ));
                }
            }
            Ok(Event::DocType(_)) => {
                return Err(Error::NotOffice(format!(
                    "{LIST} has a document type (<!DOCTYPE), which is refused"
                )));
            }
            Ok(Event::Eof) => return Ok(overrides),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::NotOffice(format!(
                    "{LIST} is broken XML ({error}); save it anew in Word"
                )));
            }
        }
    }
}

/// The content types of a container's parts.
#[derive(Default)]
pub(crate) struct Kinds {
    by_extension: BTreeMap<String, Arc<str>>,
    by_name: BTreeMap<String, Arc<str>>,
}

impl Kinds {
    pub(crate) fn of(&self, name: &str) -> Option<&Arc<str>> {
        let name = name.to_ascii_lowercase();
        let by_extension = || self.by_extension.get(name.rsplit_once('.')?.1);
        self.by_name.get(&name).or_else(by_extension)
    }
}

/// Reads the list; what cannot be read names none.
pub(crate) fn kinds(list: &[u8]) -> Kinds {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut kinds = Kinds::default();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                let kind = Arc::from(value(&tag, "ContentType"));
                match tag.local_name().as_ref() {
                    b"Default" => {
                        kinds.by_extension.insert(value(&tag, "Extension").to_ascii_lowercase(), kind);
                    }
                    b"Override" => {
                        let name = value(&tag, "PartName").trim_start_matches('/').to_ascii_lowercase();
                        kinds.by_name.insert(name, kind);
                    }
                    _ => {}
                }
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

/// What a container without a list of content types is.
fn without_list(archive: &mut Archive<'_>) -> String {
    let mut kind = String::new();
    if let Some(Ok(entry)) = archive.index_for_name("mimetype").map(|index| archive.by_index(index)) {
        let _ = std::io::Read::read_to_string(&mut std::io::Read::take(entry, 100), &mut kind);
    }
    if kind.starts_with("application/vnd.oasis.opendocument") {
        return "this is an OpenDocument file; save it as .docx".to_owned();
    }
    format!("this is a zip archive and no Word file: it has no {LIST}")
}

/// What a container without a main part of Word's is.
fn other_document(overrides: &[(String, String)]) -> String {
    const OTHERS: [(&str, &str); 4] = [
        ("spreadsheetml", "an Excel workbook"),
        ("ms-excel", "an Excel workbook"),
        ("presentationml", "a PowerPoint presentation"),
        ("ms-powerpoint", "a PowerPoint presentation"),
    ];
    let found = OTHERS.iter().find(|(name, _)| overrides.iter().any(|(_, kind)| kind.contains(name)));
    match found {
        Some((_, what)) => format!("this is {what} and no Word file"),
        None => format!("this is no Word file: {LIST} names no document of Word's"),
    }
}
