//! Tags in addresses and in the names of tick boxes: their answers stand elsewhere than they do.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Action, LAST, Node, Planner};
use crate::forms::with_property;
use crate::lexer::Tag;
use crate::package::attribute_text;
use crate::tags::{Placed, Tags};
use crate::word::attribute::attribute;
use crate::word::{Id, Kind, NONE, Part, Place};

/// An address with tags.
#[derive(Debug)]
pub(crate) struct Address {
    /// Where the id of the relationship stands in the part.
    pub id: Range<usize>,
    /// What stands before each tag, and the tag.
    pub tags: Vec<(String, usize)>,
    /// What stands behind the last one.
    pub rest: String,
}

/// How a box looks: the character and its font.
struct Look {
    code: u32,
    font: String,
}

/// The values of attributes with tags, by where they begin, with their ends and whether they are an address: what they stand in may be
/// ended and begun again.
pub(super) fn attributes(part: &Part, tags: &Tags) -> BTreeMap<usize, (usize, bool)> {
    let mut found = BTreeMap::new();
    for placed in &tags.all {
        let Some(text) = part.paragraphs.get(placed.paragraph) else { continue };
        match &text.place {
            Place::Address { id, .. } => {
                found.insert(id.start, (id.end, true));
            }
            Place::Attribute | Place::CodeAttribute | Place::Tick(_) => {
                let (first, last) = (text.pieces.first(), text.pieces.last());
                if let Some((first, last)) = first.zip(last) {
                    found.insert(first.raw.start, (last.raw.end, false));
                }
            }
            Place::Paragraph | Place::Element | Place::Code => {}
        }
    }
    found
}

impl Planner<'_> {
    /// Each link gets a relationship of its own, in every copy.
    pub(super) fn addresses(&mut self) {
        let mut by_text: BTreeMap<usize, Vec<(usize, &Placed)>> = BTreeMap::new();
        for (index, placed) in self.tags.all.iter().enumerate() {
            by_text.entry(placed.paragraph).or_default().push((index, placed));
        }
        for (text, tags) in by_text {
            let Some(Place::Address { target, id }) = self.part.paragraphs.get(text).map(|text| &text.place)
            else {
                continue;
            };
            let mut address = Address { id: id.clone(), tags: Vec::new(), rest: String::new() };
            let mut from = 0;
            for &(index, placed) in &tags {
                let (first, last) = (placed.cuts.first(), placed.cuts.last());
                let (begin, end) = (first.map_or(0, |cut| cut.start), last.map_or(0, |cut| cut.end));
                address.tags.push((target.get(from..begin).unwrap_or_default().to_owned(), index));
                from = end;
            }
            address.rest = target.get(from..).unwrap_or_default().to_owned();
            let rank = Self::rank(tags.first().map_or(0, |&(index, _)| index), 0);
            self.push(id.start, rank, Action::Write(Node::Address(Box::new(address))));
            self.push(id.start, LAST, Action::Skip(id.end));
        }
    }

    /// A tick box keeps its name without the braces; what it looks like is chosen by what the tag gives.
    pub(super) fn tick(&mut self, index: usize, placed: &Placed) {
        let Some(&Place::Tick(of)) = self.part.paragraphs.get(placed.paragraph).map(|text| &text.place)
        else {
            return;
        };
        if let Tag::Value(value) = &placed.tag {
            let name = Node::Owned(attribute_text(&value.whole));
            self.push(placed.at(), Self::rank(index, 1), Action::Write(name));
        }
        let changes = match self.part.kind(of) {
            Kind::ControlProperties => self.control(of),
            _ => self.form_field(of),
        };
        let first = changes.iter().map(|(range, ..)| range.start).chain([placed.at()]).min();
        self.push(first.unwrap_or_default(), Self::rank(index, 0), Action::Write(Node::Tick(index)));
        for (range, on, off) in changes {
            self.push(range.start, LAST - 2, Action::Write(Node::Ticked(on, off)));
            self.push(range.start, LAST - 1, Action::Skip(range.end));
        }
    }

    fn child(&self, of: Id, local: &str) -> Option<Id> {
        self.part.children(of).find(|&id| self.part.name(id).rsplit(':').next() == Some(local))
    }

    /// An attribute's value, and where it stands.
    fn value(&self, id: Id, name: &str) -> Option<(Range<usize>, &str)> {
        let tag = self.part.element(id)?.start_tag();
        let value = attribute(self.part.xml.get(tag.clone())?, name)?.value;
        let range = tag.start + value.start..tag.start + value.end;
        Some((range.clone(), self.part.text(range)))
    }

    fn look(&self, state: Option<Id>, usual: u32) -> Look {
        let value = |name| state.and_then(|state| self.value(state, name)).map(|(_, value)| value);
        let code = value("val").and_then(|code| u32::from_str_radix(code, 16).ok());
        let font = value("font").filter(|font| !font.is_empty()).unwrap_or("MS Gothic");
        Look { code: code.unwrap_or(usual), font: font.to_owned() }
    }

    /// What changes in a content control that is a tick box: with a tick, and without one.
    fn control(&self, properties: Id) -> Vec<(Range<usize>, String, String)> {
        let mut changes = Vec::new();
        let Some(tick) = self.child(properties, "checkbox") else { return changes };
        match self.child(tick, "checked") {
            Some(checked) => {
                let value = self.value(checked, "val").map(|(range, _)| range);
                changes.extend(value.map(|range| (range, "1".to_owned(), "0".to_owned())));
            }
            None => {
                // The first of its children, as the schema wants.
                let at = self.part.element(tick).map_or(0, |tick| tick.start_tag().end);
                let name = self.part.name(tick);
                let prefix = name.strip_suffix("checkbox").unwrap_or_default();
                let is_empty = self.part.element(tick).is_none_or(|tick| tick.range() == tick.start_tag());
                let on = format!("<{prefix}checked {prefix}val=\"1\"/>");
                changes.extend((!is_empty).then(|| (at..at, on, String::new())));
            }
        }
        let looks = [("checkedState", 0x2612), ("uncheckedState", 0x2610)];
        let [on, off] = looks.map(|(name, usual)| self.look(self.child(tick, name), usual));
        let control = self.part.element(properties).map_or(NONE, |element| element.parent);
        let content = self.part.children(control).find(|&id| self.part.kind(id) == Kind::ControlContent);
        let run = content.and_then(|content| self.first_run(content));
        if let Some(element) = run.and_then(|run| self.part.element(run)) {
            let inside = element.start_tag().end..element.end_tag().start;
            let of_run = self.part.element(element.properties).map_or(0..0, crate::word::Element::range);
            let written = |look| self.shown(look, self.part.text(of_run.clone()));
            if inside.start < inside.end {
                changes.push((inside, written(&on), written(&off)));
            }
        }
        changes
    }

    fn first_run(&self, within: Id) -> Option<Id> {
        let end = self.part.element(within)?.range().end;
        let behind = (within.saturating_add(1)..).map_while(|id| Some((id, self.part.element(id)?)));
        let mut inside = behind.take_while(|(_, element)| element.range().start < end);
        inside.find(|(_, element)| element.kind == Kind::Run).map(|(id, _)| id)
    }

    /// A box as a run has it. The letters of fonts that are pictures are no letters of other fonts.
    fn shown(&self, Look { code, font }: &Look, properties: &str) -> String {
        let prefix = &self.part.prefix;
        if (0xf000..=0xf0ff).contains(code) {
            return format!("{properties}<{prefix}sym {prefix}font=\"{font}\" {prefix}char=\"{code:04X}\"/>");
        }
        let letter = char::from_u32(*code).filter(|letter| *letter > ' ').unwrap_or('\u{2612}');
        let fonts: String =
            ["ascii", "eastAsia", "hAnsi"].iter().map(|name| format!(" {prefix}{name}=\"{font}\"")).collect();
        let fonts = format!("<{prefix}rFonts{fonts} {prefix}hint=\"eastAsia\"/>");
        let properties = with_property(properties, prefix, &fonts);
        let letter = crate::package::escaped(&letter.to_string());
        format!("{properties}<{prefix}t>{letter}</{prefix}t>")
    }

    /// The same of a form field as older versions have it.
    fn form_field(&self, data: Id) -> Vec<(Range<usize>, String, String)> {
        let Some(tick) = self.child(data, "checkBox") else { return Vec::new() };
        let Some(element) = self.part.element(tick) else { return Vec::new() };
        let prefix = &self.part.prefix;
        let written = |digit| format!("<{prefix}checked {prefix}val=\"{digit}\"/>");
        let (on, off) = (written(1), written(0));
        if let Some(checked) = self.child(tick, "checked").and_then(|id| self.part.element(id)) {
            return vec![(checked.range(), on, off)];
        }
        if element.range() == element.start_tag() {
            let whole = |inner| format!("<{prefix}checkBox>{inner}</{prefix}checkBox>");
            return vec![(element.range(), whole(on), whole(off))];
        }
        let at = element.end_tag().start;
        vec![(at..at, on, off)]
    }
}
