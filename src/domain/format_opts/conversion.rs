//! What an Office document becomes: which standards its PDF keeps, and whether its fields are done anew.

use serde_json::value::RawValue;

use super::promises::asks;
use crate::domain::members::Members;

/// What is said of the way from an Office document to pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// The part of PDF/A that the file keeps.
    pub pdfa: Option<PdfA>,
    /// The file keeps PDF/UA.
    pub pdfua: bool,
    /// Contents, page references and fields are done anew when the pages are known; `None`: they are in what was a template,
    /// and every Word file that is sent is one, whether it has tags or not.
    pub update_fields: Option<bool>,
}

/// A part of PDF/A (ISO 19005), each at level B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdfA {
    /// PDF/A-1b.
    One,
    /// PDF/A-2b.
    Two,
    /// PDF/A-3b.
    Three,
}

impl PdfA {
    /// The number of the part.
    pub fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

impl Conversion {
    /// Reads `pdfa`, `pdfua` and `updateFields`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let pdfua = members.flag("pdfua").unwrap_or_default();
        if pdfua && members.raw("tagged").is_some_and(|value| value.get() == "false") {
            members.fault("pdfua", "is a PDF with tags, and tagged is false; leave out one of them");
        }
        Self { pdfa: read_part(members), pdfua, update_fields: members.flag("updateFields") }
    }
}

/// `true` is the second part: it keeps transparency, which the first does not know, and embeds no other files.
fn read_part(members: &mut Members<'_>) -> Option<PdfA> {
    match members.raw("pdfa").filter(|value| asks(value)).map(RawValue::get)? {
        "true" | "\"2b\"" => Some(PdfA::Two),
        "\"1b\"" => Some(PdfA::One),
        "\"3b\"" => Some(PdfA::Three),
        _ => {
            members.fault("pdfa", "must be \"1b\", \"2b\", \"3b\" or true, which is \"2b\"");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_fault, options};
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
            assert_fault(wrong, "/formatOpts/pdfa", "must be");
        }
        assert_fault(r#"{"pdfua":true,"tagged":false}"#, "/formatOpts/pdfua", "tagged is false");
        assert_fault(r#"{"pdfua":"1"}"#, "/formatOpts/pdfua", "true or false");
        let fields = options(r#"{"updateFields":false,"pdfua":true}"#).conversion;
        assert_eq!((fields.update_fields, fields.pdfua), (Some(false), true));
    }
}
