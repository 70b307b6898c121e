//! What a `style` attribute says.

use crate::model::{Border, Extent, Stroke, Twips};

use super::colour::colour;

/// Lengths beyond this are of no page.
const LONGEST: f64 = 31_680.0;

/// The declarations of a `style` attribute, names in small letters and values without `!important`.
pub fn declarations(style: &str) -> Vec<(String, &str)> {
    let mut rest = style;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = end_of_declaration(rest);
        let (declaration, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        if let Some((name, value)) = declaration.split_once(':') {
            let value = value.trim();
            let value =
                value.rfind('!').map_or(value, |mark| value.get(..mark).unwrap_or_default().trim_end());
            found.push((name.trim().to_ascii_lowercase(), value));
        }
    }
    found
}

/// The place of the semicolon that ends it: none within quotes or parentheses.
fn end_of_declaration(text: &str) -> usize {
    let (mut quote, mut open) = (None, 0_usize);
    for (place, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(mark), _) if mark == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => open += 1,
            (None, b')') => open = open.saturating_sub(1),
            (None, b';') if open == 0 => return place,
            (Some(_) | None, _) => {}
        }
    }
    text.len()
}

/// A length, and what it is a length of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// In twips.
    Twips(f64),
    /// Of the font's size, or of what stands around it: 1.0 is the whole.
    Relative(f64),
    /// A number alone.
    Number(f64),
}

impl Length {
    /// In twips, where a whole is `whole` twips and a number alone counts pixels.
    pub fn twips(self, whole: f64) -> Twips {
        match self {
            Self::Twips(twips) => rounded(twips),
            Self::Relative(share) => rounded(share * whole),
            Self::Number(pixels) => rounded(pixels * 15.0),
        }
    }
}

/// Rounded, and held within what a page can have.
#[expect(clippy::cast_possible_truncation, reason = "held within the bounds of a page")]
pub fn rounded(twips: f64) -> Twips {
    if twips.is_nan() { 0 } else { twips.clamp(-LONGEST, LONGEST).round() as Twips }
}

/// A length as CSS writes it. `rem` is the size of the place, as `em` is.
pub fn length(value: &str) -> Option<Length> {
    let value = value.trim();
    let end = value.find(|one: char| !matches!(one, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let number: f64 = number.parse().ok().filter(|one: &f64| one.is_finite())?;
    let twips = |each: f64| Some(Length::Twips(number * each));
    match unit.trim().to_ascii_lowercase().as_str() {
        "" => Some(Length::Number(number)),
        "px" => twips(15.0),
        "pt" => twips(20.0),
        "pc" => twips(240.0),
        "in" => twips(1440.0),
        "cm" => twips(1440.0 / 2.54),
        "mm" => twips(144.0 / 2.54),
        "q" => twips(36.0 / 2.54),
        "em" | "rem" => Some(Length::Relative(number)),
        "ex" | "ch" => Some(Length::Relative(number / 2.0)),
        "%" => Some(Length::Relative(number / 100.0)),
        _ => None,
    }
}

/// A width or height: of `width`, or of an attribute, where a number alone counts pixels.
pub fn extent(value: &str) -> Option<Extent> {
    if let Some(percent) = value.trim().strip_suffix('%') {
        let percent: f64 = percent.trim().parse().ok().filter(|one| (0.0..=1000.0).contains(one))?;
        return u32::try_from(rounded(percent * 100.0))
            .ok()
            .map(|hundredths| Extent::Percent(hundredths / 100));
    }
    let twips = length(value)?.twips(240.0);
    (twips > 0).then_some(Extent::Twips(twips))
}

/// One border: `1px solid red`, in any order.
pub fn border(value: &str) -> Option<Border> {
    let mut found = Border { stroke: Stroke::None, width: 6, colour: None };
    let mut drawn = None;
    for part in parts(value) {
        if let Some(stroke) = stroke(part) {
            drawn = Some(stroke);
        } else if let Some(width) = border_width(part) {
            found.width = width;
        } else {
            found.colour = colour(part);
        }
    }
    found.stroke = if found.width == 0 { Stroke::None } else { drawn.unwrap_or(Stroke::None) };
    (drawn.is_some() || found.width == 0).then_some(found)
}

/// How a border is drawn.
pub fn stroke(value: &str) -> Option<Stroke> {
    match value.trim().to_ascii_lowercase().as_str() {
        "none" | "hidden" => Some(Stroke::None),
        "solid" | "groove" | "ridge" | "inset" | "outset" => Some(Stroke::Single),
        "double" => Some(Stroke::Double),
        "dotted" => Some(Stroke::Dotted),
        "dashed" => Some(Stroke::Dashed),
        _ => None,
    }
}

/// A border's width in eighths of a point, at most Word's widest.
pub fn border_width(value: &str) -> Option<u32> {
    let twips = match value.trim().to_ascii_lowercase().as_str() {
        "thin" => 15,
        "medium" => 45,
        "thick" => 75,
        other => length(other)?.twips(240.0),
    };
    let eighths = u32::try_from(twips.max(0)).unwrap_or(0) * 8 / 20;
    Some(if twips > 0 { eighths.clamp(2, 96) } else { 0 })
}

/// The parts of a value between blanks outside of parentheses.
pub fn parts(value: &str) -> impl Iterator<Item = &str> {
    let mut open = 0_usize;
    value
        .split(move |one: char| {
            match one {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0 && one.is_whitespace()
        })
        .filter(|part| !part.is_empty())
}

/// The four sides of a value such as `1em 2em`: above, right, below, left.
pub fn sides(value: &str) -> Option<[&str; 4]> {
    let parts: Vec<&str> = parts(value).collect();
    match *parts.as_slice() {
        [all] => Some([all; 4]),
        [vertical, horizontal] => Some([vertical, horizontal, vertical, horizontal]),
        [top, horizontal, bottom] => Some([top, horizontal, bottom, horizontal]),
        [top, right, bottom, left] => Some([top, right, bottom, left]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Colour;

    #[test]
    fn declarations_are_divided_outside_of_quotes_and_parentheses() {
        let found = declarations("COLOR: red !important; font-family:'a;b', c;;background:url(x;y);broken");
        assert_eq!(
            found,
            [("color".into(), "red"), ("font-family".into(), "'a;b', c"), ("background".into(), "url(x;y)")]
        );
    }

    #[test]
    fn lengths_know_their_units() {
        assert_eq!(length("12pt").map(|one| one.twips(0.0)), Some(240));
        assert_eq!(length("1in").map(|one| one.twips(0.0)), Some(1440));
        assert_eq!(length("2.54cm").map(|one| one.twips(0.0)), Some(1440));
        assert_eq!(length("40px").map(|one| one.twips(0.0)), Some(600));
        assert_eq!(length("1.5em").map(|one| one.twips(220.0)), Some(330));
        assert_eq!(length("1e9"), None);
        assert_eq!(length("99999999999px").map(|one| one.twips(0.0)), Some(31_680));
        assert_eq!(length("auto"), None);
        assert_eq!(extent("50%"), Some(Extent::Percent(50)));
        assert_eq!(extent("-5"), None);
    }

    #[test]
    fn borders_are_read_in_any_order() {
        let red = Some(Colour(255, 0, 0));
        assert_eq!(border("1px solid red"), Some(Border { stroke: Stroke::Single, width: 6, colour: red }));
        assert_eq!(
            border("rgb(255, 0, 0) dashed 2pt"),
            Some(Border { stroke: Stroke::Dashed, width: 16, colour: red })
        );
        assert_eq!(border("none").map(|one| one.stroke), Some(Stroke::None));
        assert_eq!(border("0").map(|one| one.stroke), Some(Stroke::None));
        assert_eq!(border("red"), None);
    }
}
