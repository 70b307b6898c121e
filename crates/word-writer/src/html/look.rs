//! What an element's name, attributes and style make of what it contains.

use std::rc::Rc;

use crate::model::{
    Alignment, Borders, Caps, Colour, FontSize, Indent, Line, Position, Role, RunLook, Twips,
};

use super::colour;
use super::css;
use super::tree::Element;

/// What an element hands down to what it contains.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Of characters.
    pub run: Rc<RunLook>,
    /// Of paragraphs.
    pub role: Role,
    /// Of paragraphs.
    pub alignment: Option<Alignment>,
    /// Of paragraphs and tables.
    pub right_to_left: bool,
    /// Of paragraphs.
    pub indent: Indent,
    /// Of paragraphs.
    pub line: Option<Line>,
    /// Of paragraphs.
    pub background: Option<Colour>,
    /// Of paragraphs.
    pub borders: Borders,
    /// What blanks and new lines are.
    pub white_space: WhiteSpace,
}

/// What blanks and new lines of the text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhiteSpace {
    /// Any number is one blank.
    #[default]
    Collapse,
    /// Blanks are one, new lines are kept.
    Lines,
    /// All are kept.
    Keep,
}

/// The size of text that nothing says the size of: what an `em` is taken for where it is a length.
const SIZE: f64 = 220.0;

impl Look {
    fn run(&mut self) -> &mut RunLook {
        Rc::make_mut(&mut self.run)
    }

    /// One `em` in twips.
    pub fn em(&self) -> f64 {
        match self.run.size {
            Some(FontSize::HalfPoints(half)) => f64::from(half) * 10.0,
            Some(FontSize::Percent(percent)) => SIZE * f64::from(percent) / 100.0,
            None => SIZE,
        }
    }

    /// Makes the font `factor` times as large as it is.
    fn scale(&mut self, factor: f64) {
        let scaled = |size: u32| u32::try_from(css::rounded(f64::from(size) * factor)).unwrap_or(1);
        let size = match self.run.size {
            Some(FontSize::HalfPoints(half)) => FontSize::HalfPoints(scaled(half).clamp(2, 3276)),
            Some(FontSize::Percent(percent)) => FontSize::Percent(scaled(percent).clamp(1, 10_000)),
            None => FontSize::Percent(scaled(100).clamp(1, 10_000)),
        };
        self.run().size = Some(size);
    }

    /// What stands in a cell begins anew, but for the characters.
    pub fn in_cell(&self) -> Self {
        Self {
            run: Rc::clone(&self.run),
            right_to_left: self.right_to_left,
            line: self.line,
            alignment: self.alignment,
            ..Self::default()
        }
    }

    /// Takes what an element's name says.
    pub fn named(&mut self, name: &str) {
        match name {
            "b" | "strong" | "th" | "dt" | "summary" | "legend" => self.run().bold = Some(true),
            "i" | "em" | "cite" | "dfn" | "var" | "address" => self.run().italic = Some(true),
            "u" | "ins" => self.run().underline = Some(true),
            "s" | "strike" | "del" => self.run().strike = Some(true),
            "mark" => self.run().background = Some(Colour(0xFF, 0xFF, 0)),
            "sub" => self.run().position = Some(Position::Subscript),
            "sup" => self.run().position = Some(Position::Superscript),
            "small" => self.scale(0.83),
            "big" => self.scale(1.2),
            "code" | "kbd" | "samp" | "tt" => self.run().code = self.role != Role::Preformatted,
            "pre" | "listing" | "xmp" | "plaintext" | "textarea" => {
                self.role = Role::Preformatted;
                self.white_space = WhiteSpace::Keep;
            }
            "blockquote" => {
                if self.role == Role::Quote {
                    self.indent.start += 360;
                }
                self.role = Role::Quote;
            }
            "center" => self.alignment = Some(Alignment::Centre),
            "dd" => self.indent.start += 720,
            "figcaption" | "caption" => self.role = Role::Caption,
            _ => {
                if let Some(level) = heading(name) {
                    self.heading(level);
                }
            }
        }
        if name == "th" {
            self.alignment = Some(Alignment::Centre);
        }
    }

    fn heading(&mut self, level: u8) {
        self.role = Role::Heading(level);
        if self.run.size.is_some() {
            let factors = [2.0, 1.5, 1.17, 1.0, 0.83, 0.67];
            self.scale(factors.get(usize::from(level) - 1).copied().unwrap_or(1.0));
        }
    }

    /// Takes what an element's attributes say, but for its style.
    pub fn attributes(&mut self, element: &Element, name: &str) {
        if let Some(direction) = element.attribute("dir") {
            self.direction(direction);
        }
        if let Some(language) = element.attribute("lang").and_then(language) {
            self.run().language = Some(language);
        }
        if let Some(alignment) = element.attribute("align").filter(|_| aligns(name)).and_then(alignment) {
            self.alignment = Some(alignment);
        }
        if name == "font" {
            self.font(element);
        }
        for class in element.attribute("class").unwrap_or_default().split_ascii_whitespace() {
            self.class(class);
        }
    }

    fn direction(&mut self, direction: &str) {
        let right_to_left = match direction.trim().to_ascii_lowercase().as_str() {
            "rtl" => true,
            "ltr" => false,
            _ => return,
        };
        self.right_to_left = right_to_left;
        self.run().right_to_left = right_to_left;
    }

    /// The attributes of `font`.
    fn font(&mut self, element: &Element) {
        if let Some(colour) = element.attribute("color").and_then(colour::attribute) {
            self.run().colour = Some(colour);
        }
        if let Some(family) = element.attribute("face").and_then(family) {
            self.run().family = Some(family);
        }
        let Some(size) = element.attribute("size").map(str::trim) else { return };
        let Ok(number) = size.parse::<i32>() else { return };
        let number = if size.starts_with(['+', '-']) { number.saturating_add(3) } else { number };
        let sizes = [15, 20, 24, 27, 36, 48, 72];
        let place = usize::try_from(number.clamp(1, 7) - 1).unwrap_or(0);
        self.run().size = sizes.get(place).map(|&half| FontSize::HalfPoints(half));
    }

    /// Quill's classes; all others mean something only beside the style sheet that they come from.
    fn class(&mut self, class: &str) {
        match class {
            "ql-align-center" => self.alignment = Some(Alignment::Centre),
            "ql-align-right" => self.alignment = Some(Alignment::Right),
            "ql-align-justify" => self.alignment = Some(Alignment::Justify),
            "ql-direction-rtl" => self.direction("rtl"),
            "ql-size-small" => self.scale(0.75),
            "ql-size-large" => self.scale(1.5),
            "ql-size-huge" => self.scale(2.5),
            "ql-font-serif" => self.run().family = Some("Georgia".into()),
            "ql-font-monospace" => self.run().family = Some("Courier New".into()),
            "ql-syntax" | "ql-code-block" | "ql-code-block-container" => self.named("pre"),
            _ => {}
        }
    }

    /// Whether it was a declaration about characters.
    pub fn character(&mut self, name: &str, value: &str, decorated: bool) -> bool {
        let small = value.to_ascii_lowercase();
        match name {
            "color" => {
                if let Some(colour) = colour::colour(value) {
                    self.run().colour = Some(colour);
                }
            }
            "font-weight" => self.run().bold = weight(&small).or(self.run.bold),
            "font-style" => self.run().italic = Some(small != "normal"),
            "text-decoration" | "text-decoration-line" => self.decoration(&small, decorated),
            "font-size" => self.font_size(&small),
            "font-family" => {
                if let Some(family) = family(value) {
                    self.run().family = Some(family);
                }
            }
            "text-transform" => {
                self.run().caps = Some(if small == "uppercase" { Caps::All } else { Caps::None });
            }
            "font-variant" | "font-variant-caps" => {
                self.run().caps = Some(if small.contains("small-caps") { Caps::Small } else { Caps::None });
            }
            "letter-spacing" => {
                let em = self.em();
                self.run().spacing = Some(css::length(&small).map_or(0, |one| one.twips(em)));
            }
            "direction" => self.direction(&small),
            "vertical-align" if matches!(small.as_str(), "sub" | "super" | "baseline") => {
                self.run().position = Some(match small.as_str() {
                    "sub" => Position::Subscript,
                    "super" => Position::Superscript,
                    _ => Position::Baseline,
                });
            }
            "white-space" => {
                self.white_space = match small.as_str() {
                    "pre" | "pre-wrap" | "break-spaces" => WhiteSpace::Keep,
                    "pre-line" => WhiteSpace::Lines,
                    _ => WhiteSpace::Collapse,
                }
            }
            _ => return false,
        }
        true
    }

    /// A decoration goes through all that an element contains: only the element that draws it can take it away.
    fn decoration(&mut self, value: &str, decorated: bool) {
        if value.contains("underline") {
            self.run().underline = Some(true);
        }
        if value.contains("line-through") {
            self.run().strike = Some(true);
        }
        if value.split_ascii_whitespace().any(|one| one == "none") && decorated {
            self.run().underline = Some(false);
            self.run().strike = Some(false);
        }
    }

    fn font_size(&mut self, value: &str) {
        let pixels = match value {
            "xx-small" => 9.0,
            "x-small" => 10.0,
            "small" => 13.0,
            "medium" => 16.0,
            "large" => 18.0,
            "x-large" => 24.0,
            "xx-large" => 32.0,
            "xxx-large" => 48.0,
            "smaller" => return self.scale(0.83),
            "larger" => return self.scale(1.2),
            other => match css::length(other) {
                Some(css::Length::Relative(_)) if other.ends_with("rem") => {
                    self.run().size = None;
                    return self.font_size(&other.replace("rem", "em"));
                }
                Some(css::Length::Relative(share)) => return self.scale(share),
                Some(css::Length::Twips(twips)) => twips / 15.0,
                Some(css::Length::Number(_)) | None => return,
            },
        };
        let half = css::rounded(pixels * 1.5);
        if half > 0 {
            self.run().size = u32::try_from(half).ok().map(|half| FontSize::HalfPoints(half.clamp(2, 3276)));
        }
    }

    /// Whether it was a declaration about paragraphs that is handed down.
    pub fn paragraph(&mut self, name: &str, value: &str) -> bool {
        match name {
            "text-align" => self.alignment = alignment(value).or(self.alignment),
            "text-indent" => {
                let em = self.em();
                self.indent.first_line = css::length(value).map_or(0, |one| one.twips(em));
            }
            "line-height" => self.line = Self::line_height(value),
            _ => return false,
        }
        true
    }

    fn line_height(value: &str) -> Option<Line> {
        match css::length(value)? {
            css::Length::Number(share) | css::Length::Relative(share) => {
                let percent = css::rounded(share * 100.0);
                u32::try_from(percent).ok().filter(|one| (10..=1000).contains(one)).map(Line::Percent)
            }
            css::Length::Twips(twips) => {
                (twips > 0.0).then(|| Line::AtLeast(css::rounded(twips).clamp(1, 31_680)))
            }
        }
    }

    /// Adds to the indents, which end where no line could stand.
    pub fn indent(&mut self, start: Twips, end: Twips) {
        self.indent.start = (self.indent.start + start).clamp(-2880, 8640);
        self.indent.end = (self.indent.end + end).clamp(-2880, 8640);
    }
}

/// The level that a heading's name says.
pub fn heading(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// `align` is about the text of these; of tables and pictures it is about themselves.
fn aligns(name: &str) -> bool {
    !matches!(name, "table" | "img" | "iframe" | "object" | "input" | "hr" | "caption")
}

/// How lines stand.
pub fn alignment(value: &str) -> Option<Alignment> {
    match value.trim().to_ascii_lowercase().as_str() {
        "left" | "-webkit-left" => Some(Alignment::Left),
        "right" | "-webkit-right" => Some(Alignment::Right),
        "center" | "middle" | "-webkit-center" => Some(Alignment::Centre),
        "justify" => Some(Alignment::Justify),
        "start" => Some(Alignment::Start),
        "end" => Some(Alignment::End),
        _ => None,
    }
}

fn weight(value: &str) -> Option<bool> {
    match value {
        "bold" | "bolder" => Some(true),
        "normal" | "lighter" => Some(false),
        number => number.parse::<f64>().ok().map(|weight| weight >= 600.0),
    }
}

/// The first family that names a font of its own, else a font for the generic name.
fn family(value: &str) -> Option<Rc<str>> {
    let named = value
        .split(',')
        .map(|one| one.trim().trim_matches(['"', '\'']).trim())
        .find(|one| !one.is_empty() && !one.starts_with('-') && !one.contains(['(', '{']))?;
    let font = match named.to_ascii_lowercase().as_str() {
        "inherit" | "initial" | "unset" | "system-ui" | "ui-sans-serif" => return None,
        "sans-serif" => "Arial",
        "serif" | "ui-serif" => "Times New Roman",
        "monospace" | "ui-monospace" => "Courier New",
        "cursive" => "Comic Sans MS",
        "fantasy" => "Impact",
        _ => named,
    };
    // Word's own limit for a font's name.
    Some(font.chars().filter(|one| !one.is_control()).take(31).collect::<String>().into())
}

/// A language tag, if it is one.
fn language(value: &str) -> Option<Rc<str>> {
    let value = value.trim();
    let sound = value.len() <= 35
        && value.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        && value.split('-').next().is_some_and(|first| {
            (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
    sound.then(|| value.into())
}
