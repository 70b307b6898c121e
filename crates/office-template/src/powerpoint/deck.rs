//! The slides of a presentation in their order, and the parts that belong to each slide alone.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::container::{Archive, unpack};
use crate::content_types::{Kinds, TextPart};
use crate::error::Error;
use crate::limits::Limits;
use crate::package::entries::counted;
use crate::package::relationships::{list as relationships_in, name as relationships_of, resolved};
use crate::package::xml::attribute_of;
use crate::word::Dialect;

/// The fault for a slide with two different lists.
pub(crate) const TWICE: &str =
    "a slide has one {:slides list}, its notes and charts with it; join the lists in one expression";

/// Ends of the types of relationships whose targets a slide and its copies share. Targets of all others are copied.
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

/// The end of the type whose targets only the first copy keeps: a comment is about one slide.
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
    /// The parts that are copied with it, its own part first: all that no other slide refers to.
    pub parts: Vec<Owned>,
}

pub(crate) struct Owned {
    pub name: String,
    /// Its content type; shared, since thousands of parts may have the same long one.
    pub kind: Arc<str>,
}

impl Owned {
    pub(super) fn is_notes(&self) -> bool {
        end_of(&self.kind).ends_with("presentationml.notesslide+xml")
    }
}

/// Reads a presentation's structure, before its texts.
struct Reader<'a, 'f> {
    archive: &'a mut Archive<'f>,
    entries: &'a BTreeMap<String, usize>,
    kinds: &'a Kinds,
    limits: &'a Limits,
    room: u64,
    /// The presentation and its slides, in lower case: they are never copied with a slide that refers to them.
    fixed: BTreeSet<String>,
    /// The slide that each other part belongs to, by the part's name in lower case; `None` where several slides refer to it.
    owners: BTreeMap<String, Option<usize>>,
}

/// Reads the deck whose part is `main`, and lists the text parts of its slides. `entries` are the file's, by their names in lower
/// case.
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
    // Parts that several slides share are filled once, with the data outside of all lists. They go behind the slides, so that
    // each slide's parts stay adjacent.
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

    /// The internal relationships of a part: ids, last words of the types, names of the targets.
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

    /// The slide of this name, which has the index `before`, with its text parts.
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

    /// The targets of a part that are copied with it, and its comments.
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

    /// Marks a part that two slides refer to as shared, and so all parts that it refers to.
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

/// The last characters of a content type in lower case: they identify it, and the rest may be of any length.
fn end_of(kind: &str) -> String {
    const LONGEST: usize = 100;
    let begin = kind.char_indices().map(|(at, _)| at).find(|at| at + LONGEST >= kind.len());
    kind.get(begin.unwrap_or_default()..).unwrap_or_default().to_ascii_lowercase()
}
