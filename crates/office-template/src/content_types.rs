//! Which parts of a container hold Word's text: `[Content_Types].xml` says so (ECMA-376, part 2, 10.1.2).

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::container::{Archive, unpack};
use crate::error::Error;
use crate::limits::Limits;
use crate::package::relationships_of;
use crate::word::Dialect;
use crate::word::attribute::{attribute, value};

pub(crate) const LIST: &str = "[Content_Types].xml";

/// The content types of main parts, in lower case: documents, templates, and those with macros.
const MAIN_PARTS: [&str; 4] = [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.document.macroenabled.main+xml",
    "application/vnd.ms-word.template.macroenabledtemplate.main+xml",
];

/// How the content types of the other parts with tags end, and what these are written in.
const OTHER_PARTS: [(&str, Dialect); 13] = [
    ("wordprocessingml.header+xml", Dialect::Word),
    ("wordprocessingml.footer+xml", Dialect::Word),
    ("wordprocessingml.footnotes+xml", Dialect::Word),
    ("wordprocessingml.endnotes+xml", Dialect::Word),
    ("wordprocessingml.comments+xml", Dialect::Word),
    ("drawingml.diagramdata+xml", Dialect::Drawing),
    // What older programs, and all that are not Word, show of SmartArt.
    ("ms-office.drawingml.diagramdrawing+xml", Dialect::Drawing),
    ("drawingml.chart+xml", Dialect::Drawing),
    ("drawingml.chartshapes+xml", Dialect::Drawing),
    ("ms-office.chartex+xml", Dialect::Drawing),
    ("package.core-properties+xml", Dialect::Properties),
    ("extended-properties+xml", Dialect::Properties),
    ("custom-properties+xml", Dialect::Properties),
];

/// Whether a content type, in lower case, is one of main parts.
pub(crate) fn is_main(kind: &str) -> bool {
    MAIN_PARTS.contains(&kind)
}

/// A part with text: its name, and its number among the entries.
pub(crate) struct TextPart {
    pub name: String,
    /// Whether it is the document itself.
    pub is_main: bool,
    pub entry: usize,
    pub dialect: Dialect,
    /// The number of the entry that says what the part refers to, if there is one.
    pub relationships: Option<usize>,
}

/// The parts with text: the main one first.
pub(crate) fn text_parts(archive: &mut Archive<'_>, limits: &Limits) -> Result<Vec<TextPart>, Error> {
    let Some(index) = archive.index_for_name(LIST) else {
        return Err(Error::NotOffice(without_list(archive)));
    };
    let mut room = limits.unpacked_bytes.value;
    let list = unpack(archive, index, &mut room, limits)?;
    let overrides = overrides(&list, limits)?;
    if !overrides.iter().any(|(_, kind)| is_main(kind)) {
        return Err(Error::NotOffice(other_document(&overrides)));
    }
    // Names of parts are the same whatever their case.
    let names = (0..archive.len()).filter_map(|index| Some((archive.name_for_index(index)?.ok()?, index)));
    let entries: BTreeMap<String, usize> =
        names.map(|(name, index)| (name.to_ascii_lowercase(), index)).collect();
    let mut parts = Vec::new();
    for (name, kind) in &overrides {
        let other = OTHER_PARTS.iter().find(|(end, _)| kind.ends_with(end)).map(|&(_, dialect)| dialect);
        let Some(dialect) = is_main(kind).then_some(Dialect::Word).or(other) else { continue };
        // A part that is listed and not there is Word's to complain of; the main one cannot be done without.
        match entries.get(&name.to_ascii_lowercase()) {
            Some(&entry) => {
                let relationships = entries.get(&relationships_of(name).to_ascii_lowercase()).copied();
                let (name, is_main) = (name.clone(), is_main(kind));
                parts.push(TextPart { name, is_main, entry, dialect, relationships });
            }
            None if is_main(kind) => {
                return Err(Error::NotOffice(format!(
                    "its main part {name} is missing; save it anew in Word"
                )));
            }
            None => {}
        }
    }
    parts.sort_by(|one, other| (!one.is_main, &one.name).cmp(&(!other.is_main, &other.name)));
    // However often it is named, and as whatever: a part is filled once.
    let mut seen = BTreeSet::new();
    Ok(parts.into_iter().filter(|part| seen.insert(part.entry)).collect())
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
    by_extension: BTreeMap<String, String>,
    by_name: BTreeMap<String, String>,
}

impl Kinds {
    pub(crate) fn of(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        let by_extension = || self.by_extension.get(name.rsplit_once('.')?.1);
        self.by_name.get(&name).or_else(by_extension).map(String::as_str)
    }
}

/// Reads the list; what cannot be read names none.
pub(crate) fn kinds(list: &[u8]) -> Kinds {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut kinds = Kinds::default();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                let kind = value(&tag, "ContentType");
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
