//! Check boxes whose name is a tag: the tag's answer decides whether they are ticked.

use std::ops::Range;

use super::{Action, LAST, Node, Planner};
use crate::forms::with_property;
use crate::lexer::Tag;
use crate::package::xml::{attribute_text, escaped};
use crate::tags::Placed;
use crate::word::attribute::attribute;
use crate::word::{Element, Id, Kind, NONE, Place};

/// The look of a box: a character and its font.
struct Look {
    code: u32,
    font: String,
}

/// A range of the part, its replacement with a tick, and that without one.
type Change = (Range<usize>, String, String);

impl Planner<'_> {
    /// Plans a check box: its name is kept without the braces, its state and look depend on the answer.
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

    /// The range of an attribute's value, and the value.
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

    /// The changes to a content control that is a check box.
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
        // The mark may be in any run, or split over several, so all others are removed.
        changes.extend(runs.map(|run| (run.range(), String::new(), String::new())));
        changes
    }

    /// The change to the control's property that says whether it is ticked.
    fn state(&self, tick: Id) -> Option<Change> {
        if let Some(checked) = self.child(tick, "checked") {
            let (range, _) = self.value(checked, "val")?;
            return Some((range, "1".to_owned(), "0".to_owned()));
        }
        // The schema wants it as the first child.
        let element = self.part.element(tick)?;
        let at = element.start_tag().end;
        let prefix = self.part.name(tick).strip_suffix("checkbox")?;
        let is_empty = element.range() == element.start_tag();
        (!is_empty).then(|| (at..at, format!("<{prefix}checked {prefix}val=\"1\"/>"), String::new()))
    }

    /// The runs in an element that are not empty tags.
    fn runs(&self, within: Id) -> impl Iterator<Item = &Element> {
        let end = self.part.element(within).map_or(0, |element| element.range().end);
        let behind = (within.saturating_add(1)..).map_while(|id| self.part.element(id));
        let inside = behind.take_while(move |element| element.range().start < end);
        inside.filter(|element| element.kind == Kind::Run && element.range() != element.start_tag())
    }

    /// A box as content of a run. Characters of symbol fonts (U+F000 to U+F0FF) are written with their font, for in others they
    /// mean nothing.
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

    /// The changes to a check box of older versions, a form field.
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
