//! Comments of turns in the parts that say more of comments: which are answers to others, which are resolved, when they were
//! written.
//!
//! Hazard: these parts name a comment by an id of its last paragraph (`w14:paraId`). If the comments of all turns had the same id, or
//! an entry named no comment, Word would call the file damaged or lose the threads. So copies get ids of their own, with
//! entries like those of the template. Entries without a comment are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Filler;
use crate::dependents::{Comment, Dependent, Note};
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
        let turns = self.turns().collect();
        self.package.dependents.comments.push(Comment { own, new: new.clone(), turns });
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
                let has_paragraphs = matches!(kind, "header" | "footer" | "footnotes" | "endnotes");
                if has_paragraphs || kind.starts_with("comments") {
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
    copies: &[Comment],
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
    let mut new_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for copy in copies.iter().filter(|copy| copy.new != copy.own && held.contains(&copy.new)) {
        new_of.entry(&copy.own).or_default().push(&copy.new);
    }
    let (mut gone, mut made) = (BTreeSet::new(), BTreeMap::<String, Vec<String>>::new());
    let (mut edits, mut added) = (Vec::new(), String::new());
    let entries = package.elements(&numbered.name, &numbered.xml)?;
    for entry in entries.iter().filter(|entry| entry.name == "commentId") {
        let own = entry.value("paraId").to_ascii_uppercase();
        if !held.contains(&own) {
            gone.insert(entry.value("durableId").to_owned());
            edits.push((entry.whole.clone(), String::new()));
        }
        for &new in new_of.get(own.as_str()).into_iter().flatten() {
            let durable = package.free_paragraph(main)?;
            let values = [("paraId", Some(new)), ("durableId", Some(durable.as_str()))];
            added += &changed(&numbered.xml, &entry.whole, &values);
            made.entry(entry.value("durableId").to_owned()).or_default().push(durable);
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
        for new in made.get(own).into_iter().flatten() {
            added += &changed(&extensible.xml, &entry.whole, &[("durableId", Some(new.as_str()))]);
        }
    }
    put(package, &extensible, (&edits, &added))
}

/// Writes the threads: an answer's copy answers the copy of the same turn.
fn extended_by(
    extended: &Listed,
    (copies, held): (&[Comment], &BTreeSet<String>),
    package: &mut Package<'_>,
) -> Result<(), Error> {
    let entries = package.elements(&extended.name, &extended.xml)?;
    let entries = entries.into_iter().filter(|entry| entry.name == "commentEx");
    let known: BTreeMap<String, _> =
        entries.map(|entry| (entry.value("paraId").to_ascii_uppercase(), entry)).collect();
    let mut added = String::new();
    let firsts: BTreeMap<&str, &Comment> =
        copies.iter().filter(|copy| copy.own == copy.new).map(|copy| (copy.own.as_str(), copy)).collect();
    let mut kept: BTreeMap<&str, Option<String>> = BTreeMap::new();
    // What is answered stands before its answer, so the last copy of it is the turn's, if the turn has one.
    let mut last: BTreeMap<&str, &Comment> = BTreeMap::new();
    for copy in copies {
        let Comment { own, new, .. } = copy;
        last.insert(own, copy);
        let Some(entry) = known.get(own).filter(|_| held.contains(new)) else { continue };
        let outside = entry.value("paraIdParent").to_ascii_uppercase();
        let first = firsts.get(outside.as_str());
        let of_turn = last.get(outside.as_str()).or(first).filter(|parent| parent.is_in_turn_of(copy));
        let parent = match of_turn {
            Some(parent) => Some(parent.new.as_str()),
            None => Some(outside.as_str()).filter(|_| first.is_none()),
        };
        let parent = parent.filter(|parent| held.contains(*parent));
        if own == new {
            kept.insert(own, parent.map(str::to_owned));
            continue;
        }
        let values = [("paraId", Some(new.as_str())), ("paraIdParent", parent)];
        added += &changed(&extended.xml, &entry.whole, &values);
    }
    let mut edits = Vec::new();
    for (own, entry) in &known {
        let parent = entry.value("paraIdParent").to_ascii_uppercase();
        if !held.contains(own) {
            edits.push((entry.whole.clone(), String::new()));
            continue;
        }
        let is_held = Some(&parent).filter(|parent| held.contains(*parent));
        let new = kept.get(own.as_str()).map_or(is_held, Option::as_ref);
        if !parent.is_empty() && new != Some(&parent) {
            let values = [("paraIdParent", new.map(String::as_str))];
            edits.push((entry.whole.clone(), changed(&extended.xml, &entry.whole, &values)));
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
