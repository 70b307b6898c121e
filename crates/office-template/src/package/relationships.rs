//! What a part refers to: its `_rels` part (ECMA-376, part 2, 9.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::xml::{attribute_text, before_end};
use crate::error::Error;
use crate::word::attribute::value;

const EMPTY: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
    <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";

/// What a part refers to another for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relation {
    Hyperlink,
    Image,
    Numbering,
    Styles,
    /// A file of Office in the document, as a chart's workbook.
    Package,
}

impl Relation {
    /// The relationship's type.
    pub(super) fn address(self, is_strict: bool) -> String {
        let base = namespace(is_strict);
        let name = match self {
            Self::Hyperlink => "hyperlink",
            Self::Image => "image",
            Self::Numbering => "numbering",
            Self::Styles => "styles",
            Self::Package => "package",
        };
        format!("{base}/{name}")
    }
}

/// What the types of relationships begin with, and the namespace of attributes that refer to them.
pub(super) fn namespace(is_strict: bool) -> &'static str {
    if is_strict {
        "http://purl.oclc.org/ooxml/officeDocument/relationships"
    } else {
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    }
}

/// What is referred to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// A part, by its name in the package.
    Part(&'a str),
    /// An address outside of it.
    External(&'a str),
}

/// A relationship, as a part has it.
#[derive(Clone, Debug)]
pub(crate) struct Relationship {
    pub id: String,
    pub kind: String,
    /// As written; see [`resolved`].
    pub target: String,
    pub is_external: bool,
}

/// What a part has that stays as it is, by the ids. It is shared: each copy of a document that is taken in has it.
pub(crate) type Known = Arc<BTreeMap<String, Relationship>>;

/// The relationships of a part.
pub(super) struct Relationships {
    xml: Vec<u8>,
    ids: BTreeSet<String>,
    /// Those that it has besides.
    known: Known,
    /// All others.
    all: Vec<Relationship>,
    /// The ids of what was added, by type and target as written.
    added: BTreeMap<(String, String), String>,
    last_number: u32,
    lines: String,
    /// Something was left out.
    is_shorter: bool,
}

/// The name of the part that says what `part` refers to.
pub(crate) fn name(part: &str) -> String {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}_rels/{file}.rels")
}

/// The part whose relationships the part `name` says, if it says any; empty: the package's own.
pub(super) fn source(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/')?;
    let file = file.strip_suffix(".rels")?;
    match folder.rsplit_once('/') {
        None => (folder == "_rels").then(|| file.to_owned()),
        Some((folder, last)) => (last == "_rels").then(|| format!("{folder}/{file}")),
    }
}

/// The part with the styles of `main`, which has these relationships.
pub(crate) fn styles(main: &str, relationships: &[u8]) -> Result<Option<String>, Error> {
    let all = list(relationships)?;
    let is_of_styles = |one: &&Relationship| one.kind.ends_with("/styles") && !one.is_external;
    Ok(all.iter().find(is_of_styles).and_then(|one| resolved(main, &one.target)))
}

impl Relationships {
    pub(super) fn read(xml: Option<Vec<u8>>) -> Result<Self, Error> {
        let xml = xml.unwrap_or_else(|| EMPTY.to_vec());
        let all = list(&xml)?;
        let ids = all.iter().map(|one| one.id.clone()).collect();
        Ok(Self {
            xml,
            ids,
            known: Known::default(),
            all,
            added: BTreeMap::new(),
            last_number: 0,
            lines: String::new(),
            is_shorter: false,
        })
    }

    /// None besides those that are `known`.
    pub(super) fn beside(known: Known) -> Self {
        Self {
            xml: Vec::new(),
            ids: BTreeSet::new(),
            // Most documents have so many by these names.
            last_number: u32::try_from(known.len()).unwrap_or_default(),
            known,
            all: Vec::new(),
            added: BTreeMap::new(),
            lines: String::new(),
            is_shorter: false,
        }
    }

    pub(super) fn relate(&mut self, part: &str, kind: &str, target: Target<'_>) -> String {
        let (target, mode) = match target {
            Target::Part(name) => (relative(part, name), ""),
            Target::External(address) => (address.to_owned(), " TargetMode=\"External\""),
        };
        let key = (kind.to_owned(), target);
        if let Some(id) = self.added.get(&key) {
            return id.clone();
        }
        let id = self.free_id();
        let target = attribute_text(&key.1);
        let written = attribute_text(kind);
        let line = format!("<Relationship Id=\"{id}\" Type=\"{written}\" Target=\"{target}\"{mode}/>");
        self.lines.push_str(&line);
        self.all.push(Relationship {
            id: id.clone(),
            kind: kind.to_owned(),
            target: key.1.clone(),
            is_external: !mode.is_empty(),
        });
        self.added.insert(key, id.clone());
        id
    }

    /// Adds one to a part under an id that is its own already where it is referred to.
    pub(super) fn add(&mut self, (part, id): (&str, &str), kind: &str, name: &str) {
        let target = relative(part, name);
        let (written, kind_text) = (attribute_text(&target), attribute_text(kind));
        let line = ["<Relationship Id=\"", id, "\" Type=\"", &kind_text, "\" Target=\"", &written, "\"/>"];
        self.lines.extend(line);
        self.ids.insert(id.to_owned());
        self.all.push(Relationship { id: id.to_owned(), kind: kind.to_owned(), target, is_external: false });
    }

    /// The first of this type that leads to a part: what it leads to.
    pub(super) fn find(&self, kind: &str) -> Option<&str> {
        let found = self.all.iter().find(|one| one.kind == kind && !one.is_external);
        found.map(|one| one.target.as_str())
    }

    fn free_id(&mut self) -> String {
        loop {
            self.last_number += 1;
            let id = format!("rId{}", self.last_number);
            if !self.known.contains_key(&id) && self.ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// All that the part refers to besides what is known.
    pub(super) fn into_all(self) -> Vec<Relationship> {
        self.all
    }

    pub(super) fn all(&self) -> &[Relationship] {
        &self.all
    }

    /// Leaves these out.
    pub(super) fn forget(&mut self, ids: &[String]) {
        let mut kept = Vec::with_capacity(self.xml.len());
        let mut from = 0;
        for found in each(&self.xml).into_iter().flatten() {
            if ids.contains(&found.relationship.id) && found.is_empty {
                kept.extend_from_slice(self.xml.get(from..found.range.start).unwrap_or_default());
                from = found.range.end;
            }
        }
        kept.extend_from_slice(self.xml.get(from..).unwrap_or_default());
        self.all.retain(|one| !ids.contains(&one.id));
        self.is_shorter = true;
        self.xml = kept;
    }

    /// The part; `None` where nothing was changed.
    pub(super) fn written(&self) -> Option<Vec<u8>> {
        let is_changed = self.is_shorter || !self.lines.is_empty();
        is_changed.then(|| before_end(&self.xml, &self.lines))
    }
}

/// The part with these lines.
pub(crate) fn whole(lines: &str) -> Vec<u8> {
    before_end(EMPTY, lines)
}

/// The target as a part writes it: from its own folder, or from the root.
fn relative(part: &str, name: &str) -> String {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    match name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !folder.is_empty() => rest.to_owned(),
        _ => format!("/{name}"),
    }
}

/// The name in the package that `target`, written in the relationships of `part`, leads to; `None` where it leads out of it.
pub(crate) fn resolved(part: &str, target: &str) -> Option<String> {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (from, target) = match target.strip_prefix('/') {
        Some(rest) => ("", rest),
        None => (folder, target),
    };
    let mut names: Vec<&str> = from.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            _ => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// Where links lead out of the document, by the ids of the relationships.
pub(crate) fn addresses(xml: &[u8]) -> Result<BTreeMap<String, String>, Error> {
    let links = list(xml)?.into_iter().filter(|one| one.is_external && one.kind.ends_with("/hyperlink"));
    Ok(links.map(|one| (one.id, one.target)).collect())
}

/// What a part of relationships says.
pub(crate) fn list(xml: &[u8]) -> Result<Vec<Relationship>, Error> {
    Ok(each(xml)?.into_iter().map(|found| found.relationship).collect())
}

/// The same by their ids.
pub(crate) fn known(xml: &[u8]) -> Result<Known, Error> {
    Ok(Arc::new(list(xml)?.into_iter().map(|one| (one.id.clone(), one)).collect()))
}

/// A relationship as it is written.
struct Found {
    range: Range<usize>,
    /// It is one tag.
    is_empty: bool,
    relationship: Relationship,
}

fn each(xml: &[u8]) -> Result<Vec<Found>, Error> {
    let mark = if xml.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut reader = Reader::from_reader(xml.get(mark..).unwrap_or_default());
    let mut all = Vec::new();
    let mut from = mark;
    loop {
        let event = reader.read_event();
        let end = mark + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX - mark);
        let is_empty = matches!(event, Ok(Event::Empty(_)));
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == b"Relationship" => {
                let relationship = Relationship {
                    id: value(&tag, "Id"),
                    kind: value(&tag, "Type"),
                    target: value(&tag, "Target"),
                    is_external: value(&tag, "TargetMode") == "External",
                };
                all.push(Found { range: from..end, is_empty, relationship });
            }
            Ok(Event::DocType(_)) => {
                return Err(Error::NotOffice(
                    "a part in _rels has a document type (<!DOCTYPE), which is refused".to_owned(),
                ));
            }
            Ok(Event::Eof) => return Ok(all),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::NotOffice(format!(
                    "a part in _rels is broken XML ({error}); save the file anew in Word"
                )));
            }
        }
        from = end;
    }
}
