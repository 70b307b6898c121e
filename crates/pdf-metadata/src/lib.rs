//! Sets title, author, subject and keywords of a whole PDF by an [`Update`] behind its end (ISO 32000-1, 7.5.6), in its
//! information dictionary and in its XMP, which must agree where the file is a PDF/A; and counts the pages of such a file. Of
//! one that streams past, `pdf-page-count` counts them.
//!
//! It reads files as LibreOffice writes them: a table of objects in plain text, XMP that is not compressed. Any other file
//! has no count and no update, rather than wrong ones. Of a file that streams out of Chromium [`OutlineReader`] reads the
//! bookmarks.

mod objects;
mod outline;
mod update;
mod xmp;

use std::fmt::Write as _;

use objects::Objects;

pub use outline::{Bookmark, OutlineReader};
pub use update::Update;

/// How a file ends, and what is behind it.
const END: &[u8] = b"%%EOF";

/// The properties to set; `None` leaves one as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Its title.
    pub title: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// Words to find it by.
    pub keywords: Option<String>,
}

/// How many pages the file has, also with an [`addition`] behind it; `None` where it is not as expected.
pub fn pages(file: &[u8]) -> Option<u32> {
    let objects = Objects::of(file).or_else(|| Objects::of(before_addition(file)?))?;
    let tree = objects::reference(objects.dictionary(objects.root)?, "/Pages")?;
    objects::number(objects.dictionary(tree)?, "/Count")
}

/// Whether the file had a title before an [`addition`]; `None` where it is not as expected.
pub fn has_title(file: &[u8]) -> Option<bool> {
    let objects = Objects::of(file).or_else(|| Objects::of(before_addition(file)?))?;
    Some(objects.dictionary(objects.information)?.contains("/Title"))
}

/// What is to be written behind `file`; `None` where it is not as expected. With a title, readers show that instead of the
/// file's name, as PDF/UA wants it (ISO 14289-1, 7.1).
pub fn addition(file: &[u8], metadata: &Metadata) -> Option<Vec<u8>> {
    let objects = Objects::of(file)?;
    let mut added = Update::new(file.len());
    let information = objects.dictionary(objects.information)?;
    added.object(objects.information, information_of(information, metadata).as_bytes());
    let root = objects.dictionary(objects.root)?;
    if metadata.title.is_some() && !root.contains("/ViewerPreferences") {
        let shown = root.replacen("<<", "<</ViewerPreferences<</DisplayDocTitle true>>", 1);
        added.object(objects.root, shown.as_bytes());
    }
    // A file without XMP has nothing there that could disagree.
    if let Some(number) = objects::reference(root, "/Metadata") {
        let (dictionary, stream) = objects.stream(number)?;
        let packet = xmp::with_metadata(stream, metadata)?;
        let dictionary = objects::with_length(dictionary, packet.len())?;
        added.object(number, format!("{dictionary}\nstream\n{packet}\nendstream").as_bytes());
    }
    let Objects { size, root, information, identity, table, .. } = &objects;
    let trailer = format!("/Size {size}/Root {root} 0 R/Info {information} 0 R{identity}");
    Some(added.finish(&trailer, *table))
}

/// The file as it was.
fn before_addition(file: &[u8]) -> Option<&[u8]> {
    let mut ends = memchr::memmem::rfind_iter(file, END);
    let end = ends.nth(1)?.checked_add(END.len())?;
    file.get(..end)
}

/// The dictionary with these entries instead of its own.
fn information_of(dictionary: &str, metadata: &Metadata) -> String {
    let mut entries = String::new();
    let mut rest = dictionary.trim().trim_start_matches("<<").trim_end_matches(">>");
    let said = [
        ("/Title", &metadata.title),
        ("/Author", &metadata.author),
        ("/Subject", &metadata.subject),
        ("/Keywords", &metadata.keywords),
    ];
    // Each entry is a name and a text, in brackets of either kind, none of which holds a bracket.
    while let Some((name, value, behind)) = objects::entry(rest) {
        if !said.iter().any(|(key, text)| *key == name && text.is_some()) {
            let _ = write!(entries, "{name}{value}");
        }
        rest = behind;
    }
    for (key, text) in said {
        if let Some(text) = text {
            let _ = write!(entries, "{key}{}", text_string(text));
        }
    }
    format!("<<{entries}>>")
}

/// A text string in UTF-16 with a byte order mark, which holds every character; in hexadecimal digits nothing needs to be escaped
/// (7.9.2.2).
pub fn text_string(text: &str) -> String {
    let units = text.encode_utf16();
    let digits = units.fold(String::from("<FEFF"), |mut digits, unit| {
        let _ = write!(digits, "{unit:04X}");
        digits
    });
    digits + ">"
}

#[cfg(test)]
mod tests;
