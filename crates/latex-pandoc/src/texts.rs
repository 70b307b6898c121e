//! The sources of a document, and where something stands in them.

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
        // Most texts do not have them: nothing is taken apart for these.
        self.find_line(words, |code| code.contains(words))
    }

    /// Where `key` stands first as one of the keys in an argument: `{key}`, `{one, key}`.
    pub fn find_key(&self, key: &str) -> Option<Place> {
        self.find_line(key, |code| {
            code.split(['{', '}']).skip(1).any(|argument| argument.split(',').any(|one| one.trim() == key))
        })
    }

    fn find_line(&self, words: &str, is_there: impl Fn(&str) -> bool) -> Option<Place> {
        self.0.iter().filter(|(_, text)| text.contains(words)).find_map(|(name, text)| {
            let line = text.lines().position(|line| is_there(code_of(line)))?;
            Some(Place { file: (*name).to_owned(), line: line + 1 })
        })
    }

    /// Where the document begins behind its preamble.
    pub(crate) fn preamble(&self) -> Option<Place> {
        let (name, text) = self.0.first()?;
        Self::of(name, text).find("\\begin{document}")
    }
}

/// The line without its comment.
pub fn code_of(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, character) in line.char_indices() {
        if character == '%' && !is_escaped {
            return &line[..at];
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    line
}
