//! Splits elements that a section begins or ends inside of: they are ended there and begun again.

use std::ops::Range;

use super::{Node, Planner};
use crate::word::{Dialect, Element, Id, Kind, Unique, UniqueKind};

impl Planner<'_> {
    /// End tags for everything from `element` up to `above`, which stays open, and what begins it again. `None` where there were
    /// too many splits.
    pub(super) fn cut(&mut self, element: Id, above: Id) -> Option<(String, Vec<Node>)> {
        let mut end = String::new();
        let mut starts = Vec::new();
        for id in self.part.path(element).take_while(|&id| id != above) {
            end.extend(["</", self.part.name(id), ">"]);
            let start = self.start(id, None);
            *self.cuts_left = self.cuts_left.checked_sub(start.len())?;
            starts.push(start);
        }
        Some((end, starts.into_iter().rev().flatten().collect()))
    }

    /// As [`cut`](Self::cut), for the paragraph alone. What begins it again has no section break, which must be in only one of
    /// the halves.
    pub(super) fn cut_paragraph(
        &mut self,
        paragraph: Id,
        section_break: Option<Id>,
    ) -> Option<(String, Vec<Node>)> {
        let section_break = section_break.and_then(|id| self.part.element(id)).map(Element::range);
        let start = self.start(paragraph, section_break);
        *self.cuts_left = self.cuts_left.checked_sub(start.len())?;
        Some((format!("</{}>", self.part.name(paragraph)), start))
    }

    /// The start of an element again, with its properties, but without what must be unique or is in the range `elsewhere`.
    fn start(&self, id: Id, elsewhere: Option<Range<usize>>) -> Vec<Node> {
        let Some(element) = self.part.element(id) else { return Vec::new() };
        if matches!(element.kind, Kind::Text | Kind::Code) {
            let preserve = if self.part.dialect == Dialect::Word { " xml:space=\"preserve\"" } else { "" };
            return vec![Node::Owned(format!("<{}{preserve}>", self.part.name(id)))];
        }
        let mut nodes = self.once_more(element.start_tag(), None);
        if let Some(properties) = self.part.element(element.properties) {
            nodes.extend(self.once_more(properties.range(), elsewhere));
        }
        nodes
    }

    fn once_more(&self, range: Range<usize>, elsewhere: Option<Range<usize>>) -> Vec<Node> {
        let is_left_out = |unique: &&Unique| match unique.kind {
            UniqueKind::Reference(kind) => kind.is_of_comment(),
            UniqueKind::Anchor | UniqueKind::Link | UniqueKind::Shape => false,
            UniqueKind::First
            | UniqueKind::Number
            | UniqueKind::Bookmark
            | UniqueKind::Binding(_)
            | UniqueKind::Plain(_) => true,
        };
        let uniques = self.part.uniques_in(range.clone()).filter(is_left_out).map(|unique| {
            let again = (unique.kind == UniqueKind::Number).then(|| Node::Number(unique.range.clone()));
            (unique.range.clone(), again)
        });
        // An attribute with tags is filled only at its first place.
        let attributes = self.attributes.range(range.clone()).map(|(&begin, &(end, is_address))| {
            (begin..end, is_address.then_some(Node::AddressAgain(begin)))
        });
        let lists = self
            .listed
            .range(range.clone())
            .map(|(_, list)| (list.range.clone(), Some(Node::List(Box::new(list.clone())))));
        let linked = self.linked.range(range.clone());
        let linked =
            linked.map(|(_, name)| (name.range.clone(), Some(Node::BookmarkName(Box::new(name.clone())))));
        let elsewhere = elsewhere.map(|hole| (hole, None));
        let mut holes: Vec<(Range<usize>, Option<Node>)> =
            uniques.chain(attributes).chain(lists).chain(linked).chain(elsewhere).collect();
        holes.sort_by_key(|(hole, _)| hole.start);
        let mut nodes = Vec::new();
        let mut from = range.start;
        for (hole, again) in holes {
            if hole.start < from {
                continue;
            }
            nodes.push(Node::Raw(from..hole.start));
            nodes.extend(again);
            from = hole.end;
        }
        nodes.push(Node::Raw(from..range.end));
        nodes
    }
}
