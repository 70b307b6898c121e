//! Finds which bookmarks the turns of sections begin, before anything is written.
//!
//! Hazard: a turn may leave a bookmark out, as behind a condition, and a reference to it may stand before its place or in another
//! part. Without this the reference would get a name that nothing has.

use std::ops::Range;

use super::{Begun, Dependent, Turns, turns_around};
use crate::PartPlan;
use crate::answer::Answer;
use crate::plan::{Node, key};

/// The bookmarks of a document whose parts take `answers` one after the other; `None` where they need more than `room` bytes.
pub(crate) fn begun_in_document<'p, 'b>(
    parts: impl Iterator<Item = &'p PartPlan>,
    dependents: &[Dependent],
    (answers, room): (&mut dyn Iterator<Item = &'b Answer<'b>>, usize),
) -> Option<Begun> {
    let mut walk = Walk { dependents, is_deep: true, room, turns: Turns::new(), begun: Begun::default() };
    for part in parts {
        walk.nodes((part, true), &part.nodes, answers);
    }
    walk.done()
}

/// The bookmarks of one part that is written in these turns; `None` where they need more than `room` bytes.
pub(crate) fn begun_in_part<'b>(
    part: &PartPlan,
    dependents: &[Dependent],
    (turns, answers, room): (Turns, &mut dyn Iterator<Item = &'b Answer<'b>>, usize),
) -> Option<Begun> {
    let mut walk = Walk { dependents, is_deep: false, room, turns, begun: Begun::default() };
    walk.nodes((part, true), &part.nodes, answers);
    walk.done()
}

struct Walk<'d> {
    dependents: &'d [Dependent],
    /// Whether it enters what the parts refer to.
    is_deep: bool,
    /// How many bytes the bookmarks may need. The output is limited, but it is only written behind this.
    room: usize,
    turns: Turns,
    begun: Begun,
}

impl Walk<'_> {
    fn done(self) -> Option<Begun> {
        Some(self.begun).filter(|begun| !begun.are_more_than(self.room))
    }

    /// Takes the answers that writing the nodes takes.
    fn nodes<'b>(
        &mut self,
        (part, may_be_first): (&PartPlan, bool),
        nodes: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) {
        for node in nodes {
            if self.begun.are_more_than(self.room) {
                return;
            }
            match node {
                Node::Bookmark(bookmark) => {
                    let name = bookmark.name.as_ref().map(|name| key(&text(part, name)));
                    let found = name.and_then(|name| Some((part.bookmarks.get(&name)?, name)));
                    if let Some((whole, name)) = found {
                        let turns = turns_around(&whole.around, self.turns.iter().copied());
                        self.begun.add(name, &turns, may_be_first);
                    }
                }
                Node::Content(_) | Node::Tick(_) => {
                    answers.next();
                }
                Node::Address(address) => answers.take(address.tags.len()).for_each(drop),
                Node::Reference(reference) if !reference.is_mark() => {
                    self.enter(part.references.get(&reference.id.start).into_iter(), answers);
                }
                Node::Section(tag, body, _) => {
                    let Some(Answer::List(copies)) = answers.next() else { continue };
                    for (index, copy) in copies.iter().enumerate() {
                        let Answer::List(answers) = copy else { continue };
                        self.turns.push((part.first + tag, index));
                        self.nodes((part, may_be_first), body, &mut answers.iter());
                        self.turns.pop();
                    }
                }
                Node::Holder(_, body) => self.nodes((part, may_be_first), body, answers),
                Node::Raw(_)
                | Node::Owned(_)
                | Node::First(_)
                | Node::Number(_)
                | Node::Shape(_)
                | Node::List(_)
                | Node::Reference(_)
                | Node::BookmarkName(_)
                | Node::AddressAgain(_)
                | Node::Ticked(..)
                | Node::Paragraph(_) => {}
            }
        }
    }

    /// Takes the answers of these parts and notes, each behind those that it refers to.
    fn enter<'i, 'b>(
        &mut self,
        all: impl Iterator<Item = &'i usize>,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) {
        let dependents = self.dependents;
        for dependent in all.filter_map(|&at| dependents.get(at)) {
            let own: Vec<&Answer<'b>> = answers.take(dependent.steps.len()).collect();
            if self.is_deep {
                let mut own = own.into_iter();
                self.enter(dependent.before(), &mut own);
                self.nodes((&dependent.part, dependent.is_own), &dependent.part.nodes, &mut own);
            }
        }
    }
}

fn text(part: &PartPlan, range: &Range<usize>) -> String {
    String::from_utf8_lossy(part.xml.get(range.clone()).unwrap_or_default()).into_owned()
}
