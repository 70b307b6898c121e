//! Which fonts a page asks for and does not get: a warning each, at next to no cost for pages that get all.
//!
//! Only the page can say which of its rules count, and asking it takes milliseconds. So a page without script
//! is asked only when its style sheets name a family first that is not known to be installed; what is found
//! to be installed is known from then on.

use std::collections::HashSet;

use serde::Deserialize;

use super::error::StepError;
use super::open_page::OpenPage;
use super::task::PageTask;
use crate::browser::chromium::known_fonts::{KnownFonts, NAME_LIMIT_CHARS};
use crate::domain::lane::Lane;

const SCRIPT: &str = include_str!("../../../assets/fonts.js");
/// How much of a page and its style sheets is searched: styles are at the beginning.
const SCANNED_BYTES: usize = 1 << 20;
/// Most occurrences of `font` that are looked at in a text, and how far after each. Hazard: a text of nothing else would be
/// read once for each of them.
const OCCURRENCES_LIMIT: usize = 1_000;
const VALUE_LIMIT_BYTES: usize = 300;
const FACE_LIMIT_BYTES: usize = 4 << 10;
/// Values that name no family, in lower case.
const GENERIC: [&str; 20] = [
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "math",
    "emoji",
    "fangsong",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "-apple-system",
    "blinkmacsystemfont",
    "inherit",
    "initial",
    "unset",
    "revert",
    "revert-layer",
];

#[derive(Deserialize)]
pub(super) struct FontReport {
    installed: Vec<String>,
    /// As the page spells them.
    missing: Vec<String>,
    /// Families of its own `@font-face` rules that did not load.
    unloaded: Vec<String>,
}

/// The expression that asks the page for its missing fonts; `None` where it need not be asked.
pub(super) fn question(page: &OpenPage, task: &PageTask) -> Result<Option<String>, StepError> {
    let fonts = &page.tab()?.fonts;
    let is_asked = match task.lane {
        Lane::Static => asks_for_unknown(task, fonts),
        // Hazard: the page could answer such a question itself, and what it says would count for all pages of the browser.
        Lane::Scripted => !page.has_lost_contexts()?,
    };
    if !is_asked {
        return Ok(None);
    }
    Ok(Some(format!("({SCRIPT})({})", fonts.to_json())))
}

/// Warns of every family that the page's text asks for first and does not get.
pub(super) fn warn(page: &mut OpenPage, report: FontReport) -> Result<(), StepError> {
    page.tab()?.fonts.learn(&report.installed, &report.missing);
    for family in report.missing.into_iter().chain(report.unloaded) {
        let family: String = family.chars().take(NAME_LIMIT_CHARS).collect();
        page.warnings.push(&format!(
            "font not available: '{family}'; the next one of its list is used (bring it with the template \
             by @font-face, or install it where the service runs)"
        ));
    }
    Ok(())
}

fn asks_for_unknown(task: &PageTask, fonts: &KnownFonts) -> bool {
    let texts = task.site.page().into_iter().chain(task.site.style_sheets());
    let mut left = SCANNED_BYTES;
    let beginnings = texts.map(|content| {
        let length = content.len().min(left);
        left -= length;
        &content[..length]
    });
    let texts: Vec<&[u8]> = beginnings.collect();
    let own: HashSet<String> = texts.iter().flat_map(|text| own_families(text)).collect();
    texts
        .iter()
        .flat_map(|text| first_families(text))
        .any(|family| !own.contains(&family) && fonts.lacks(&family))
}

/// Families that are first in a list of a style sheet or page, in lower case.
fn first_families(text: &[u8]) -> impl Iterator<Item = String> {
    memchr::memmem::find_iter(text, b"font").take(OCCURRENCES_LIMIT).filter_map(|at| {
        let before = at.saturating_sub(NAME_LIMIT_CHARS);
        let behind = &text[at..text.len().min(at + VALUE_LIMIT_BYTES)];
        let name_begins =
            text[before..at].iter().rposition(|byte| !is_of_name(*byte)).map_or(before, |it| before + it + 1);
        let value = value_behind(behind)?;
        let name_ends = at + behind.iter().take_while(|byte| is_of_name(**byte)).count();
        match &text[name_begins..name_ends] {
            b"font-family" => family(value),
            b"font" => family(behind_size(value)?),
            name if name.starts_with(b"--") => family(value),
            _ => None,
        }
    })
}

/// Families that the text defines by `@font-face`.
fn own_families(text: &[u8]) -> impl Iterator<Item = String> {
    memchr::memmem::find_iter(text, b"@font-face").take(OCCURRENCES_LIMIT).filter_map(|at| {
        let block = &text[at..text.len().min(at + FACE_LIMIT_BYTES)];
        let block = &block[..memchr::memchr(b'}', block).unwrap_or(block.len())];
        family(value_behind(&block[memchr::memmem::find(block, b"font-family")?..])?)
    })
}

/// The value after the colon, where `text` begins with the name of a property.
fn value_behind(text: &[u8]) -> Option<&[u8]> {
    let name = text.iter().take_while(|byte| is_of_name(**byte)).count();
    Some(text[name..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
}

/// In `font: bold 12px/1.5 Inter, serif` the families come after the size.
fn behind_size(value: &[u8]) -> Option<&[u8]> {
    let end = value.iter().position(|byte| b",;}\"'".contains(byte)).unwrap_or(value.len());
    let digit = value[..end].iter().rposition(u8::is_ascii_digit)?;
    let rest = &value[digit..];
    Some(rest[rest.iter().position(u8::is_ascii_whitespace)?..].trim_ascii_start())
}

/// The first family of `value`, in lower case; `None` for keywords and functions.
fn family(value: &[u8]) -> Option<String> {
    let value = value.strip_prefix(b"&quot;").unwrap_or(value);
    let (value, ends): (&[u8], &[u8]) = match value {
        [b'"', rest @ ..] => (rest, b"\""),
        [b'\'', rest @ ..] => (rest, b"'"),
        value => (value, b",;}\"'<>!&\n"),
    };
    let end = value.iter().position(|byte| ends.contains(byte))?;
    let name = String::from_utf8_lossy(value[..end].trim_ascii()).to_lowercase();
    let names_one = name.starts_with(|first: char| first.is_alphabetic() || first == '-')
        && !name.contains('(')
        && !GENERIC.contains(&name.as_str());
    names_one.then_some(name)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_named_first_are_found() {
        for (text, expected) in [
            ("p{font-family:Inter,Arial}", &["inter"][..]),
            ("p{font-family : 'Segoe UI', serif}", &["segoe ui"]),
            ("<p style=\"font-family:'A B'\">", &["a b"]),
            ("<p style='font-family: Inter'>", &["inter"]),
            ("<p style=\"font-family:&quot;A B&quot;,serif\">", &["a b"]),
            ("p{font:bold 12px/1.5 Inter, serif}", &["inter"]),
            ("p{font: 1em \"A 1\"}", &["a 1"]),
            (":root{--bs-font-sans: Inter, sans-serif}", &["inter"]),
            ("p{font-family:Inter!important}", &["inter"]),
            ("p{font-family:sans-serif} b{font-family: -apple-system, Roboto}", &[]),
            ("p{font-family:var(--font)} b{font-family:inherit}", &[]),
            ("p{font-size:12px;font-weight:bold} b{font:inherit}", &[]),
            ("<font color=red>a font: it is</font>", &[]),
            ("font-family", &[]),
            ("font-family:", &[]),
        ] {
            assert_eq!(first_families(text.as_bytes()).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn a_text_of_nothing_else_is_read_once() {
        let begun = std::time::Instant::now();
        for text in ["font".repeat(1 << 18), "@font-face".repeat(1 << 17), "font:".repeat(1 << 18)] {
            assert!(
                first_families(text.as_bytes()).count() + own_families(text.as_bytes()).count()
                    <= OCCURRENCES_LIMIT
            );
        }
        // Read anew from each place this takes minutes.
        assert!(begun.elapsed().as_secs() < 10);
    }

    #[test]
    fn families_of_its_own_are_reported_apart() {
        let text = b"@font-face{src:url(a);font-family:\"My Own\"} @font-face { font-family: Other; } p{}";
        assert_eq!(own_families(text).collect::<Vec<_>>(), ["my own", "other"]);
    }
}
