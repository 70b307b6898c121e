//! Paragraphs.

use crate::model::{
    Alignment, Block, Border, Borders, Colour, Indent, Line, Paragraph, Role, Spacing, Stroke, Twips,
};

use super::xml::{self, Properties};
use super::{Place, Writer};

/// The indent of a list's level.
pub const LEVEL: Twips = 720;

impl Writer<'_> {
    /// Writes a paragraph.
    pub(super) fn write_paragraph(&mut self, paragraph: &Paragraph, place: &Place) {
        let properties = self.paragraph_properties(paragraph, place);
        self.tag("p");
        let properties = properties.within(&self.prefix, "pPr");
        self.push(&properties);
        self.inlines(&paragraph.inlines, paragraph.role, false);
        self.end("p");
        self.first = false;
    }

    /// An empty paragraph.
    pub(super) fn empty_paragraph(&mut self) {
        let empty = self.element("p", &[]);
        self.push(&empty);
    }

    /// A line across the page.
    pub(super) fn rule(&mut self) {
        let mut properties = Properties::new(xml::PARAGRAPH);
        let line = Border { stroke: Stroke::Single, width: 6, colour: Some(Colour(0xA0, 0xA0, 0xA0)) };
        let borders = Borders { bottom: Some(line), ..Borders::default() };
        properties.set("pBdr", self.borders("pBdr", &borders, &[], 1));
        properties.set("spacing", self.element("spacing", &[("before", "0"), ("after", "160")]));
        if std::mem::take(&mut self.page_break) {
            properties.set("pageBreakBefore", self.element("pageBreakBefore", &[]));
        }
        self.tag("p");
        let properties = properties.within(&self.prefix, "pPr");
        self.push(&properties);
        self.end("p");
        self.first = false;
    }

    fn paragraph_properties(&mut self, paragraph: &Paragraph, place: &Place) -> Properties {
        let mut properties = self.inherited(paragraph, place);
        if paragraph.role != Role::Normal {
            let style = self.style(paragraph.role);
            properties.set("pStyle", self.element("pStyle", &[("val", &style)]));
        }
        if std::mem::take(&mut self.page_break) || paragraph.page_break_before {
            properties.set("pageBreakBefore", self.element("pageBreakBefore", &[]));
        }
        if paragraph.keep_with_next {
            properties.set("keepNext", self.element("keepNext", &[]));
        }
        if let Some(number) = paragraph.item.filter(|item| item.marked).and_then(|item| self.list(item.list))
        {
            let level = paragraph.item.map_or(0, |item| item.level.min(8)).to_string();
            let numbered = format!(
                "<{0}numPr>{1}{2}</{0}numPr>",
                self.prefix,
                self.element("ilvl", &[("val", &level)]),
                self.element("numId", &[("val", &number.to_string())])
            );
            properties.set("numPr", numbered);
        }
        if paragraph.borders != Borders::default() {
            properties.set("pBdr", self.borders("pBdr", &paragraph.borders, &[], 4));
        }
        if let Some(background) = paragraph.background {
            properties.set("shd", self.shading(background));
        }
        if paragraph.right_to_left {
            properties.set("bidi", self.element("bidi", &[]));
        }
        self.spacing(&mut properties, paragraph.spacing);
        self.indent(&mut properties, paragraph);
        if let Some(alignment) = paragraph.alignment {
            let bidi = properties.get("bidi").is_some();
            properties.set("jc", self.element("jc", &[("val", justification(alignment, bidi))]));
        }
        properties
    }

    /// What a paragraph has of the place: a plain one all, but for what only one can have; others what concerns all text.
    fn inherited(&self, paragraph: &Paragraph, place: &Place) -> Properties {
        let mut properties = self.paragraph.clone();
        if place.depth > 0 {
            properties.keep(&["pStyle", "bidi"]);
        }
        match paragraph.role {
            Role::Normal | Role::Hyperlink | Role::Code | Role::Table => {}
            Role::ListItem => properties.drop(&["ind", "numPr", "tabs"]),
            Role::Heading(_) | Role::Quote | Role::Preformatted | Role::Caption => {
                properties.keep(&["bidi", "jc"]);
            }
        }
        if !self.first {
            properties.drop(&["numPr", "pageBreakBefore"]);
        }
        properties
    }

    fn spacing(&self, properties: &mut Properties, spacing: Spacing) {
        if spacing == Spacing::default() {
            return;
        }
        let mut attributes = properties.get("spacing").map(xml::attributes).unwrap_or_default();
        let mut put = |name: &str, value: String| {
            attributes.retain(|(one, _)| one != name);
            attributes.push((name.to_owned(), value));
        };
        if let Some(before) = spacing.before {
            put("beforeAutospacing", "0".into());
            put("before", before.max(0).to_string());
        }
        if let Some(after) = spacing.after {
            put("afterAutospacing", "0".into());
            put("after", after.max(0).to_string());
        }
        match spacing.line {
            // 240 is a line of the font's own height.
            Some(Line::Percent(percent)) => {
                put("line", (percent * 240 / 100).to_string());
                put("lineRule", "auto".into());
            }
            Some(Line::AtLeast(twips)) => {
                put("line", twips.max(1).to_string());
                put("lineRule", "atLeast".into());
            }
            None => {}
        }
        let attributes: Vec<(&str, &str)> =
            attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        properties.set("spacing", self.element("spacing", &attributes));
    }

    fn indent(&self, properties: &mut Properties, paragraph: &Paragraph) {
        let Indent { start, end, first_line } = paragraph.indent;
        let item = paragraph.item.map(|item| LEVEL * (Twips::from(item.level.min(8)) + 1));
        let marked = paragraph.item.is_some_and(|item| item.marked);
        if paragraph.indent == Indent::default() && (item.is_none() || marked) {
            return;
        }
        let present = properties.get("ind").map(xml::attributes).unwrap_or_default();
        let of_place = |names: [&str; 2]| -> Twips {
            let found = present.iter().find(|(name, _)| names.contains(&name.as_str()));
            found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
        };
        // Quotes are indented by their style, which an indent of the paragraph replaces.
        let of_style = if paragraph.role == Role::Quote { 360 } else { 0 };
        let left = item.unwrap_or_else(|| of_place(["left", "start"]) + of_style) + start;
        let right = of_place(["right", "end"]) + end;
        let (left, right) = (left.clamp(-4320, 14_400).to_string(), right.clamp(-4320, 14_400).to_string());
        let (kind, first) = match (marked, first_line) {
            (true, 0) => ("hanging", 360),
            (_, ..0) => ("hanging", -first_line),
            (_, _) => ("firstLine", first_line),
        };
        let first = first.to_string();
        properties.set("ind", self.element("ind", &[("left", &left), ("right", &right), (kind, &first)]));
    }

    /// A background.
    pub(super) fn shading(&self, colour: Colour) -> String {
        self.element("shd", &[("val", "clear"), ("color", "auto"), ("fill", &hexadecimal(colour))])
    }

    /// Borders, with those between cells if any.
    pub(super) fn borders(
        &self,
        name: &str,
        borders: &Borders,
        inside: &[(&str, Border)],
        space: u32,
    ) -> String {
        let sides = [
            ("top", borders.top),
            ("left", borders.left),
            ("bottom", borders.bottom),
            ("right", borders.right),
        ];
        let sides = sides.into_iter().filter_map(|(side, border)| Some((side, border?)));
        let content: String = sides
            .chain(inside.iter().copied())
            .map(|(side, border)| self.border(side, border, space))
            .collect();
        format!("<{0}{name}>{content}</{0}{name}>", self.prefix)
    }

    fn border(&self, side: &str, border: Border, space: u32) -> String {
        let stroke = match border.stroke {
            Stroke::None => return self.element(side, &[("val", "nil")]),
            Stroke::Single => "single",
            Stroke::Double => "double",
            Stroke::Dotted => "dotted",
            Stroke::Dashed => "dashed",
        };
        let colour = border.colour.map_or_else(|| "auto".to_owned(), hexadecimal);
        let width = border.width.clamp(2, 96).to_string();
        let space = space.to_string();
        self.element(side, &[("val", stroke), ("sz", &width), ("space", &space), ("color", &colour)])
    }
}

/// A colour as Word writes it.
pub fn hexadecimal(Colour(red, green, blue): Colour) -> String {
    format!("{red:02X}{green:02X}{blue:02X}")
}

/// Word's `left` is where the writing begins, also where it runs from right to left.
pub fn justification(alignment: Alignment, right_to_left: bool) -> &'static str {
    match (alignment, right_to_left) {
        (Alignment::Start, _) | (Alignment::Left, false) | (Alignment::Right, true) => "left",
        (Alignment::End, _) | (Alignment::Left, true) | (Alignment::Right, false) => "right",
        (Alignment::Centre, _) => "center",
        (Alignment::Justify, _) => "both",
    }
}

/// Whether the blocks end with what a cell cannot end with.
pub fn ends_open(blocks: &[Block]) -> bool {
    !matches!(blocks.last(), Some(Block::Paragraph(_) | Block::Rule))
}
