//! Tick boxes whose name is a tag: what they look like is chosen by what it gives.

use std::ops::Range;

use super::{Action, LAST, Node, Planner};
use crate::forms::with_property;
use crate::lexer::Tag;
use crate::package::{attribute_text, escaped};
use crate::tags::Placed;
use crate::word::attribute::attribute;
use crate::word::{Element, Id, Kind, NONE, Place};

/// How a box looks: the character and its font.
struct Look {
    code: u32,
    font: String,
}

/// What changes in the part: where, with a tick, and without one.
type Change = (Range<usize>, String, String);

impl Planner<'_> {
    /// A tick box keeps its name without the braces; what it looks like is chosen by what the tag gives.
    pub(super) fn tick(&mut self, index: usize, placed: &Placed) {
        let Some(&Place::Tick(of)) = self.part.paragraphs.get(placed.paragraph).map(|text| &text.place)
        else {
            return;
        };
        if let Tag::Value(value) = &placed.tag {
            let name = Node::Owned(attribute_text(value.whole.trim_start_matches('.')));
            self.push(placed.at(), Self::rank(index, 1), Action::Write(name));
        }
        let is_control = self.part.kind(of) == Kind::ControlProperties;
        let changes = if is_control { self.control(of) } else { self.form_field(of) };
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
    fn control(&self, properties: Id) -> Vec<Change> {
        let Some(tick) = self.child(properties, "checkbox") else { return Vec::new() };
        let mut changes: Vec<Change> = self.state(tick).into_iter().collect();
        let looks = [("checkedState", 0x2612), ("uncheckedState", 0x2610)];
        let [on, off] = looks.map(|(name, usual)| self.look(self.child(tick, name), usual));
        let control = self.part.element(properties).map_or(NONE, |element| element.parent);
        let content = self.part.children(control).find(|&id| self.part.kind(id) == Kind::ControlContent);
        let mut runs = content.into_iter().flat_map(|content| self.runs(content));
        if let Some(first) = runs.next() {
            let inside = first.start_tag().end..first.end_tag().start;
            let of_run = self.part.element(first.properties).map_or(0..0, Element::range);
            let written = |look| self.shown(look, self.part.text(of_run.clone()));
            changes.push((inside, written(&on), written(&off)));
        }
        // The mark may stand in any of the runs, or in pieces in many.
        changes.extend(runs.map(|run| (run.range(), String::new(), String::new())));
        changes
    }

    /// What says in a control's properties that it is ticked.
    fn state(&self, tick: Id) -> Option<Change> {
        if let Some(checked) = self.child(tick, "checked") {
            let (range, _) = self.value(checked, "val")?;
            return Some((range, "1".to_owned(), "0".to_owned()));
        }
        // The first of its children, as the schema wants.
        let element = self.part.element(tick)?;
        let at = element.start_tag().end;
        let prefix = self.part.name(tick).strip_suffix("checkbox")?;
        let is_empty = element.range() == element.start_tag();
        (!is_empty).then(|| (at..at, format!("<{prefix}checked {prefix}val=\"1\"/>"), String::new()))
    }

    /// The runs in an element that have something in them.
    fn runs(&self, within: Id) -> impl Iterator<Item = &Element> {
        let end = self.part.element(within).map_or(0, |element| element.range().end);
        let behind = (within.saturating_add(1)..).map_while(|id| self.part.element(id));
        let inside = behind.take_while(move |element| element.range().start < end);
        inside.filter(|element| element.kind == Kind::Run && element.range() != element.start_tag())
    }

    /// A box as a run has it. The letters of fonts that are pictures are no letters of other fonts.
    fn shown(&self, Look { code, font }: &Look, properties: &str) -> String {
        let prefix = &self.part.prefix;
        if (0xf000..=0xf0ff).contains(code) {
            return format!("{properties}<{prefix}sym {prefix}font=\"{font}\" {prefix}char=\"{code:04X}\"/>");
        }
        let letter = char::from_u32(*code).filter(|letter| *letter > ' ').unwrap_or('\u{2612}');
        let named = |name: &str| format!(" {prefix}{name}=\"{font}\"");
        let fonts = ["ascii", "eastAsia", "hAnsi"].map(named).concat();
        let fonts = format!("<{prefix}rFonts{fonts} {prefix}hint=\"eastAsia\"/>");
        let properties = with_property(properties, prefix, &fonts);
        let letter = escaped(&letter.to_string());
        format!("{properties}<{prefix}t>{letter}</{prefix}t>")
    }

    /// The same of a form field as older versions have it.
    fn form_field(&self, data: Id) -> Vec<Change> {
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
