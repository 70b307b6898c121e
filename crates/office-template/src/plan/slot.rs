//! The place of a tag's answer: a text replaces the tag, a link goes between runs, a table between paragraphs.

use std::ops::Range;

use super::{Node, Planner};
use crate::tags::Placed;
use crate::word::{Id, Kind, NONE, Twips};
use crate::writing::Writing;

#[derive(Debug)]
pub(crate) struct Slot {
    /// The tag's index in the part.
    pub tag: usize,
    pub writing: Writing,
    /// The name of the element around its text: `w:t`, or an equation's `m:t`.
    pub text: String,
    /// Ends and begins the elements around it in its paragraph, a run as a rule; `None` where they cannot be split.
    pub run: Option<Around>,
    /// Ends and begins its paragraph.
    pub paragraph: Option<Around>,
    /// The run's properties (`w:rPr`), and the paragraph's; empty where it has none.
    pub run_properties: Range<usize>,
    pub paragraph_properties: Range<usize>,
    /// The width of the text, where it is known and needed; not for plain values.
    pub width: Option<Twips>,
    /// Whether it is in a table.
    pub is_in_cell: bool,
    /// The shape of a slide that it replaces.
    pub shape: Option<Shape>,
}

/// A shape that becomes a picture.
#[derive(Debug)]
pub(crate) struct Shape {
    pub range: Range<usize>,
    /// The tag is its alternative text, and not its text.
    pub is_named: bool,
}

/// XML that ends elements, and nodes that begin them again.
#[derive(Debug)]
pub(crate) struct Around {
    pub end: String,
    pub begin: Vec<Node>,
}

impl Planner<'_> {
    /// The place of a tag; `Err` with the tag where there were too many splits.
    pub(super) fn slot(&mut self, tag: usize, placed: &Placed) -> Result<Slot, usize> {
        let (part, writing) = (self.part, placed.writing);
        if !matches!(writing, Writing::Run | Writing::DrawingRun | Writing::SlideRun) {
            let (run_properties, paragraph_properties) = (0..0, 0..0);
            return Ok(Slot {
                tag,
                writing,
                text: String::new(),
                run: None,
                paragraph: None,
                run_properties,
                paragraph_properties,
                width: None,
                is_in_cell: false,
                shape: None,
            });
        }
        let paragraph = part.paragraphs.get(placed.paragraph).map_or(NONE, |paragraph| paragraph.element);
        let within = || part.path(placed.element).take_while(|&id| id != paragraph);
        let run = within().find(|&id| part.kind(id) == Kind::Run).unwrap_or(NONE);
        let is_divisible = within().all(|id| part.is_divisible(id));
        let section_break =
            part.paragraphs.get(placed.paragraph).and_then(|paragraph| paragraph.section_break);
        let around = |planner: &mut Self, from: Id, above: Id| {
            planner.cut(from, above).map(|(end, begin)| Around { end, begin }).ok_or(tag)
        };
        let is_paragraph = part.kind(paragraph) == Kind::Paragraph;
        Ok(Slot {
            tag,
            writing,
            run: is_divisible.then(|| around(self, placed.element, paragraph)).transpose()?,
            paragraph: if is_divisible && is_paragraph {
                let (end, begin) = self.cut_paragraph(paragraph, section_break).ok_or(tag)?;
                Some(Around { end, begin })
            } else {
                None
            },
            text: part.name(placed.element).to_owned(),
            run_properties: self.properties(run),
            paragraph_properties: self.properties(paragraph),
            width: if super::has_width(placed) {
                part.text_width(placed.element, &self.sections)
            } else {
                None
            },
            is_in_cell: part.path(paragraph).any(|id| part.kind(id) == Kind::Cell),
            shape: None,
        })
    }

    fn properties(&self, of: Id) -> Range<usize> {
        let properties = self.part.element(of).and_then(|element| self.part.element(element.properties));
        properties.map_or(0..0, crate::word::Element::range)
    }
}
