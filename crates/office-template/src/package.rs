//! The document as a package of parts: parts that are changed or added while it is filled, with their relationships and content
//! types.
//!
//! A part that is not changed stays packed as it is, byte for byte.

mod dropped;
pub(crate) mod entries;
pub(crate) mod packer;
mod pictures;
mod plain;
mod related;
pub(crate) mod relationships;
pub(crate) mod xml;

use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher as _;

use crate::chart::data::Chart;
use crate::container::{self, Archive};
use crate::content_types::{Kinds, LIST, kinds};
use crate::dependents::Written;
use crate::error::{Error, quoted};
use crate::family::Family;
use crate::include::taken::Taken;
use crate::limits::Limits;
use crate::powerpoint::Placeholders;
use crate::warnings::Warnings;
use entries::{Entry, counted};
use packer::{Content, Packer};
pub(crate) use pictures::StoredPicture;
pub(crate) use related::NewPart;
use relationships::Relationships;
pub(crate) use relationships::{
    Known, Relation, Relationship, Target, addresses, list as relationships_in, name as relationships_of,
    resolved,
};
use xml::{attribute_text, before_end, replaced};

/// A document that is being filled.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    limits: &'a Limits,
    /// The entries' numbers by their names in lower case.
    entries: BTreeMap<String, usize>,
    /// How many bytes may still be added or changed.
    room: usize,
    /// How many bytes of the file may still be unpacked.
    unpacked_left: u64,
    /// New contents of the file's parts, by the entries' numbers.
    changed: BTreeMap<usize, Content>,
    /// Parts that are left out, by the entries' numbers.
    removed: BTreeSet<usize>,
    /// Parts that the file did not have, in the order in which they were added.
    added: Vec<(String, Content)>,
    /// The relationships of parts, by the parts' names.
    relationships: BTreeMap<String, Relationships>,
    /// The last number given to a part's name, by the name's stem in lower case.
    numbered: BTreeMap<String, u32>,
    /// Indices in `added`, by the parts' names in lower case.
    added_at: HashMap<String, usize>,
    /// Indices in `added`, by the hash of the content, so that the same picture is added once.
    contents: HashMap<u64, Vec<usize>>,
    /// Pictures that were added, or why they could not be, by length and hash of their keys.
    pictures: HashMap<(usize, u64), Result<StoredPicture, String>>,
    /// Lines for the list of content types.
    overrides: String,
    /// Whether the names of relationships are those of the strict form of the format.
    is_strict: bool,
    /// The folder of added parts, such as `word`.
    folder: &'static str,
    /// The notes, headers and their like that sections have written.
    pub dependents: Written,
    /// What was copied from included documents.
    pub taken: Taken,
    /// Data for charts given in the alternative text of their frames, by the chart's part, with the number of the tag that gave
    /// them.
    pub charts: BTreeMap<String, (usize, Chart)>,
    /// The parts of charts whose titles gave them data.
    pub titled: BTreeSet<String>,
    /// Placeholders of layouts that have been read.
    pub placeholders: Placeholders,
    /// What the document's author should know.
    pub warnings: Warnings,
    /// The next free number for pictures, bookmarks and tracked changes.
    pub next_number: u64,
    /// Hidden sheets with the data of a workbook's charts (name and content), and the names of all sheets.
    pub unseen_sheets: Vec<(String, Vec<u8>)>,
    pub sheet_names: Vec<String>,
}

/// What is known of a document before it is filled.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    /// Whether it is written in the strict form of the format.
    pub is_strict: bool,
    /// The first number that no picture has.
    pub next_number: u64,
    /// The folder of added parts, such as `word`.
    pub folder: &'static str,
}

impl<'a> Package<'a> {
    /// Opens the document of `file` and makes it a plain one (see [`plain`]).
    pub(crate) fn open(
        file: &'a [u8],
        limits: &'a Limits,
        Opening { is_strict, next_number, folder }: Opening,
    ) -> Result<Self, Error> {
        let archive = container::open(file, limits)?;
        let entries = container::entries_by_name(&archive);
        let mut package = Self {
            archive,
            limits,
            entries,
            room: usize::try_from(limits.output_bytes.value).unwrap_or(usize::MAX),
            unpacked_left: limits.unpacked_bytes.value,
            changed: BTreeMap::new(),
            removed: BTreeSet::new(),
            added: Vec::new(),
            added_at: HashMap::new(),
            numbered: BTreeMap::new(),
            contents: HashMap::new(),
            pictures: HashMap::new(),
            overrides: String::new(),
            relationships: BTreeMap::new(),
            is_strict,
            folder,
            dependents: Written::default(),
            taken: Taken::default(),
            charts: BTreeMap::new(),
            titled: BTreeSet::new(),
            placeholders: Placeholders::new(),
            warnings: Warnings::default(),
            next_number,
            unseen_sheets: Vec::new(),
            sheet_names: Vec::new(),
        };
        plain::make(&mut package)?;
        Ok(package)
    }

    /// The elements of a part; an error where it has more than the limit.
    pub(crate) fn elements(&self, part: &str, xml: &[u8]) -> Result<Vec<Entry>, Error> {
        counted(part, xml, &self.limits.elements)
    }

    /// The names of the parts that the file has, in lower case.
    fn names(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    pub(crate) fn is_workbook(&self) -> bool {
        self.folder == Family::Excel.folder()
    }

    /// Whether the file has a part with this extension.
    fn has_extension(&self, extension: &str) -> bool {
        let end = format!(".{}", extension.to_ascii_lowercase());
        self.entries.keys().any(|name| name.ends_with(&end))
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(entry) = self.entries.remove(&name.to_ascii_lowercase()) {
            self.changed.remove(&entry);
            self.removed.insert(entry);
        }
    }

    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// A number that no picture, bookmark or tracked change of the document has.
    pub(crate) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    fn take_room(&mut self, bytes: usize) -> Result<(), Error> {
        self.room = self.room.checked_sub(bytes).ok_or_else(|| self.full())?;
        Ok(())
    }

    /// The error for a document that becomes too large.
    pub(crate) fn full(&self) -> Error {
        Error::limit(&self.limits.output_bytes, "the filled document becomes larger than the limit")
    }

    /// Counts a part that a turn of a section has of its own; an error where there are too many.
    pub(crate) fn count_own_part(&mut self) -> Result<(), Error> {
        self.dependents.parts += 1;
        if self.dependents.parts > self.limits.own_parts.value {
            let what = "the turns of sections have more headers, charts and embedded files of their own than the limit";
            return Err(Error::limit(&self.limits.own_parts, what));
        }
        Ok(())
    }

    /// How many elements a part may have.
    pub(crate) fn elements_at_most(&self) -> usize {
        usize::try_from(self.limits.elements.value).unwrap_or(usize::MAX)
    }

    /// The error for a part that has more elements than the limit.
    pub(crate) fn many_elements(&self, part: &str) -> Error {
        Error::limit(&self.limits.elements, &format!("{} has more elements than the limit", quoted(part)))
    }

    /// A part's current content; `None` where there is no such part.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let lower = name.to_ascii_lowercase();
        if let Some((_, content)) = self.added_at.get(&lower).and_then(|&at| self.added.get(at)) {
            return content.plain().map(Some);
        }
        let Some(&entry) = self.entries.get(&lower) else { return Ok(None) };
        if let Some(content) = self.changed.get(&entry) {
            return content.plain().map(Some);
        }
        let content = container::unpack(&mut self.archive, entry, &mut self.unpacked_left, self.limits)?;
        Ok(Some(content))
    }

    /// Replaces the content of the part `name`, or adds it; the caller declares the content type of a new part.
    pub(crate) fn put(&mut self, name: &str, content: Vec<u8>) -> Result<(), Error> {
        let content = if container::is_text(name) { container::in_utf8(name, content)? } else { content };
        self.hold(name, Content::Plain(content))
    }

    /// Begins a part that is packed while it is written.
    pub(crate) fn packer(&self) -> Result<Packer, Error> {
        Packer::new(self.room, self.limits.output_bytes)
    }

    /// As [`put`](Self::put), for a part that was packed while it was written.
    pub(crate) fn put_packed(&mut self, name: &str, packer: Packer) -> Result<(), Error> {
        let content = packer.finish()?;
        self.hold(name, content)
    }

    fn hold(&mut self, name: &str, content: Content) -> Result<(), Error> {
        let lower = name.to_ascii_lowercase();
        let entry = self.entries.get(&lower).copied();
        let at = self.added_at.get(&lower).copied();
        // The content that it replaces is not written, so its room is free again.
        let held = match (entry, at) {
            (Some(entry), _) => self.changed.get(&entry),
            (None, Some(at)) => self.added.get(at).map(|(_, held)| held),
            (None, None) => None,
        };
        self.room += held.map_or(0, Content::size);
        self.take_room(content.size())?;
        if let Some(entry) = entry {
            self.changed.insert(entry, content);
        } else if let Some((_, held)) = at.and_then(|at| self.added.get_mut(at)) {
            *held = content;
        } else {
            self.added_at.insert(lower, self.added.len());
            self.added.push((name.to_owned(), content));
        }
        Ok(())
    }

    /// Adds a part of this content type under a free name, such as `word/media/image3.png`, and returns the name. The same
    /// content is added only once.
    pub(crate) fn add(
        &mut self,
        (stem, extension): (&str, &str),
        content_type: &str,
        content: Vec<u8>,
    ) -> Result<String, Error> {
        let hash = self.contents.hasher().hash_one(&content);
        let end = format!(".{extension}");
        let like = self.contents.get(&hash).into_iter().flatten().filter_map(|&index| self.added.get(index));
        let same = { like }.find(|(name, held)| name.ends_with(&end) && held.is(&content));
        if let Some((name, _)) = same {
            return Ok(name.clone());
        }
        let name = self.free_name(stem, &end);
        self.contents.entry(hash).or_default().push(self.added.len());
        self.put(&name, content)?;
        self.override_type(&name, content_type)?;
        Ok(name)
    }

    /// Whether there is a part of this name, in the file or added to it.
    fn has(&self, name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        self.entries.contains_key(&lower) || self.added_at.contains_key(&lower)
    }

    pub(crate) fn free_name(&mut self, stem: &str, end: &str) -> String {
        // Names that differ in case alone are one name.
        loop {
            let number = self.numbered.entry(stem.to_ascii_lowercase()).or_default();
            *number += 1;
            let name = format!("{stem}{number}{end}");
            if !self.has(&name) {
                return name;
            }
        }
    }

    /// Declares the content type of an added part.
    pub(crate) fn override_type(&mut self, name: &str, content_type: &str) -> Result<(), Error> {
        // The list takes its room only when it is put; until then this keeps it from growing past it.
        if self.overrides.len() + content_type.len() > self.room {
            return Err(self.full());
        }
        let (name, content_type) = (attribute_text(name), attribute_text(content_type));
        self.overrides.extend(["<Override PartName=\"/", &name, "\" ContentType=\"", &content_type, "\"/>"]);
        Ok(())
    }

    /// The relationships of a part.
    pub(crate) fn relationships_of(&mut self, part: &str) -> Result<&[Relationship], Error> {
        Ok(self.relationships(part)?.all())
    }

    /// The name of the part that `part` refers to by this relation.
    pub(crate) fn related(&mut self, part: &str, relation: Relation) -> Result<Option<String>, Error> {
        let kind = relation.address(self.is_strict);
        let target = self.relationships(part)?.find(&kind).map(str::to_owned);
        Ok(target.and_then(|target| relationships::resolved(part, &target)))
    }

    fn relationships(&mut self, part: &str) -> Result<&mut Relationships, Error> {
        let held =
            if self.relationships.contains_key(part) { None } else { self.part(&relationships::name(part))? };
        Ok(match self.relationships.entry(part.to_owned()) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(vacant) => vacant.insert(Relationships::read(held)?),
        })
    }

    /// The id of a relationship from `part` to the target: an existing one, or a new one.
    pub(crate) fn relate(
        &mut self,
        part: &str,
        relation: Relation,
        target: Target<'_>,
    ) -> Result<String, Error> {
        let kind = relation.address(self.is_strict);
        self.relate_as(part, &kind, target)
    }

    /// As [`relate`](Self::relate), for a relationship of any type.
    pub(crate) fn relate_as(&mut self, part: &str, kind: &str, target: Target<'_>) -> Result<String, Error> {
        Ok(self.relationships(part)?.relate(part, kind, target))
    }

    /// Adds a relationship to the part `name` under this id.
    pub(crate) fn relate_by(
        &mut self,
        (part, id): (&str, &str),
        kind: &str,
        name: &str,
    ) -> Result<(), Error> {
        self.relationships(part)?.add((part, id), kind, name);
        Ok(())
    }

    /// The content types of its parts, without those added since.
    pub(crate) fn kinds(&mut self) -> Result<Kinds, Error> {
        Ok(kinds(&self.part(LIST)?.unwrap_or_default()))
    }

    /// Removes relationships of `part` that are no longer used.
    pub(crate) fn forget(&mut self, part: &str, ids: &[String]) -> Result<(), Error> {
        if !ids.is_empty() {
            self.relationships(part)?.forget(ids);
        }
        Ok(())
    }

    /// Begins a temporary part, which is not in the package and has the relationships `known`.
    pub(crate) fn stage(&mut self, part: &str, known: &Known) {
        self.relationships.insert(part.to_owned(), Relationships::beside(Known::clone(known)));
    }

    /// Ends a temporary part; returns the relationships that were added to it.
    pub(crate) fn unstage(&mut self, part: &str) -> Vec<Relationship> {
        self.relationships.remove(part).map(Relationships::into_all).unwrap_or_default()
    }

    /// The limits, and how many bytes may still be unpacked.
    pub(crate) fn unpacking(&mut self) -> (&'a Limits, &mut u64) {
        (self.limits, &mut self.unpacked_left)
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The namespace of attributes that hold relationships' ids.
    pub(crate) fn relationships_namespace(&self) -> &'static str {
        relationships::namespace(self.is_strict)
    }

    /// Converts `xml` from the transitional form of the format to the document's form.
    pub(crate) fn in_its_form(&self, xml: String) -> String {
        const USUAL: &str = "http://schemas.openxmlformats.org/";
        const STRICT: &str = "http://purl.oclc.org/ooxml/";
        if !self.is_strict {
            return xml;
        }
        ["wordprocessingml", "drawingml", "officeDocument"].iter().fold(xml, |xml, name| {
            let usual = format!("\"{USUAL}{name}/2006/");
            xml.replace(&usual, &format!("\"{STRICT}{name}/"))
        })
    }

    /// The file with all that was changed and added.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Error> {
        for (part, relationships) in std::mem::take(&mut self.relationships) {
            if let Some(xml) = relationships.written() {
                self.put(&relationships::name(&part), xml)?;
            }
        }
        if !self.overrides.is_empty() {
            let list = self.part(LIST)?.unwrap_or_default();
            self.put(LIST, before_end(&list, &self.overrides))?;
        }
        self.added.retain(|(name, _)| !name.is_empty());
        container::write(&mut self.archive, (self.changed, &self.removed), &self.added)
    }

    pub(crate) fn is_untouched(&self) -> bool {
        self.changed.is_empty()
            && self.removed.is_empty()
            && self.added.is_empty()
            && self.relationships.is_empty()
    }
}
