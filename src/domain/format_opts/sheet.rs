//! The sheet that a PDF is printed on: `format`, `width`, `height`, `margin`.

use json_members::{Members, Named, Shape};
use serde_json::value::RawValue;

use super::Key;
use crate::domain::paper::{Margin, Paper, SHEET_LEAST_IN, SHEET_LIMIT_IN, SIDES, css_length_in};

/// The margin of a side with a header or footer where the caller gave none: three lines of its default size.
const HEADER_FOOTER_MARGIN_IN: f64 = 15.0 / 25.4;
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
    fn margins_are_one_length_or_four() {
        let margin = options(r#"{"margin":{"top":"1in","left":96}}"#).margin;
        assert_eq!(margin, Margin { top_in: 1.0, right_in: 0.0, bottom_in: 0.0, left_in: 1.0 });
        assert_error(r#"{"margin":{"top":"high"}}"#, "/formatOpts/margin/top", "is no length");
        assert_error(r#"{"margin":[1]}"#, "/formatOpts/margin", "an object of top");
        assert_error(r#"{"margin":"5in"}"#, "/formatOpts/margin", "leave nothing of the sheet");
        assert_eq!(options(r#"{"margin":[]}"#).margin, Margin::default());
    }
}
