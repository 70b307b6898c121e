//! The parts that a section may have to write, kept while a template is read.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::notes::NotesPart;
use crate::error::Error;
use crate::limits::Limits;
use crate::package::relationships::{Known, resolved};
use crate::word::Dialect;

/// A part with text besides the document itself.
pub(crate) struct Other {
    /// Its name in faults.
    pub title: String,
    pub dialect: Dialect,
    /// The targets of its links that may have tags, by their relationships' ids.
    pub addresses: BTreeMap<String, String>,
    /// Without a byte order mark.
    pub xml: Vec<u8>,
    /// Where its paragraphs begin; empty of a part without tags.
    pub begins: Vec<usize>,
    /// It has no tags, so it is only read where a section refers to it.
    pub is_plain: bool,
    notes: OnceCell<Rc<NotesPart>>,
    mentions: OnceCell<BTreeMap<String, usize>>,
}

impl Other {
    pub(crate) fn new(
        (title, dialect): (&str, Dialect),
        addresses: BTreeMap<String, String>,
        (mut xml, begins): (Vec<u8>, Vec<usize>),
    ) -> Self {
        if xml.starts_with(b"\xef\xbb\xbf") {
            xml.drain(..3);
        }
        Self {
            title: title.to_owned(),
            dialect,
            addresses,
            xml,
            begins,
            is_plain: false,
            notes: OnceCell::new(),
            mentions: OnceCell::new(),
        }
    }

    pub(crate) fn plain(self) -> Self {
        Self { is_plain: true, ..self }
    }

    /// Its notes, where it is the part `name` of notes.
    pub(super) fn notes(&self, name: &str, limits: &Limits) -> Result<Rc<NotesPart>, Error> {
        if let Some(notes) = self.notes.get() {
            return Ok(Rc::clone(notes));
        }
        let notes = Rc::new(NotesPart::read(name, &self.xml, &limits.elements)?);
        Ok(Rc::clone(self.notes.get_or_init(|| notes)))
    }
}

/// The parts of a Word file with their relationships; empty where nothing is repeated.
#[derive(Default)]
pub(crate) struct Others {
    /// The name of the main part.
    pub main: String,
    /// By their names in lower case, without the main part.
    pub parts: BTreeMap<String, Other>,
    /// The relationships of all parts, by the parts' names in lower case.
    pub relations: BTreeMap<String, Known>,
    /// How many relationships lead to each part, by its name in lower case.
    counts: OnceCell<BTreeMap<String, usize>>,
}

impl Others {
    pub(crate) fn new(
        main: String,
        parts: BTreeMap<String, Other>,
        relations: BTreeMap<String, Known>,
    ) -> Self {
        Self { main, parts, relations, counts: OnceCell::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    pub(crate) fn part(&self, lower: &str) -> Option<&Other> {
        self.parts.get(lower)
    }

    pub(crate) fn relations(&self, part: &str) -> Option<&Known> {
        self.relations.get(&part.to_ascii_lowercase())
    }

    /// How often attributes of a part have the ids of its relationships.
    pub(super) fn mentions(&self, part: &str) -> Option<&BTreeMap<String, usize>> {
        let (other, known) = (self.part(&part.to_ascii_lowercase())?, self.relations(part)?);
        Some(other.mentions.get_or_init(|| mentions(&other.xml, known.keys().map(String::as_str))))
    }

    /// The name of the part with notes of this kind, such as `footnotes`.
    pub(super) fn notes(&self, kind: &str) -> Option<String> {
        let mut all = self.relations(&self.main)?.values();
        let found = all.find(|one| !one.is_external && one.kind.rsplit('/').next() == Some(kind))?;
        resolved(&self.main, &found.target)
    }

    /// Whether only one relationship leads to the part with this name in lower case.
    pub(super) fn is_referred_once(&self, lower: &str) -> bool {
        let counted = || {
            let mut counts = BTreeMap::new();
            for (part, all) in &self.relations {
                let targets = all.values().filter(|one| !one.is_external);
                for target in targets.filter_map(|one| resolved(part, &one.target)) {
                    *counts.entry(target.to_ascii_lowercase()).or_default() += 1;
                }
            }
            counts
        };
        self.counts.get_or_init(counted).get(lower) == Some(&1)
    }
}

/// How often attributes have each of these values.
pub(super) fn mentions<'i>(xml: &[u8], ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = ids.map(|id| (id.to_owned(), 0)).collect();
    for quote in [b'"', b'\''] {
        let mut begin = None;
        for at in memchr::memchr_iter(quote, xml) {
            let value = begin.replace(at + 1).and_then(|begin| xml.get(begin..at));
            let value = value.and_then(|value| std::str::from_utf8(value).ok());
            if let Some(count) = value.and_then(|value| counts.get_mut(value)) {
                *count += 1;
            }
        }
    }
    counts
}
