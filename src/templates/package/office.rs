//! Which Office file bytes are: an archive by the content type of its main part or by its file `mimetype`, others by their
//! streams or their beginning.

use std::io::{Read, Seek};

use memchr::memmem;
use zip::ZipArchive;

use super::content::{self, CONTENT_TYPES, ContentKind, OPEN_DOCUMENT};
use super::paths::quoted;
use super::view::{View, open};
use super::{ArchiveLimits, PackageError, archive, compound, invalid};
use crate::domain::office_format::OfficeFormat;

/// The list of content types of the largest workbooks takes some 100 KB.
const CONTENT_TYPES_LIMIT_BYTES: u64 = 1 << 20;

/// The content types of main parts, in lower case: documents, templates, and those with macros.
const MAIN_PARTS: [(&[u8], OfficeFormat); 14] = [
    (b"wordprocessingml.document.main+xml", OfficeFormat::Docx),
    (b"wordprocessingml.template.main+xml", OfficeFormat::Docx),
    (b"ms-word.document.macroenabled.main+xml", OfficeFormat::Docx),
    (b"ms-word.template.macroenabledtemplate.main+xml", OfficeFormat::Docx),
    (b"spreadsheetml.sheet.main+xml", OfficeFormat::Xlsx),
    (b"spreadsheetml.template.main+xml", OfficeFormat::Xlsx),
    (b"ms-excel.sheet.macroenabled.main+xml", OfficeFormat::Xlsx),
    (b"ms-excel.template.macroenabled.main+xml", OfficeFormat::Xlsx),
    (b"presentationml.presentation.main+xml", OfficeFormat::Pptx),
    (b"presentationml.template.main+xml", OfficeFormat::Pptx),
    (b"presentationml.slideshow.main+xml", OfficeFormat::Pptx),
    (b"ms-powerpoint.presentation.macroenabled.main+xml", OfficeFormat::Pptx),
    (b"ms-powerpoint.template.macroenabled.main+xml", OfficeFormat::Pptx),
    (b"ms-powerpoint.slideshow.macroenabled.main+xml", OfficeFormat::Pptx),
];

/// What follows [`OPEN_DOCUMENT`] in the kind of a file; in that of a template more follows.
const OPEN_DOCUMENTS: [(&[u8], OfficeFormat); 3] =
    [(b"text", OfficeFormat::Odt), (b"spreadsheet", OfficeFormat::Ods), (b"presentation", OfficeFormat::Odp)];
/// The file that holds the kind.
const OPEN_DOCUMENT_KIND: &str = "mimetype";
const OPEN_DOCUMENT_KIND_LIMIT_BYTES: u64 = 100;
/// The file that lists its parts, and how they are encrypted.
const MANIFEST: &str = "META-INF/manifest.xml";
const MANIFEST_LIMIT_BYTES: u64 = 1 << 20;

/// The format of the Office file that `archive` is, if it is one.
///
/// # Errors
/// For `OpenDocument` files that are protected, or of another kind than texts, tables and presentations.
pub(super) fn format_of<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
) -> Result<Option<OfficeFormat>, PackageError> {
    if let Some(list) = part(archive, CONTENT_TYPES, CONTENT_TYPES_LIMIT_BYTES) {
        return Ok(listed(&list));
    }
    let declared = part(archive, OPEN_DOCUMENT_KIND, OPEN_DOCUMENT_KIND_LIMIT_BYTES);
    let Some(kind) = declared.as_deref().and_then(|declared| declared.strip_prefix(OPEN_DOCUMENT)) else {
        return Ok(None);
    };
    let known = OPEN_DOCUMENTS.iter().find(|(name, _)| kind.starts_with(name));
    let Some((_, format)) = known else {
        let kind = quoted(&String::from_utf8_lossy(kind));
        return Err(invalid(format!(
            "the file is an OpenDocument file of the kind {kind}; upload a text (.odt), a spreadsheet (.ods) or a presentation \
             (.odp)"
        )));
    };
    let manifest = part(archive, MANIFEST, MANIFEST_LIMIT_BYTES).unwrap_or_default();
    if memmem::find(&manifest, b"encryption-data").is_some() {
        return Err(invalid("the Office file is protected by a password; save it without one"));
    }
    Ok(Some(*format))
}

/// The beginning of a part, if there is such a part.
fn part<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str, limit_bytes: u64) -> Option<Vec<u8>> {
    let found = archive.index_for_name(name)?;
    let part = archive.by_index(found).ok()?;
    let mut content = Vec::new();
    part.take(limit_bytes).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The format of the Office file that `bytes` are, if they are one; an archive inside is held to the same limits.
///
/// # Errors
/// For what is damaged or protected, or passes a limit.
pub(super) fn format_of_bytes(
    bytes: &[u8],
    limits: &ArchiveLimits,
) -> Result<Option<OfficeFormat>, PackageError> {
    match content::of(bytes) {
        ContentKind::Compound => compound::format(bytes).map(Some),
        ContentKind::Rtf => Ok(Some(OfficeFormat::Rtf)),
        ContentKind::Archive | ContentKind::Text(_) | ContentKind::Empty | ContentKind::Foreign { .. } => {
            Ok(opened(View::of(bytes, limits)?, bytes, limits)?.format)
        }
    }
}

/// Holds `bytes` to the limits if they are an Office file. An archive that cannot be opened is none.
pub(super) fn check(bytes: &[u8], limits: &ArchiveLimits) -> Result<(), PackageError> {
    match View::of(bytes, limits) {
        Ok(view) => opened(view, bytes, limits).map(drop),
        Err(_) => Ok(()),
    }
}

pub(super) struct Opened<'a> {
    pub archive: ZipArchive<View<'a>>,
    /// The format of the Office file that it is, if it is one; that is held to the limits.
    pub format: Option<OfficeFormat>,
    /// See [`View::repeated`]; of an Office file it is reported already.
    pub repeated: Option<PackageError>,
}

/// Opens the archive `bytes`, which `view` shows.
///
/// # Errors
/// For what is damaged, and for an Office file that is protected or passes a limit.
pub(super) fn opened<'a>(
    mut view: View<'a>,
    bytes: &[u8],
    limits: &ArchiveLimits,
) -> Result<Opened<'a>, PackageError> {
    let mut repeated = view.repeated.take();
    let is_office = view.is_office;
    let mut archive = open(view, is_office)?;
    let format = format_of(&mut archive)?;
    if let Some(format) = format {
        check_start(format, bytes)?;
        archive::check(&mut archive, (bytes.len() as u64, repeated.take()), limits)?;
    }
    Ok(Opened { archive, format, repeated })
}

/// Hazard: the program that renders the file judges it by its first bytes. A file that begins as another format would be
/// checked here as one thing and rendered as another. So it is refused.
fn check_start(format: OfficeFormat, bytes: &[u8]) -> Result<(), PackageError> {
    if OfficeFormat::of_start(format.kind(), bytes) == Some(format) {
        return Ok(());
    }
    let (what, place) = (format.described(), if format.is_current() { "its" } else { "not its" });
    Err(invalid(format!(
        "the file is {what}, and an entry 'mimetype' is {place} first one, by which it would be taken for something else; open it \
         in its program and save it anew"
    )))
}

/// The format whose main part the list of content types names.
pub(super) fn listed(content_types: &[u8]) -> Option<OfficeFormat> {
    let end = content_types.len().min(usize::try_from(CONTENT_TYPES_LIMIT_BYTES).unwrap_or(usize::MAX));
    // The names of types are ASCII: without its NUL bytes, a list in UTF-16 reads like any other.
    let list: Vec<u8> =
        content_types[..end].iter().filter(|&&byte| byte != 0).map(u8::to_ascii_lowercase).collect();
    MAIN_PARTS.iter().find(|(name, _)| memmem::find(&list, name).is_some()).map(|&(_, format)| format)
}
