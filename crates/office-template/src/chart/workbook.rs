//! The workbook inside a chart, which Word opens when somebody edits the chart's data.
//!
//! Hazard: the file is untrusted. Parts of it are parsed only up to [`LARGEST`] bytes; its sheet is never parsed, only a piece of
//! it replaced.

use std::collections::{BTreeMap, BTreeSet};

use super::sheet;
use super::styles;
use super::table::Table;
use crate::container::{self, Archive};
use crate::content_types::LIST;
use crate::error::Error;
use crate::limits::Limits;
use crate::package::entries::{Entry, entries};
use crate::package::packer::Content;
use crate::package::{Relationship, relationships_in, relationships_of, resolved};

/// The largest part that is parsed, in bytes. No real list of sheets, table or list of styles is as large.
const LARGEST: usize = 1 << 20;

pub(super) struct Workbook<'a> {
    archive: Archive<'a>,
    /// The entries' numbers by their names in lower case.
    entries: BTreeMap<String, usize>,
    /// The name of the workbook's own part.
    book: String,
    /// The first sheet's name, and the name of its part.
    sheet: (String, String),
    changed: BTreeMap<usize, Vec<u8>>,
    removed: BTreeSet<usize>,
}

/// The limits, and how many bytes may still be unpacked.
type Unpacking<'b> = (&'b Limits, &'b mut u64);

impl<'a> Workbook<'a> {
    pub(super) fn open(file: &'a [u8], (limits, left): Unpacking<'_>) -> Result<Self, Error> {
        let archive = container::open(file, limits)?;
        let entries_by_name = container::entries_by_name(&archive);
        let mut workbook = Self {
            archive,
            entries: entries_by_name,
            book: String::new(),
            sheet: (String::new(), String::new()),
            changed: BTreeMap::new(),
            removed: BTreeSet::new(),
        };
        workbook.book = workbook.related("", "/officeDocument", (limits, left))?.ok_or_else(no_sheet)?;
        let book = workbook.small(&workbook.book.clone(), (limits, left))?.ok_or_else(no_sheet)?;
        let sheets = entries(&workbook.book, &book)?;
        let first = sheets.iter().find(|element| element.name == "sheet").ok_or_else(no_sheet)?;
        let all = workbook.relationships(&workbook.book.clone(), (limits, left))?;
        let found =
            all.iter().find(|one| one.id == first.value("id") && !one.is_external).ok_or_else(no_sheet)?;
        let part = resolved(&workbook.book, &found.target).ok_or_else(no_sheet)?;
        workbook.sheet = (first.value("name").to_owned(), part);
        Ok(workbook)
    }

    pub(super) fn sheet(&self) -> &str {
        &self.sheet.0
    }

    pub(super) fn filled(mut self, table: &Table, (limits, left): Unpacking<'_>) -> Result<Vec<u8>, Error> {
        let name = self.sheet.1.clone();
        let &entry = self.entries.get(&name.to_ascii_lowercase()).ok_or_else(no_sheet)?;
        let xml = container::unpack(&mut self.archive, entry, left, limits)?;
        let mut corner = None;
        if let Some(part) = self.related(&name, "/table", (limits, left))?
            && let Some(held) = self.small(&part, (limits, left))?
        {
            let (filled, first) = sheet::table(&part, &held, table)?;
            corner = first;
            self.put(&part, filled);
        }
        let style = self.style(table, (limits, left))?;
        let filled = sheet::filled(&xml, table, (corner.as_deref(), style)).ok_or_else(no_sheet)?;
        self.changed.insert(entry, filled);
        self.forget_calculations((limits, left))?;
        let changed =
            self.changed.into_iter().map(|(entry, content)| (entry, Content::Plain(content))).collect();
        container::write(&mut self.archive, (changed, &self.removed), &[])
    }

    fn put(&mut self, name: &str, content: Vec<u8>) {
        if let Some(&entry) = self.entries.get(&name.to_ascii_lowercase()) {
            self.changed.insert(entry, content);
        }
    }

    /// The style of the first column's cells, where the data give a format for them.
    fn style(&mut self, table: &Table, (limits, left): Unpacking<'_>) -> Result<Option<usize>, Error> {
        let format = table.columns.first().and_then(|column| column.format.clone());
        let (Some(format), Some(part)) =
            (format, self.related(&self.book.clone(), "/styles", (limits, left))?)
        else {
            return Ok(None);
        };
        let Some(held) = self.small(&part, (limits, left))? else { return Ok(None) };
        let Some((styles, index)) = styles::with_format(&part, &held, &format)? else { return Ok(None) };
        self.put(&part, styles);
        Ok(Some(index))
    }

    /// Removes the list of calculated cells: Excel calls a workbook damaged if the list names cells that have no formula.
    fn forget_calculations(&mut self, (limits, left): Unpacking<'_>) -> Result<(), Error> {
        let book = self.book.clone();
        let Some(part) = self.related(&book, "/calcChain", (limits, left))? else { return Ok(()) };
        let Some(entry) = self.entries.remove(&part.to_ascii_lowercase()) else { return Ok(()) };
        self.removed.insert(entry);
        let gone = |element: &Entry| match element.name.as_str() {
            "Relationship" => element.value("Type").ends_with("/calcChain"),
            "Override" => element.value("PartName").trim_start_matches('/').eq_ignore_ascii_case(&part),
            _ => false,
        };
        for name in [relationships_of(&book), LIST.to_owned()] {
            let Some(xml) = self.small(&name, (limits, left))? else { continue };
            let elements = entries(&name, &xml)?;
            let edits: Vec<_> = elements
                .iter()
                .filter(|element| gone(element))
                .map(|element| (element.whole.clone(), String::new()))
                .collect();
            self.put(&name, crate::package::xml::replaced(&xml, &edits));
        }
        Ok(())
    }

    /// The part that `part` refers to by a relationship whose type ends with `end`.
    fn related(&mut self, part: &str, end: &str, unpacking: Unpacking<'_>) -> Result<Option<String>, Error> {
        let all = self.relationships(part, unpacking)?;
        let found = all.iter().find(|one| one.kind.ends_with(end) && !one.is_external);
        Ok(found.and_then(|one| resolved(part, &one.target)))
    }

    fn relationships(&mut self, part: &str, unpacking: Unpacking<'_>) -> Result<Vec<Relationship>, Error> {
        let xml = self.small(&relationships_of(part), unpacking)?;
        xml.map_or_else(|| Ok(Vec::new()), |xml| relationships_in(&xml))
    }

    /// The content of a part, `None` where it is missing; an error where it is larger than [`LARGEST`].
    fn small(&mut self, name: &str, (limits, left): Unpacking<'_>) -> Result<Option<Vec<u8>>, Error> {
        let Some(&entry) = self.entries.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        let content = container::unpack(&mut self.archive, entry, left, limits)?;
        if content.len() > LARGEST {
            return Err(Error::NotOffice(format!("{name} in it is too large")));
        }
        Ok(Some(content))
    }
}

fn no_sheet() -> Error {
    Error::NotOffice("it has no sheet; make the chart anew".to_owned())
}
