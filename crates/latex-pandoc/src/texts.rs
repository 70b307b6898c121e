//! The sources of a document, and where something stands in them.
//!
//! Hazard: a source may be 90 MB of line ends, packed into half a megabyte, and to split it into lines would take seconds. So
//! [`memmem`] finds the words, and only the lines with them are looked at.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};

/// The sources by their names, as pandoc calls them; the first one is the document.
#[derive(Clone, Debug, Default)]
pub struct Texts<'a>(Vec<(&'a str, &'a str)>);

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as pandoc calls it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl<'a> Texts<'a> {
    /// The source `text`, which is called `name`.
    pub fn of(name: &'a str, text: &'a str) -> Self {
        Self(vec![(name, text)])
    }

    /// The same with another file that the document may include.
    pub fn with(mut self, name: &'a str, text: &'a str) -> Self {
        self.0.push((name, text));
        self
    }

    /// Where `words` stand first, comments apart.
    pub fn find(&self, words: &str) -> Option<Place> {
        self.find_line(words, |code| code.contains(words))
    }

    /// Where `key` stands first as one of the keys in an argument: `{key}`, `{one, key}`.
    pub fn find_key(&self, key: &str) -> Option<Place> {
        self.find_line(key, |code| {
            code.split(['{', '}']).skip(1).any(|argument| argument.split(',').any(|one| one.trim() == key))
        })
    }

    fn find_line(&self, words: &str, is_there: impl Fn(&str) -> bool) -> Option<Place> {
        self.0.iter().find_map(|(name, text)| {
            let (line, _) = lines_with(text, words).find(|(_, line)| is_there(code_of(line)))?;
            Some(Place { file: (*name).to_owned(), line })
        })
    }

    /// Where the document begins behind its preamble.
    pub(crate) fn preamble(&self) -> Option<Place> {
        let (name, text) = self.0.first()?;
        Self::of(name, text).find("\\begin{document}")
    }
}

/// The lines of `text` that have `words` in them, each with its number, from 1.
pub fn lines_with<'t>(text: &'t str, words: &str) -> impl Iterator<Item = (usize, &'t str)> {
    line_ranges_with(text.as_bytes(), words.as_bytes()).map(|(number, line)| (number, &text[line]))
}

/// The same of a text that may not be UTF-8: where each of these lines stands.
pub fn line_ranges_with(text: &[u8], words: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let finder = memmem::Finder::new(words);
    let (mut unread, mut number) = (0, 1);
    iter::from_fn(move || {
        let at = unread + finder.find(text.get(unread..)?)?;
        let begin = memrchr(b'\n', &text[unread..at]).map_or(unread, |end| unread + end + 1);
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
        number += memchr_iter(b'\n', &text[unread..begin]).count();
        let found = number;
        (unread, number) = (end + 1, number + 1);
        Some((found, begin..end))
    })
}

/// The line without its comment.
pub fn code_of(line: &str) -> &str {
    comment(line).map_or(line, |at| &line[..at])
}

/// The text without its comments. The line ends stay.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(at) = comment(rest) {
        code.push_str(&rest[..at]);
        rest = memchr(b'\n', &rest.as_bytes()[at..]).map_or("", |end| &rest[at + end..]);
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    code.push_str(rest);
    Cow::Owned(code)
}

/// Where the first comment begins: at a percent sign with an even number of backslashes before it.
fn comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_comment = |at: &usize| {
        let escapes = bytes[..*at].iter().rev().take_while(|byte| **byte == b'\\').count();
        escapes % 2 == 0
    };
    memchr_iter(b'%', bytes).find(is_comment)
}
