//! What a part refers to: its `_rels` part (ECMA-376, part 2, 9.3).

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::xml::{attribute_text, before_end};
use crate::error::Error;
use crate::word::attribute::attribute;

const EMPTY: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
    <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";

/// What a part refers to another for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relation {
    Hyperlink,
    Image,
    Numbering,
    Styles,
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

/// The relationships of a part.
pub(super) struct Relationships {
    xml: Vec<u8>,
    ids: BTreeSet<String>,
    /// What it refers to within the package: type and target as written.
    held: Vec<(String, String)>,
    /// The ids of what was added, by type and target as written.
    added: BTreeMap<(String, String), String>,
    last_number: u32,
    lines: String,
}

/// The name of the part that says what `part` refers to.
pub(super) fn name(part: &str) -> String {
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

impl Relationships {
    pub(super) fn read(xml: Option<Vec<u8>>) -> Result<Self, Error> {
        let xml = xml.unwrap_or_else(|| EMPTY.to_vec());
        let (ids, held) = lines(&xml)?;
        Ok(Self { xml, ids, held, added: BTreeMap::new(), last_number: 0, lines: String::new() })
    }

    /// The name of the part that `part` refers to as `kind`.
    pub(super) fn target(&self, part: &str, kind: &str) -> Option<String> {
        let added = self.added.keys().map(|(of, target)| (of, target));
        let held = self.held.iter().map(|(of, target)| (of, target));
        { held }.chain(added).find(|(of, _)| *of == kind).map(|(_, target)| resolved(part, target))
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
        let line = format!("<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>");
        self.lines.push_str(&line);
        self.added.insert(key, id.clone());
        id
    }

    fn free_id(&mut self) -> String {
        loop {
            self.last_number += 1;
            let id = format!("rId{}", self.last_number);
            if self.ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// The part; `None` where nothing was added.
    pub(super) fn written(&self) -> Option<Vec<u8>> {
        (!self.lines.is_empty()).then(|| before_end(&self.xml, &self.lines))
    }
}

/// The target as a part writes it: from its own folder, or from the root.
fn relative(part: &str, name: &str) -> String {
    let folder = part.rsplit_once('/').map_or("", |(folder, _)| folder);
    match name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !folder.is_empty() => rest.to_owned(),
        _ => format!("/{name}"),
    }
}

/// The name of the part that `part` means by `target`.
pub(super) fn resolved(part: &str, target: &str) -> String {
    if let Some(name) = target.strip_prefix('/') {
        return name.to_owned();
    }
    let mut names: Vec<&str> = part.split('/').collect();
    names.pop();
    for name in target.split('/') {
        match name {
            "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names.join("/")
}

/// The ids of a part of relationships, and what it refers to within the package: types and targets.
type Lines = (BTreeSet<String>, Vec<(String, String)>);

fn lines(xml: &[u8]) -> Result<Lines, Error> {
    let mut reader = Reader::from_reader(xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml));
    let mut ids = BTreeSet::new();
    let mut held = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == b"Relationship" => {
                let tag = [b"<", &*tag].concat();
                let value = |name| {
                    let value = attribute(&tag, name).and_then(|attribute| tag.get(attribute.value));
                    value.map(|value| String::from_utf8_lossy(value).into_owned())
                };
                ids.extend(value("Id"));
                if value("TargetMode").as_deref() != Some("External") {
                    held.extend(value("Type").zip(value("Target")));
                }
            }
            Ok(Event::DocType(_)) => {
                return Err(Error::NotOffice(
                    "a part in _rels has a document type (<!DOCTYPE), which is refused".to_owned(),
                ));
            }
            Ok(Event::Eof) => return Ok((ids, held)),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::NotOffice(format!(
                    "a part in _rels is broken XML ({error}); save the file anew in Word"
                )));
            }
        }
    }
}
