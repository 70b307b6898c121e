//! The slides of a presentation in their order, and the parts that are each slide's own.

use std::collections::{BTreeMap, BTreeSet};

use crate::container::{Archive, unpack};
use crate::content_types::{Kinds, TextPart};
use crate::error::Error;
use crate::limits::Limits;
use crate::package::{Package, attribute_of, entries, relationships_in, relationships_of, resolved};
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
    /// The parts that are copied with it, itself first, and whether each is notes.
    pub parts: Vec<Owned>,
}

/// A part that is copied with a slide.
pub(crate) struct Owned {
    pub name: String,
    pub kind: String,
}

impl Owned {
    pub(super) fn is_notes(&self) -> bool {
        self.kind.to_ascii_lowercase().ends_with("presentationml.notesslide+xml")
    }
}

/// What is read of a presentation before its texts.
struct Reader<'a, 'f> {
    archive: &'a mut Archive<'f>,
    entries: &'a BTreeMap<String, usize>,
    kinds: &'a Kinds,
    limits: &'a Limits,
    room: u64,
}

/// The deck whose part is `main`, and the texts of its slides. `entries` are the file's, by their names in lower case.
pub(crate) fn read(
    archive: &mut Archive<'_>,
    (main, entries): (&str, &BTreeMap<String, usize>),
    kinds: &Kinds,
    limits: &Limits,
) -> Result<(Deck, Vec<TextPart>), Error> {
    let mut reader = Reader { archive, entries, kinds, limits, room: limits.unpacked_bytes.value };
    let mut deck = Deck { main: main.to_owned(), slides: Vec::new() };
    let mut texts = Vec::new();
    for name in reader.order(main)? {
        let (slide, of_slide) = reader.slide(&name, deck.slides.len())?;
        deck.slides.push(slide);
        texts.extend(of_slide);
    }
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
        let listed = entries(main, &xml)?.into_iter().filter(|entry| entry.name == "sldId");
        let ids = listed.filter_map(|entry| attribute_of(xml.get(entry.tag)?, |name| name.ends_with(b":id")));
        let names = ids.filter_map(|id| targets.get(&id).cloned());
        Ok(names.filter(|name| seen.insert(name.to_ascii_lowercase())).collect())
    }

    /// The slide of this name, the one behind `before` others, with its texts.
    fn slide(&mut self, name: &str, before: usize) -> Result<(Slide, Vec<TextPart>), Error> {
        let number = before + 1;
        let mut slide = Slide { name: name.to_owned(), parts: Vec::new() };
        let (mut texts, mut remarks) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::from([name.to_ascii_lowercase()]);
        let mut next = vec![name.to_owned()];
        while !next.is_empty() {
            for name in std::mem::take(&mut next) {
                let Some(kind) = self.kinds.of(&name).map(str::to_owned) else { continue };
                let lower = kind.to_ascii_lowercase();
                for (_, end, target) in self.targets(&name)? {
                    let is_there = self.entries.contains_key(&target.to_ascii_lowercase());
                    if SHARED.contains(&end.as_str()) || !is_there {
                        continue;
                    }
                    if end == ONCE {
                        let title = format!("comments on slide {number}");
                        remarks.extend(self.text(&target, title, Dialect::Drawing, None));
                    } else if seen.insert(target.to_ascii_lowercase()) {
                        next.push(target);
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

    fn text(&self, name: &str, title: String, dialect: Dialect, slide: Option<usize>) -> Option<TextPart> {
        let entry = *self.entries.get(&name.to_ascii_lowercase())?;
        let relationships = self.entries.get(&relationships_of(name).to_ascii_lowercase()).copied();
        let name = name.to_owned();
        Some(TextPart { name, title, is_main: false, entry, dialect, relationships, slide })
    }
}

/// The part that `part` refers to by a relationship whose type ends so.
pub(super) fn related(package: &mut Package<'_>, part: &str, end: &str) -> Result<Option<String>, Error> {
    let all = package.relationships_of(part)?;
    let found = all.iter().find(|one| !one.is_external && one.kind.rsplit('/').next() == Some(end));
    Ok(found.and_then(|found| resolved(part, &found.target)))
}
