//! The relationships of a part, kept in its `_rels` part (ECMA-376, part 2, 9.3).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::xml::{attribute_text, before_end};
use crate::error::Error;
use crate::word::RELATIONSHIPS;
use crate::word::attribute::value;

const EMPTY: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
    <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";

/// The purpose of a relationship.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relation {
    Hyperlink,
    Image,
    Numbering,
    Styles,
    /// An embedded file of Office, such as a chart's workbook.
    Package,
}

impl Relation {
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

/// The beginning of relationships' types, and the namespace of attributes that hold relationships' ids.
pub(super) fn namespace(is_strict: bool) -> &'static str {
    let [transitional, strict] = RELATIONSHIPS;
    if is_strict { strict } else { transitional }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// A part, by its name in the package.
    Part(&'a str),
    /// An address outside of it.
    External(&'a str),
    /// A bookmark of the document, as `#name`.
    Within(&'a str),
}

#[derive(Clone, Debug)]
pub(crate) struct Relationship {
    pub id: String,
    pub kind: String,
    /// As written; see [`resolved`].
    pub target: String,
    pub is_external: bool,
}

/// Relationships that do not change, by their ids; shared by all copies of an included document.
pub(crate) type Known = Arc<BTreeMap<String, Relationship>>;

pub(super) struct Relationships {
    xml: Vec<u8>,
    ids: BTreeSet<String>,
    /// Unchanged ones that the part has besides; their ids are not free.
    known: Known,
    /// All others.
    all: Vec<Relationship>,
    /// The ids of added ones, by type and target as written.
    added: BTreeMap<(String, String), String>,
    last_number: u32,
    lines: String,
    /// Some were removed.
    is_shorter: bool,
}

/// The name of the part with the relationships of `part`.
pub(crate) fn name(part: &str) -> String {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}_rels/{file}.rels")
}

/// The part whose relationships the part `name` holds, empty for the package; `None` if it holds none.
pub(crate) fn source(name: &str) -> Option<String> {
    let (folder, file) = name.rsplit_once('/')?;
    let file = file.strip_suffix(".rels")?;
    match folder.rsplit_once('/') {
        None => (folder == "_rels").then(|| file.to_owned()),
        Some((folder, last)) => (last == "_rels").then(|| format!("{folder}/{file}")),
    }
}

/// The name of the part with the styles of `main`, found in main's `relationships`.
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

    /// No relationships besides those in `known`.
    pub(super) fn beside(known: Known) -> Self {
        Self {
            xml: Vec::new(),
            ids: BTreeSet::new(),
            // Most documents number their ids from 1, so the next one is likely to be free.
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
            Target::Within(address) => (address.to_owned(), ""),
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

    /// Adds one to the part `name` under an id that the part's XML refers to already.
    pub(super) fn add(&mut self, (part, id): (&str, &str), kind: &str, name: &str) {
        let target = relative(part, name);
        let (written, kind_text) = (attribute_text(&target), attribute_text(kind));
        let line = ["<Relationship Id=\"", id, "\" Type=\"", &kind_text, "\" Target=\"", &written, "\"/>"];
        self.lines.extend(line);
        self.ids.insert(id.to_owned());
        self.all.push(Relationship { id: id.to_owned(), kind: kind.to_owned(), target, is_external: false });
    }

    /// The target, as written, of the first relationship of this type to a part.
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

    /// All relationships but the unchanged ones.
    pub(super) fn into_all(self) -> Vec<Relationship> {
        self.all
    }

    pub(super) fn all(&self) -> &[Relationship] {
        &self.all
    }

    pub(super) fn forget(&mut self, ids: &[String]) {
        let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let mut kept = Vec::with_capacity(self.xml.len());
        let mut from = 0;
        for found in each(&self.xml).into_iter().flatten() {
            if ids.contains(found.relationship.id.as_str()) && found.is_empty {
                kept.extend_from_slice(self.xml.get(from..found.range.start).unwrap_or_default());
                from = found.range.end;
            }
        }
        kept.extend_from_slice(self.xml.get(from..).unwrap_or_default());
        self.all.retain(|one| !ids.contains(one.id.as_str()));
        self.is_shorter = true;
        self.xml = kept;
    }

    /// The part's new content; `None` where nothing was changed.
    pub(super) fn written(&self) -> Option<Vec<u8>> {
        let is_changed = self.is_shorter || !self.lines.is_empty();
        is_changed.then(|| before_end(&self.xml, &self.lines))
    }
}

/// A part of relationships with these lines.
pub(crate) fn whole(lines: &str) -> Vec<u8> {
    before_end(EMPTY, lines)
}

/// The target as written in a part's relationships: relative to the part's folder, or from the root.
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

/// The external addresses of links, by the ids of their relationships.
pub(crate) fn addresses(xml: &[u8]) -> Result<BTreeMap<String, String>, Error> {
    let links = list(xml)?.into_iter().filter(|one| one.is_external && one.kind.ends_with("/hyperlink"));
    Ok(links.map(|one| (one.id, one.target)).collect())
}

/// The relationships in a `_rels` part.
pub(crate) fn list(xml: &[u8]) -> Result<Vec<Relationship>, Error> {
    Ok(each(xml)?.into_iter().map(|found| found.relationship).collect())
}

/// As [`list`], by their ids.
pub(crate) fn known(xml: &[u8]) -> Result<Known, Error> {
    Ok(Arc::new(list(xml)?.into_iter().map(|one| (one.id.clone(), one)).collect()))
}

/// A relationship with its place in the XML.
struct Found {
    range: Range<usize>,
    /// It is a single empty tag.
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
