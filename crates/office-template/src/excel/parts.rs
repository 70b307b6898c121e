//! The parts of a workbook: its sheets in their order, shared strings, styles, and whether its days count from 1904.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::container::{self, Archive};
use crate::error::Error;
use crate::limits::Limits;
use crate::package::entries::{Entry, counted};
use crate::package::xml::attribute_of;
use crate::package::{addresses, relationships_in, relationships_of, resolved};

/// A workbook, as its main part has it.
pub(super) struct Listing {
    pub sheets: Vec<Listed>,
    /// Days are counted from 1904.
    pub is_1904: bool,
    /// The part with the shared texts.
    pub strings: Option<(String, Vec<u8>)>,
    pub styles: Option<(String, Vec<u8>)>,
}

/// A sheet of the list.
pub(super) struct Listed {
    pub name: String,
    /// Its part; `None` where it is not a worksheet, but a chart sheet for example.
    pub part: Option<(String, Vec<u8>)>,
    /// The targets of its links, by relationship id.
    pub links: BTreeMap<String, String>,
    pub tab: Tab,
}

/// What else is known of a sheet.
pub(super) struct Tab {
    /// The name of its part where it is a chart.
    pub chart: Option<String>,
    pub is_hidden: bool,
}

/// A part that may be there: its name, and its text.
pub(super) type Part = Option<(String, Vec<u8>)>;

/// How many elements may still be read, and the limits.
pub(super) type Left<'l> = (&'l mut u64, &'l Limits);

/// The elements of a part, taken from those that the whole template may have.
pub(super) fn elements(part: &str, xml: &[u8], (left, limits): Left<'_>) -> Result<Vec<Entry>, Error> {
    let all = counted(part, xml, &limits.elements)?;
    let many = || Error::limit(&limits.elements, "the template has more elements than the limit");
    *left = left.checked_sub(all.len() as u64).ok_or_else(many)?;
    Ok(all)
}

/// Reads the main part `main` and those that it refers to.
pub(super) fn listing(
    (archive, main): (&mut Archive<'_>, &str),
    (room, left): (&mut u64, &mut u64),
    limits: &Limits,
) -> Result<Listing, Error> {
    let names = container::entries_by_name(archive);
    let mut part_of = |name: &str| {
        let Some(&entry) = names.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        container::in_utf8(name, container::unpack(archive, entry, room, limits)?).map(Some)
    };
    let xml = part_of(main)?.unwrap_or_default();
    let relations = relationships_in(&part_of(&relationships_of(main))?.unwrap_or_default())?;
    let mut of_kind = |kind: &str| -> Result<Option<(String, Vec<u8>)>, Error> {
        let found = relations.iter().find(|one| !one.is_external && one.kind.ends_with(kind));
        let Some(name) = found.and_then(|one| resolved(main, &one.target)) else { return Ok(None) };
        Ok(part_of(&name)?.map(|content| (name, content)))
    };
    let (strings, styles) = (of_kind("/sharedStrings")?, of_kind("/styles")?);
    let mut listing = Listing { sheets: Vec::new(), is_1904: false, strings, styles };
    for entry in elements(main, &xml, (left, limits))? {
        match entry.name.as_str() {
            "workbookPr" => listing.is_1904 = ["1", "true"].contains(&entry.value("date1904")),
            "sheet" => {
                let tag = xml.get(entry.tag.clone()).unwrap_or_default();
                let id = attribute_of(tag, |name| name.ends_with(b":id")).unwrap_or_default();
                let of_kind = |kind: &str| {
                    let relation = relations.iter().find(|one| one.id == id && one.kind.ends_with(kind));
                    relation.filter(|one| !one.is_external).and_then(|one| resolved(main, &one.target))
                };
                let part = match of_kind("/worksheet") {
                    Some(name) => part_of(&name)?.map(|content| (name, content)),
                    None => None,
                };
                let links = match &part {
                    Some((name, _)) => addresses(&part_of(&relationships_of(name))?.unwrap_or_default())?,
                    None => BTreeMap::new(),
                };
                listing.sheets.push(Listed {
                    name: entry.value("name").to_owned(),
                    part,
                    links,
                    tab: Tab {
                        chart: of_kind("/chartsheet"),
                        is_hidden: ["hidden", "veryHidden"].contains(&entry.value("state")),
                    },
                });
            }
            _ => {}
        }
    }
    Ok(listing)
}

/// The shared texts of a workbook, as they are written.
pub(super) struct Strings {
    pub name: String,
    pub xml: Vec<u8>,
    /// `<si>…</si>`
    pub texts: Vec<Range<usize>>,
}

impl Strings {
    pub(super) fn read(part: Option<(String, Vec<u8>)>, left: Left<'_>) -> Result<Self, Error> {
        let (name, xml) = part.unwrap_or_default();
        if xml.is_empty() {
            return Ok(Self { name, xml, texts: Vec::new() });
        }
        let texts =
            elements(&name, &xml, left)?.into_iter().filter(|one| one.name == "si").map(|one| one.whole);
        let texts = texts.collect();
        Ok(Self { name, xml, texts })
    }

    /// A text as it is written.
    pub(super) fn get(&self, number: usize) -> &[u8] {
        self.texts.get(number).and_then(|range| self.xml.get(range.clone())).unwrap_or_default()
    }
}
