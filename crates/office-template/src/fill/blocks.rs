//! What stands between paragraphs in the place of a tag: its paragraph ends before and begins again behind. Where nothing is left in
//! one of these two, it goes.

use std::ops::Range;

use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::Filler;
use crate::error::Error;
use crate::marks::Reach;
use crate::plan::Around;

/// What a paragraph may have of which nothing is seen.
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

/// Where something begins or ends that is referred to from elsewhere: these may stand between paragraphs as well as in one.
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
            // What they colour may stand around the paragraph.
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

    /// The number of the mark that colours the text of the paragraph that begins at `begin`, from somewhere in it on.
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

    /// What has been written ends here: the paragraphs that began again behind are gone. They are in the order of their places.
    pub(super) fn keep_reopened(&mut self, end: usize) {
        self.reopened.truncate(self.reopened.partition_point(|&at| at < end));
    }

    /// Where the paragraph begins that is open: not one of a text box in it, which has ended.
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

    /// A section's break stands at the end of its paragraph: it is taken from the first half for the second.
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
                // The last one: what a tracked change says of it stands in it.
                Some(from + memmem::rfind(rest, end.as_bytes())? + end.len())
            }
        });
        match from.zip(to) {
            Some((from, to)) if from < to => self.out.drain(begin + from..begin + to).collect(),
            _ => Vec::new(),
        }
    }

    /// Puts a section's break into the paragraph that begins at `begin` and has no more than its properties.
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

    /// The paragraphs that began again behind blocks and hold nothing, where their surroundings can do without.
    /// Each with what stays in its place. Behind a table a paragraph follows: a cell ends with one, and tables that touch are one.
    pub(super) fn hollow_paragraphs(&mut self) -> Vec<(Range<usize>, Vec<u8>)> {
        let end = format!("</{}p>", self.source.prefix);
        let mut hollow: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for begin in std::mem::take(&mut self.reopened) {
            let rest = self.out.get(begin..).unwrap_or_default();
            let Some(length) = memmem::find(rest, end.as_bytes()).map(|at| at + end.len()) else { continue };
            // What goes is nobody's other paragraph.
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

    /// Of a paragraph that holds no more than properties, empty runs and markers: the markers.
    fn hollow(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(self.out.get(range)?).ok()?;
        let mut reader = Reader::from_str(text);
        let mut markers = Vec::new();
        // Inside of properties anything may stand but a section's break.
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

/// Whether a tag is an empty element's; what follows the tag may stand behind it.
fn is_empty(tag: &[u8]) -> bool {
    let end = memchr::memchr(b'>', tag).unwrap_or(tag.len());
    tag.get(..end).is_some_and(|tag| tag.ends_with(b"/"))
}
