//! Finds the parts of a file that are read: those with text, by their content types.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::container::{Archive, entries_by_name, unpack};
use crate::content_types::{Kinds, LIST, TextPart, other};
use crate::error::Error;
use crate::family::Family;
use crate::limits::Limits;
use crate::package::relationships::{list as relationships_in, name as relationships_of, resolved};
use crate::powerpoint::{Deck, deck};
use crate::word::Dialect;

/// The end of the type of the relationship that leads from the package to its main part (ECMA-376, part 1, 11.3.10), in both
/// forms of the format.
const MAIN_RELATION: &str = "/relationships/officeDocument";

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
    let entries = entries_by_name(archive);
    let Some(&index) = entries.get(&LIST.to_ascii_lowercase()) else {
        return Err(Error::NotOffice(without_list(archive)));
    };
    let mut room = limits.unpacked_bytes.value;
    let list = unpack(archive, index, &mut room, limits)?;
    let kinds = kinds(&list, limits)?;
    let main = match referred(archive, (&entries, &kinds), (&mut room, limits))? {
        Some(main) => Some(main),
        // The package does not say which part is its main one, or says it wrongly.
        None => kinds.named().find_map(|(name, kind)| Some((name.to_owned(), family(kind)?))),
    };
    let Some((main, family)) = main else { return Err(Error::NotOffice(other_document(&kinds))) };
    // The main part is required. Other parts that are listed but missing are ignored here: Office itself will complain.
    if !entries.contains_key(&main.to_ascii_lowercase()) {
        return Err(Error::NotOffice(format!("its main part {main} is missing; save it anew in Word")));
    }
    let main = spelled(archive, &entries, main);
    let mut parts = Vec::new();
    for (lower, &entry) in &entries {
        let name = spelled(archive, &entries, lower.clone());
        let is_main = family == Family::Word && name == main;
        let kind = || other(&kinds.of(lower)?.to_lowercase());
        let Some(dialect) = is_main.then_some(Dialect::Word).or_else(kind) else { continue };
        let relationships = entries.get(&relationships_of(lower)).copied();
        let title = name.clone();
        parts.push(TextPart { name, title, is_main, entry, dialect, relationships, slide: None });
    }
    parts.sort_by(|one, other| (!one.is_main, &one.name).cmp(&(!other.is_main, &other.name)));
    let mut deck = None;
    if family == Family::PowerPoint {
        let (read, mut slides) = deck::read(archive, (&main, &entries), &kinds, limits)?;
        slides.append(&mut parts);
        parts = slides;
        deck = Some(read);
    }
    // A part of a slide may be listed already, but must be filled once.
    let mut seen = BTreeSet::new();
    let parts = parts.into_iter().filter(|part| seen.insert(part.entry)).collect();
    Ok(Listing { family, main, parts, deck })
}

/// The program whose main parts have this content type.
fn family(kind: &str) -> Option<Family> {
    Family::of_main(&kind.to_lowercase()).filter(|&family| family != Family::OpenDocument)
}

/// The main part that the package refers to. Its type alone does not tell it: a list may give the type of main parts to an
/// extension, and then all parts of that extension have it that have no type of their own. None where the relationships are damaged.
fn referred(
    archive: &mut Archive<'_>,
    (entries, kinds): (&BTreeMap<String, usize>, &Kinds),
    (room, limits): (&mut u64, &Limits),
) -> Result<Option<(String, Family)>, Error> {
    let Some(&entry) = entries.get(&relationships_of("")) else { return Ok(None) };
    let all = unpack(archive, entry, room, limits).and_then(|xml| relationships_in(&xml));
    let all = match all {
        Err(Error::NotOffice(_)) => return Ok(None),
        read => read?,
    };
    let mains = all.iter().filter(|one| !one.is_external && one.kind.ends_with(MAIN_RELATION));
    let mut named = mains.filter_map(|one| resolved("", &one.target));
    Ok(named.find_map(|name| {
        let family = family(kinds.of(&name)?)?;
        Some((name, family))
    }))
}

/// The name of a part as the container has it: a program that reads the filled document may tell capital letters apart.
fn spelled(archive: &Archive<'_>, entries: &BTreeMap<String, usize>, name: String) -> String {
    let entry = entries.get(&name.to_ascii_lowercase());
    let found = entry.and_then(|&entry| archive.name_for_index(entry)?.ok());
    found.map_or(name, std::borrow::Cow::into_owned)
}

/// The types of the parts; an error where the list cannot be read.
fn kinds(list: &[u8], limits: &Limits) -> Result<Kinds, Error> {
    let mut reader = Reader::from_reader(list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    let mut kinds = Kinds::default();
    let mut lines = 0_u64;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                lines += u64::from(kinds.add(&tag));
                if lines > limits.entries.value {
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
            Ok(Event::Eof) => return Ok(kinds),
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
fn other_document(kinds: &Kinds) -> String {
    const OTHERS: [(&str, &str); 4] = [
        ("spreadsheetml", "an Excel workbook"),
        ("ms-excel", "an Excel workbook"),
        ("presentationml", "a PowerPoint presentation"),
        ("ms-powerpoint", "a PowerPoint presentation"),
    ];
    let found =
        OTHERS.iter().find(|(name, _)| kinds.named().any(|(_, kind)| kind.to_lowercase().contains(name)));
    match found {
        Some((_, what)) => format!("this is {what} and no Word file"),
        None => format!("this is no Word file: {LIST} names no document of Word's"),
    }
}
