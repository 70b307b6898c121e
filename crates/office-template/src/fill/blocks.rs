//! Content between paragraphs in place of a tag: the tag's paragraph is split around it. A half that is left empty is removed.

use std::ops::Range;

use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::Filler;
use crate::error::Error;
use crate::marks::Reach;
use crate::plan::Around;

/// Elements of a paragraph that show nothing by themselves.
const HOLLOW: [&str; 12] = [
    "p",
    "r",
    "t",
    "pPr",
    "rPr",
    "proofErr",
    "lastRenderedPageBreak",
    "hyperlink",
    "ins",
    "smartTag",
    "sdt",
    "sdtContent",
];

/// Begins and ends of ranges that other parts refer to. They are kept, since they may also be between paragraphs.
const MARKERS: [&str; 4] = ["bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd"];

impl Filler<'_, '_> {
    pub(super) fn between_paragraphs(
        &mut self,
        (run, paragraph): (&Around, &Around),
        xml: &str,
    ) -> Result<(), Error> {
        let begin = self.open_paragraph();
        self.out.extend_from_slice(run.end.as_bytes());
        self.out.extend_from_slice(paragraph.end.as_bytes());
        let colour = self.colour_since(begin);
        let section = self.take_section(begin);
        let mut marks = Vec::new();
        if let Some(mut markers) = self.hollow(begin..self.out.len()) {
            // The marks may colour a cell or row around the paragraph, so they are kept.
            marks = self.marks.within(self.out.get(begin..).unwrap_or_default());
            marks.append(&mut markers);
            self.out.truncate(begin);
            self.keep_reopened(begin);
        }
        if self.begins_with_table(xml.as_bytes()) {
            self.part_tables();
        }
        self.out.append(&mut marks);
        self.write_mark(colour, Reach::From);
        self.out.extend_from_slice(xml.as_bytes());
        self.write_mark(colour, Reach::To);
        let again = self.out.len();
        self.again(&paragraph.begin)?;
        self.put_section(again, &section);
        self.again(&run.begin)?;
        self.colour = colour.map(|number| (self.out.len(), number));
        self.write_mark(colour, Reach::Here);
        if section.is_empty() {
            self.reopened.push(again);
        }
        Ok(())
    }

    /// The number of the mark that colours text of the paragraph at `begin`, from somewhere in the paragraph on.
    fn colour_since(&self, begin: usize) -> Option<usize> {
        let (at, number) = self.colour.filter(|&(at, _)| at >= begin)?;
        let written = self.marks.written(number, Reach::Here);
        self.out.get(at..).is_some_and(|rest| rest.starts_with(written.as_bytes())).then_some(number)
    }

    fn write_mark(&mut self, number: Option<usize>, reach: Reach) {
        if let Some(number) = number {
            self.out.extend_from_slice(self.marks.written(number, reach).as_bytes());
        }
    }

    /// Forgets the continued paragraphs behind `end`, to which `out` was cut back. They are in the order of their offsets.
    pub(super) fn keep_reopened(&mut self, end: usize) {
        self.reopened.truncate(self.reopened.partition_point(|&at| at < end));
    }

    /// The offset of the open paragraph; ended paragraphs of text boxes in it are skipped.
    fn open_paragraph(&self) -> usize {
        let (begin, end) = (format!("{}p", self.source.prefix), format!("/{}p>", self.source.prefix));
        let (mut from, mut ended) = (self.out.len(), 0_usize);
        while let Some(at) = memchr::memrchr(b'<', self.out.get(..from).unwrap_or_default()) {
            let tag = self.out.get(at + 1..from).unwrap_or_default();
            let name_end = tag.strip_prefix(begin.as_bytes()).and_then(<[u8]>::first);
            if tag.starts_with(end.as_bytes()) {
                ended += 1;
            } else if name_end.is_some_and(|byte| b"> ".contains(byte)) && !is_empty(tag) {
                if ended == 0 {
                    return at;
                }
                ended -= 1;
            }
            from = at;
        }
        self.out.len()
    }

    /// Takes a section's break from the first half of a split paragraph: it must be in the second, at the paragraph's end.
    fn take_section(&mut self, begin: usize) -> Vec<u8> {
        let prefix = self.source.prefix;
        let piece = self.out.get(begin..).unwrap_or_default();
        let from = memmem::find(piece, format!("<{prefix}sectPr").as_bytes());
        let to = from.and_then(|from| {
            let rest = piece.get(from..)?;
            let tag = memchr::memchr(b'>', rest)? + 1;
            let end = format!("</{prefix}sectPr>");
            let is_empty = rest.get(..tag)?.ends_with(b"/>");
            if is_empty {
                Some(from + tag)
            } else {
                // The last end tag: a tracked change holds another `sectPr` inside of it.
                Some(from + memmem::rfind(rest, end.as_bytes())? + end.len())
            }
        });
        match from.zip(to) {
            Some((from, to)) if from < to => self.out.drain(begin + from..begin + to).collect(),
            _ => Vec::new(),
        }
    }

    /// Puts a section's break into the paragraph at `begin`, which has only its properties so far.
    fn put_section(&mut self, begin: usize, section: &[u8]) {
        if section.is_empty() {
            return;
        }
        let prefix = self.source.prefix;
        let piece = self.out.get(begin..).unwrap_or_default();
        let find = |what: &str| memmem::find(piece, format!("{what}{prefix}pPr").as_bytes());
        let change = memmem::find(piece, format!("<{prefix}pPrChange").as_bytes());
        if let Some(at) = change.or_else(|| find("</")) {
            let tail = self.out.split_off(begin + at);
            self.out.extend_from_slice(section);
            self.out.extend_from_slice(&tail);
        } else {
            for piece in [b"<", prefix.as_bytes(), b"pPr>", section, b"</", prefix.as_bytes(), b"pPr>"] {
                self.out.extend_from_slice(piece);
            }
        }
    }

    /// Empty paragraphs that continued behind blocks and can be removed, each with the markers that stay in its place. Behind a
    /// table one is kept: a cell must end with a paragraph, and adjacent tables would become one.
    pub(super) fn hollow_paragraphs(&mut self) -> Vec<(Range<usize>, Vec<u8>)> {
        let end = format!("</{}p>", self.source.prefix);
        let mut hollow: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for begin in std::mem::take(&mut self.reopened) {
            let rest = self.out.get(begin..).unwrap_or_default();
            let Some(length) = memmem::find(rest, end.as_bytes()).map(|at| at + end.len()) else { continue };
            // A paragraph that is removed itself does not count as the neighbour that this one needs.
            let kept = hollow.last().map(|(range, _)| range).filter(|range| range.end == begin);
            let before = self.out.get(..kept.map_or(begin, |range| range.start)).unwrap_or_default();
            let behind = rest.get(length..).unwrap_or_default().trim_ascii_start();
            let prefix = self.source.prefix;
            let is_next = |name: &str| behind.starts_with(format!("<{prefix}{name}").as_bytes());
            let is_parted = is_next("p ") || is_next("p>");
            let has_another = is_parted
                || super::ends_with(before, prefix, b"p")
                || (is_next("tbl>") && !super::ends_with(before, prefix, b"tbl"));
            if !has_another {
                continue;
            }
            let range = begin..begin + length;
            hollow.extend(self.hollow(range.clone()).map(|markers| (range, markers)));
        }
        hollow
    }

    /// The markers of a paragraph that has nothing but properties, empty runs and markers; `None` for others.
    fn hollow(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(self.out.get(range)?).ok()?;
        let mut reader = Reader::from_str(text);
        let mut markers = Vec::new();
        // How deep the element is in properties, where all is allowed but a section's break.
        let mut properties = 0_u32;
        let local = |name: &[u8]| {
            let name = std::str::from_utf8(name).unwrap_or_default();
            name.strip_prefix(self.source.prefix).unwrap_or_default().to_owned()
        };
        loop {
            let event = reader.read_event().ok()?;
            match event {
                Event::Start(tag) => {
                    let local = local(tag.name().as_ref());
                    let is_hollow = HOLLOW.contains(&local.as_str()) || properties > 0;
                    if !is_hollow || local == "sectPr" {
                        return None;
                    }
                    properties += u32::from(properties > 0 || local.ends_with("Pr"));
                }
                Event::Empty(tag) => {
                    let local = local(tag.name().as_ref());
                    if properties == 0 && MARKERS.contains(&local.as_str()) {
                        markers.extend([b"<", &*tag, b"/>"].concat());
                    } else if (properties == 0 && !HOLLOW.contains(&local.as_str())) || local == "sectPr" {
                        return None;
                    }
                }
                Event::End(_) => properties = properties.saturating_sub(1),
                Event::Text(text) if !text.trim_ascii().is_empty() => return None,
                Event::GeneralRef(_) | Event::CData(_) => return None,
                Event::Eof => return Some(markers),
                Event::Text(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }
}

/// Whether `tag` begins with the tag of an empty element; more may follow it.
fn is_empty(tag: &[u8]) -> bool {
    let end = memchr::memchr(b'>', tag).unwrap_or(tag.len());
    tag.get(..end).is_some_and(|tag| tag.ends_with(b"/"))
}
