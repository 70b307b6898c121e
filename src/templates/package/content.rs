//! What bytes are, by their content: an archive, a text of some kind, or something that is no template.

use latex_pandoc::line_ranges_with;
use memchr::{memchr, memmem};

use super::end_record::{END, END_LIMIT_BYTES};
use crate::domain::encoding::{self, Syntax};
use crate::domain::kinds::TemplateKind;
use crate::domain::office_format::{COMPOUND_START, RTF_START};

/// What an upload, or an archive's entry, turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentKind {
    Empty,
    /// A zip archive; Office files are such archives too.
    Archive,
    /// `Html`, `Ejs` or `Latex`.
    Text(TemplateKind),
    /// A compound file, as those of older Office programs are.
    Compound,
    /// Rich Text.
    Rtf,
    /// Something else.
    Foreign {
        /// With its article.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
}

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
/// An archive without entries begins with its end; `PK00` and `PK\x07\x08` mark archives made for several disks.
const ARCHIVE_STARTS: [&[u8]; 4] = [LOCAL_HEADER, END, b"PK\x07\x08", b"PK00PK"];

/// How far from its beginning the root element of a flat `OpenDocument` file begins at most.
const FLAT_ROOT_WITHIN: usize = 1 << 10;

/// The part of an Office file that lists its content types.
pub(super) const CONTENT_TYPES: &str = "[Content_Types].xml";
/// How the kind of an `OpenDocument` file begins.
pub(super) const OPEN_DOCUMENT: &[u8] = b"application/vnd.oasis.opendocument.";
/// The first entries of an Office file begin within so many bytes, and one of them identifies it.
const OFFICE_ENTRY_WITHIN: usize = 4 << 10;

const REPACK: &str = "pack the template's files as a zip archive";
const CONVERT: &str = "upload a page (HTML, EJS), a zip archive, or an Office file (.docx, .xlsx, .pptx)";

/// What is known by its first bytes.
const FOREIGN: [(&[u8], &str, &str); 12] = [
    (b"%PDF-", "a PDF", CONVERT),
    (b"\x1f\x8b", "a gzip archive", REPACK),
    (b"Rar!\x1a\x07", "a RAR archive", REPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", REPACK),
    (b"BZh", "a bzip2 archive", REPACK),
    (b"\xfd7zXZ\0", "an xz archive", REPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", REPACK),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)", CONVERT),
    (b"\xff\xd8\xff", "a picture (JPEG)", CONVERT),
    (b"GIF8", "a picture (GIF)", CONVERT),
    (b"\xff\xfe\0\0", "text in UTF-32", "save it as UTF-8"),
    (b"\0\0\xfe\xff", "text in UTF-32", "save it as UTF-8"),
];

pub(super) fn of(bytes: &[u8]) -> ContentKind {
    if bytes.is_empty() {
        return ContentKind::Empty;
    }
    if ARCHIVE_STARTS.iter().any(|start| bytes.starts_with(start)) {
        return ContentKind::Archive;
    }
    if bytes.starts_with(COMPOUND_START) {
        return ContentKind::Compound;
    }
    if bytes.starts_with(RTF_START) {
        return ContentKind::Rtf;
    }
    if let Some(&(_, what, remedy)) = FOREIGN.iter().find(|(start, ..)| bytes.starts_with(start)) {
        return ContentKind::Foreign { what, remedy };
    }
    if is_flat(bytes) {
        return ContentKind::Foreign {
            what: "a flat OpenDocument file (.fodt, .fods, .fodp)",
            remedy: "save it as .odt, .ods or .odp",
        };
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return ContentKind::Foreign { what: "a tar archive", remedy: REPACK };
    }
    if let Some(text) = utf16_text(bytes) {
        let kind = text_kind(text.as_bytes());
        if kind == TemplateKind::Latex {
            return ContentKind::Foreign { what: "LaTeX in UTF-16", remedy: "save it as UTF-8" };
        }
        return ContentKind::Text(kind);
    }
    if memchr(0, bytes).is_none() {
        return ContentKind::Text(text_kind(bytes));
    }
    // Some programs write a note, or a program that unpacks it, before the archive.
    let tail = &bytes[bytes.len().saturating_sub(END_LIMIT_BYTES)..];
    if memmem::find(tail, END).is_some() && memmem::find(bytes, LOCAL_HEADER).is_some() {
        return ContentKind::Archive;
    }
    ContentKind::Foreign { what: "no text, for it has NUL bytes in it", remedy: CONVERT }
}

/// Whether it is an `OpenDocument` file in one piece of XML. A page may be XML as well; its root is another element.
fn is_flat(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let root = &start[..start.len().min(FLAT_ROOT_WITHIN)];
    start.starts_with(b"<?xml") && memmem::find(root, b"<office:document").is_some()
}

/// The text of bytes that declare themselves as UTF-16, decoded: a search for tags and commands would find none in the bytes.
fn utf16_text(bytes: &[u8]) -> Option<String> {
    let declared =
        encoding::declared(bytes, Syntax::Page).filter(|encoding| !encoding.is_ascii_compatible())?;
    let decoded =
        encoding::decode(bytes, Syntax::Page, None).filter(|decoded| decoded.encoding == declared)?;
    Some(decoded.text.into_owned())
}

fn text_kind(bytes: &[u8]) -> TemplateKind {
    if is_latex(bytes) { TemplateKind::Latex } else { page_kind(bytes) }
}

/// The kind of a page: `Ejs` where it has a tag of EJS.
pub(super) fn page_kind(bytes: &[u8]) -> TemplateKind {
    let wide = utf16_text(bytes);
    let bytes = wide.as_ref().map_or(bytes, |text| text.as_bytes());
    if memmem::find(bytes, b"<%").is_some() { TemplateKind::Ejs } else { TemplateKind::Html }
}

/// Whether a text begins with a tag or a comment of HTML.
pub(super) fn is_markup(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    matches!(start, [b'<', next, ..] if next.is_ascii_alphabetic() || *next == b'!')
}

/// Whether a line of commands declares a document's class. A page may write about LaTeX, so what begins as markup is none.
fn is_latex(bytes: &[u8]) -> bool {
    if is_markup(bytes) {
        return false;
    }
    // A line that begins with a command and has the class in it, by itself or behind other commands.
    line_ranges_with(bytes, b"\\document").any(|(_, line)| {
        let line = bytes[line].trim_ascii_start();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let has = |class: &[u8]| memmem::find(line, class).is_some();
        line.starts_with(b"\\") && (has(b"\\documentclass") || has(b"\\documentstyle"))
    })
}

/// Whether an archive, which may be damaged, begins as those of Office do.
pub(super) fn seems_office(archive: &[u8]) -> bool {
    let start = &archive[..archive.len().min(OFFICE_ENTRY_WITHIN)];
    [CONTENT_TYPES.as_bytes(), OPEN_DOCUMENT].iter().any(|name| memmem::find(start, name).is_some())
}
