//! Which Office file an archive is, by the content type of its main part.

use std::io::{Read, Seek};

use memchr::memmem;
use zip::ZipArchive;

use super::view::{View, open};
use super::{Limits, PackageFault, archive};
use crate::domain::kinds::TemplateKind;

/// The part that lists the content types.
pub(super) const CONTENT_TYPES: &str = "[Content_Types].xml";

/// The list of the largest workbooks takes some 100 KB.
const CONTENT_TYPES_LIMIT_BYTES: u64 = 1 << 20;

/// The content types of main parts, in lower case: documents, templates, and those with macros.
const MAIN_PARTS: [(&[u8], TemplateKind); 14] = [
    (b"wordprocessingml.document.main+xml", TemplateKind::Docx),
    (b"wordprocessingml.template.main+xml", TemplateKind::Docx),
    (b"ms-word.document.macroenabled.main+xml", TemplateKind::Docx),
    (b"ms-word.template.macroenabledtemplate.main+xml", TemplateKind::Docx),
    (b"spreadsheetml.sheet.main+xml", TemplateKind::Xlsx),
    (b"spreadsheetml.template.main+xml", TemplateKind::Xlsx),
    (b"ms-excel.sheet.macroenabled.main+xml", TemplateKind::Xlsx),
    (b"ms-excel.template.macroenabled.main+xml", TemplateKind::Xlsx),
    (b"presentationml.presentation.main+xml", TemplateKind::Pptx),
    (b"presentationml.template.main+xml", TemplateKind::Pptx),
    (b"presentationml.slideshow.main+xml", TemplateKind::Pptx),
    (b"ms-powerpoint.presentation.macroenabled.main+xml", TemplateKind::Pptx),
    (b"ms-powerpoint.template.macroenabled.main+xml", TemplateKind::Pptx),
    (b"ms-powerpoint.slideshow.macroenabled.main+xml", TemplateKind::Pptx),
];

/// Whether a part is XML. All others stay packed, so how well they are packed does not matter: Office draws a white picture
/// or a plain metafile into a thousandth of its size.
pub(super) fn is_text(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("xml" | "rels"))
}

/// The kind of Office file that `archive` is, if it is one.
pub(super) fn kind_of<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Option<TemplateKind> {
    let found = archive.index_for_name(CONTENT_TYPES)?;
    let part = archive.by_index(found).ok()?;
    let mut content = Vec::new();
    part.take(CONTENT_TYPES_LIMIT_BYTES).read_to_end(&mut content).ok()?;
    listed(&content)
}

/// The kind of Office file that `bytes` are, if they are one; an archive inside is held to the same limits.
pub(super) fn kind_of_bytes(bytes: &[u8], limits: &Limits) -> Result<Option<TemplateKind>, PackageFault> {
    checked(View::of(bytes, limits)?, bytes.len() as u64, limits)
}

/// Holds `bytes` to the limits if they are an Office file. What cannot be opened is none.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), PackageFault> {
    match View::of(bytes, limits) {
        Ok(view) => checked(view, bytes.len() as u64, limits).map(drop),
        Err(_) => Ok(()),
    }
}

fn checked(mut view: View<'_>, bytes: u64, limits: &Limits) -> Result<Option<TemplateKind>, PackageFault> {
    let repeated = view.repeated.take();
    let mut opened = open(view)?;
    let kind = kind_of(&mut opened);
    if kind.is_some() {
        archive::check(&mut opened, (bytes, repeated), limits)?;
    }
    Ok(kind)
}

/// The kind whose main part the list of content types names.
pub(super) fn listed(content_types: &[u8]) -> Option<TemplateKind> {
    let end = content_types.len().min(usize::try_from(CONTENT_TYPES_LIMIT_BYTES).unwrap_or(usize::MAX));
    // Without its NUL bytes, text in UTF-16 reads like any other as far as the names of types go.
    let list: Vec<u8> =
        content_types[..end].iter().filter(|&&byte| byte != 0).map(u8::to_ascii_lowercase).collect();
    MAIN_PARTS.iter().find(|(name, _)| memmem::find(&list, name).is_some()).map(|&(_, kind)| kind)
}
