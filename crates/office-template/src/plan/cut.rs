//! Elements that a section begins or ends inside of: they are ended there and begun again.

use std::ops::Range;

use super::{Node, Planner};
use crate::word::{Id, Kind, UniqueKind};

impl Planner<'_> {
    /// What ends everything from `element` up to `above`, which stays open, and what begins it again. `None` where there have been too
    /// many pieces.
    pub(super) fn cut(&mut self, element: Id, above: Id) -> Option<(String, Vec<Node>)> {
        let mut end = String::new();
        let mut starts = Vec::new();
        for id in self.part.path(element).take_while(|&id| id != above) {
            end.extend(["</", self.part.name(id), ">"]);
            let start = self.start(id);
            *self.cuts_left = self.cuts_left.checked_sub(start.len())?;
            starts.push(start);
        }
        Some((end, starts.into_iter().rev().flatten().collect()))
    }

    /// The start of an element once more, with its properties and without what must stand once.
    fn start(&self, id: Id) -> Vec<Node> {
        let Some(element) = self.part.element(id) else { return Vec::new() };
        if element.kind == Kind::Text {
            return vec![Node::Owned(format!("<{} xml:space=\"preserve\">", self.part.name(id)))];
        }
        let mut nodes = self.once_more(element.start_tag());
        if let Some(properties) = self.part.element(element.properties) {
            nodes.extend(self.once_more(properties.range()));
        }
        nodes
    }

    fn once_more(&self, range: Range<usize>) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut from = range.start;
        for unique in self.part.uniques_in(range.clone()) {
            if unique.range.start < from {
                continue;
            }
            nodes.push(Node::Raw(from..unique.range.start));
            if unique.kind == UniqueKind::Number {
                nodes.push(Node::Number(unique.range.clone()));
            }
            from = unique.range.end;
        }
        nodes.push(Node::Raw(from..range.end));
        nodes
    }
}
