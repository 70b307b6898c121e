//! Writes a part: its tree with the answers in their places.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;

use crate::answer::Answer;
use crate::error::Error;
use crate::limits::Limit;
use crate::plan::Node;

/// Writes a part.
pub(crate) struct Filler<'a> {
    xml: &'a [u8],
    /// What Word's names begin with in the part.
    prefix: &'a str,
    out: Vec<u8>,
    /// The next number of a picture that is no other's.
    pub next_number: u64,
    /// So many bytes may `out` have.
    room: usize,
    limit: &'a Limit,
    /// The end of what was last copied from the part.
    copied: usize,
    /// What has been written and must not be again, by its place in the part.
    written: HashSet<usize>,
    /// The same in the order in which it was written.
    order: Vec<usize>,
}

impl<'a> Filler<'a> {
    pub(crate) fn new(
        xml: &'a [u8],
        prefix: &'a str,
        next_number: u64,
        (room, limit): (usize, &'a Limit),
    ) -> Self {
        Self {
            xml,
            prefix,
            out: Vec::with_capacity(xml.len()),
            next_number,
            room,
            limit,
            copied: 0,
            written: HashSet::new(),
            order: Vec::new(),
        }
    }

    /// Writes the part's tree; takes as many of `answers` as it has tags outside of sections.
    pub(crate) fn part<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut impl Iterator<Item = &'b Answer<'b>>,
    ) -> Result<Vec<u8>, Error> {
        self.nodes(nodes, answers)?;
        Ok(std::mem::take(&mut self.out))
    }

    fn nodes<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        for node in nodes {
            match node {
                Node::Raw(range) => self.raw(range.clone()),
                Node::Owned(text) => self.out.extend_from_slice(text.as_bytes()),
                Node::First(range) => {
                    if self.is_first(range.start) {
                        self.raw(range.clone());
                    }
                }
                Node::Number(range) => {
                    if self.is_first(range.start) {
                        self.raw(range.clone());
                    } else {
                        self.out.extend_from_slice(self.next_number.to_string().as_bytes());
                        self.next_number += 1;
                    }
                }
                Node::Value(_) => match answers.next() {
                    Some(Answer::Text(text)) => self.value(text)?,
                    _ => return Err(misfit()),
                },
                Node::Section(_, body) => match answers.next() {
                    Some(Answer::List(copies)) => self.section(body, copies)?,
                    _ => return Err(misfit()),
                },
                Node::Paragraph(empty) => {
                    if !self.ends_with(b"p") && !self.ends_with(b"sdt") {
                        self.out.extend_from_slice(empty.as_bytes());
                    }
                }
                Node::Holder(child, body) => self.holder(child, body, answers)?,
            }
            self.check_room()?;
        }
        Ok(())
    }

    fn section(&mut self, body: &[Node], copies: &[Answer<'_>]) -> Result<(), Error> {
        for answers in copies {
            let Answer::List(answers) = answers else { return Err(misfit()) };
            let mut answers = answers.iter();
            self.nodes(body, &mut answers)?;
            if answers.next().is_some() {
                return Err(misfit());
            }
        }
        Ok(())
    }

    /// A table whose rows have all vanished is one that Word does not open, and so is a row without cells.
    fn holder<'b>(
        &mut self,
        child: &str,
        body: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        let (begin, count) = (self.out.len(), self.order.len());
        self.nodes(body, answers)?;
        let child = format!("<{}{child}", self.prefix);
        if memmem::find(self.out.get(begin..).unwrap_or_default(), child.as_bytes()).is_none() {
            self.out.truncate(begin);
            for place in self.order.drain(count..) {
                self.written.remove(&place);
            }
        }
        Ok(())
    }

    /// Whether what stands at this place of the part has not been written yet.
    fn is_first(&mut self, place: usize) -> bool {
        let is_first = self.written.insert(place);
        if is_first {
            self.order.push(place);
        }
        is_first
    }

    fn raw(&mut self, range: Range<usize>) {
        let xml: &'a [u8] = self.xml;
        let piece = xml.get(range.clone()).unwrap_or_default();
        // Word joins tables that stand side by side. In the template something stood between these, or they were one.
        if range.start != self.copied && self.ends_with(b"tbl") && self.begins_with_table(piece) {
            for piece in ["<", self.prefix, "p></", self.prefix, "p>"] {
                self.out.extend_from_slice(piece.as_bytes());
            }
        }
        self.copied = range.end;
        self.out.extend_from_slice(piece);
    }

    /// Whether what has been written ends with an element of this name.
    fn ends_with(&self, local: &[u8]) -> bool {
        let written = self.out.trim_ascii_end();
        let last = memchr::memrchr(b'<', written).and_then(|at| written.get(at + 1..)).unwrap_or_default();
        let (is_end, name) = last.strip_prefix(b"/").map_or((false, last), |name| (true, name));
        let name = name.strip_prefix(self.prefix.as_bytes()).and_then(|name| name.strip_prefix(local));
        let behind = name.unwrap_or_default();
        matches!(behind, [b'>' | b'/' | b' ', ..]) && (is_end || behind.ends_with(b"/>"))
    }

    fn begins_with_table(&self, piece: &[u8]) -> bool {
        let name = piece.trim_ascii_start().strip_prefix(b"<");
        let behind = name
            .and_then(|name| name.strip_prefix(self.prefix.as_bytes()))
            .and_then(|local| local.strip_prefix(b"tbl"));
        behind.and_then(<[u8]>::first).is_some_and(|byte| !byte.is_ascii_alphanumeric())
    }

    fn check_room(&self) -> Result<(), Error> {
        if self.out.len() > self.room {
            return Err(Error::limit(self.limit, "the filled document becomes larger than the limit"));
        }
        Ok(())
    }

    /// A value inside of a `w:t`: escaped, breaks and tabs as Word writes them, without what XML cannot hold.
    fn value(&mut self, text: &str) -> Result<(), Error> {
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let taken = match byte {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                b'&' | b'<' | b'>' | 0..0x20 => 1,
                // U+FFFE and U+FFFF.
                0xef if matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])) => 3,
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            match byte {
                b'&' => self.out.extend_from_slice(b"&amp;"),
                b'<' => self.out.extend_from_slice(b"&lt;"),
                b'>' => self.out.extend_from_slice(b"&gt;"),
                b'\r' | b'\n' => self.element("br"),
                b'\t' => self.element("tab"),
                _ => {}
            }
            self.check_room()?;
            at += taken;
            from = at;
        }
        self.out.extend_from_slice(bytes.get(from..).unwrap_or_default());
        Ok(())
    }

    /// An empty element in the midst of the run's text.
    fn element(&mut self, name: &str) {
        // What begins last is the text: `w:t`, or an equation's `m:t`.
        let last = memchr::memrchr(b'<', &self.out).and_then(|at| self.out.get(at + 1..)).unwrap_or_default();
        let text = last.split(|byte| matches!(byte, b' ' | b'>')).next().unwrap_or_default().to_vec();
        let prefix = self.prefix.as_bytes();
        let pieces =
            [b"</", &*text, b"><", prefix, name.as_bytes(), b"/><", &text, b" xml:space=\"preserve\">"];
        self.out.extend_from_slice(&pieces.concat());
    }
}

fn misfit() -> Error {
    Error::Answer("what the program answered is not this template's".to_owned())
}
