//! Writes a part: its tree with the answers in their places.

use memchr::memmem;

use crate::answer::Answer;
use crate::error::Error;
use crate::limits::Limit;
use crate::plan::Node;

/// Writes parts; numbers go on from one to the next.
pub(crate) struct Filler<'a> {
    /// What Word's names begin with in the part.
    pub prefix: &'a str,
    pub xml: &'a [u8],
    pub out: Vec<u8>,
    /// The next number of a picture that is no other's.
    pub next_number: u64,
    /// So many bytes may `out` have.
    pub room: usize,
    pub limit: &'a Limit,
}

/// Which of all copies is being written.
#[derive(Clone, Copy)]
struct Copy {
    is_first: bool,
    is_last: bool,
}

impl Filler<'_> {
    /// Writes a part's tree; takes as many of `answers` as it has tags outside of sections.
    pub(crate) fn part<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut impl Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        self.nodes(nodes, answers, Copy { is_first: true, is_last: true })
    }

    fn nodes<'b>(
        &mut self,
        nodes: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
        copy: Copy,
    ) -> Result<(), Error> {
        for node in nodes {
            match node {
                Node::Raw(range) => self.raw(range.clone()),
                Node::Owned(text) => self.out.extend_from_slice(text.as_bytes()),
                Node::First(range) if copy.is_first => self.raw(range.clone()),
                Node::Last(range) if copy.is_last => self.raw(range.clone()),
                Node::First(_) | Node::Last(_) => {}
                Node::Number(range) if copy.is_first => self.raw(range.clone()),
                Node::Number(_) => {
                    self.out.extend_from_slice(self.next_number.to_string().as_bytes());
                    self.next_number += 1;
                }
                Node::Value(_) => match answers.next() {
                    Some(Answer::Text(text)) => self.value(text),
                    _ => return Err(misfit()),
                },
                Node::Section(_, body) => match answers.next() {
                    Some(Answer::List(copies)) => self.section(body, copies, copy)?,
                    _ => return Err(misfit()),
                },
                Node::Paragraph(empty) => {
                    if !self.ends_with_paragraph() {
                        self.out.extend_from_slice(empty.as_bytes());
                    }
                }
                Node::Table(body) => self.table(body, answers, copy)?,
            }
            if self.out.len() > self.room {
                return Err(Error::limit(self.limit, "the filled document becomes larger than the limit"));
            }
        }
        Ok(())
    }

    fn section(&mut self, body: &[Node], copies: &[Answer<'_>], copy: Copy) -> Result<(), Error> {
        for (index, answers) in copies.iter().enumerate() {
            let Answer::List(answers) = answers else { return Err(misfit()) };
            let is_first = copy.is_first && index == 0;
            let is_last = copy.is_last && index + 1 == copies.len();
            let mut answers = answers.iter();
            self.nodes(body, &mut answers, Copy { is_first, is_last })?;
            if answers.next().is_some() {
                return Err(misfit());
            }
        }
        Ok(())
    }

    /// A table whose rows have all vanished is one that Word does not open.
    fn table<'b>(
        &mut self,
        body: &[Node],
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
        copy: Copy,
    ) -> Result<(), Error> {
        let begin = self.out.len();
        self.nodes(body, answers, copy)?;
        let row = format!("<{}tr", self.prefix);
        if memmem::find(self.out.get(begin..).unwrap_or_default(), row.as_bytes()).is_none() {
            self.out.truncate(begin);
        }
        Ok(())
    }

    fn raw(&mut self, range: std::ops::Range<usize>) {
        self.out.extend_from_slice(self.xml.get(range).unwrap_or_default());
    }

    fn ends_with_paragraph(&self) -> bool {
        let written = self.out.trim_ascii_end();
        let last = memchr::memrchr(b'<', written).and_then(|at| written.get(at + 1..)).unwrap_or_default();
        let Some(local) = last.strip_prefix(b"/").unwrap_or(last).strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        let is_paragraph =
            matches!(local, [b'p', b'>' | b'/' | b' ', ..]) && (last[0] == b'/' || local.ends_with(b"/>"));
        is_paragraph || local == b"sdt>"
    }

    /// A value inside of a `w:t`: escaped, breaks and tabs as Word writes them, without what XML cannot hold.
    fn value(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let (taken, written) = match byte {
                b'&' => (1, "&amp;".to_owned()),
                b'<' => (1, "&lt;".to_owned()),
                b'>' => (1, "&gt;".to_owned()),
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => (2, self.element("br")),
                b'\n' | b'\r' => (1, self.element("br")),
                b'\t' => (1, self.element("tab")),
                0..0x20 => (1, String::new()),
                // U+FFFE and U+FFFF.
                0xef if matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])) => (3, String::new()),
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            self.out.extend_from_slice(written.as_bytes());
            at += taken;
            from = at;
        }
        self.out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    }

    /// An empty element in the midst of the run's text.
    fn element(&self, name: &str) -> String {
        let prefix = self.prefix;
        format!("</{prefix}t><{prefix}{name}/><{prefix}t xml:space=\"preserve\">")
    }
}

fn misfit() -> Error {
    Error::Answer("what the program answered is not this template's".to_owned())
}
