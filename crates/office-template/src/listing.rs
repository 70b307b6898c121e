//! Finds the parts of a file that are read: those with text, by their content types.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::container::{Archive, entries_by_name, unpack};
use crate::content_types::{LIST, TextPart, kinds, other};
use crate::error::Error;
use crate::family::Family;
use crate::limits::Limits;
use crate::package::relationships::name as relationships_of;
use crate::powerpoint::{Deck, deck};
use crate::word::Dialect;
use crate::word::attribute::attribute;

/// The parts of a file that are read.
pub(crate) struct Listing {
    pub family: Family,
    /// The main part's name.
    pub main: String,
    /// The parts with text: the main one first, or the slides in their order.
    pub parts: Vec<TextPart>,
    /// The slides of a presentation.
    pub deck: Option<Deck>,
}

/// Lists the parts with text of a file of Microsoft Office.
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
    let entries = entries_by_name(archive);
    // The main part is required. Other parts that are listed but missing are ignored here: Office itself will complain.
    if !entries.contains_key(&main.to_ascii_lowercase()) {
        return Err(Error::NotOffice(format!("its main part {main} is missing; save it anew in Word")));
    }
    let mut parts = Vec::new();
    for (name, kind) in &overrides {
        let is_main = family == Family::Word && name == main;
        let Some(dialect) = is_main.then_some(Dialect::Word).or(other(kind)) else { continue };
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
    // A part may be listed twice, even as two types, but must be filled once.
    let mut seen = BTreeSet::new();
    let parts = parts.into_iter().filter(|part| seen.insert(part.entry)).collect();
    Ok(Listing { family, main: main.clone(), parts, deck })
}

/// The parts that the list names, without leading slashes, and their content types in lower case.
fn overrides(list: &[u8], limits: &Limits) -> Result<Vec<(String, String)>, Error> {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut overrides = Vec::new();
    loop {
        let event = reader.read_event();
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == b"Override" => {
                // `attribute` expects the `<` that the reader leaves out.
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

/// The message for a container without a list of content types.
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

/// The message for a container without a known main part.
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
