//! The sheet that a PDF is printed on: its size and margins.

use json_members::{Members, Named, Shape};
use serde_json::value::RawValue;

use super::Key;

/// CSS pixels in an inch.
const PIXELS_PER_INCH: f64 = 96.0;
/// Largest width or height: 14,400 points, the most a PDF page may have (PDF 1.7, annex C).
pub const SHEET_LIMIT_IN: f64 = 200.0;
/// Smallest width or height: a smaller sheet has no room for content.
pub const SHEET_LEAST_IN: f64 = 0.1;
/// The margin of a side with a header or footer where the caller gave none: three lines of its default size.
const HEADER_FOOTER_MARGIN_IN: f64 = 15.0 / 25.4;
/// The sides of a margin, in the order of CSS.
pub const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];
/// The values of `format`, with width and height in inches.
const FORMATS: [(&str, f64, f64); 11] = [
    ("letter", 8.5, 11.0),
    ("legal", 8.5, 14.0),
    ("tabloid", 11.0, 17.0),
    ("ledger", 17.0, 11.0),
    ("a0", 841.0 / 25.4, 1189.0 / 25.4),
    ("a1", 594.0 / 25.4, 841.0 / 25.4),
    ("a2", 420.0 / 25.4, 594.0 / 25.4),
    ("a3", 297.0 / 25.4, 420.0 / 25.4),
    ("a4", 210.0 / 25.4, 297.0 / 25.4),
    ("a5", 148.0 / 25.4, 210.0 / 25.4),
    ("a6", 105.0 / 25.4, 148.0 / 25.4),
];

/// The named sizes of `@page`, with width and height in inches.
const CSS_SHEETS: [(&str, f64, f64); 10] = [
    ("a5", 148.0 / 25.4, 210.0 / 25.4),
    ("a4", 210.0 / 25.4, 297.0 / 25.4),
    ("a3", 297.0 / 25.4, 420.0 / 25.4),
    ("b5", 176.0 / 25.4, 250.0 / 25.4),
    ("b4", 250.0 / 25.4, 353.0 / 25.4),
    ("jis-b5", 182.0 / 25.4, 257.0 / 25.4),
    ("jis-b4", 257.0 / 25.4, 364.0 / 25.4),
    ("letter", 8.5, 11.0),
    ("legal", 8.5, 14.0),
    ("ledger", 11.0, 17.0),
];

/// A sheet of paper, in inches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Width in inches.
    pub width_in: f64,
    /// Height in inches.
    pub height_in: f64,
}

/// The four margins, in inches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    /// In inches.
    pub top_in: f64,
    /// In inches.
    pub right_in: f64,
    /// In inches.
    pub bottom_in: f64,
    /// In inches.
    pub left_in: f64,
}

/// Which properties of the sheet a caller chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `format`, `width` or `height`.
    pub sheet: bool,
    /// `landscape`, whether true or false.
    pub landscape: bool,
    /// The sides of `margin`, as in [`SIDES`].
    pub margin: [bool; 4],
}

impl Paper {
    /// ISO 216 A4.
    pub const A4: Self = Self { width_in: 210.0 / 25.4, height_in: 297.0 / 25.4 };

    /// The same sheet in landscape, or in portrait.
    pub fn oriented(self, landscape: bool) -> Self {
        if self.is_landscape() == landscape { self } else { self.turned() }
    }

    /// The same sheet in the orientation of `other`; unchanged if `other` is a square.
    pub fn oriented_as(self, other: Self) -> Self {
        let is_square = is_near_in(other.width_in, other.height_in);
        if is_square { self } else { self.oriented(other.is_landscape()) }
    }

    /// The same sheet, turned.
    pub fn turned(self) -> Self {
        Self { width_in: self.height_in, height_in: self.width_in }
    }

    /// As large as `other`, lying or standing as it does, within a device pixel and a half.
    pub fn is_same(self, other: Self) -> bool {
        is_near_in(self.width_in, other.width_in) && is_near_in(self.height_in, other.height_in)
    }

    /// Wider than high.
    pub fn is_landscape(self) -> bool {
        self.width_in > self.height_in
    }
}

impl Margin {
    /// The four margins, in the order of [`SIDES`].
    pub fn sides_in(self) -> [f64; 4] {
        [self.top_in, self.right_in, self.bottom_in, self.left_in]
    }

    /// The margins from four lengths, in the order of [`SIDES`].
    pub fn of_sides([top_in, right_in, bottom_in, left_in]: [f64; 4]) -> Self {
        Self { top_in, right_in, bottom_in, left_in }
    }
}

/// The `size` of an `@page` rule (CSS Paged Media 3, 6.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CssSize {
    /// The sheet's own.
    Auto,
    /// The sheet's own, in landscape or portrait.
    Turned {
        /// Landscape.
        landscape: bool,
    },
    /// A size.
    Sheet(Paper),
    /// A length whose unit depends on something else.
    Unknown,
}

impl CssSize {
    /// The size of a page with this rule on `sheet`.
    pub fn laid_out(self, sheet: Paper) -> Paper {
        match self {
            Self::Auto | Self::Unknown => sheet,
            Self::Turned { landscape } => sheet.oriented(landscape),
            Self::Sheet(page) => page,
        }
    }

    /// Reads the value as a browser writes it.
    pub fn of(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        let mut landscape = None;
        let mut sheet = None;
        let mut lengths = Vec::new();
        for word in text.split_whitespace() {
            let named = CSS_SHEETS.iter().find(|(name, _, _)| *name == word);
            match (word, named, css_length_in(word)) {
                ("auto", ..) => {}
                ("landscape" | "portrait", ..) => landscape = Some(word == "landscape"),
                (_, Some(&(_, width_in, height_in)), _) => sheet = Some(Paper { width_in, height_in }),
                (_, None, Some(length_in)) => lengths.push(length_in),
                (_, None, None) => return Self::Unknown,
            }
        }
        match (lengths.as_slice(), sheet, landscape) {
            (&[width_in, height_in], ..) => Self::Sheet(Paper { width_in, height_in }),
            (&[side_in], ..) => Self::Sheet(Paper { width_in: side_in, height_in: side_in }),
            (_, Some(sheet), Some(true)) => Self::Sheet(sheet.oriented(true)),
            (_, Some(sheet), _) => Self::Sheet(sheet),
            (_, None, Some(landscape)) => Self::Turned { landscape },
            (_, None, None) => Self::Auto,
        }
    }
}

/// The margins that were given; `None` for a side left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sides([Option<f64>; 4]);

impl Sides {
    /// Which were given.
    pub(super) fn given(self) -> [bool; 4] {
        self.0.map(|side| side.is_some())
    }

    /// A side left out has no margin, or the one that its header or footer needs.
    pub(super) fn resolved(self, header: bool, footer: bool) -> Margin {
        let Self([top, right, bottom, left]) = self;
        let margin = |is_present: bool| if is_present { HEADER_FOOTER_MARGIN_IN } else { 0.0 };
        Margin {
            top_in: top.unwrap_or(margin(header)),
            right_in: right.unwrap_or_default(),
            bottom_in: bottom.unwrap_or(margin(footer)),
            left_in: left.unwrap_or_default(),
        }
    }
}

/// The value of `height` for a sheet as high as its page.
const AUTO: &str = "\"auto\"";

/// Whether the sheet is to be as high as its page.
pub(super) fn is_auto_height(members: &Members<'_>) -> bool {
    members.peek(Key::Height).is_some_and(|height| height.get().eq_ignore_ascii_case(AUTO))
}

/// Reads `format`, `width` and `height`.
pub(super) fn read_paper(members: &mut Members<'_>) -> Paper {
    let names = || FORMATS.map(|(name, _, _)| name).to_vec();
    let chosen = members.word_of(Key::Format, names, |name| {
        let format = FORMATS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name.trim()))?;
        Some(Paper { width_in: format.1, height_in: format.2 })
    });
    let sheet = chosen.unwrap_or(Paper::A4);
    let width_in = read_side(members, Key::Width).unwrap_or(sheet.width_in);
    let height_in = if is_auto_height(members) {
        members.pass(Key::Height);
        None
    } else {
        read_side(members, Key::Height)
    };
    Paper { width_in, height_in: height_in.unwrap_or(sheet.height_in) }
}

fn read_side(members: &mut Members<'_>, name: Key) -> Option<f64> {
    let length_in = read_length(members, name)?;
    if (SHEET_LEAST_IN..=SHEET_LIMIT_IN).contains(&length_in) {
        return Some(length_in);
    }
    let detail = format!("must be from {SHEET_LEAST_IN}in to {SHEET_LIMIT_IN}in");
    members.fault(name, detail);
    None
}

/// One length for all sides, or an object of sides.
pub(super) fn read_margin(members: &mut Members<'_>) -> Sides {
    let is_one = |value: &RawValue| !value.get().starts_with(['{', '[']);
    if members.peek(Key::Margin).is_some_and(is_one) {
        return Sides([read_length(members, Key::Margin); 4]);
    }
    let wanted = "a length such as \"10mm\", or an object of top, right, bottom, left";
    let read = |sent: &mut Members<'_>| Sides(SIDES.map(|side| read_length(sent, side)));
    let sides = members.object_or(Key::Margin, ("MarginSides", wanted), ("Margin", Shape::Length), read);
    sides.unwrap_or_default()
}

/// A CSS length in inches; a bare number is pixels.
fn read_length(members: &mut Members<'_>, name: impl Named) -> Option<f64> {
    let value = members.raw(name, || Shape::Length)?;
    let text: String = serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned());
    if text.is_empty() {
        return None;
    }
    let length_in = css_length_in(&text);
    if length_in.is_none() {
        let shown: String = text.chars().take(32).collect();
        let detail = format!(
            "'{shown}' is no length; write a number with px, in, cm, mm, pt or pc (\"10mm\"), or a number of pixels"
        );
        members.fault(name.name(), detail);
    }
    length_in
}

/// A CSS length in inches; a bare number is pixels. `None` for a negative one, no length, or a relative unit.
pub fn css_length_in(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    // Browsers serialize a computed sum as `calc(…)`.
    let text = text.strip_prefix("calc(").and_then(|sum| sum.strip_suffix(')')).unwrap_or(&text);
    let unit_at = text.find(|found: char| found.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let per_inch = match unit {
        "" | "px" => PIXELS_PER_INCH,
        "in" => 1.0,
        "cm" => 2.54,
        "mm" => 25.4,
        "q" => 101.6,
        "pt" => 72.0,
        "pc" => 6.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number / per_inch)
}

/// Whether two lengths are the same, within a device pixel and a half.
pub fn is_near_in(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1.5 / PIXELS_PER_INCH
}

/// Adds an error if the margins leave no room for content: Chromium would refuse to print.
pub(super) fn check_area(paper: Paper, margin: Margin, members: &mut Members<'_>) {
    let Paper { width_in, height_in } = paper;
    if margin.left_in + margin.right_in >= width_in || margin.top_in + margin.bottom_in >= height_in {
        let detail = "the margins leave nothing of the sheet; make them smaller (a header or footer takes 15mm \
                      of its side where no margin is given)";
        members.fault(Key::Margin, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn every_format_has_its_sheet() {
        for (name, width_in, height_in) in FORMATS {
            let paper = options(&format!(r#"{{"format":"{}"}}"#, name.to_uppercase())).paper;
            assert_eq!(paper, Paper { width_in, height_in });
        }
        assert_error(r#"{"format":"a7"}"#, "/formatOpts/format", "'a7' is not known; give one of letter");
    }

    #[test]
    fn lengths_have_units_or_are_pixels() {
        for text in ["\"96px\"", "96", "96.0", "\"1in\"", "\"2.54cm\"", "\"25.4 mm\"", "\"72PT\"", "\"6pc\""]
        {
            assert!(near(options(&format!(r#"{{"width":{text}}}"#)).paper.width_in, 1.0), "{text}");
        }
        for text in ["\"1em\"", "\"-1px\"", "\"wide\"", "true", "{}", "\"inf\"", "\"1e400px\""] {
            assert_error(&format!(r#"{{"height":{text}}}"#), "/formatOpts/height", "is no length");
        }
        assert_error(r#"{"width":"900in"}"#, "/formatOpts/width", "from 0.1in to 200in");
        assert_error(r#"{"width":0}"#, "/formatOpts/width", "from 0.1in to 200in");
    }

    #[test]
    fn the_height_may_be_auto() {
        let read = options(r#"{"width":"80mm","height":"auto"}"#);
        assert!(read.auto_height && near(read.paper.width_in, 80.0 / 25.4));
        assert!(!options(r#"{"height":"80mm"}"#).auto_height);
        assert_error(r#"{"width":"auto"}"#, "/formatOpts/width", "is no length");
    }

    #[test]
    fn the_size_of_a_page_rule_is_read_as_browsers_serialize_it() {
        let sheet = |width: f64, height: f64| {
            CssSize::Sheet(Paper { width_in: width / 25.4, height_in: height / 25.4 })
        };
        for (text, size) in [
            ("auto", CssSize::Auto),
            ("landscape", CssSize::Turned { landscape: true }),
            ("portrait", CssSize::Turned { landscape: false }),
            ("A5", sheet(148.0, 210.0)),
            ("a5 portrait", sheet(148.0, 210.0)),
            ("landscape a5", sheet(210.0, 148.0)),
            ("148mm 840q", sheet(148.0, 210.0)),
            ("25.4mm", sheet(25.4, 25.4)),
            ("10em 20em", CssSize::Unknown),
            ("calc(1em + 2mm) 7mm", CssSize::Unknown),
        ] {
            let read = CssSize::of(text);
            match (read, size) {
                (CssSize::Sheet(read), CssSize::Sheet(wanted)) => {
                    assert!(near(read.width_in, wanted.width_in) && near(read.height_in, wanted.height_in));
                }
                (read, wanted) => assert_eq!(read, wanted, "{text}"),
            }
        }
    }

    #[test]
    fn margins_are_one_length_or_four() {
        let margin = options(r#"{"margin":{"top":"1in","left":96}}"#).margin;
        assert_eq!(margin, Margin { top_in: 1.0, right_in: 0.0, bottom_in: 0.0, left_in: 1.0 });
        assert_error(r#"{"margin":{"top":"high"}}"#, "/formatOpts/margin/top", "is no length");
        assert_error(r#"{"margin":[1]}"#, "/formatOpts/margin", "an object of top");
        assert_error(r#"{"margin":"5in"}"#, "/formatOpts/margin", "leave nothing of the sheet");
        assert_eq!(options(r#"{"margin":[]}"#).margin, Margin::default());
    }
}
