//! The file name of a document.
//!
//! Hazard: the name goes into a header and into a user's folder. A control character would end the header, a path separator
//! would lead out of the folder, and a mark that reverses the direction of text shows `fdp.exe` as `exe.pdf`. So such names
//! are refused.

use json_members::Members;
use serde_json::value::RawValue;

use super::{Key, POINTER};
use crate::domain::kinds::{FileKind, Target};

/// Longest name in bytes of UTF-8: with an extension it fits into the 255 that file systems allow.
const LIMIT_BYTES: usize = 250;

/// Reads `fileName`.
pub(super) fn read(members: &mut Members<'_>) -> Option<String> {
    let text = members.text(Key::FileName)?;
    let name = text.trim();
    if let Some(error) = unfit(name) {
        members.fault(Key::FileName, error);
        return None;
    }
    Some(name.to_owned())
}

/// `fileName` of a `formatOpts` object that was admitted.
pub fn file_name_of(object: &RawValue) -> Option<String> {
    read(&mut Members::of(object.get(), POINTER).ok()?)
}

/// The name with the extension of a file of this kind, which replaces that of the target where the file is of another kind
/// (several pictures come as an archive).
pub fn complete_file_name(name: &str, target: Target, file: FileKind) -> String {
    if has_extension(name, file) {
        return name.to_owned();
    }
    let stem = match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() && has_extension(name, target.file()) => stem,
        Some(_) | None => name,
    };
    format!("{stem}.{}", file.name())
}

fn has_extension(name: &str, file: FileKind) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_jpeg = file == FileKind::Jpg && extension.eq_ignore_ascii_case("jpeg");
    !stem.is_empty() && (extension.eq_ignore_ascii_case(file.name()) || is_jpeg)
}

fn unfit(name: &str) -> Option<String> {
    if name.trim_matches('.').is_empty() {
        return Some("names nothing; give a name such as \"invoice 12\"".to_owned());
    }
    if name.len() > LIMIT_BYTES {
        return Some(format!("is longer than {LIMIT_BYTES} bytes in UTF-8; shorten it"));
    }
    if name.contains(['/', '\\']) {
        return Some("has a path separator in it; give a name without folders".to_owned());
    }
    let character = name.chars().find(|character| is_invisible(*character))?;
    let number = u32::from(character);
    Some(format!("has a character in it that is not shown (U+{number:04X}); leave it out"))
}

/// Control characters, line separators, and marks that change the direction of text.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    #[test]
    fn a_name_gets_the_extension_of_the_file() {
        let pdf = (Target::Pdf, FileKind::Pdf);
        let zip = (Target::Png, FileKind::Zip);
        let jpg = (Target::Jpg, FileKind::Jpg);
        for (name, (target, file), complete) in [
            ("invoice", pdf, "invoice.pdf"),
            ("Rechnung Nr. 12", pdf, "Rechnung Nr. 12.pdf"),
            ("invoice.PDF", pdf, "invoice.PDF"),
            (".pdf", pdf, ".pdf.pdf"),
            ("slides.png", zip, "slides.zip"),
            ("slides.zip", zip, "slides.zip"),
            ("photo.jpeg", jpg, "photo.jpeg"),
        ] {
            assert_eq!(complete_file_name(name, target, file), complete);
        }
    }

    #[test]
    fn names_that_would_leave_a_header_or_a_folder_are_refused() {
        assert_eq!(
            options(r#"{"fileName":" Überweisung \"3\" "}"#).file_name.as_deref(),
            Some("Überweisung \"3\"")
        );
        let at = "/formatOpts/fileName";
        for (name, part) in [
            ("..", "names nothing"),
            ("  ", "names nothing"),
            ("a/b", "path separator"),
            ("..\\b", "path separator"),
            ("a\r\nb", "U+000D"),
            ("a\u{0}b", "U+0000"),
            ("a\u{202e}fdp", "U+202E"),
        ] {
            assert_error(&serde_json::json!({ "fileName": name }).to_string(), at, part);
        }
        assert_error(
            &serde_json::json!({ "fileName": "é".repeat(126) }).to_string(),
            at,
            "longer than 250 bytes",
        );
        options(&serde_json::json!({ "fileName": "é".repeat(125) }).to_string());
        let object = RawValue::from_string(r#"{"fileName":"x","scale":9}"#.to_owned()).unwrap();
        assert_eq!(file_name_of(&object).as_deref(), Some("x"));
    }
}
