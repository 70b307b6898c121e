//! The slides of a presentation in their order, and the parts that are each slide's own.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::container::{Archive, unpack};
use crate::content_types::{Kinds, TextPart};
use crate::error::Error;
use crate::limits::Limits;
use crate::package::{Package, attribute_of, counted, relationships_in, relationships_of, resolved};
use crate::word::Dialect;

/// Why a slide cannot have two of them.
pub(crate) const TWICE: &str =
    "a slide has one {:slides list}, its notes and charts with it; join the lists in one expression";

/// How the types of relationships end whose targets a copy of a slide shares with it. All others are copied.
const SHARED: [&str; 14] = [
    "slideLayout",
    "slideMaster",
    "notesMaster",
    "image",
    "hdphoto",
    "media",
    "video",
    "audio",
    "hyperlink",
    "slide",
    "theme",
    "font",
    "customXml",
    "model3d",
];

/// And of those that stand once, with the first copy: a comment is about one slide.
pub(super) const ONCE: &str = "comments";

/// The slides of a presentation.
pub(crate) struct Deck {
    /// The name of the presentation's part.
    pub main: String,
    pub slides: Vec<Slide>,
}

/// A slide.
pub(crate) struct Slide {
    /// Its part.
    pub name: String,
    /// The parts that are copied with it, itself first: all that no other slide refers to.
    pub parts: Vec<Owned>,
}

/// A part that is copied with a slide.
pub(crate) struct Owned {
    pub name: String,
    /// Its content type. Thousands of parts may have the same one, however long it is.
    pub kind: Arc<str>,
}

impl Owned {
    pub(super) fn is_notes(&self) -> bool {
        end_of(&self.kind).ends_with("presentationml.notesslide+xml")
    }
}

/// What is read of a presentation before its texts.
struct Reader<'a, 'f> {
    archive: &'a mut Archive<'f>,
    entries: &'a BTreeMap<String, usize>,
    kinds: &'a Kinds,
    limits: &'a Limits,
    room: u64,
    /// The presentation and its slides, in lower case: whatever refers to them, they are not copied with a slide.
    fixed: BTreeSet<String>,
    /// Whose each other part is, by its name in lower case: a slide's, or, where several refer to it, nobody's.
    owners: BTreeMap<String, Option<usize>>,
}

/// The deck whose part is `main`, and the texts of its slides. `entries` are the file's, by their names in lower case.
pub(crate) fn read(
    archive: &mut Archive<'_>,
    (main, entries): (&str, &BTreeMap<String, usize>),
    kinds: &Kinds,
    limits: &Limits,
) -> Result<(Deck, Vec<TextPart>), Error> {
    let (room, fixed, owners) = (limits.unpacked_bytes.value, BTreeSet::new(), BTreeMap::new());
    let mut reader = Reader { archive, entries, kinds, limits, room, fixed, owners };
    let mut deck = Deck { main: main.to_owned(), slides: Vec::new() };
    let order = reader.order(main)?;
    reader.fixed.insert(main.to_ascii_lowercase());
    reader.fixed.extend(order.iter().map(|name| name.to_ascii_lowercase()));
    let mut texts = Vec::new();
    for name in order {
        let (slide, of_slide) = reader.slide(&name, deck.slides.len())?;
        deck.slides.push(slide);
        texts.extend(of_slide);
    }
    let is_shared = |name: &str| reader.owners.get(&name.to_ascii_lowercase()) == Some(&None);
    for slide in &mut deck.slides {
        slide.parts.retain(|part| !is_shared(&part.name));
    }
    // What several slides show is filled once, by the data that all of them have, and behind the slides, each of which stays in one piece.
    for text in texts.iter_mut().filter(|text| is_shared(&text.name)) {
        text.slide = None;
    }
    texts.sort_by_key(|text| is_shared(&text.name));
    Ok((deck, texts))
}

impl Reader<'_, '_> {
    fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(&entry) = self.entries.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        unpack(self.archive, entry, &mut self.room, self.limits).map(Some)
    }

    /// What a part refers to inside of the file: ids, the ends of the types, names.
    fn targets(&mut self, part: &str) -> Result<Vec<(String, String, String)>, Error> {
        let list = self.part(&relationships_of(part))?.unwrap_or_default();
        let all = relationships_in(&list)?.into_iter().filter(|one| !one.is_external);
        let target = |target: &str| resolved(part, target);
        let all = all.filter_map(|one| {
            let end = one.kind.rsplit('/').next().unwrap_or_default().to_owned();
            Some((one.id, end, target(&one.target)?))
        });
        Ok(all.collect())
    }

    /// The names of the slides, in the order in which they are shown.
    fn order(&mut self, main: &str) -> Result<Vec<String>, Error> {
        let xml = self.part(main)?.unwrap_or_default();
        let targets: BTreeMap<String, String> = { self.targets(main)? }
            .into_iter()
            .filter(|(_, end, _)| end == "slide")
            .map(|(id, _, name)| (id, name))
            .collect();
        let mut seen = BTreeSet::new();
        let listed = counted(main, &xml, &self.limits.elements)?.into_iter();
        let listed = listed.filter(|entry| entry.name == "sldId");
        let ids = listed.filter_map(|entry| attribute_of(xml.get(entry.tag)?, |name| name.ends_with(b":id")));
        let names = ids.filter_map(|id| targets.get(&id).cloned());
        Ok(names.filter(|name| seen.insert(name.to_ascii_lowercase())).collect())
    }

    /// The slide of this name, the one behind `before` others, with its texts.
    fn slide(&mut self, name: &str, before: usize) -> Result<(Slide, Vec<TextPart>), Error> {
        let number = before + 1;
        let mut slide = Slide { name: name.to_owned(), parts: Vec::new() };
        let (mut texts, mut remarks) = (Vec::new(), Vec::new());
        let mut next = vec![name.to_owned()];
        while !next.is_empty() {
            for name in std::mem::take(&mut next) {
                let Some(kind) = self.kinds.of(&name).map(Arc::clone) else { continue };
                let lower = end_of(&kind);
                let (own, comments) = self.leads_to(&name)?;
                for target in comments {
                    let title = format!("comments on slide {number}");
                    remarks.extend(self.text(&target, title, Dialect::Drawing, None));
                }
                for target in own {
                    match self.owners.entry(target.to_ascii_lowercase()) {
                        Entry::Vacant(vacant) => {
                            vacant.insert(Some(before));
                            next.push(target);
                        }
                        Entry::Occupied(owner) if *owner.get() == Some(before) => {}
                        Entry::Occupied(_) => self.share(target)?,
                    }
                }
                let file = name.rsplit('/').next().unwrap_or_default();
                let found = if lower.ends_with("presentationml.slide+xml") {
                    Some((format!("slide {number}"), Dialect::Slide))
                } else if lower.ends_with("presentationml.notesslide+xml") {
                    Some((format!("notes of slide {number}"), Dialect::Slide))
                } else {
                    crate::content_types::drawn(&lower)
                        .map(|dialect| (format!("slide {number} ({file})"), dialect))
                };
                if let Some((title, dialect)) = found {
                    texts.extend(self.text(&name, title, dialect, Some(before)));
                }
                slide.parts.push(Owned { name, kind });
            }
        }
        texts.append(&mut remarks);
        Ok((slide, texts))
    }

    /// What is to be copied with a part that refers to it, and the comments on it.
    fn leads_to(&mut self, name: &str) -> Result<(Vec<String>, Vec<String>), Error> {
        let mut targets = self.targets(name)?;
        targets.retain(|(_, end, target)| {
            let lower = target.to_ascii_lowercase();
            let is_there = self.entries.contains_key(&lower) && !self.fixed.contains(&lower);
            is_there && !SHARED.contains(&end.as_str())
        });
        let (comments, own): (Vec<_>, Vec<_>) = targets.into_iter().partition(|(_, end, _)| end == ONCE);
        let names = |all: Vec<(String, String, String)>| all.into_iter().map(|(_, _, name)| name).collect();
        Ok((names(own), names(comments)))
    }

    /// What two slides refer to is nobody's, and so is what it refers to.
    fn share(&mut self, name: String) -> Result<(), Error> {
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            if self.owners.insert(name.to_ascii_lowercase(), None) != Some(None) {
                next.extend(self.leads_to(&name)?.0);
            }
        }
        Ok(())
    }

    fn text(&self, name: &str, title: String, dialect: Dialect, slide: Option<usize>) -> Option<TextPart> {
        let entry = *self.entries.get(&name.to_ascii_lowercase())?;
        let relationships = self.entries.get(&relationships_of(name).to_ascii_lowercase()).copied();
        let name = name.to_owned();
        Some(TextPart { name, title, is_main: false, entry, dialect, relationships, slide })
    }
}

/// The end of a content type in lower case: nothing else of it says what a part is, however long it is.
fn end_of(kind: &str) -> String {
    const LONGEST: usize = 100;
    let begin = kind.char_indices().map(|(at, _)| at).find(|at| at + LONGEST >= kind.len());
    kind.get(begin.unwrap_or_default()..).unwrap_or_default().to_ascii_lowercase()
}

/// The part that `part` refers to by a relationship whose type ends so.
pub(super) fn related(package: &mut Package<'_>, part: &str, end: &str) -> Result<Option<String>, Error> {
    let all = package.relationships_of(part)?;
    let found = all.iter().find(|one| !one.is_external && one.kind.rsplit('/').next() == Some(end));
    Ok(found.and_then(|found| resolved(part, &found.target)))
}
