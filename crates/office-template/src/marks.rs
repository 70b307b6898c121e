//! What can be written only when a part is whole: colours of what stands around a tag or behind it, and tables of contents.
//!
//! While the part is written a mark stands in the place of the tag: a processing instruction with a number. No data can hold one (`{@…}`
//! refuses them), and its name is one that the template does not use. A part without marks is not gone through again.

mod colours;
mod contents;
mod edits;
mod headings;

use memchr::memmem;

use crate::error::Error;
use crate::fill::Source;
use crate::package::Package;

/// What is to be done where a mark stands.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// This colour, six digits.
    Colour(String, Coloured),
    /// A table of contents of so many levels.
    Contents(u8),
}

/// What takes a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coloured {
    /// The text behind the mark in its paragraph.
    Text,
    /// The cell around.
    Cell,
    /// All cells of the row around.
    Row,
}

/// What a mark says besides its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It holds to the end of its paragraph.
    Here,
    /// It holds up to the mark that ends it: what stands between paragraphs in the place of a tag.
    From,
    To,
}

/// The marks of a part.
#[derive(Default)]
pub(crate) struct Marks {
    /// The instruction's name; empty while there is none.
    name: String,
    all: Vec<Mark>,
}

impl Marks {
    /// Adds a mark to a part that is made of `source`, and tells its number.
    pub(crate) fn add(&mut self, mark: Mark, source: &[u8]) -> usize {
        if self.name.is_empty() {
            let names = (0_u32..).map(|number| format!("platen{number}"));
            let is_free = |name: &String| memmem::find(source, format!("<?{name}").as_bytes()).is_none();
            self.name = { names }.find(is_free).unwrap_or_default();
        }
        self.all.push(mark);
        self.all.len() - 1
    }

    /// How a mark is written.
    pub(crate) fn written(&self, number: usize, reach: Reach) -> String {
        let reach = match reach {
            Reach::Here => "",
            Reach::From => " from",
            Reach::To => " to",
        };
        format!("<?{} {number}{reach}?>", self.name)
    }

    /// The marks in a piece of a part, as they are written.
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

    /// The mark that an instruction, told by what stands between its `<?` and `?>`, is.
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

    /// The part `xml`, which has these marks, with what they say.
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

/// Why a part that we wrote cannot be read.
fn unreadable(error: &quick_xml::Error) -> Error {
    Error::NotOffice(format!(
        "a part of the file cannot be read once it is filled ({error}); save it anew in Word"
    ))
}
