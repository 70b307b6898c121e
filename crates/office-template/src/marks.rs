//! What can be written only when a part is complete: colours of content around or behind a tag, and tables of contents.
//!
//! Until then a mark replaces the tag: a processing instruction with a number. Data cannot forge one, since `{@…}` refuses
//! instructions, and its name is one that the template does not use. A part without marks is not parsed again.

mod colours;
mod contents;
mod edits;
mod headings;

use memchr::memmem;

use crate::error::Error;
use crate::mark::{Coloured, Mark};
use crate::package::Package;
use crate::source::Source;

/// How far a mark applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the end of its paragraph.
    Here,
    /// From here up to [`Reach::To`]: around content that was put between paragraphs.
    From,
    To,
}

#[derive(Default)]
pub(crate) struct Marks {
    /// The instruction's name; empty while there is none.
    name: String,
    all: Vec<Mark>,
}

impl Marks {
    /// Adds a mark for a part made from `source`, and returns its number.
    pub(crate) fn add(&mut self, mark: Mark, source: &[u8]) -> usize {
        if self.name.is_empty() {
            let names = (0_u32..).map(|number| format!("platen{number}"));
            let is_free = |name: &String| memmem::find(source, format!("<?{name}").as_bytes()).is_none();
            self.name = { names }.find(is_free).unwrap_or_default();
        }
        self.all.push(mark);
        self.all.len() - 1
    }

    /// The XML of a mark.
    pub(crate) fn written(&self, number: usize, reach: Reach) -> String {
        let reach = match reach {
            Reach::Here => "",
            Reach::From => " from",
            Reach::To => " to",
        };
        format!("<?{} {number}{reach}?>", self.name)
    }

    /// The XML of all marks in a piece of a part.
    pub(crate) fn within(&self, piece: &[u8]) -> Vec<u8> {
        let mut found = Vec::new();
        if self.all.is_empty() {
            return found;
        }
        let begin = format!("<?{} ", self.name);
        for at in memmem::find_iter(piece, begin.as_bytes()) {
            let rest = piece.get(at..).unwrap_or_default();
            let end = memmem::find(rest, b"?>").map_or(0, |end| end + 2);
            found.extend_from_slice(rest.get(..end).unwrap_or_default());
        }
        found
    }

    /// The mark of an instruction, given without its `<?` and `?>`; `None` for other instructions.
    fn read(&self, instruction: &[u8]) -> Option<(&Mark, Reach)> {
        let text = std::str::from_utf8(instruction).ok()?;
        let mut words = text.strip_prefix(&self.name)?.split_ascii_whitespace();
        let mark = self.all.get(words.next()?.parse::<usize>().ok()?)?;
        let reach = match words.next() {
            Some("from") => Reach::From,
            Some("to") => Reach::To,
            _ => Reach::Here,
        };
        Some((mark, reach))
    }

    /// Replaces the marks in `xml` by what they stand for.
    pub(crate) fn applied(
        &self,
        xml: Vec<u8>,
        source: Source<'_>,
        package: &mut Package<'_>,
    ) -> Result<Vec<u8>, Error> {
        let has = |is: fn(&Mark) -> bool| self.all.iter().any(is);
        let mut xml = xml;
        if has(|mark| matches!(mark, Mark::Colour(..))) {
            xml =
                colours::applied(&xml, self, source.prefix, package.room())?.ok_or_else(|| package.full())?;
        }
        if has(|mark| matches!(mark, Mark::Contents(_))) {
            xml = contents::applied(&xml, self, source, package)?;
        }
        Ok(xml)
    }
}

/// The error for a filled part that cannot be parsed.
fn unreadable(error: &quick_xml::Error) -> Error {
    Error::NotOffice(format!(
        "a part of the file cannot be read once it is filled ({error}); save it anew in Word"
    ))
}
