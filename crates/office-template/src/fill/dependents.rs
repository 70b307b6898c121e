//! Writes what each turn of a section has of its own in other parts: notes, comments, headers, charts, embedded files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;

use super::turns::Turn;
use super::{Filler, comments};
use crate::answer::Answer;
use crate::dependents::{Dependent, Kind, Note, Targets, begun_in_part, drawing_id};
use crate::error::Error;
use crate::package::relationships::whole;
use crate::package::xml::{attribute_text, with_last};
use crate::package::{Package, Relationship, Target, relationships_of, resolved};
use crate::plan::{Piece, Reference};
use crate::word::attribute::attribute;

/// A name or an id that has been chosen, and whether it is the template's.
#[derive(Clone)]
pub(super) struct Chosen {
    pub name: String,
    is_first: bool,
    /// The pieces of a comment that have been written with it.
    pieces: Vec<Piece>,
}

impl<'a> Filler<'a, '_> {
    /// Writes a reference, and what it refers to.
    pub(super) fn reference<'b>(
        &mut self,
        reference: &Reference,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        let at = self.source.references.get(&reference.id.start).copied();
        let Some((at, dependent)) = at.and_then(|at| Some((at, self.source.dependents.get(at)?))) else {
            if !reference.kind.is_of_comment() || self.is_first(reference.whole.start) {
                self.raw(reference.whole.clone());
            }
            return Ok(());
        };
        let id = match &dependent.kind {
            Kind::Note(note) => {
                // A piece that is written once more belongs to the next turn.
                let known = self.chosen.remove(&at).filter(|known| !known.pieces.contains(&reference.piece));
                let mut chosen = known.unwrap_or_else(|| self.note_id(at, dependent, note));
                chosen.pieces.push(reference.piece);
                if !reference.is_mark() {
                    self.note((dependent, note), &chosen, answers)?;
                }
                let id = chosen.name.clone();
                self.chosen.insert(at, chosen);
                id
            }
            Kind::Text(_) | Kind::Copied(_) => {
                let chosen = self.part_of_turn(at, dependent, answers)?;
                // A copy has no relationship to what its sections write.
                if chosen.is_first && !self.is_again {
                    self.raw(reference.whole.clone());
                    return Ok(());
                }
                self.package.relate_as(self.source.name, &dependent.relation, Target::Part(&chosen.name))?
            }
        };
        self.raw(reference.whole.start..reference.id.start);
        self.out.extend_from_slice(id.as_bytes());
        self.raw(reference.id.end..reference.whole.end);
        Ok(())
    }

    fn note_id(&mut self, at: usize, dependent: &Dependent, note: &Note) -> Chosen {
        let written = &mut self.package.dependents;
        if dependent.is_own && written.first.insert(at) {
            return Chosen { name: note.id.clone(), is_first: true, pieces: Vec::new() };
        }
        let (_, next) = written.of(&dependent.part.name, note.largest);
        *next += 1;
        Chosen { name: (*next - 1).to_string(), is_first: false, pieces: Vec::new() }
    }

    fn note<'b>(
        &mut self,
        (dependent, note): (&'a Dependent, &Note),
        chosen: &Chosen,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        let paragraph = self.paragraph_of_comment((dependent, note), chosen.is_first)?;
        let (name, is_first) = (dependent.part.name.as_str(), chosen.is_first);
        let out = self.text_of(dependent, (name, is_first, paragraph), answers)?;
        let one = out.get(note.head..out.len().saturating_sub(note.tail)).unwrap_or_default();
        let tag = one.get(..memchr::memchr(b'>', one).unwrap_or_default()).unwrap_or_default();
        let id = attribute(tag, "id").map_or(0..0, |id| id.value);
        let room = self.package.room();
        let (text, _) = self.package.dependents.of(&dependent.part.name, note.largest);
        text.extend_from_slice(one.get(..id.start).unwrap_or_default());
        text.extend_from_slice(chosen.name.as_bytes());
        text.extend_from_slice(one.get(id.end..).unwrap_or_default());
        if text.len() > room { Err(self.package.full()) } else { Ok(()) }
    }

    /// The text of a dependent, filled as the part `name`; `paragraph` is the id of a comment's last one.
    fn text_of<'b>(
        &mut self,
        dependent: &'a Dependent,
        (name, is_first, paragraph): (&str, bool, Option<(Range<usize>, String)>),
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<Vec<u8>, Error> {
        let (part, all) = (&dependent.part, self.source.dependents);
        let answers: Vec<&Answer<'b>> = answers.take(dependent.own_answers(all)).collect();
        let mut begun = None;
        if !is_first && !part.bookmarks.is_empty() {
            let (turns, room) = (self.turns().collect(), self.package.room());
            let own = begun_in_part(part, all, (turns, &mut answers.iter().copied(), room));
            begun = Some(own.ok_or_else(|| self.package.full())?);
        }
        let source = part.source((name, false), self.source);
        let mut filler = Filler::new(source, self.limit, (&mut *self.package, &mut *self.files));
        filler.is_again = !is_first;
        filler.names.begun = begun;
        filler.paragraph = paragraph;
        filler.turns = self.turns.iter().map(Turn::without_lists).collect();
        filler.own_lists = Some(BTreeMap::new());
        filler.turn = self.turn;
        let out = filler.part(&part.nodes, &mut answers.into_iter())?;
        self.faults.append(filler.faults);
        Ok(out)
    }

    /// Chooses the name of a part before it is written.
    pub(super) fn choose(&mut self, at: usize) -> Option<Chosen> {
        if let Some(chosen) = self.chosen.get(&at) {
            return Some(chosen.clone());
        }
        let dependent = self.source.dependents.get(at)?;
        let is_first = self.may_stay(dependent) && self.package.dependents.first.insert(at);
        let own = &dependent.part.name;
        let name = if is_first { own.clone() } else { free_name(own, self.package) };
        let chosen = Chosen { name, is_first, pieces: Vec::new() };
        self.chosen.insert(at, chosen.clone());
        Some(chosen)
    }

    /// Whether the first turn can have the part under its own name, with all parts that it refers to.
    fn may_stay(&self, dependent: &Dependent) -> bool {
        let targets = dependent.targets();
        let of = |at: &usize| self.source.dependents.get(*at);
        dependent.is_own
            && targets.is_none_or(|targets| {
                targets.dependents.values().filter_map(of).all(|dependent| self.may_stay(dependent))
            })
    }

    /// Writes a part and the parts that it refers to.
    fn part_of_turn<'b>(
        &mut self,
        at: usize,
        dependent: &'a Dependent,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<Chosen, Error> {
        let Some(chosen) = self.choose(at) else { return Err(super::misfit()) };
        let Some(targets) = dependent.targets() else { return Err(super::misfit()) };
        let mut parts = Vec::new();
        for (id, &at) in &targets.dependents {
            let Some(dependent) = self.source.dependents.get(at) else { continue };
            parts.push((id.as_str(), self.part_of_turn(at, dependent, answers)?.name));
        }
        let drawing = match &targets.drawing {
            Some((_, at)) => self.drawing(*at, answers)?,
            None => None,
        };
        self.chosen.remove(&at);
        if !chosen.is_first {
            self.package.count_own_part()?;
        }
        if let Kind::Copied(_) = dependent.kind {
            self.keep_original(at, &dependent.part.name)?;
        }
        if !chosen.is_first {
            self.declare(&dependent.part.name, &chosen.name)?;
            let list = Self::relations_of_copy((dependent, targets), &parts);
            if !list.is_empty() {
                self.package.put(&relationships_of(&chosen.name), whole(&list))?;
            }
        }
        match &dependent.kind {
            Kind::Text(_) => {
                let mut out = self.text_of(dependent, (&chosen.name, chosen.is_first, None), answers)?;
                if let Some(new) = drawing
                    && let Some(own) = drawing_id(&out)
                {
                    out.splice(own, new.into_bytes());
                }
                self.package.put(&chosen.name, out)?;
                if chosen.is_first {
                    self.package.forget(&chosen.name, &dependent.part.forgotten)?;
                }
            }
            Kind::Copied(_) if !chosen.is_first => {
                let content = self.package.dependents.originals.get(&at).map(Rc::clone);
                self.package.put(&chosen.name, content.unwrap_or_default().to_vec())?;
            }
            Kind::Copied(_) | Kind::Note(_) => {}
        }
        Ok(chosen)
    }

    /// Writes the drawing of `SmartArt`; returns the id by which the data of this turn name it, where that is another one.
    fn drawing<'b>(
        &mut self,
        at: usize,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<Option<String>, Error> {
        let Some(dependent) = self.source.dependents.get(at) else { return Ok(None) };
        let chosen = self.part_of_turn(at, dependent, answers)?;
        // A copy has no relationship to what its sections write.
        if chosen.is_first && !self.is_again {
            return Ok(None);
        }
        let target = Target::Part(&chosen.name);
        self.package.relate_as(self.source.name, &dependent.relation, target).map(Some)
    }

    fn keep_original(&mut self, at: usize, name: &str) -> Result<(), Error> {
        if !self.package.dependents.originals.contains_key(&at) {
            let content = self.package.part(name)?.unwrap_or_default();
            self.package.dependents.originals.insert(at, content.into());
        }
        Ok(())
    }

    /// Gives the copy the content type of the part.
    fn declare(&mut self, part: &str, copy: &str) -> Result<(), Error> {
        let kinds = if let Some(kinds) = &self.package.dependents.kinds {
            Rc::clone(kinds)
        } else {
            let kinds = Rc::new(self.package.kinds()?);
            Rc::clone(self.package.dependents.kinds.insert(kinds))
        };
        kinds.of(part).map_or(Ok(()), |kind| self.package.override_type(copy, kind))
    }

    /// The lines of a copy's relationships: they keep their ids, and lead to the copies of the parts.
    fn relations_of_copy((dependent, targets): (&Dependent, &Targets), parts: &[(&str, String)]) -> String {
        let mut lines = String::new();
        for one in &targets.all {
            let Relationship { id, kind, target, is_external } = one;
            if dependent.part.forgotten.contains(id) {
                continue;
            }
            let own = parts.iter().find(|(of, _)| of == id).map(|(_, name)| name.clone());
            // A link to a bookmark is no name of a part.
            let is_address = *is_external || target.starts_with('#') || kind.ends_with("/hyperlink");
            let own = own.or_else(|| resolved(&dependent.part.name, target).filter(|_| !is_address));
            let target = own.map_or_else(|| target.clone(), |name| format!("/{name}"));
            let mode = if *is_external { " TargetMode=\"External\"" } else { "" };
            let _ = write!(
                lines,
                "<Relationship Id=\"{}\" Type=\"{}\" Target=\"{}\"{mode}/>",
                attribute_text(id),
                attribute_text(kind),
                attribute_text(&target)
            );
        }
        lines
    }
}

fn free_name(part: &str, package: &mut Package<'_>) -> String {
    let (stem, end) = part.rsplit_once('.').unwrap_or((part, "xml"));
    let stem = stem.trim_end_matches(|letter: char| letter.is_ascii_digit());
    package.free_name(stem, &format!(".{end}"))
}

/// Adds the notes of all turns to their parts, and removes the parts of sections that have no turn.
pub(crate) fn finish(
    (dependents, main): (&[Dependent], &str),
    package: &mut Package<'_>,
) -> Result<(), Error> {
    // What else is known of the parts, such as the ids of paragraphs, is asked for below.
    let written = &mut package.dependents;
    let (first, notes) = (std::mem::take(&mut written.first), std::mem::take(&mut written.notes));
    let comments = std::mem::take(&mut written.comments);
    for (name, (text, _)) in notes {
        let xml = package.part(&name)?.unwrap_or_default();
        package.put(&name, with_last(&xml, &String::from_utf8_lossy(&text)))?;
    }
    comments::finish((dependents, main), package, &comments)?;
    // The addresses of notes had tags; each filled link has a relationship of its own. A part is read once for all of its notes.
    let mut forgotten: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Dependent { part, .. } in dependents.iter().filter(|one| one.note().is_some()) {
        forgotten.entry(&part.name).or_default().extend_from_slice(&part.forgotten);
    }
    for (part, ids) in forgotten {
        package.forget(part, &ids)?;
    }
    let is_unused = |(at, dependent): &(usize, &Dependent)| {
        dependent.is_own && dependent.targets().is_some() && !first.contains(at)
    };
    let unused = dependents.iter().enumerate().filter(is_unused);
    let unused: BTreeSet<String> =
        unused.map(|(_, dependent)| dependent.part.name.to_ascii_lowercase()).collect();
    if unused.is_empty() {
        return Ok(());
    }
    for (part, ids) in package.drop_parts(&unused)? {
        package.forget(&part, &ids.into_iter().collect::<Vec<_>>())?;
    }
    Ok(())
}
