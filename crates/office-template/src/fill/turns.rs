//! Sections: their turns, and what each turn has of its own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::{Filler, misfit};
use crate::answer::Answer;
use crate::error::Error;
use crate::include::{in_turn, list_again};
use crate::plan::{ListNumber, Node, Restart};
use crate::source::Source;

/// A turn of a section that is being written.
pub(super) struct Turn {
    /// The number of the section's opening tag.
    pub tag: usize,
    /// Counts the turns of this run of the section from 0.
    pub index: usize,
    /// Counts the turns of all sections.
    number: u64,
    /// The lists that begin again in each turn of the section.
    restarts: Rc<[String]>,
    /// The numbers that they have in this one; `None` for the number of the template.
    numbers: BTreeMap<String, Option<String>>,
}

impl Turn {
    /// The same turn as a note or a header sees it: its lists are none of theirs.
    pub(super) fn without_lists(&self) -> Self {
        Self { restarts: Rc::new([]), numbers: BTreeMap::new(), ..*self }
    }
}

impl Filler<'_, '_> {
    /// Writes a section once for each of its copies.
    pub(super) fn section(
        &mut self,
        (tag, body, restarts): (usize, &[Node], &[Restart]),
        copies: &[Answer<'_>],
    ) -> Result<(), Error> {
        let begins_again = |restart: &&Restart| {
            restart.is_introduced || copies.iter().any(|copy| has_several(self.source, body, copy, restart))
        };
        let restarts: Rc<[String]> =
            restarts.iter().filter(begins_again).map(|restart| restart.list.clone()).collect();
        let tag = self.source.first + tag;
        for (index, answers) in copies.iter().enumerate() {
            let Answer::List(answers) = answers else { return Err(misfit()) };
            let mut answers = answers.iter();
            self.turn += 1;
            let restarts = Rc::clone(&restarts);
            self.turns.push(Turn { tag, index, number: self.turn, restarts, numbers: BTreeMap::new() });
            self.nodes(body, &mut answers)?;
            self.turns.pop();
            if answers.next().is_some() {
                return Err(misfit());
            }
        }
        Ok(())
    }

    /// Writes the number of a list at one of its items.
    pub(super) fn list_number(&mut self, list: &ListNumber) -> Result<(), Error> {
        let id = &list.list;
        let turn = self.turns.iter_mut().rev().find(|turn| turn.restarts.contains(id));
        let (turn, numbers) = match (turn, &mut self.own_lists) {
            (Some(turn), _) => (turn.number, &mut turn.numbers),
            (None, Some(numbers)) => (0, numbers),
            (None, None) => {
                self.own_number(list, None);
                return Ok(());
            }
        };
        let number = match numbers.get(id) {
            Some(number) => number.clone(),
            None if self.source.is_included => {
                let is_first = self.used_lists.insert(id.clone());
                numbers.entry(id.clone()).or_insert((!is_first).then(|| in_turn(id, turn))).clone()
            }
            None => {
                let number = list_again((id, list.levels), self.source.root, self.package)?;
                numbers.entry(id.clone()).or_insert(number.map(|number| number.to_string())).clone()
            }
        };
        self.own_number(list, number.as_deref());
        Ok(())
    }

    /// Writes the id of a shape.
    pub(super) fn shape_id(&mut self, range: Range<usize>) {
        self.raw(range);
        if self.is_again || self.turns.iter().any(|turn| turn.index > 0) {
            let turn = self.turns.last().map_or(self.turn, |turn| turn.number);
            self.out.extend_from_slice(format!("_{turn}").as_bytes());
        }
    }

    fn own_number(&mut self, list: &ListNumber, number: Option<&str>) {
        match (number, &list.around) {
            (None, _) => self.raw(list.range.clone()),
            (Some(number), None) => self.out.extend_from_slice(number.as_bytes()),
            (Some(number), Some((before, behind))) => {
                for piece in [before.as_str(), number, behind] {
                    self.out.extend_from_slice(piece.as_bytes());
                }
            }
        }
    }
}

/// Whether the copy has more than one item of the list's first level.
fn has_several(of: Source<'_>, body: &[Node], copy: &Answer<'_>, restart: &Restart) -> bool {
    let Answer::List(answers) = copy else { return false };
    items(of, body, &restart.list, &mut answers.iter()) > 1
}

/// How many items of the list's first level are written. Takes the answers that writing the nodes takes.
fn items<'b>(
    of: Source<'_>,
    nodes: &[Node],
    list: &str,
    answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
) -> usize {
    let mut count = 0;
    for node in nodes {
        match node {
            Node::List(number) => count += usize::from(number.is_top && number.list == list),
            Node::Content(_) | Node::Tick(_) => {
                answers.next();
            }
            Node::Reference(reference) if !reference.is_mark() => {
                let at = of.references.get(&reference.id.start);
                let steps = at.and_then(|&at| of.dependents.get(at)).map_or(0, |one| one.steps.len());
                answers.take(steps).for_each(drop);
            }
            Node::Address(address) => answers.take(address.tags.len()).for_each(drop),
            Node::Section(_, body, _) => {
                if let Some(Answer::List(copies)) = answers.next() {
                    for copy in copies {
                        if let Answer::List(answers) = copy {
                            count += items(of, body, list, &mut answers.iter());
                        }
                    }
                }
            }
            Node::Holder(_, body) => count += items(of, body, list, answers),
            Node::Raw(_)
            | Node::Owned(_)
            | Node::First(_)
            | Node::Number(_)
            | Node::Shape(_)
            | Node::Reference(_)
            | Node::Bookmark(_)
            | Node::BookmarkName(_)
            | Node::AddressAgain(_)
            | Node::Ticked(..)
            | Node::Paragraph(_) => {}
        }
    }
    count
}
