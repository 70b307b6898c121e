//! Shapes of slides that tags replace or remove.

use super::slot::{Shape, Slot};
use super::{Action, FIRST, LAST, Node, Planner};
use crate::powerpoint;
use crate::tags::Placed;
use crate::word::{Element, Place};

impl Planner<'_> {
    pub(super) fn shape(&mut self, tag: usize, placed: &Placed) {
        let shape = powerpoint::shape_of(self.part, placed.element);
        let Some(range) = shape.and_then(|shape| self.part.element(shape)).map(Element::range) else {
            return;
        };
        let text = self.part.paragraphs.get(placed.paragraph);
        let is_named = text.is_some_and(|text| text.place == Place::Attribute);
        let slot = Slot {
            tag,
            writing: placed.writing,
            text: String::new(),
            run: None,
            paragraph: None,
            run_properties: 0..0,
            paragraph_properties: 0..0,
            width: None,
            is_in_cell: false,
            shape: Some(Shape { range: range.clone(), is_named }),
        };
        self.pictured.insert(range.start, range.end);
        self.push(range.start, LAST - 2, Action::Write(Node::Content(Box::new(slot))));
        self.push(range.start, LAST - 1, Action::Skip(range.end));
    }

    /// `{:slides list}`: removes a text box that has nothing but the tag.
    pub(super) fn slides(&mut self, placed: &Placed) {
        if let Some(shape) = powerpoint::text_box_of(self.part, placed)
            && let Some(range) = self.part.element(shape).map(Element::range)
        {
            self.push(range.start, FIRST, Action::Skip(range.end));
        }
    }
}
