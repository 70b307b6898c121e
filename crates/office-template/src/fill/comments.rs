//! Comments of turns in the parts that say more of comments: which are answers to others, which are resolved, when they were
//! written.
//!
//! Hazard: these parts name a comment by an id of its last paragraph (`w14:paraId`). If each turn's comment had the same one, or one
//! that stands there had no comment, Word would call the file damaged or lose the threads. So copies get ids of their own, with
//! entries like those of the template; entries without a comment are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Filler;
use crate::dependents::{Dependent, Note};
use crate::error::Error;
use crate::package::xml::{replaced, with_last};
use crate::package::{Package, resolved};
use crate::word::attribute::attribute;

impl Filler<'_, '_> {
    /// The id of a comment's last paragraph in this turn, with its place in the part; `None` where it has none.
    pub(super) fn paragraph_of_comment(
        &mut self,
        (dependent, note): (&Dependent, &Note),
        is_first: bool,
    ) -> Result<Option<(Range<usize>, String)>, Error> {
        let Some(place) = &note.paragraph else { return Ok(None) };
        let own = dependent.part.xml.get(place.clone()).unwrap_or_default();
        let own = String::from_utf8_lossy(own).to_ascii_uppercase();
        let new = if is_first { own.clone() } else { self.package.free_paragraph(self.source.root.0)? };
        self.package.dependents.comments.push((own, new.clone()));
        Ok(Some((place.clone(), new)))
    }

    /// Writes an attribute that may stand only once; a later copy has the id of its comment's paragraph, or none.
    pub(super) fn first(&mut self, range: &Range<usize>) {
        let is_first = self.is_first(range.start);
        let own = self.paragraph.take_if(|(place, _)| range.contains(&place.start));
        match own {
            Some((place, id)) => {
                self.raw(range.start..place.start);
                self.out.extend_from_slice(id.as_bytes());
                self.raw(place.end..range.end);
            }
            None if is_first => self.raw(range.clone()),
            None => {}
        }
    }
}

impl Package<'_> {
    /// An id that no paragraph and no comment has.
    fn free_paragraph(&mut self, main: &str) -> Result<String, Error> {
        /// Ids are below `0x8000_0000`; programs choose them at random.
        const BEGIN: u32 = 0x1000_0000;
        if self.dependents.paragraphs.is_none() {
            let mut names: Vec<String> = vec![main.to_owned()];
            for one in self.relationships_of(main)?.iter().filter(|one| !one.is_external) {
                let kind = one.kind.rsplit('/').next().unwrap_or_default();
                if kind.starts_with("comments") {
                    names.extend(resolved(main, &one.target));
                }
            }
            let mut used = BTreeSet::new();
            for name in names {
                used.extend(ids(&self.part(&name)?.unwrap_or_default()));
            }
            self.dependents.paragraphs = Some((used, BEGIN));
        }
        let (used, last) = self.dependents.paragraphs.get_or_insert_default();
        loop {
            *last += 1;
            if used.insert(*last) {
                return Ok(format!("{last:08X}"));
            }
        }
    }
}

/// The ids of paragraphs and comments in a part.
fn ids(xml: &[u8]) -> impl Iterator<Item = u32> + '_ {
    memchr::memmem::find_iter(xml, b"Id=").filter_map(|at| {
        let digits = std::str::from_utf8(xml.get(at + 4..at + 12)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    })
}

/// A part whose elements each say something of a comment.
struct Listed {
    name: String,
    xml: Vec<u8>,
}

/// Adds what is said of the comments of turns, and removes what is said of comments that are not there.
pub(super) fn finish(
    (dependents, main): (&[Dependent], &str),
    package: &mut Package<'_>,
    copies: &[(String, String)],
) -> Result<(), Error> {
    let of_comments = dependents.iter().find(|one| one.note().is_some_and(|note| note.paragraph.is_some()));
    let Some(comments) = of_comments.map(|one| &one.part.name) else { return Ok(()) };
    let xml = package.part(comments)?.unwrap_or_default();
    let entries = package.elements(comments, &xml)?;
    let held: BTreeSet<String> =
        entries.iter().map(|entry| entry.value("paraId").to_ascii_uppercase()).collect();
    if let Some(extended) = listed(package, main, "commentsExtended")? {
        extended_by(&extended, (copies, &held), package)?;
    }
    let Some(numbered) = listed(package, main, "commentsIds")? else { return Ok(()) };
    let (mut gone, mut made) = (BTreeSet::new(), Vec::new());
    let (mut edits, mut added) = (Vec::new(), String::new());
    let entries = package.elements(&numbered.name, &numbered.xml)?;
    for entry in entries.iter().filter(|entry| entry.name == "commentId") {
        let own = entry.value("paraId").to_ascii_uppercase();
        if !held.contains(&own) {
            gone.insert(entry.value("durableId").to_owned());
            edits.push((entry.whole.clone(), String::new()));
        }
        for (_, new) in copies.iter().filter(|(of, new)| *of == own && *new != own && held.contains(new)) {
            let durable = package.free_paragraph(main)?;
            let values = [("paraId", Some(new.as_str())), ("durableId", Some(durable.as_str()))];
            added += &changed(&numbered.xml, &entry.whole, &values);
            made.push((entry.value("durableId").to_owned(), durable));
        }
    }
    put(package, &numbered, (&edits, &added))?;
    let Some(extensible) = listed(package, main, "commentsExtensible")? else { return Ok(()) };
    let (mut edits, mut added) = (Vec::new(), String::new());
    let entries = package.elements(&extensible.name, &extensible.xml)?;
    for entry in entries.iter().filter(|entry| entry.name == "commentExtensible") {
        let own = entry.value("durableId");
        if gone.contains(own) {
            edits.push((entry.whole.clone(), String::new()));
        }
        for (_, new) in made.iter().filter(|(of, _)| of == own) {
            added += &changed(&extensible.xml, &entry.whole, &[("durableId", Some(new.as_str()))]);
        }
    }
    put(package, &extensible, (&edits, &added))
}

/// Writes the threads: an answer's copy answers the copy of the same turn.
fn extended_by(
    extended: &Listed,
    (copies, held): (&[(String, String)], &BTreeSet<String>),
    package: &mut Package<'_>,
) -> Result<(), Error> {
    let entries = package.elements(&extended.name, &extended.xml)?;
    let entries = entries.into_iter().filter(|entry| entry.name == "commentEx");
    let known: BTreeMap<String, _> =
        entries.map(|entry| (entry.value("paraId").to_ascii_uppercase(), entry)).collect();
    let mut added = String::new();
    // What is answered stands before its answer, so the last copy of it is the turn's.
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    for (own, new) in copies {
        last.insert(own, new);
        let Some(entry) = known.get(own).filter(|_| own != new && held.contains(new)) else { continue };
        let parent = entry.value("paraIdParent").to_ascii_uppercase();
        let parent = last.get(parent.as_str()).map_or(parent.as_str(), |parent| *parent);
        let parent = Some(parent).filter(|parent| held.contains(*parent));
        let values = [("paraId", Some(new.as_str())), ("paraIdParent", parent)];
        added += &changed(&extended.xml, &entry.whole, &values);
    }
    let mut edits = Vec::new();
    for (own, entry) in &known {
        let parent = entry.value("paraIdParent").to_ascii_uppercase();
        if !held.contains(own) {
            edits.push((entry.whole.clone(), String::new()));
        } else if !parent.is_empty() && !held.contains(&parent) {
            let kept = changed(&extended.xml, &entry.whole, &[("paraIdParent", None)]);
            edits.push((entry.whole.clone(), kept));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    put(package, extended, (&edits, &added))
}

/// The part that the main part refers to by a relationship of this kind.
fn listed(package: &mut Package<'_>, main: &str, kind: &str) -> Result<Option<Listed>, Error> {
    let all = package.relationships_of(main)?.iter();
    let mut of_kind = all.filter(|one| !one.is_external && one.kind.rsplit('/').next() == Some(kind));
    let Some(name) = of_kind.find_map(|one| resolved(main, &one.target)) else { return Ok(None) };
    Ok(package.part(&name)?.map(|xml| Listed { name, xml }))
}

fn put(
    package: &mut Package<'_>,
    Listed { name, xml }: &Listed,
    (edits, added): (&[(Range<usize>, String)], &str),
) -> Result<(), Error> {
    if edits.is_empty() && added.is_empty() {
        return Ok(());
    }
    package.put(name, with_last(&replaced(xml, edits), added))
}

/// The element at `range` with these attributes in its start tag changed, or removed where there is no value.
fn changed(xml: &[u8], range: &Range<usize>, values: &[(&str, Option<&str>)]) -> String {
    let element = xml.get(range.clone()).unwrap_or_default();
    let tag = element.get(..=memchr::memchr(b'>', element).unwrap_or_default()).unwrap_or_default();
    let mut edits = Vec::new();
    for &(name, value) in values {
        let Some(found) = attribute(tag, name) else { continue };
        match value {
            Some(value) => edits.push((found.value, value.to_owned())),
            None => edits.push((found.whole, String::new())),
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    String::from_utf8_lossy(&replaced(element, &edits)).into_owned()
}
