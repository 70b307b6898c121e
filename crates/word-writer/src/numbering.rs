//! What a list adds to a document's numbering.

use std::fmt::Write as _;

use crate::model::{Level, Marker};
use crate::write::xml::element;

/// A `w:abstractNum`: the look of a list's levels. `prefix` is without its colon.
pub fn abstract_num(prefix: &str, id: u32, levels: &[Level]) -> String {
    let prefix = &with_colon(prefix);
    let mut out = format!("<{prefix}abstractNum {prefix}abstractNumId=\"{id}\">");
    out.push_str(&element(prefix, "multiLevelType", &[("val", "hybridMultilevel")]));
    for (place, level) in levels.iter().take(9).enumerate() {
        let (format, text, font) = looks(level.marker, place);
        // Writing to a string cannot fail.
        let _ = write!(out, "<{prefix}lvl {prefix}ilvl=\"{place}\">");
        out.push_str(&element(prefix, "start", &[("val", &level.start.min(32_767).to_string())]));
        out.push_str(&element(prefix, "numFmt", &[("val", format)]));
        out.push_str(&element(prefix, "lvlText", &[("val", &text)]));
        out.push_str(&element(prefix, "lvlJc", &[("val", "left")]));
        let left = (720 * (place + 1)).to_string();
        let indent = element(prefix, "ind", &[("left", &left), ("hanging", "360")]);
        let _ = write!(out, "<{prefix}pPr>{indent}</{prefix}pPr>");
        if let Some(font) = font {
            let fonts =
                [("ascii", font), ("hAnsi", font), ("eastAsia", font), ("cs", font), ("hint", "default")];
            let _ = write!(out, "<{prefix}rPr>{}</{prefix}rPr>", element(prefix, "rFonts", &fonts));
        }
        let _ = write!(out, "</{prefix}lvl>");
    }
    let _ = write!(out, "</{prefix}abstractNum>");
    out
}

/// A `w:num`: a list of that look, counting by itself.
pub fn num(prefix: &str, id: u32, abstract_id: u32) -> String {
    let prefix = &with_colon(prefix);
    let look = element(prefix, "abstractNumId", &[("val", &abstract_id.to_string())]);
    format!("<{prefix}num {prefix}numId=\"{id}\">{look}</{prefix}num>")
}

/// Whether a marker is a number.
pub fn counts(marker: Marker) -> bool {
    looks(marker, 0).1.starts_with('%')
}

/// Word's format, text and font of a marker.
fn looks(marker: Marker, level: usize) -> (&'static str, String, Option<&'static str>) {
    let number = |format| (format, format!("%{}.", level + 1), None);
    let bullet = |text: &str, font| ("bullet", text.to_owned(), Some(font));
    match marker {
        Marker::None => ("none", String::new(), None),
        Marker::Disc => bullet("\u{2022}", "Arial"),
        Marker::Circle => bullet("o", "Courier New"),
        Marker::Square => bullet("\u{25AA}", "Arial"),
        Marker::Unchecked => bullet("\u{2610}", "Segoe UI Symbol"),
        // Word's own; the ticked box is an emoji, which many fonts and programs draw as nothing.
        Marker::Checked => bullet("\u{2612}", "Segoe UI Symbol"),
        Marker::Decimal => number("decimal"),
        Marker::DecimalZero => number("decimalZero"),
        Marker::LowerLetter => number("lowerLetter"),
        Marker::UpperLetter => number("upperLetter"),
        Marker::LowerRoman => number("lowerRoman"),
        Marker::UpperRoman => number("upperRoman"),
    }
}

pub(crate) fn with_colon(prefix: &str) -> String {
    if prefix.is_empty() { String::new() } else { format!("{prefix}:") }
}
