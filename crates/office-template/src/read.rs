//! Reads the parts of a file that may have tags, within the limits.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use memchr::{memchr2, memmem};

use crate::collected::Collected;
use crate::container::Archive;
use crate::content_types::TextPart;
use crate::dependents::{Found, Other, Others};
use crate::error::{Error, FaultList};
use crate::excel;
use crate::family::Family;
use crate::files::Files;
use crate::lexer::{self, Delimiters};
use crate::limits::Limits;
use crate::listing::{Listing, listing};
use crate::package::relationships::{self, Known};
use crate::powerpoint::{self, Deck};
use crate::styles::Styles;
use crate::word::{self, Dialect, LARGEST_NUMBER, Origin, Part, Place, Unreadable};
use crate::{container, plan};

/// The most digits of a number, and one more.
const NUMBER_DIGITS: usize = 11;

/// How many bytes of shared formulas are kept once for each of their cells, which is faster but takes about thirty times the
/// memory.
const SHARED_FORMULA_BYTES: usize = 4 << 20;

/// What is carried from part to part while a template is read: faults, and what is left of the limits.
pub(crate) struct Reading<'f> {
    pub files: &'f mut dyn Files,
    pub faults: FaultList,
    /// How many more tags there may be.
    pub tags_left: usize,
    /// How many more elements may be split.
    pub cuts_left: usize,
    /// Collects all tags, where an outline is wanted.
    pub outline: Option<Collected>,
    /// How many more bytes may be unpacked.
    pub unpacked_left: u64,
    /// How many more elements there may be.
    pub elements_left: u64,
    /// How many more bytes of shared formulas may be kept for each cell.
    pub formulas_left: usize,
    /// The documents that are being read, each included by the one before.
    pub chain: Vec<String>,
    /// The included documents that have been read, with their indices.
    pub known: HashMap<String, usize>,
    /// The parts that sections may have to write, and what has been found of them.
    pub others: Rc<Others>,
    pub dependents: Found,
    /// How many tags the documents have that the current one includes.
    pub taken: usize,
}

impl<'f> Reading<'f> {
    pub(crate) fn new(limits: &Limits, files: &'f mut dyn Files) -> Self {
        let tags_left = usize::try_from(limits.tags.value).unwrap_or(usize::MAX);
        Self {
            files,
            faults: FaultList::default(),
            tags_left,
            cuts_left: plan::CUTS,
            outline: None,
            unpacked_left: limits.unpacked_bytes.value,
            elements_left: limits.elements.value,
            formulas_left: SHARED_FORMULA_BYTES,
            chain: Vec::new(),
            known: HashMap::new(),
            others: Rc::default(),
            dependents: Found::default(),
            taken: 0,
        }
    }
}

/// The parts that may have tags, read.
pub(crate) struct Parts {
    /// The program that the file belongs to.
    pub family: Family,
    /// The main part's name.
    pub main: String,
    /// The slides of a presentation.
    pub deck: Option<Deck>,
    /// The sheets of a workbook.
    pub book: Option<excel::Source>,
    pub read: Vec<(TextPart, Part)>,
    pub styles: Styles,
    /// The first number that no picture and no tracked change has.
    pub next_number: u64,
}

/// Reads the parts of a file that may have tags; what they use of the limits is subtracted in `reading`. `are_given`: the caller
/// gave delimiters.
pub(crate) fn parts(
    file: &[u8],
    are_given: bool,
    limits: &Limits,
    reading: &mut Reading<'_>,
) -> Result<Parts, Error> {
    let mut archive = container::open(file, limits)?;
    let mut parts = Vec::new();
    let mut of_main = Vec::new();
    let mut largest = 0;
    let (mut relations, mut links, mut unread) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let Listing { family, main, parts: text_parts, deck } = listing(&mut archive, limits)?;
    for text_part in text_parts {
        let relationships = text_part
            .relationships
            .map(|entry| container::unpack(&mut archive, entry, &mut reading.unpacked_left, limits))
            .transpose()?
            .unwrap_or_default();
        let addresses = addresses(&relationships, are_given)?;
        if family == Family::Word {
            relations.insert(text_part.name.to_ascii_lowercase(), relationships::known(&relationships)?);
        }
        if text_part.name == main {
            of_main = relationships;
        }
        let origin = Origin { dialect: text_part.dialect, addresses };
        let mut xml = container::unpack(&mut archive, text_part.entry, &mut reading.unpacked_left, limits)?;
        if family != Family::Word && text_part.dialect == Dialect::Properties {
            xml = powerpoint::untitled(&text_part.name, &xml)?;
        }
        if family == Family::Excel && text_part.dialect == Dialect::Drawing {
            xml = excel::without_caches(&text_part.name, xml)?;
        }
        largest = largest.max(largest_number(&xml));
        // A part without these characters has no tag with usual delimiters, and is not read.
        let may_have_tags = are_given
            || !origin.addresses.is_empty()
            || memchr2(b'{', b'[', &xml).is_some()
            || memmem::find(&xml, b"&#").is_some();
        if !may_have_tags {
            if family == Family::Word {
                unread.push((text_part, origin, xml));
            }
            continue;
        }
        let part = read(xml, (&text_part.title, &origin), (&mut reading.elements_left, limits))?;
        largest = largest.max(part.largest_number);
        links.insert(text_part.name.clone(), origin.addresses);
        parts.push((text_part, part));
    }
    if family == Family::Word && parts.iter().any(|(_, part)| may_repeat(part)) {
        other_relations(&mut archive, &mut relations, (&mut reading.unpacked_left, limits))?;
        // Charts are read last: a header may have a section that writes one.
        parts.sort_by_key(|(text_part, _)| text_part.dialect.is_drawn());
        let read = parts.iter().filter(|(text_part, _)| !text_part.is_main);
        let read = read.map(|(text_part, part)| {
            let addresses = links.get(&text_part.name).cloned().unwrap_or_default();
            (text_part, addresses, (part.xml.clone(), part.begins()))
        });
        let unread = unread
            .iter()
            .map(|(text_part, origin, xml)| (text_part, origin.addresses.clone(), (xml.clone(), Vec::new())));
        let other = |(text_part, addresses, text): (&TextPart, _, _)| {
            let other = Other::new((&text_part.title, text_part.dialect), addresses, text);
            (text_part.name.to_ascii_lowercase(), other)
        };
        let unread = unread.map(other).map(|(name, other)| (name, other.plain()));
        let parts = read.map(other).chain(unread).collect();
        reading.others = Rc::new(Others::new(main.clone(), parts, relations));
    }
    let book = (family == Family::Excel).then(|| excel::Source::read((&mut archive, &main), reading, limits));
    let book = book.transpose()?;
    let texts = parts.iter().map(|(_, part)| part);
    let styles = styles(texts, (&main, &of_main), &mut archive, (&mut reading.unpacked_left, limits))?;
    Ok(Parts { family, main, deck, book, read: parts, styles, next_number: largest + 1 })
}

/// Adds the relationships of parts without text, such as those of a chart's workbook or an `ActiveX` control. What cannot be read is
/// left out: the part is copied without relationships.
fn other_relations(
    archive: &mut Archive<'_>,
    relations: &mut BTreeMap<String, Known>,
    (room, limits): (&mut u64, &Limits),
) -> Result<(), Error> {
    for (name, entry) in container::entries_by_name(archive) {
        let Some(part) = relationships::source(&name).filter(|part| !relations.contains_key(part)) else {
            continue;
        };
        let list = container::unpack(archive, entry, room, limits)?;
        match relationships::known(&list) {
            Ok(list) => drop(relations.insert(part, list)),
            Err(Error::NotOffice(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The texts of a file, and the styles of its document, for telling where a tag is.
pub(crate) fn texts(
    file: &[u8],
    are_given: bool,
    limits: &Limits,
    reading: &mut Reading<'_>,
) -> Result<(Vec<(TextPart, Part)>, Styles), Error> {
    let Parts { main, read, .. } = parts(file, are_given, limits, reading)?;
    let mut archive = container::open(file, limits)?;
    let entry =
        container::entries_by_name(&archive).get(&relationships::name(&main).to_ascii_lowercase()).copied();
    let room = &mut reading.unpacked_left;
    let of_main = entry.map(|entry| container::unpack(&mut archive, entry, room, limits)).transpose()?;
    let styles = all_styles((&main, &of_main.unwrap_or_default()), &mut archive, (room, limits))?;
    Ok((read, styles))
}

/// The styles of the document with this main part. They are only read where a text of `parts` may begin a section, since only
/// sections need to know which paragraphs are items of lists.
pub(crate) fn styles<'a>(
    mut parts: impl Iterator<Item = &'a Part>,
    (main, relationships): (&str, &[u8]),
    archive: &mut Archive<'_>,
    (room, limits): (&mut u64, &Limits),
) -> Result<Styles, Error> {
    if !parts.any(may_repeat) {
        return Ok(Styles::default());
    }
    all_styles((main, relationships), archive, (room, limits))
}

/// Whether a text of the part may begin a section.
fn may_repeat(part: &Part) -> bool {
    part.paragraphs.iter().any(|text| lexer::may_open(&text.text))
}

fn all_styles(
    (main, relationships): (&str, &[u8]),
    archive: &mut Archive<'_>,
    (room, limits): (&mut u64, &Limits),
) -> Result<Styles, Error> {
    let Some(name) = relationships::styles(main, relationships)? else { return Ok(Styles::default()) };
    let entry = container::entries_by_name(archive).get(&name.to_ascii_lowercase()).copied();
    let xml = entry.map(|entry| container::unpack(archive, entry, room, limits)).transpose()?;
    Ok(Styles::read(&xml.unwrap_or_default()))
}

/// Reads a part; its elements are subtracted from `elements_left`.
pub(crate) fn read(
    xml: Vec<u8>,
    (name, origin): (&str, &Origin),
    (elements_left, limits): (&mut u64, &Limits),
) -> Result<Part, Error> {
    let part = word::read(xml, *elements_left, limits, origin).map_err(|error| match error {
        Unreadable::Xml(message) => Error::NotOffice(format!("{name} cannot be read: {message}")),
        Unreadable::Limit(limit, what) => Error::limit(&limit, &format!("{name}: {what}")),
    })?;
    *elements_left = elements_left.saturating_sub(part.elements.len() as u64);
    Ok(part)
}

/// The addresses of a part's links that may have tags, by the ids of the relationships.
fn addresses(relationships: &[u8], are_given: bool) -> Result<BTreeMap<String, String>, Error> {
    let mut addresses = relationships::addresses(relationships)?;
    let has =
        |address: &str| ["{", "[", "%7b", "%5b"].iter().any(|sign| address.to_lowercase().contains(sign));
    addresses.retain(|_, address| are_given || has(address));
    Ok(addresses)
}

/// The delimiters that the document's visible text uses. Attributes and codes have braces for other reasons, so they are looked
/// at only where the visible text has none.
pub(crate) fn detected(parts: &[(TextPart, Part)], cells: &[String]) -> Delimiters {
    let texts = |is_shown: bool| {
        let all = parts.iter().flat_map(|(_, part)| &part.paragraphs);
        let own = cells.iter().filter(move |_| is_shown).map(String::as_str);
        all.filter(move |text| is_shown == (text.place == Place::Paragraph))
            .map(|text| text.text.as_str())
            .chain(own)
    };
    let is_plain = texts(true).all(|text| !text.contains('{') && !text.contains("[["));
    lexer::detect(|| texts(!is_plain)).unwrap_or_default()
}

/// The largest number of a part's pictures, tracked changes and their like: of all attributes `id`, with any prefix.
fn largest_number(xml: &[u8]) -> u64 {
    let mut largest = 0;
    for at in memmem::find_iter(xml, b"id") {
        let is_name = at > 0 && xml.get(at - 1).is_some_and(|byte| b": \t\r\n".contains(byte));
        let value = xml.get(at + 2..).filter(|_| is_name).and_then(|behind| {
            let value = behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'"))
        });
        // No valid number has more digits.
        let digits = value.map(|value| value.get(..NUMBER_DIGITS).unwrap_or(value)).unwrap_or_default();
        let digits = digits.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        largest = largest.max(number.filter(|&number| number < LARGEST_NUMBER).unwrap_or_default());
    }
    largest
}
