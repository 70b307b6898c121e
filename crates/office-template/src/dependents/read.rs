//! Finds what the sections of a part write in other parts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::notes::last_paragraph;
use super::others::mentions;
use super::{Dependent, Kind, Note, Other, Targets};
use crate::collected::Collected;
use crate::error::Error;
use crate::lexer::Delimiters;
use crate::limits::Limits;
use crate::package::relationships::resolved;
use crate::plan::{Bookmarks, Node, Reference, walk, whole_bookmarks};
use crate::program::{self, Step};
use crate::read::{self, Reading};
use crate::styles::Styles;
use crate::tags::{SECTION_DEPTH, Tags, too_deep};
use crate::word::attribute::attribute;
use crate::word::{Origin, Part, ReferenceKind};
use crate::{PartPlan, Template};

/// How deep parts may refer to parts.
const DEPTH: usize = 10;

/// Ends of the types of relationships whose targets all copies share.
const SHARED: [&str; 13] = [
    "image",
    "hdphoto",
    "media",
    "video",
    "audio",
    "hyperlink",
    "theme",
    "themeOverride",
    "font",
    "customXml",
    "styles",
    "numbering",
    "settings",
];

/// What is left of the part `name` when the parts and notes that sections write are taken out, and whether that is less;
/// `None` where nothing is left.
pub(crate) fn left(
    name: &str,
    part: Part,
    (reading, limits): (&mut Reading<'_>, &Limits),
) -> Result<Option<(Part, bool)>, Error> {
    let lower = name.to_ascii_lowercase();
    if reading.dependents.parts.contains(&lower) {
        return Ok(None);
    }
    let others = Rc::clone(&reading.others);
    let (Some(ids), Some(other)) = (reading.dependents.notes.get(&lower), others.part(&lower)) else {
        return Ok(Some((part, false)));
    };
    let notes = other.notes(name, limits)?;
    let xml = notes.without(&other.xml, ids);
    let origin = Origin { dialect: other.dialect, addresses: other.addresses.clone() };
    let mut rest = read::read(xml, (&other.title, &origin), (&mut reading.elements_left, limits))?;
    let mut gone = 0;
    for range in notes.ranges(ids) {
        let from = other.begins.partition_point(|&begin| begin < range.start);
        let to = other.begins.partition_point(|&begin| begin < range.end);
        rest.left_out.push((from.saturating_sub(gone), gone + to.saturating_sub(from)));
        gone += to.saturating_sub(from);
    }
    for index in 0..rest.paragraphs.len() {
        let number = part.paragraphs.get(rest.index_in_whole(index)).map(|paragraph| paragraph.number);
        if let (Some(paragraph), Some(number)) = (rest.paragraphs.get_mut(index), number) {
            paragraph.number = number;
        }
    }
    Ok(Some((rest, true)))
}

/// The parts without tags that sections write some notes of; `parts` are those with tags.
pub(crate) fn rest(
    parts: &[PartPlan],
    (reading, limits): (&Reading<'_>, &Limits),
) -> Result<Vec<PartPlan>, Error> {
    let mut rest = Vec::new();
    for (lower, ids) in &reading.dependents.notes {
        let Some(other) = reading.others.part(lower) else { continue };
        if parts.iter().any(|part| part.name.eq_ignore_ascii_case(lower)) {
            continue;
        }
        let xml = other.notes(lower, limits)?.without(&other.xml, ids);
        let nodes = vec![Node::Raw(0..xml.len())];
        rest.push(PartPlan { name: lower.clone(), xml, nodes, is_shorter: true, ..PartPlan::default() });
    }
    Ok(rest)
}

/// The id of the relationship to the drawing of `SmartArt`, in the part with its data.
fn drawing_of(xml: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(xml.get(drawing_id(xml)?)?).into_owned())
}

/// Where the part with the data of `SmartArt` names the relationship to its drawing.
pub(crate) fn drawing_id(xml: &[u8]) -> Option<Range<usize>> {
    let at = memchr::memmem::find(xml, b"dataModelExt ")?;
    let tag = xml.get(at..)?;
    let tag = tag.get(..memchr::memchr(b'>', tag)?)?;
    let id = attribute(tag, "relId")?.value;
    Some(at + id.start..at + id.end)
}

/// The references of a part, each with the opening tags of the sections around it.
fn references(nodes: &[Node]) -> Vec<(&Reference, Vec<usize>)> {
    let mut seen = Vec::new();
    walk(nodes, &mut Vec::new(), &mut |node, around| {
        if let Node::Reference(reference) = node {
            seen.push((&**reference, around.to_vec()));
        }
    });
    seen
}

impl PartPlan {
    /// A part that is copied as it is.
    fn copied(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Whether a part without tags has nothing that each turn must have of its own.
    fn is_same_in_all_turns(&self) -> bool {
        let differs = |node: &Node| {
            matches!(node, Node::Bookmark(_) | Node::BookmarkName(_) | Node::Reference(_) | Node::List(_))
        };
        self.tags == 0 && !self.nodes.iter().any(differs)
    }

    /// The relationships of parts that sections within this part write.
    fn ids_in_sections(&self) -> BTreeSet<&str> {
        let seen = references(&self.nodes)
            .into_iter()
            .filter(|(one, _)| self.references.contains_key(&one.id.start));
        let ids = seen.filter_map(|(one, _)| std::str::from_utf8(self.xml.get(one.id.clone())?).ok());
        ids.collect()
    }
}

impl Template {
    /// Notes the bookmarks of a part whose first tag has the number `first`, and returns them.
    pub(crate) fn add_bookmarks(
        &mut self,
        (nodes, xml): (&[Node], &[u8]),
        first: usize,
        reading: &Reading<'_>,
    ) -> Bookmarks {
        // Those of included documents are renamed where they are taken in.
        if !reading.chain.is_empty() {
            return Bookmarks::new();
        }
        let mut bookmarks = whole_bookmarks(nodes, xml);
        for whole in bookmarks.values_mut() {
            let within = reading.dependents.around.iter().copied();
            whole.around = within.chain(whole.around.iter().map(|tag| first + tag)).collect();
        }
        for (name, whole) in &bookmarks {
            self.bookmarks.entry(name.clone()).or_insert_with(|| whole.clone());
        }
        bookmarks
    }

    /// The dependents that the sections of a part write, by the offsets of the references to them. `tags` are the part's.
    pub(crate) fn dependents(
        &mut self,
        (part, name): (&Part, &str),
        (nodes, tags, first): (&[Node], &mut Tags, usize),
        (delimiters, styles): (&Delimiters, &Styles),
        reading: &mut Reading<'_>,
    ) -> Result<BTreeMap<usize, usize>, Error> {
        let mut found = BTreeMap::new();
        if reading.others.is_empty() || !reading.chain.is_empty() {
            return Ok(found);
        }
        let others = Rc::clone(&reading.others);
        let seen = references(nodes);
        let mut outside = BTreeSet::new();
        let mut marks: BTreeMap<&str, BTreeSet<&[usize]>> = BTreeMap::new();
        // A note has no relationships of its own, so what it refers to is found where it does, and not as that of a header.
        let is_note = reading.dependents.is_note;
        for (reference, around) in &seen {
            let id = part.text(reference.id.clone());
            if around.is_empty() && !is_note {
                outside.insert((reference.kind.is_of_part(), id));
            }
            if reference.kind.is_of_comment() {
                marks.entry(id).or_default().insert(around);
            }
        }
        // What a part refers to that has a place outside of sections has one there too.
        let may_be_own = !reading.dependents.is_within() || reading.dependents.is_own;
        let whole = is_note.then(|| others.mentions(name));
        let own = is_note.then(|| mentions(&part.xml, seen.iter().map(|(one, _)| part.text(one.id.clone()))));
        for (reference, around) in &seen {
            let id = part.text(reference.id.clone());
            // A comment whose range begins before the section, or ends behind it, is one comment.
            let is_torn = reference.kind.is_of_comment() && marks.get(id).is_some_and(|all| all.len() > 1);
            if around.is_empty() && !is_note || is_torn {
                continue;
            }
            let told = reading.outline.as_ref().map_or(0, Collected::steps);
            let before = reading.dependents.around.len();
            reading.dependents.around.extend(around.iter().map(|tag| first + tag));
            // Another note of the part may refer to the same.
            let of = |counts: Option<&BTreeMap<String, usize>>| counts.and_then(|all| all.get(id).copied());
            let is_shared = reference.kind.is_of_part() && of(whole.flatten()) > of(own.as_ref());
            let is_own = may_be_own && !is_shared && !outside.contains(&(reference.kind.is_of_part(), id));
            let read = match reference.kind {
                ReferenceKind::Part => {
                    self.part_of((name, id, true), is_own, (delimiters, styles), reading)?
                }
                ReferenceKind::Note(kind) => {
                    self.note((kind, id, reference.is_mark()), is_own, (delimiters, styles), reading)?
                }
            };
            reading.dependents.around.truncate(before);
            if let (Some(outline), Some(tag)) = (&mut reading.outline, around.last()) {
                outline.move_into(told, first + tag);
            }
            let Some(at) = read else { continue };
            let depth = self.dependents.get(at).map_or(0, |dependent| program::depth(&dependent.steps));
            if around.len() + depth > SECTION_DEPTH {
                tags.report(around.first().copied().unwrap_or_default(), name, &too_deep());
                continue;
            }
            found.insert(reference.id.start, at);
        }
        Ok(found)
    }

    /// The part that `host` refers to by the relationship `id`, in its text or by itself; `None` where copies share it.
    fn part_of(
        &mut self,
        (host, id, is_in_text): (&str, &str, bool),
        is_own: bool,
        of: (&Delimiters, &Styles),
        reading: &mut Reading<'_>,
    ) -> Result<Option<usize>, Error> {
        let others = Rc::clone(&reading.others);
        let Some(one) = others.relations(host).and_then(|all| all.get(id)) else { return Ok(None) };
        let is_shared = one.kind.rsplit('/').next().is_some_and(|kind| SHARED.contains(&kind));
        let Some(name) = resolved(host, &one.target).filter(|_| !one.is_external && !is_shared) else {
            return Ok(None);
        };
        let lower = name.to_ascii_lowercase();
        let key = (lower.clone(), String::new());
        if let Some(&at) = reading.dependents.known.get(&key) {
            self.count_again(at, reading)?;
            return Ok(Some(at));
        }
        if reading.dependents.chain.len() >= DEPTH
            || reading.dependents.chain.contains(&lower)
            || reading.dependents.shared.contains(&lower)
        {
            return Ok(None);
        }
        let is_own = is_own && others.is_referred_once(&lower);
        let left = reading.tags_left;
        let other = others.part(&lower);
        let mut read = |other: &Other| {
            self.text_part(((&name, &lower), &other.xml, (0, 0)), (other, is_own, false), of, reading)
        };
        let text = other.map(&mut read).transpose()?.flatten();
        if text.is_none() && other.is_some() {
            reading.dependents.shared.insert(lower);
            return Ok(None);
        }
        reading.dependents.chain.push(lower.clone());
        let mut targets = self.targets((&name, text.as_ref().map(|(part, _)| part)), is_own, of, reading)?;
        // A copy of the whole host has the drawing under the same id, as one of its own targets.
        let drawing = text.as_ref().filter(|_| is_in_text).and_then(|(part, _)| drawing_of(&part.xml));
        if let Some(id) = drawing
            && let Some(at) = self.part_of((host, &id, true), is_own, of, reading)?
        {
            targets.drawing = Some((id, at));
        }
        reading.dependents.chain.pop();
        let is_of_pages = one.kind.ends_with("/header") || one.kind.ends_with("/footer");
        if is_of_pages
            && other.is_some_and(|other| other.is_plain)
            && text.as_ref().is_some_and(|(part, _)| part.is_same_in_all_turns())
            && targets.dependents.is_empty()
        {
            reading.dependents.shared.insert(lower);
            return Ok(None);
        }
        let mut steps: Vec<Step> = { targets.before() }
            .filter_map(|&at| self.dependents.get(at))
            .flat_map(|dependent| dependent.steps.clone())
            .collect();
        let (part, kind) = match text {
            Some((part, own)) => {
                steps.extend(own);
                (part, Kind::Text(targets))
            }
            None => (PartPlan::copied(name), Kind::Copied(targets)),
        };
        if is_own {
            reading.dependents.parts.insert(lower);
        }
        let at = self.dependents.len();
        let tags = (left - reading.tags_left).saturating_add(1);
        self.dependents.push(Dependent { part, kind, relation: one.kind.clone(), steps, tags, is_own });
        reading.dependents.known.insert(key, at);
        Ok(Some(at))
    }

    /// What the part `name` refers to, without what sections within its text write.
    fn targets(
        &mut self,
        (name, text): (&str, Option<&PartPlan>),
        is_own: bool,
        of: (&Delimiters, &Styles),
        reading: &mut Reading<'_>,
    ) -> Result<Targets, Error> {
        let others = Rc::clone(&reading.others);
        let mut targets = Targets::default();
        let mut of_sections = text.map(PartPlan::ids_in_sections).unwrap_or_default();
        let written = text.into_iter().flat_map(|part| part.references.values());
        let drawings: Vec<String> = written
            .filter_map(|&at| self.dependents.get(at)?.targets()?.drawing.as_ref())
            .map(|(id, _)| id.clone())
            .collect();
        of_sections.extend(drawings.iter().map(String::as_str));
        let all = others.relations(name).into_iter().flat_map(|all| all.iter());
        for (id, one) in all.filter(|(id, _)| !of_sections.contains(id.as_str())) {
            targets.all.push(one.clone());
            if let Some(at) = self.part_of((name, id, false), is_own, of, reading)? {
                targets.dependents.insert(id.clone(), at);
            }
        }
        Ok(targets)
    }

    /// A note, an endnote or a comment.
    fn note(
        &mut self,
        (notes, id, is_mark): (&'static str, &str, bool),
        is_own: bool,
        of: (&Delimiters, &Styles),
        reading: &mut Reading<'_>,
    ) -> Result<Option<usize>, Error> {
        let others = Rc::clone(&reading.others);
        let Some(name) = others.notes(notes) else { return Ok(None) };
        let lower = name.to_ascii_lowercase();
        let key = (lower.clone(), id.to_owned());
        if let Some(&at) = reading.dependents.known.get(&key) {
            if !is_mark {
                self.count_again(at, reading)?;
            }
            return Ok(Some(at));
        }
        // Notes may refer to each other in a circle, as those of comments.
        let is_too_deep =
            reading.dependents.chain.len() >= DEPTH || reading.dependents.chain.contains(&lower);
        let is_shared = reading.dependents.shared.contains(&lower);
        let Some(other) = others.part(&lower).filter(|_| !is_too_deep && !is_shared) else {
            return Ok(None);
        };
        let of_part = match other.notes(&name, &self.limits) {
            Err(_) if other.is_plain => {
                reading.dependents.shared.insert(lower);
                return Ok(None);
            }
            of_part => of_part?,
        };
        let Some(one) = of_part.one(&other.xml, id) else { return Ok(None) };
        let left = reading.tags_left;
        let texts = other.begins.partition_point(|&begin| begin < one.begin);
        let text = ((name.as_str(), lower.as_str()), one.xml.as_slice(), (one.paragraphs, texts));
        let Some((part, steps)) = self.text_part(text, (other, is_own, true), of, reading)? else {
            return Ok(None);
        };
        if is_own {
            reading.dependents.notes.entry(lower).or_default().insert(id.to_owned());
        }
        let (head, tail) = (one.head, one.tail);
        let paragraph = if notes == "comments" { last_paragraph(&part.xml, head) } else { None };
        let note = Note { id: id.to_owned(), head, tail, largest: of_part.largest, paragraph };
        let at = self.dependents.len();
        self.dependents.push(Dependent {
            part,
            kind: Kind::Note(note),
            relation: String::new(),
            steps,
            tags: (left - reading.tags_left).saturating_add(1),
            is_own,
        });
        reading.dependents.known.insert(key, at);
        Ok(Some(at))
    }

    /// Counts the tags of a dependent that is referred to once more: each reference takes all its steps.
    fn count_again(&self, at: usize, reading: &mut Reading<'_>) -> Result<(), Error> {
        let tags = self.dependents.get(at).map_or(0, |dependent| dependent.tags);
        reading.tags_left = reading.tags_left.checked_sub(tags).ok_or_else(|| self.many_tags())?;
        Ok(())
    }

    /// Reads a dependent's text; `paragraphs` of its part stand before it, and `texts` with those of attributes. `None` of a text
    /// without tags that cannot be read: it stays as it is, as it does outside of sections.
    fn text_part(
        &mut self,
        ((name, lower), xml, (paragraphs, texts)): ((&str, &str), &[u8], (usize, usize)),
        (other, is_own, is_note): (&Other, bool, bool),
        (delimiters, styles): (&Delimiters, &Styles),
        reading: &mut Reading<'_>,
    ) -> Result<Option<(PartPlan, Vec<Step>)>, Error> {
        let origin = Origin { dialect: other.dialect, addresses: other.addresses.clone() };
        let of = (&mut reading.elements_left, &self.limits);
        let mut part = match read::read(xml.to_vec(), (&other.title, &origin), of) {
            Err(_) if other.is_plain => return Ok(None),
            part => part?,
        };
        for paragraph in part.paragraphs.iter_mut().filter(|paragraph| paragraph.number > 0) {
            paragraph.number += paragraphs;
        }
        part.left_out.push((0, texts));
        reading.dependents.chain.push(lower.to_owned());
        let found = &mut reading.dependents;
        let around =
            (std::mem::replace(&mut found.is_own, is_own), std::mem::replace(&mut found.is_note, is_note));
        let (part, steps) = self.add((other.title.clone(), false), (part, styles), delimiters, reading)?;
        (reading.dependents.is_own, reading.dependents.is_note) = around;
        reading.dependents.chain.pop();
        Ok(Some((PartPlan { name: name.to_owned(), ..part }, steps)))
    }
}
