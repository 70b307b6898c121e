//! How a text, a paragraph or a cell looks: what a chain of styles says, as CSS.

use std::collections::BTreeMap;

use roxmltree::Node;

use crate::css::{border, colour, family, points, share, written};
use crate::xml::{attribute, attributes, name};

/// LibreOffice's single line has the height that the font says, CSS's `100%` that of the letters alone.
const SINGLE_LINE: f64 = 1.2;

/// Raised or lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// On the line.
    Base,
    /// Above it.
    Raised,
    /// Below it.
    Lowered,
}

/// What is declared; what is not has no entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Declarations whose CSS is all there is to them.
    pub css: BTreeMap<&'static str, String>,
    /// Points.
    pub size: Option<f64>,
    /// What has an element of its own.
    pub bold: Option<bool>,
    /// Likewise.
    pub italic: Option<bool>,
    /// Likewise.
    pub underlined: Option<bool>,
    /// Likewise.
    pub struck: Option<bool>,
    /// Likewise.
    pub position: Option<Position>,
    /// Not to be shown.
    pub hidden: Option<bool>,
    /// Written from right to left.
    pub from_right: Option<bool>,
    /// A tag of a language.
    pub language: Option<String>,
    /// No space to neighbours of the same style.
    pub contextual: Option<bool>,
    /// Points from the left, which in a list tell the level.
    pub left: Option<f64>,
    /// Points above and below.
    pub above: Option<f64>,
    /// Likewise.
    pub below: Option<f64>,
}

/// The families that a document declares, by the name that styles call them.
pub type Fonts<'a> = std::collections::HashMap<&'a str, (&'a str, &'a str)>;

impl Look {
    /// Takes over what a style says; what it says goes before what was said.
    pub fn apply(&mut self, style: Node<'_, '_>, fonts: &Fonts<'_>) {
        for properties in style.children() {
            match name(properties) {
                ("style", "text-properties") => self.text(properties, fonts),
                ("style", "paragraph-properties") => self.paragraph(properties),
                ("style", "table-cell-properties") => self.cell(properties),
                _ => {}
            }
        }
    }

    fn text(&mut self, properties: Node<'_, '_>, fonts: &Fonts<'_>) {
        let window_colour = attribute(properties, "style", "use-window-font-color") == Some("true");
        for (space, name, value) in attributes(properties) {
            match (space, name) {
                ("fo", "color") if !window_colour => self.set("color", colour(value)),
                ("style", "use-window-font-color") if value == "true" => self.unset("color"),
                ("fo", "background-color") => self.set_or_unset("background-color", colour(value)),
                ("fo", "font-size") => {
                    let relative = || share(value).map(|share| self.size.unwrap_or(12.0) * share);
                    self.size = points(value).or_else(relative).filter(|size| *size > 0.0).or(self.size);
                }
                ("fo", "font-weight") => {
                    self.bold = Some(matches!(value, "bold" | "600" | "700" | "800" | "900"));
                }
                ("fo", "font-style") => self.italic = Some(matches!(value, "italic" | "oblique")),
                ("style", "text-underline-style") => self.underlined = Some(value != "none"),
                ("style", "text-line-through-style" | "text-line-through-type") => {
                    self.struck = Some(value != "none");
                }
                ("style", "text-position") => self.position = Some(position(value)),
                ("fo", "text-transform") => self
                    .set("text-transform", one_of(value, &["uppercase", "lowercase", "capitalize", "none"])),
                ("fo", "font-variant") => self.set("font-variant", one_of(value, &["small-caps", "normal"])),
                ("fo", "letter-spacing") => self.set_or_unset("letter-spacing", points(value).map(written)),
                ("text", "display") => self.hidden = Some(value == "none"),
                ("fo", "language") => self.language = language(value, attribute(properties, "fo", "country")),
                _ => {}
            }
        }
        self.family(properties, fonts);
    }

    fn family(&mut self, properties: Node<'_, '_>, fonts: &Fonts<'_>) {
        let declared = attribute(properties, "style", "font-name").and_then(|name| fonts.get(name)).copied();
        let generic = attribute(properties, "style", "font-family-generic").unwrap_or_default();
        let direct = attribute(properties, "fo", "font-family").map(|family| (family, generic));
        if let Some((name, generic)) = direct.or(declared) {
            self.set("font-family", family(name, generic));
        }
    }

    fn paragraph(&mut self, properties: Node<'_, '_>) {
        for (space, name, value) in attributes(properties) {
            match (space, name) {
                ("fo", "text-align") => {
                    self.set(
                        "text-align",
                        one_of(value, &["start", "end", "left", "right", "center", "justify"]),
                    );
                }
                ("fo", "margin-left") => self.left = points(value).or(self.left),
                ("fo", "margin-top") => self.above = points(value).or(self.above),
                ("fo", "margin-bottom") => self.below = points(value).or(self.below),
                ("fo", "margin-right") => self.set_or_unset("margin-right", positive(value)),
                ("fo", "text-indent") => {
                    self.set_or_unset("text-indent", points(value).filter(|one| *one != 0.0).map(written));
                }
                ("fo", "line-height") => self.set_or_unset("line-height", line_height(value)),
                ("fo", "background-color") => self.set_or_unset("background-color", colour(value)),
                ("style", "writing-mode") => self.writing_mode(value),
                ("style", "contextual-spacing") => self.contextual = Some(value == "true"),
                _ => {}
            }
        }
        self.frame(properties);
    }

    fn cell(&mut self, properties: Node<'_, '_>) {
        for (space, name, value) in attributes(properties) {
            match (space, name) {
                ("fo", "background-color") => self.set_or_unset("background-color", colour(value)),
                ("style", "vertical-align") => {
                    self.set("vertical-align", one_of(value, &["top", "middle", "bottom"]));
                }
                ("style", "writing-mode") => self.writing_mode(value),
                ("fo", "wrap-option") => {
                    let kept = if value == "wrap" { "normal" } else { "nowrap" };
                    self.set("white-space", Some(kept.to_owned()));
                }
                _ => {}
            }
        }
        self.frame(properties);
    }

    /// Borders and paddings, of a paragraph or of a cell.
    fn frame(&mut self, properties: Node<'_, '_>) {
        const SIDES: [(&str, &str); 4] = [
            ("border-top", "padding-top"),
            ("border-right", "padding-right"),
            ("border-bottom", "padding-bottom"),
            ("border-left", "padding-left"),
        ];
        for (border_name, padding_name) in SIDES {
            let value = |name| attribute(properties, "fo", name);
            if let Some(value) = value(border_name).or_else(|| value("border")) {
                self.set_or_unset(border_name, border(value));
            }
            if let Some(value) = value(padding_name).or_else(|| value("padding")) {
                self.set_or_unset(padding_name, positive(value));
            }
        }
    }

    fn writing_mode(&mut self, value: &str) {
        match value {
            "rl-tb" | "rl" => self.from_right = Some(true),
            "lr-tb" | "lr" => self.from_right = Some(false),
            _ => {}
        }
    }

    fn set(&mut self, name: &'static str, value: Option<String>) {
        if let Some(value) = value {
            self.css.insert(name, value);
        }
    }

    fn unset(&mut self, name: &'static str) {
        self.css.remove(name);
    }

    fn set_or_unset(&mut self, name: &'static str, value: Option<String>) {
        match value {
            Some(value) => self.set(name, Some(value)),
            None => self.unset(name),
        }
    }
}

fn positive(value: &str) -> Option<String> {
    points(value).filter(|points| *points > 0.0).map(written)
}

fn one_of(value: &str, known: &[&str]) -> Option<String> {
    known.contains(&value).then(|| value.to_owned())
}

/// LibreOffice means the left side by `start` and the right one by `end`, in whichever direction the text runs; CSS goes by
/// that.
pub fn side(alignment: &str) -> &str {
    match alignment {
        "start" => "left",
        "end" => "right",
        other => other,
    }
}

/// `super 58%`, `sub 58%`, `33% 58%`, `0% 100%`.
fn position(value: &str) -> Position {
    match value.split_whitespace().next().unwrap_or_default() {
        "super" => Position::Raised,
        "sub" => Position::Lowered,
        shift => match share(shift) {
            Some(shift) if shift > 0.0 => Position::Raised,
            Some(shift) if shift < 0.0 => Position::Lowered,
            Some(_) | None => Position::Base,
        },
    }
}

fn line_height(value: &str) -> Option<String> {
    match share(value) {
        // A single line is what a reader does by himself.
        Some(share) if (share - 1.0).abs() < 0.01 => None,
        Some(share) => Some(format!("{}", (share * SINGLE_LINE * 100.0).round() / 100.0)),
        None => positive(value),
    }
}

/// A tag of a language: `en`, `de-CH`; nothing where none is meant.
pub fn language(language: &str, country: Option<&str>) -> Option<String> {
    let word = |word: &str| {
        word.len() < 9 && !word.is_empty() && word.bytes().all(|one| one.is_ascii_alphanumeric())
    };
    if !word(language) || matches!(language, "zxx" | "none") {
        return None;
    }
    let country = country.filter(|country| word(country) && *country != "none");
    Some(country.map_or_else(|| language.to_owned(), |country| format!("{language}-{country}")))
}

/// What texts have from the element around them; the rest of CSS each element has for itself.
const INHERITED: [&str; 5] = ["color", "font-family", "font-variant", "letter-spacing", "text-transform"];

impl Look {
    /// What this says and `around` does not.
    pub fn without(&self, around: &Self) -> Self {
        let mut own = self.clone();
        own.css.retain(|name, value| !(INHERITED.contains(name) && around.css.get(name) == Some(value)));
        let differs =
            |mine: Option<bool>, theirs: Option<bool>| mine.filter(|one| *one != theirs.unwrap_or(false));
        own.bold = differs(self.bold, around.bold);
        own.italic = differs(self.italic, around.italic);
        own.underlined = differs(self.underlined, around.underlined);
        own.struck = differs(self.struck, around.struck);
        own.size = self.size.filter(|_| self.size != around.size);
        own.language = self.language.clone().filter(|_| self.language != around.language);
        own
    }

    /// What holds within `inner`, which stands in this.
    pub fn with(&self, inner: &Self) -> Self {
        let mut both = self.clone();
        both.css.extend(inner.css.iter().map(|(name, value)| (*name, value.clone())));
        both.size = inner.size.or(self.size);
        both.bold = inner.bold.or(self.bold);
        both.italic = inner.italic.or(self.italic);
        both.underlined = inner.underlined.or(self.underlined);
        both.struck = inner.struck.or(self.struck);
        both.language = inner.language.clone().or_else(|| self.language.clone());
        both
    }
}
