//! What each turn of a section has of its own in other parts.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::PartPlan;
use crate::package::relationships::Relationship;
use crate::program::Step;

/// A part, or a note in one, that each turn of a section has of its own.
pub(crate) struct Dependent {
    pub part: PartPlan,
    pub kind: Kind,
    /// The type of the relationship that leads to it; empty of a note.
    pub relation: String,
    /// The program's steps for it, behind those of the parts that it refers to.
    pub steps: Vec<Step>,
    /// How many tags each further reference to it counts as: its own, those of all that it refers to, and one for itself.
    pub tags: usize,
    /// Nothing outside of sections refers to it, so the first turn has it under its own name.
    pub is_own: bool,
}

impl Dependent {
    /// What it refers to, where it is a whole part.
    pub(crate) fn targets(&self) -> Option<&Targets> {
        match &self.kind {
            Kind::Note(_) => None,
            Kind::Text(targets) | Kind::Copied(targets) => Some(targets),
        }
    }

    pub(crate) fn note(&self) -> Option<&Note> {
        match &self.kind {
            Kind::Note(note) => Some(note),
            Kind::Text(_) | Kind::Copied(_) => None,
        }
    }

    /// The dependents that are written before it, in their order.
    pub(crate) fn before(&self) -> impl Iterator<Item = &usize> {
        self.targets().into_iter().flat_map(Targets::before)
    }

    /// How many of the answers to its steps are those of its own text.
    pub(crate) fn own_answers(&self, all: &[Self]) -> usize {
        let before = self.before().filter_map(|&at| all.get(at)).map(|one| one.steps.len());
        self.steps.len().saturating_sub(before.sum())
    }
}

pub(crate) enum Kind {
    /// A note, an endnote or a comment.
    Note(Note),
    /// A part with text.
    Text(Targets),
    /// A part that is copied as it is.
    Copied(Targets),
}

/// A note in the part of all notes.
pub(crate) struct Note {
    pub id: String,
    /// The bytes of the plan's part before the note and behind it.
    pub head: usize,
    pub tail: usize,
    /// The largest id of a note in the part.
    pub largest: u64,
    /// Where a comment has the id of its last paragraph, by which other parts refer to it.
    pub paragraph: Option<Range<usize>>,
}

/// What a part refers to.
#[derive(Default)]
pub(crate) struct Targets {
    pub all: Vec<Relationship>,
    /// The dependents among them, by their relationships' ids.
    pub dependents: BTreeMap<String, usize>,
    /// The drawing of `SmartArt`, which its data name by a relationship of the part around: that one's id, and the dependent.
    pub drawing: Option<(String, usize)>,
}

impl Targets {
    /// The dependents among them, in the order in which they are written.
    pub(crate) fn before(&self) -> impl Iterator<Item = &usize> {
        self.dependents.values().chain(self.drawing.iter().map(|(_, at)| at))
    }
}
