//! `formatOpts`: what a caller says about the page, read leniently and checked strictly.

use serde_json::value::RawValue;

use super::members::{Members, kind};
use crate::problem::Fault;

/// Where `formatOpts` stands in a body.
const POINTER: &str = "/formatOpts";
/// CSS pixels in an inch.
const PIXELS_PER_INCH: f64 = 96.0;
/// Largest width or height: 14,400 points, the most a PDF page may have (PDF 1.7, annex C).
const SHEET_LIMIT_IN: f64 = 200.0;
/// Smallest width or height: a sheet below takes no content.
const SHEET_LEAST_IN: f64 = 0.1;
const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];
const KNOWN: [&str; 10] = [
    "format",
    "fromPage",
    "height",
    "landscape",
    "margin",
    "printBackground",
    "scale",
    "toPage",
    "waitForSelector",
    "width",
];

/// The names of the sheets with width and height in inches.
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

/// What was read of a `formatOpts` object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The options; the default stands where nothing, or something wrong, was given.
    pub options: PageOptions,
    /// Keys that mean nothing here: never refused, but told as a warning.
    pub ignored: Vec<String>,
    /// Known keys with a wrong value.
    pub faults: Vec<Fault>,
}

/// What the browser is told about the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageOptions {
    /// Width and height of the sheet in inches, before `landscape` turns it.
    pub paper: Paper,
    /// The sheet is turned.
    pub landscape: bool,
    /// White around the content.
    pub margin: Margin,
    /// Size of the content, 0.1 to 2.
    pub scale: f64,
    /// Backgrounds are printed.
    pub print_background: bool,
    /// First page to keep, from 1.
    pub from_page: Option<u32>,
    /// Last page to keep, included.
    pub to_page: Option<u32>,
    /// The page is ready when this CSS selector matches.
    pub wait_for_selector: Option<String>,
}

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
}

impl Default for PageOptions {
    /// A4, portrait, no margins, backgrounds printed.
    fn default() -> Self {
        Self {
            paper: Paper::A4,
            landscape: false,
            margin: Margin::default(),
            scale: 1.0,
            print_background: true,
            from_page: None,
            to_page: None,
            wait_for_selector: None,
        }
    }
}

/// Reads a `formatOpts` object (an empty array counts as one).
#[must_use]
pub fn read(object: &RawValue) -> Reading {
    let Ok(mut members) = Members::of(object.get(), POINTER) else {
        let detail = format!("must be an object, not {}", kind(object));
        return Reading { faults: vec![Fault::new(POINTER, detail)], ..Reading::default() };
    };
    let default = PageOptions::default();
    let mut options = PageOptions {
        paper: read_paper(&mut members),
        landscape: members.flag("landscape").unwrap_or(default.landscape),
        margin: Margin::default(),
        scale: members.number("scale", 0.1..=2.0).unwrap_or(default.scale),
        print_background: members.flag("printBackground").unwrap_or(default.print_background),
        from_page: members.count("fromPage"),
        to_page: members.count("toPage"),
        wait_for_selector: members.text("waitForSelector"),
    };
    options.margin = read_margin(&mut members);
    check_pages(&options, &mut members);
    check_area(&options, &mut members);
    let ignored = members.unknown(&KNOWN);
    Reading { options, ignored, faults: members.into_faults() }
}

fn read_paper(members: &mut Members<'_>) -> Paper {
    let names = FORMATS.map(|(name, _, _)| name);
    let chosen = members.word("format", &names, |name| {
        let format = FORMATS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name.trim()))?;
        Some(Paper { width_in: format.1, height_in: format.2 })
    });
    let sheet = chosen.unwrap_or(Paper::A4);
    Paper {
        width_in: read_side(members, "width").unwrap_or(sheet.width_in),
        height_in: read_side(members, "height").unwrap_or(sheet.height_in),
    }
}

fn read_side(members: &mut Members<'_>, name: &str) -> Option<f64> {
    let length_in = read_length(members, name)?;
    if (SHEET_LEAST_IN..=SHEET_LIMIT_IN).contains(&length_in) {
        return Some(length_in);
    }
    let detail = format!("must be from {SHEET_LEAST_IN}in to {SHEET_LIMIT_IN}in");
    members.fault(name, detail);
    None
}

/// One length for all sides, or an object of sides; a side left out has none.
fn read_margin(members: &mut Members<'_>) -> Margin {
    let Some(value) = members.raw("margin") else { return Margin::default() };
    if !matches!(value.get().as_bytes().first(), Some(b'{' | b'[')) {
        let all_in = read_length(members, "margin").unwrap_or_default();
        return Margin { top_in: all_in, right_in: all_in, bottom_in: all_in, left_in: all_in };
    }
    let Ok(mut sides) = Members::of(value.get(), &format!("{POINTER}/margin")) else {
        members
            .fault("margin", "must be a length such as \"10mm\", or an object of top, right, bottom, left");
        return Margin::default();
    };
    for name in sides.unknown(&SIDES) {
        sides.fault(&name, "is no side; the sides are top, right, bottom, left");
    }
    let [top_in, right_in, bottom_in, left_in] =
        SIDES.map(|side| read_length(&mut sides, side).unwrap_or_default());
    members.take_over(sides.into_faults());
    Margin { top_in, right_in, bottom_in, left_in }
}

/// A CSS length in inches; a bare number is pixels.
fn read_length(members: &mut Members<'_>, name: &str) -> Option<f64> {
    let value = members.raw(name)?;
    let text: String = serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned());
    if text.is_empty() {
        return None;
    }
    let length_in = length_in(&text);
    if length_in.is_none() {
        let shown: String = text.chars().take(32).collect();
        let detail = format!(
            "'{shown}' is no length; write a number with px, in, cm, mm, pt or pc (\"10mm\"), or a number of pixels"
        );
        members.fault(name, detail);
    }
    length_in
}

fn length_in(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let unit_at = text.find(|found: char| found.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let per_inch = match unit {
        "" | "px" => PIXELS_PER_INCH,
        "in" => 1.0,
        "cm" => 2.54,
        "mm" => 25.4,
        "pt" => 72.0,
        "pc" => 6.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number / per_inch)
}

fn check_pages(options: &PageOptions, members: &mut Members<'_>) {
    if let (Some(from), Some(to)) = (options.from_page, options.to_page)
        && from > to
    {
        members.fault("fromPage", format!("{from} lies behind toPage {to}; give a first page up to {to}"));
    }
}

/// A sheet on which the margins leave nothing cannot be printed.
fn check_area(options: &PageOptions, members: &mut Members<'_>) {
    let Paper { width_in, height_in } = options.paper;
    let (width_in, height_in) = if options.landscape { (height_in, width_in) } else { (width_in, height_in) };
    let margin = options.margin;
    if margin.left_in + margin.right_in >= width_in || margin.top_in + margin.bottom_in >= height_in {
        members.fault("margin", "the margins leave nothing of the sheet; make them smaller");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str) -> Reading {
        read(serde_json::from_str(text).unwrap())
    }

    fn options(text: &str) -> PageOptions {
        let reading = reading(text);
        assert_eq!(reading.faults, [], "{text}");
        reading.options
    }

    #[track_caller]
    fn assert_fault(text: &str, pointer: &str, part: &str) {
        let faults = reading(text).faults;
        assert_eq!(faults.len(), 1, "{text}: {faults:?}");
        assert_eq!(faults[0].pointer, pointer);
        assert!(faults[0].detail.contains(part), "{}", faults[0].detail);
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn nothing_given_is_the_default() {
        for text in ["{}", "[]", r#"{"scale":null,"format":"","margin":null,"waitForSelector":""}"#] {
            assert_eq!(options(text), PageOptions::default());
        }
    }

    #[test]
    fn every_known_key_is_read() {
        let read = options(
            r##"{"fromPage":2.0,"toPage":3,"format":"Letter","waitForSelector":"#done","landscape":true,
            "margin":"1cm","scale":1.5,"printBackground":false}"##,
        );
        assert_eq!((read.from_page, read.to_page), (Some(2), Some(3)));
        assert_eq!(read.paper, Paper { width_in: 8.5, height_in: 11.0 });
        assert_eq!(read.wait_for_selector.as_deref(), Some("#done"));
        assert!(read.landscape && !read.print_background);
        assert!(near(read.margin.left_in, 1.0 / 2.54) && near(read.margin.top_in, 1.0 / 2.54));
        assert!(near(read.scale, 1.5));
    }

    #[test]
    fn every_format_has_its_sheet() {
        for (name, width_in, height_in) in FORMATS {
            let paper = options(&format!(r#"{{"format":"{}"}}"#, name.to_uppercase())).paper;
            assert_eq!(paper, Paper { width_in, height_in });
        }
        assert_fault(r#"{"format":"a7"}"#, "/formatOpts/format", "'a7' is not known; give one of letter");
    }

    #[test]
    fn lengths_have_units_or_are_pixels() {
        for text in ["\"96px\"", "96", "96.0", "\"1in\"", "\"2.54cm\"", "\"25.4 mm\"", "\"72PT\"", "\"6pc\""]
        {
            assert!(near(options(&format!(r#"{{"width":{text}}}"#)).paper.width_in, 1.0), "{text}");
        }
        for text in ["\"1em\"", "\"-1px\"", "\"wide\"", "true", "{}", "\"inf\"", "\"1e400px\""] {
            assert_fault(&format!(r#"{{"height":{text}}}"#), "/formatOpts/height", "is no length");
        }
        assert_fault(r#"{"width":"900in"}"#, "/formatOpts/width", "from 0.1in to 200in");
        assert_fault(r#"{"width":0}"#, "/formatOpts/width", "from 0.1in to 200in");
    }

    #[test]
    fn margins_are_one_length_or_four() {
        let margin = options(r#"{"margin":{"top":"1in","left":96}}"#).margin;
        assert_eq!(margin, Margin { top_in: 1.0, right_in: 0.0, bottom_in: 0.0, left_in: 1.0 });
        assert_fault(r#"{"margin":{"top":"high"}}"#, "/formatOpts/margin/top", "is no length");
        assert_fault(r#"{"margin":{"upper":1}}"#, "/formatOpts/margin/upper", "is no side");
        assert_fault(r#"{"margin":[1]}"#, "/formatOpts/margin", "an object of top");
        assert_fault(r#"{"margin":"5in"}"#, "/formatOpts/margin", "leave nothing of the sheet");
        assert_eq!(options(r#"{"margin":[]}"#).margin, Margin::default());
    }

    #[test]
    fn pages_count_from_one_and_in_order() {
        assert_eq!(options(r#"{"toPage":2}"#).to_page, Some(2));
        assert_fault(r#"{"fromPage":0}"#, "/formatOpts/fromPage", "out of range");
        assert_fault(r#"{"toPage":1.5}"#, "/formatOpts/toPage", "whole number");
        assert_fault(r#"{"fromPage":3,"toPage":2}"#, "/formatOpts/fromPage", "behind toPage 2");
        assert_fault(r#"{"scale":3}"#, "/formatOpts/scale", "from 0.1 to 2");
        assert_fault(r#"{"landscape":"yes"}"#, "/formatOpts/landscape", "true or false");
    }

    #[test]
    fn unknown_keys_are_ignored_and_told() {
        let reading = reading(r#"{"headerTemplate":"<b>","zoom":1,"outline":null,"scale":1}"#);
        assert_eq!(reading.ignored, ["headerTemplate", "zoom"]);
        assert_eq!(reading.faults, []);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert_fault("7", "/formatOpts", "must be an object, not a number");
        assert_fault("[1]", "/formatOpts", "must be an object, not an array");
    }
}
