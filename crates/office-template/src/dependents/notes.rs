//! The notes of a part: footnotes, endnotes or comments.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::Error;
use crate::limits::Limit;
use crate::package::entries::{Entry, counted};
use crate::package::xml::replaced;
use crate::word::attribute::attribute;

/// A part of notes.
pub(crate) struct NotesPart {
    /// What stands before the first note: the start of the part with the root's start tag.
    head: Range<usize>,
    /// The root's end tag.
    tail: Range<usize>,
    /// The bytes of each note and how many paragraphs stand before it, by the notes' ids.
    notes: BTreeMap<String, (Range<usize>, usize)>,
    /// The largest id.
    pub largest: u64,
}

/// A note as a part of its own.
pub(super) struct One {
    pub xml: Vec<u8>,
    /// The bytes before the note and behind it.
    pub head: usize,
    pub tail: usize,
    /// Where it begins in its part, and how many paragraphs stand before it there.
    pub begin: usize,
    pub paragraphs: usize,
}

impl NotesPart {
    pub(crate) fn read(name: &str, xml: &[u8], limit: &Limit) -> Result<Self, Error> {
        let entries = counted(name, xml, limit)?;
        let root = entries.first().map_or(0..0, |root: &Entry| root.whole.clone());
        let head = 0..entries.first().map_or(0, |root| root.tag.end);
        let tail = memchr::memrchr(b'<', xml.get(root).unwrap_or_default()).unwrap_or_default();
        let tail = entries.first().map_or(0, |root| root.whole.start + tail)..xml.len();
        let (mut notes, mut largest, mut paragraphs) = (BTreeMap::new(), 0, 0);
        for entry in entries {
            match entry.name.as_str() {
                "footnote" | "endnote" | "comment" => {
                    let id = entry.value("id").to_owned();
                    largest = largest.max(id.parse().unwrap_or_default());
                    notes.entry(id).or_insert((entry.whole, paragraphs));
                }
                "p" => paragraphs += 1,
                _ => {}
            }
        }
        Ok(Self { head, tail, notes, largest })
    }

    /// The note `id` with the root of its part around it.
    pub(super) fn one(&self, xml: &[u8], id: &str) -> Option<One> {
        let (range, paragraphs) = self.notes.get(id)?;
        let (head, tail) = (xml.get(self.head.clone())?, xml.get(self.tail.clone())?);
        let whole = [head, xml.get(range.clone())?, tail].concat();
        Some(One {
            xml: whole,
            head: head.len(),
            tail: tail.len(),
            begin: range.start,
            paragraphs: *paragraphs,
        })
    }

    /// The notes of these ids, in their order.
    pub(crate) fn ranges(&self, ids: &BTreeSet<String>) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> =
            ids.iter().filter_map(|id| Some(self.notes.get(id)?.0.clone())).collect();
        ranges.sort_by_key(|range| range.start);
        ranges
    }

    /// The part without the notes of these ids.
    pub(crate) fn without(&self, xml: &[u8], ids: &BTreeSet<String>) -> Vec<u8> {
        let cuts: Vec<_> = self.ranges(ids).into_iter().map(|range| (range, String::new())).collect();
        replaced(xml, &cuts)
    }
}

/// Where the last paragraph of a comment has its id (`w14:paraId`); the comment begins at `head`.
pub(super) fn last_paragraph(xml: &[u8], head: usize) -> Option<Range<usize>> {
    let at = memchr::memmem::rfind(xml, b":paraId").filter(|&at| at > head)?;
    let begin = memchr::memrchr(b'<', xml.get(..at)?)?;
    let tag = xml.get(begin..)?;
    let id = attribute(tag.get(..=memchr::memchr(b'>', tag)?)?, "paraId")?.value;
    Some(begin + id.start..begin + id.end)
}
