//! Which parts of a container hold Word's text: `[Content_Types].xml` says so (ECMA-376, part 2, 10.1.2).

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::container::{Archive, unpack};
use crate::error::Error;
use crate::limits::Limits;
use crate::word::attribute::attribute;

pub(crate) const LIST: &str = "[Content_Types].xml";

/// The content types of main parts, in lower case: documents, templates, and those with macros.
const MAIN_PARTS: [&str; 4] = [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.document.macroenabled.main+xml",
    "application/vnd.ms-word.template.macroenabledtemplate.main+xml",
];

/// How the content types of the other parts with tags end.
const OTHER_PARTS: [&str; 4] = [
    "wordprocessingml.header+xml",
    "wordprocessingml.footer+xml",
    "wordprocessingml.footnotes+xml",
    "wordprocessingml.endnotes+xml",
];

/// Whether a content type, in lower case, is one of main parts.
pub(crate) fn is_main(kind: &str) -> bool {
    MAIN_PARTS.contains(&kind)
}

/// A part with text: its name, and its number among the entries.
pub(crate) struct TextPart {
    pub name: String,
    pub entry: usize,
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
        if !is_main(kind) && !OTHER_PARTS.iter().any(|end| kind.ends_with(end)) {
            continue;
        }
        // A part that is listed and not there is Word's to complain of; the main one cannot be done without.
        match entries.get(&name.to_ascii_lowercase()) {
            Some(&entry) => parts.push((!is_main(kind), TextPart { name: name.clone(), entry })),
            None if is_main(kind) => {
                return Err(Error::NotOffice(format!(
                    "its main part {name} is missing; save it anew in Word"
                )));
            }
            None => {}
        }
    }
    parts.sort_by(|(one_is_other, one), (two_is_other, two)| {
        (one_is_other, &one.name).cmp(&(two_is_other, &two.name))
    });
    // However often it is named, and as whatever: a part is filled once.
    let mut seen = BTreeSet::new();
    Ok(parts.into_iter().map(|(_, part)| part).filter(|part| seen.insert(part.entry)).collect())
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
