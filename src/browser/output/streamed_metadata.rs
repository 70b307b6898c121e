//! Title, author, subject, keywords and bookmarks of a PDF that Chromium prints: the title is set in the page before printing,
//! the rest is appended while the file streams.
//!
//! Chromium writes the document's title and has no option for the rest. What is appended is an incremental update that
//! replaces the information object (PDF 1.7, 7.5.6), and bookmarks that do not say what their headings say (`outline.rs`).
//! PDFs of LibreOffice get theirs from the crate `pdf-metadata` (`workers/libreoffice/document.rs`).

use std::fmt::Write as _;

use bytes::{BufMut as _, Bytes, BytesMut};
use memchr::memmem;
use pdf_metadata::{Bookmark, OutlineReader, Update, text_string};
use serde_json::json;

use super::outline::Headings;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::format_opts::Metadata;

/// Chromium writes the information object first; this much of the file holds it.
const HEAD_BYTES: usize = 8 << 10;
/// The trailer is last; this much of the file holds it.
const TAIL_BYTES: usize = 2 << 10;

/// Sets the title that the PDF gets, before the page is printed.
pub(super) async fn set_title(page: &OpenPage, metadata: &Metadata) -> Result<(), StepError> {
    let Some(title) = &metadata.title else { return Ok(()) };
    let set = format!("(Reflect.set(Document.prototype, 'title', {}, document), '')", json!(title));
    page.ask(set, page.limits.print).await.map(drop)
}

/// Collects what the update needs while a PDF streams through.
pub(super) struct MetadataWriter {
    entries: String,
    headings: Headings,
    outline: OutlineReader,
    head: Vec<u8>,
    tail: Vec<u8>,
    length: usize,
}

impl MetadataWriter {
    /// `None` when there is nothing to write.
    pub(super) fn of(metadata: &Metadata, headings: Headings) -> Option<Self> {
        let fields =
            [("Author", &metadata.author), ("Subject", &metadata.subject), ("Keywords", &metadata.keywords)];
        let mut entries = String::new();
        for (name, text) in fields.iter().filter_map(|(name, text)| Some((name, text.as_deref()?))) {
            // Writing to a string cannot fail.
            let _ = write!(entries, "\n/{name} {}", text_string(text));
        }
        let nothing = entries.is_empty() && headings.is_empty();
        let (outline, head, tail, length) = Default::default();
        (!nothing).then_some(Self { entries, headings, outline, head, tail, length })
    }

    /// Whether bookmarks are compared with headings when the last piece has passed.
    pub(super) fn has_headings(&self) -> bool {
        !self.headings.is_empty()
    }

    /// A piece of the file passes.
    pub(super) fn observe(&mut self, piece: &[u8]) {
        let missing = HEAD_BYTES.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..missing]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
        self.length += piece.len();
        if !self.headings.is_empty() {
            self.outline.pass(piece);
        }
    }

    /// The last piece with the update after it; `None` when metadata are to be written and the file is not as Chromium
    /// writes them.
    pub(super) fn finish(mut self, last: &[u8]) -> Option<Bytes> {
        let bookmarks = std::mem::take(&mut self.outline).finish();
        let has_metadata = !self.entries.is_empty();
        let update = match self.incremental_update(&bookmarks) {
            None if has_metadata => return None,
            update => update.unwrap_or_default(),
        };
        let mut whole = BytesMut::with_capacity(last.len() + update.len());
        whole.put_slice(last);
        whole.put_slice(&update);
        Some(whole.freeze())
    }

    /// The information object with our entries after its old ones, the bookmarks that say something else than their headings,
    /// and the table and trailer that make them the current ones; empty where nothing changes.
    fn incremental_update(&self, bookmarks: &[Bookmark]) -> Option<Vec<u8>> {
        let trailer = &self.tail[memmem::rfind(&self.tail, b"trailer\n<<")?..];
        let trailer = std::str::from_utf8(trailer).ok()?;
        let (dictionary, rest) = trailer.strip_prefix("trailer\n<<")?.split_once(">>\nstartxref\n")?;
        let previous = rest.lines().next()?.parse().ok()?;
        let mut update = Update::new(self.length);
        if !self.entries.is_empty() {
            let object: u32 = dictionary.split_once("/Info ")?.1.split_once(" 0 R")?.0.parse().ok()?;
            let begin = format!("\n{object} 0 obj\n<<");
            let at = memmem::rfind(&self.head, begin.as_bytes())? + begin.len();
            let old_entries = &self.head[at..];
            let old_entries = &old_entries[..memmem::find(old_entries, b">>\nendobj\n")?];
            update.object(object, &[b"<<", old_entries, self.entries.as_bytes(), b">>"].concat());
        }
        self.headings.correct(bookmarks, &mut update);
        Some(if update.is_empty() { Vec::new() } else { update.finish(dictionary, previous) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "%PDF-1.4\n1 0 obj\n<</Title (T)\n/Producer (Skia)>>\nendobj\n\
        xref\n0 2\n0000000000 65535 f \n0000000009 00000 n \ntrailer\n<</Size 2\n/Root 5 0 R\n/Info 1 0 R>>\n\
        startxref\n52\n%%EOF\n";

    fn with_author(file: &str, piece: usize) -> Option<String> {
        let metadata = Metadata { author: Some("Zoë".to_owned()), ..Metadata::default() };
        let mut writer = MetadataWriter::of(&metadata, Headings::default()).unwrap();
        let pieces: Vec<_> = file.as_bytes().chunks(piece).collect();
        for piece in &pieces {
            writer.observe(piece);
        }
        let (last, before) = pieces.split_last().unwrap();
        let whole = [before.concat().as_slice(), &writer.finish(last)?].concat();
        Some(String::from_utf8(whole).unwrap())
    }

    #[test]
    fn what_is_added_stands_where_its_table_says() {
        for piece in [1, 7, 1_000] {
            let whole = with_author(FILE, piece).unwrap();
            let added = whole.strip_prefix(FILE).unwrap();
            assert!(added.contains("/Producer (Skia)\n/Author <FEFF005A006F00EB>>>\nendobj"), "{added}");
            assert!(added.contains("/Root 5 0 R\n/Info 1 0 R/Prev 52>>"), "{added}");
            let number = |text: &str| text.split_whitespace().next().unwrap().parse::<usize>().unwrap();
            let table_at = number(added.split_once("startxref\n").unwrap().1);
            let table = whole[table_at..].strip_prefix("xref\n1 1\n").unwrap();
            assert!(whole[number(table)..].starts_with("1 0 obj\n<<"));
        }
    }

    #[test]
    fn a_file_of_another_make_is_left_alone() {
        for other in ["%PDF-1.7\n", &FILE.replace("/Info 1 0 R", ""), &FILE.replace("1 0 obj", "9 0 obj")] {
            assert_eq!(with_author(other, 64), None);
        }
        let titled = Metadata { title: Some("T".to_owned()), ..Metadata::default() };
        assert!(MetadataWriter::of(&titled, Headings::default()).is_none());
    }
}
