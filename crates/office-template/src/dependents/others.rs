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
    notes: OnceCell<Rc<NotesPart>>,
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
        Self { title: title.to_owned(), dialect, addresses, xml, begins, notes: OnceCell::new() }
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
}

impl Others {
    pub(super) fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    pub(crate) fn part(&self, lower: &str) -> Option<&Other> {
        self.parts.get(lower)
    }

    pub(super) fn relations(&self, part: &str) -> Option<&Known> {
        self.relations.get(&part.to_ascii_lowercase())
    }

    /// The name of the part with notes of this kind, such as `footnotes`.
    pub(super) fn notes(&self, kind: &str) -> Option<String> {
        let mut all = self.relations(&self.main)?.values();
        let found = all.find(|one| !one.is_external && one.kind.rsplit('/').next() == Some(kind))?;
        resolved(&self.main, &found.target)
    }

    /// Whether only one relationship leads to the part with this name in lower case.
    pub(super) fn is_referred_once(&self, lower: &str) -> bool {
        let targets = self.relations.iter().flat_map(|(part, all)| {
            all.values().filter(|one| !one.is_external).filter_map(|one| resolved(part, &one.target))
        });
        targets.filter(|target| target.eq_ignore_ascii_case(lower)).take(2).count() == 1
    }
}
