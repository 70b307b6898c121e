//! Conversion of Office documents: standards of the PDF, and updating of fields.

use json_members::{Members, Shape};
use serde_json::value::RawValue;

use super::Key;
use super::promises::asks;

/// Options for converting an Office document to pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// The part of PDF/A that the file conforms to.
    pub pdfa: Option<PdfA>,
    /// The file conforms to PDF/UA.
    pub pdfua: bool,
    /// Contents, page references and fields are updated once the pages are known; `None`: in templates only, and every Word
    /// file that is sent counts as one, with tags or without.
    pub update_fields: Option<bool>,
}

/// A part of PDF/A (ISO 19005), each at level B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdfA {
    /// PDF/A-1b.
    One = 1,
    /// PDF/A-2b.
    Two = 2,
    /// PDF/A-3b.
    Three = 3,
}

impl PdfA {
    /// The number of the part.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl Conversion {
    /// Reads `pdfa`, `pdfua` and `updateFields`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let pdfua = members.flag(Key::Pdfua).unwrap_or_default();
        if pdfua && members.peek(Key::Tagged).is_some_and(|value| value.get() == "false") {
            members.fault(Key::Pdfua, "is a PDF with tags, and tagged is false; leave out one of them");
        }
        Self { pdfa: read_part(members), pdfua, update_fields: members.flag(Key::UpdateFields) }
    }
}

/// `true` means PDF/A-2b: unlike the first part it allows transparency, unlike the third no embedded files.
fn read_part(members: &mut Members<'_>) -> Option<PdfA> {
    let words = Shape::words(vec!["1b", "2b", "3b"]);
    let shape = || Shape::OneOf { title: "Conformance", shapes: vec![Shape::Flag, words] };
    match members.raw(Key::Pdfa, shape).filter(|value| asks(value)).map(RawValue::get)? {
        "true" | "\"2b\"" => Some(PdfA::Two),
        "\"1b\"" => Some(PdfA::One),
        "\"3b\"" => Some(PdfA::Three),
        _ => {
            members.fault(Key::Pdfa, "must be \"1b\", \"2b\", \"3b\" or true, which is \"2b\"");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    #[test]
    fn parts_of_pdfa_are_named_and_true_is_the_second() {
        for (text, part) in [
            (r#"{"pdfa":true}"#, Some(PdfA::Two)),
            (r#"{"pdfa":"1b"}"#, Some(PdfA::One)),
            (r#"{"pdfa":"3b"}"#, Some(PdfA::Three)),
            (r#"{"pdfa":false}"#, None),
        ] {
            assert_eq!(options(text).conversion.pdfa, part, "{text}");
        }
        for wrong in [r#"{"pdfa":"2a"}"#, r#"{"pdfa":""}"#] {
            assert_error(wrong, "/formatOpts/pdfa", "must be");
        }
        assert_error(r#"{"pdfua":true,"tagged":false}"#, "/formatOpts/pdfua", "tagged is false");
        assert_error(r#"{"pdfua":"1"}"#, "/formatOpts/pdfua", "true or false");
        let fields = options(r#"{"updateFields":false,"pdfua":true}"#).conversion;
        assert_eq!((fields.update_fields, fields.pdfua), (Some(false), true));
    }
}
