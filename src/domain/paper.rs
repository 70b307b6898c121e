//! Sheets of paper: sizes, margins, and the `size` of an `@page` rule.

/// CSS pixels in an inch.
const PIXELS_PER_INCH: f64 = 96.0;
/// Largest width or height: 14,400 points, the most a PDF page may have (PDF 1.7, annex C).
pub const SHEET_LIMIT_IN: f64 = 200.0;
/// Smallest width or height: a smaller sheet has no room for content.
pub const SHEET_LEAST_IN: f64 = 0.1;
/// The sides of a margin, in the order of CSS.
pub const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];

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

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
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
}
