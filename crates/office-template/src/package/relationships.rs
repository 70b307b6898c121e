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
}

impl Relation {
    /// The relationship's type.
    pub(super) fn address(self, is_strict: bool) -> String {
        let base = namespace(is_strict);
        let name = match self {
            Self::Hyperlink => "hyperlink",
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

impl Relationships {
    pub(super) fn read(xml: Option<Vec<u8>>) -> Result<Self, Error> {
        let xml = xml.unwrap_or_else(|| EMPTY.to_vec());
        let ids = ids(&xml)?;
        Ok(Self { xml, ids, added: BTreeMap::new(), last_number: 0, lines: String::new() })
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

fn ids(xml: &[u8]) -> Result<BTreeSet<String>, Error> {
    let mut reader = Reader::from_reader(xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml));
    let mut ids = BTreeSet::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) if tag.local_name().as_ref() == b"Relationship" => {
                let tag = [b"<", &*tag].concat();
                let id = attribute(&tag, "Id").and_then(|attribute| tag.get(attribute.value));
                ids.extend(id.map(|id| String::from_utf8_lossy(id).into_owned()));
            }
            Ok(Event::DocType(_)) => {
                return Err(Error::NotOffice(
                    "a part in _rels has a document type (<!DOCTYPE), which is refused".to_owned(),
                ));
            }
            Ok(Event::Eof) => return Ok(ids),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::NotOffice(format!(
                    "a part in _rels is broken XML ({error}); save the file anew in Word"
                )));
            }
        }
    }
}
