//! Updates the presentation's list of slides, its sections and the counts in its properties after slides were copied or dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::deck::Deck;
use crate::error::Error;
use crate::package::entries::{Entry, entries};
use crate::package::xml::{attribute_of, replaced};
use crate::package::{Package, resolved};
use crate::word::attribute::attribute;

/// Valid ids of slides (ECMA-376, part 1, 19.7.13).
const NUMBERS: std::ops::Range<u64> = 256..2_147_483_648;

/// The part with the counts of slides.
const COUNTS: &str = "docProps/app.xml";

/// Repeated slides, by index: the parts of further copies, or `None` where the slide is dropped.
type Made = BTreeMap<usize, Option<Vec<String>>>;

pub(super) fn rewrite(deck: &Deck, made: &Made, package: &mut Package<'_>) -> Result<(), Error> {
    count(deck, made, package)?;
    if made.values().all(|made| made.as_ref().is_some_and(Vec::is_empty)) {
        return Ok(());
    }
    list(deck, made, package)?;
    drop_slides(deck, made, package)
}

/// Properties with the titles of slides. Titles may have tags, so these would be wrong in a filled file; `PowerPoint` writes them
/// anew.
const TITLES: [&str; 2] = ["HeadingPairs", "TitlesOfParts"];

/// The properties in the part `name` without the titles of slides.
pub(crate) fn untitled(name: &str, xml: &[u8]) -> Result<Vec<u8>, Error> {
    let all = entries(name, xml)?.into_iter().filter(|entry| TITLES.contains(&entry.name.as_str()));
    let edits: Vec<_> = all.map(|entry| (entry.whole, String::new())).collect();
    Ok(replaced(xml, &edits))
}

/// Puts the copies behind their slides: in the list, in sections and in custom shows.
fn list(deck: &Deck, made: &Made, package: &mut Package<'_>) -> Result<(), Error> {
    let main = deck.main.as_str();
    let Some(xml) = package.part(main)? else { return Ok(()) };
    let places: BTreeMap<String, usize> =
        deck.slides.iter().enumerate().map(|(at, slide)| (slide.name.to_ascii_lowercase(), at)).collect();
    let mut ids = BTreeMap::new();
    let mut slide_kind = String::new();
    for one in package.relationships_of(main)? {
        let name = resolved(main, &one.target).unwrap_or_default().to_ascii_lowercase();
        if let Some(&at) = places.get(&name).filter(|_| one.kind.ends_with("/slide")) {
            ids.insert(one.id.clone(), at);
            slide_kind.clone_from(&one.kind);
        }
    }
    let all = package.elements(main, &xml)?;
    let tag = |entry: &Entry| xml.get(entry.tag.clone()).unwrap_or_default();
    let relation = |entry: &Entry| attribute_of(tag(entry), |name| name.ends_with(b":id"));
    let number = |entry: &Entry| attribute_of(tag(entry), |name| name == b"id");
    // Entries of the list have a relationship's id; entries of sections have only the slide's number.
    let listed: Vec<(&Entry, usize)> = all
        .iter()
        .filter(|entry| matches!(entry.name.as_str(), "sldId" | "sld"))
        .filter_map(|entry| Some((entry, *ids.get(&relation(entry)?)?)))
        .collect();
    let numbers: BTreeMap<String, usize> =
        listed.iter().filter_map(|&(entry, at)| Some((number(entry)?, at))).collect();
    let in_sections = all.iter().filter(|entry| entry.name == "sldId" && relation(entry).is_none());
    let in_sections: Vec<(&Entry, usize)> =
        in_sections.filter_map(|entry| Some((entry, *numbers.get(&number(entry)?)?))).collect();
    let mut numbers_left =
        Numbers::beside(all.iter().filter_map(|entry| number(entry)?.parse().ok()).collect());
    let mut copies: BTreeMap<usize, Vec<(String, u64)>> = BTreeMap::new();
    for (&at, parts) in made {
        for part in parts.iter().flatten() {
            let id = package.relate_as(main, &slide_kind, crate::package::Target::Part(part))?;
            let number = numbers_left.free();
            copies.entry(at).or_default().push((id, number));
        }
    }
    let mut edits = Vec::new();
    for (entry, at) in listed.into_iter().chain(in_sections) {
        let tag = xml.get(entry.whole.clone()).unwrap_or_default();
        let mut written = String::new();
        for (id, number) in copies.get(&at).into_iter().flatten() {
            written.push_str(&renamed(tag, id, *number));
        }
        edits.push((entry.whole.end..entry.whole.end, written));
        if made.get(&at).is_some_and(Option::is_none) && relation(entry).is_none() {
            edits.push((entry.whole.clone(), String::new()));
        }
    }
    edits.retain(|(range, written)| !range.is_empty() || !written.is_empty());
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    package.put(main, replaced(&xml, &edits))
}

struct Numbers {
    /// Numbers that are in use.
    taken: BTreeSet<u64>,
    next: u64,
}

impl Numbers {
    /// Numbers above all of these first, then the free ones between them.
    fn beside(taken: BTreeSet<u64>) -> Self {
        let next = taken.range(NUMBERS).next_back().map_or(NUMBERS.start, |last| last + 1);
        Self { taken, next }
    }

    fn free(&mut self) -> u64 {
        loop {
            if !NUMBERS.contains(&self.next) {
                self.next = NUMBERS.start;
            }
            let number = self.next;
            self.next += 1;
            if self.taken.insert(number) {
                return number;
            }
        }
    }
}

/// A list's element for a copy: with the copy's relationship and number, where it has these.
fn renamed(element: &[u8], id: &str, number: u64) -> String {
    let mut edits = Vec::new();
    for attribute in crate::word::attribute::attributes(element) {
        let name = element.get(attribute.name.clone()).unwrap_or_default().trim_ascii_end();
        if name == b"id" {
            edits.push((attribute.value, number.to_string()));
        } else if name.ends_with(b":id") {
            edits.push((attribute.value, id.to_owned()));
        }
    }
    String::from_utf8_lossy(&replaced(element, &edits)).into_owned()
}

/// Removes slides, the parts that only they lead to, and the elements that refer to them: links, shows, lists.
fn drop_slides(deck: &Deck, made: &Made, package: &mut Package<'_>) -> Result<(), Error> {
    let dropped = made.iter().filter(|(_, made)| made.is_none()).filter_map(|(at, _)| deck.slides.get(*at));
    let dropped: BTreeSet<String> = dropped.map(|slide| slide.name.to_ascii_lowercase()).collect();
    if dropped.is_empty() {
        return Ok(());
    }
    for (part, ids) in package.drop_parts(&dropped)? {
        if let Some(xml) = package.part(&part)? {
            let all = package.elements(&part, &xml)?;
            let refers = |entry: &&Entry| {
                let tag = xml.get(entry.tag.clone()).unwrap_or_default();
                attribute_of(tag, |name| name.ends_with(b":id")).is_some_and(|id| ids.contains(&id))
            };
            let edits: Vec<_> =
                all.iter().filter(refers).map(|entry| (entry.whole.clone(), String::new())).collect();
            if !edits.is_empty() {
                let without = replaced(&xml, &edits);
                package.put(&part, without)?;
            }
        }
        package.forget(&part, &ids.into_iter().collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Updates the counts of slides, notes and hidden slides, and removes the titles.
fn count(deck: &Deck, made: &Made, package: &mut Package<'_>) -> Result<(), Error> {
    let Some(xml) = package.part(COUNTS)? else { return Ok(()) };
    let xml = untitled(COUNTS, &xml)?;
    let (mut slides, mut notes, mut hidden) = (0_i64, 0_i64, 0_i64);
    for (&at, parts) in made {
        let Some(slide) = deck.slides.get(at) else { continue };
        let more = parts.as_ref().map_or(-1, |parts| i64::try_from(parts.len()).unwrap_or(i64::MAX));
        slides += more;
        notes += if slide.parts.iter().any(super::deck::Owned::is_notes) { more } else { 0 };
        hidden += if is_hidden(&slide.name, package)? { more } else { 0 };
    }
    let mut edits = Vec::new();
    for entry in package.elements(COUNTS, &xml)? {
        let more = match entry.name.as_str() {
            "Slides" => slides,
            "Notes" => notes,
            "HiddenSlides" => hidden,
            _ => continue,
        };
        let text = xml.get(entry.tag.end..entry.whole.end).unwrap_or_default();
        let text = text.split(|&byte| byte == b'<').next().unwrap_or_default();
        let told = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<i64>().ok());
        if let Some(told) = told {
            let range = entry.tag.end..entry.tag.end + text.len();
            edits.push((range, told.saturating_add(more).max(0).to_string()));
        }
    }
    package.put(COUNTS, replaced(&xml, &edits))
}

fn is_hidden(slide: &str, package: &mut Package<'_>) -> Result<bool, Error> {
    let xml = package.part(slide)?.unwrap_or_default();
    let root = crate::forms::root(&xml);
    let show = attribute(root, "show").and_then(|found| root.get(found.value));
    Ok(matches!(show, Some(b"0" | b"false")))
}

#[cfg(test)]
mod tests {
    use super::{Numbers, renamed};
    use std::collections::BTreeSet;

    #[test]
    fn numbers_are_free_ones_and_relationships_another() {
        let mut numbers = Numbers::beside(BTreeSet::from([256, 300]));
        assert_eq!((numbers.free(), numbers.free()), (301, 302));
        let mut numbers = Numbers::beside(BTreeSet::from([256, 258, 2_147_483_647]));
        assert_eq!((numbers.free(), numbers.free()), (257, 259), "none is behind the last");
        assert_eq!(
            renamed(b"<p:sldId id=\"256\" r:id=\"rId2\"/>", "rId9", 301),
            "<p:sldId id=\"301\" r:id=\"rId9\"/>"
        );
        assert_eq!(renamed(b"<p14:sldId id=\"256\"/>", "rId9", 301), "<p14:sldId id=\"301\"/>");
    }
}
