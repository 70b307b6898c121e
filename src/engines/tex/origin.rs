//! The line of the author's files for a line in TeX's messages.
//!
//! TeX reads the text with the data in it, so its line numbers are mapped back by the source map that rendering made. For some
//! errors TeX gives no line, or one after the mistake: then the author's line is searched for by the message.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use latex_pandoc::{code_of, lines_with};
use memchr::{memchr, memchr_iter, memmem};
use tex_log::{Cause, Error};

use super::first_file;
use super::folder::Folder;
use crate::engines::source_map::{EncodedSourceMap, SourceMap};

/// Prefixes of file names before the name by which an author loads them.
const PREFIXES: [&str; 9] = [
    "tikzlibrary",
    "pgflibrary",
    "beamertheme",
    "beamercolortheme",
    "beamerfonttheme",
    "beamerinnertheme",
    "beameroutertheme",
    "tcb",
    "lstlang",
];
/// How much of an unclosed argument is searched for.
const ARGUMENT_LETTERS: usize = 12;

/// The author's files, and what their lines became.
pub(super) struct Origins<'a> {
    folder: &'a Folder<'a>,
    source: Cow<'a, str>,
    encoded_map: Option<&'a EncodedSourceMap>,
    map: OnceCell<Option<SourceMap>>,
}

/// A line of a template's file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AuthorLine {
    pub file: String,
    /// Counted from 1.
    pub line: Option<u32>,
    /// `line` counts in the text with the data in it: which line of the template wrote it is not known.
    is_rendered: bool,
}

impl<'a> Origins<'a> {
    /// For the files in `folder`, and the map of its source.
    pub fn of(folder: &'a Folder<'a>, encoded_map: Option<&'a EncodedSourceMap>) -> Self {
        Self { folder, source: folder.source(), encoded_map, map: OnceCell::new() }
    }

    /// The author's line for a line in TeX's messages.
    pub fn place(&self, file: &str, line: Option<u32>) -> AuthorLine {
        let name = file.strip_prefix("./").unwrap_or(file);
        // The author does not know the file that TeX reads first, which inputs the entry.
        if name == first_file::name() {
            return AuthorLine { file: self.folder.entry().to_owned(), line: None, is_rendered: false };
        }
        let map = if name == self.folder.source_name() { self.map() } else { None };
        let origin = map.zip(line).map(|(map, line)| map.origin(line));
        match origin {
            Some(Some(origin)) => {
                AuthorLine { file: origin.file.to_owned(), line: Some(origin.line), is_rendered: false }
            }
            unknown => AuthorLine {
                file: self.folder.template_name(name).to_owned(),
                line,
                is_rendered: unknown.is_some(),
            },
        }
    }

    /// The line of an error; for one in TeX's own files, the author's line that loaded them.
    pub fn of_error(&self, error: &Error) -> Option<AuthorLine> {
        if let Some(own) = &error.own_file {
            let name = error.entered.as_ref().or(error.file.as_ref());
            let line = name.and_then(|name| self.line_of_mention(own, &stem(name), None));
            return Some(self.place(own, line));
        }
        let file = error.file.as_deref()?;
        let line = match error.line {
            Some(line) => self
                .line_of_load(error, file, line)
                .or_else(|| self.line_of_lua(error, file, line))
                .or_else(|| self.line_before(error, file, line))
                .or(Some(line)),
            None => self.line_of_argument(error, file),
        };
        Some(self.place(file, line))
    }

    /// The text of the author's line, without data.
    pub fn text(&self, place: &AuthorLine) -> Option<String> {
        if place.is_rendered {
            return None;
        }
        let line = line_of(self.folder.site().original(&place.file)?, place.line?)?;
        let text = String::from_utf8_lossy(line).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The first line with `letter`: TeX does not report where a font lacked it.
    pub fn of_letter(&self, letter: &str) -> Option<AuthorLine> {
        let source = self.source.as_bytes();
        let body = memmem::find(source, b"\\begin{document}")?;
        let at = body + memmem::find(&source[body..], letter.as_bytes())?;
        Some(self.place(&self.folder.source_name(), Some(line_at(&self.source, at))))
    }

    fn map(&self) -> Option<&SourceMap> {
        let read = || self.encoded_map?.decode(&self.source);
        self.map.get_or_init(read).as_ref()
    }

    /// A file's text as TeX reads it.
    fn text_of(&self, file: &str) -> Cow<'_, str> {
        if file == self.folder.source_name() {
            return Cow::Borrowed(&self.source);
        }
        self.folder.site().get(file).map(|text| String::from_utf8_lossy(text)).unwrap_or_default()
    }

    /// The last line up to `end` on which a command names `stem` in braces; without `end` the first one.
    fn line_of_mention(&self, file: &str, stem: &str, end: Option<u32>) -> Option<u32> {
        let text = self.text_of(file);
        let names = |line: &str| {
            let code = code_of(line);
            let last_end = code.rfind('}');
            let is_part = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '\\'))
            };
            code.match_indices(stem).any(|(at, _)| {
                let (before, behind) = (&code[..at], &code[at + stem.len()..]);
                !is_part(before.chars().next_back())
                    && !is_part(behind.chars().next())
                    && last_end.is_some_and(|end| end > at)
            })
        };
        let last = end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
        let read = lines_with(&text, stem).take_while(|(number, _)| *number <= last);
        let mut found = read.filter(|(_, line)| names(line)).map(|(number, _)| number);
        let found = if end.is_some() { found.last() } else { found.next() };
        found.and_then(|number| u32::try_from(number).ok())
    }

    /// The line that loads a missing or clashing package: TeX reports the line after it.
    fn line_of_load(&self, error: &Error, file: &str, line: u32) -> Option<u32> {
        let missing = if let Cause::MissingFile(name) = &error.cause { Some(name.as_str()) } else { None };
        let name = missing
            .filter(|_| !error.line_is_exact)
            .or_else(|| error.message.strip_prefix("Option clash for package "))?;
        self.line_of_mention(file, &stem(name), Some(line))
    }

    /// The last non-empty line before `line`, where TeX had read nothing of `line` yet: a command there looked ahead. Not where
    /// an empty line ended an argument: that line is itself the mistake.
    fn line_before(&self, error: &Error, file: &str, line: u32) -> Option<u32> {
        let excerpt = error.excerpt.as_ref()?;
        if !excerpt.before.trim().is_empty() || error.message.starts_with("Paragraph ended") {
            return None;
        }
        let text = self.text_of(file);
        let before = text[..line_start(text.as_bytes(), line).unwrap_or(text.len())].trim_end();
        (!before.is_empty()).then(|| line_at(before, before.len()))
    }

    /// The line inside an environment of Lua code, whose last line TeX reports.
    fn line_of_lua(&self, error: &Error, file: &str, line: u32) -> Option<u32> {
        let behind = error.lua_line.filter(|_| {
            error.excerpt.as_ref().is_some_and(|excerpt| excerpt.before.trim_start().starts_with("\\end{lua"))
        })?;
        let text = self.text_of(file);
        let end = line_start(text.as_bytes(), line.saturating_add(1)).unwrap_or(text.len());
        let begin = last_line_that_begins(&text[..end], "\\begin{lua")?;
        Some(begin.saturating_add(behind).min(line))
    }

    /// The line on which an unclosed argument begins.
    fn line_of_argument(&self, error: &Error, file: &str) -> Option<u32> {
        let (_, command) = error.message.split_once("scanning use of ")?;
        if command.starts_with("\\UTFviii@") {
            let text = self.text_of(file);
            return text.find(char::REPLACEMENT_CHARACTER).map(|at| line_at(&text, at));
        }
        let begin: String = error.runaway.as_deref()?.chars().take(ARGUMENT_LETTERS).collect();
        let begin = begin.split(['\\', ' ']).next().filter(|begin| !begin.is_empty())?;
        let text = self.text_of(file);
        let at = memmem::find(text.as_bytes(), format!("{}{begin}", command.trim()).as_bytes())?;
        Some(line_at(&text, at))
    }
}

impl fmt::Display for AuthorLine {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) if self.is_rendered => write!(to, "{} (line {line} with the data in it)", self.file),
            Some(line) => write!(to, "{}:{line}", self.file),
            None => to.write_str(&self.file),
        }
    }
}

/// The number of the line that the byte `at` is on.
fn line_at(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    u32::try_from(memchr_iter(b'\n', before).count()).unwrap_or(u32::MAX).saturating_add(1)
}

/// Where the line with this number, from 1, begins; `None` if there are fewer.
fn line_start(text: &[u8], number: u32) -> Option<usize> {
    match usize::try_from(number).ok()?.checked_sub(2) {
        Some(ends) => memchr_iter(b'\n', text).nth(ends).map(|end| end + 1),
        None => Some(0),
    }
}

/// The line with this number, from 1.
pub(super) fn line_of(text: &[u8], number: u32) -> Option<&[u8]> {
    let line = &text[line_start(text, number).filter(|_| number > 0)?..];
    Some(&line[..memchr(b'\n', line).unwrap_or(line.len())])
}

/// The number of the last line that begins with `words`, blanks apart.
fn last_line_that_begins(text: &str, words: &str) -> Option<u32> {
    let begun = lines_with(text, words).filter(|(_, line)| line.trim_start().starts_with(words));
    begun.last().and_then(|(number, _)| u32::try_from(number).ok())
}

/// What an author calls a file of TeX's: `calc` for `tikzlibrarycalc.code.tex`.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let short =
        PREFIXES.iter().find_map(|prefix| stem.strip_prefix(prefix)).filter(|short| !short.is_empty());
    short.unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::site::Site;

    const SOURCE: &str = "\\documentclass{book}\n%\\usepackage{a}\n\\usepackage[x]{c,a}\n\\begin{document}\né中\n\\end{document}\n";

    fn map(notes: &'static str) -> Option<EncodedSourceMap> {
        EncodedSourceMap::new(Bytes::from_static(notes.as_bytes()))
    }

    fn site() -> Site {
        let file = ("main.tex".to_owned(), Bytes::from_static(b"one\ntwo\n  <%= three %> \n"));
        let part =
            ("part.tex".to_owned(), Bytes::from_static(b"x\n\\begin{luacode}\na\nb\n\\end{luacode}\n\xe4\n"));
        Site::new("main.tex", [file, part].into()).with_page(Bytes::from_static(SOURCE.as_bytes()))
    }

    fn error(log: &str) -> Error {
        let log = format!("This is pdfTeX\n(./main.tex\n{log}\n");
        tex_log::read(log.as_bytes()).errors.swap_remove(0)
    }

    #[test]
    fn a_line_is_mapped_to_the_authors_own_files() {
        let (site, map) = (site(), map("[\"main.tex\"]\n0 6 60 0"));
        let folder = Folder::of(&site);
        let origins = Origins::of(&folder, map.as_ref());
        let shown = |file: &str, line| origins.place(file, line).to_string();
        assert_eq!(shown("./main.tex", Some(1)), "main.tex:3");
        assert_eq!(shown("main.tex", None), "main.tex");
        assert_eq!(shown("part.tex", Some(7)), "part.tex:7");
        assert_eq!(shown(&first_file::name(), Some(7)), "main.tex");
        assert_eq!(shown("main.tex", Some(6)), "main.tex (line 6 with the data in it)");
        assert_eq!(origins.text(&origins.place("main.tex", Some(1))).as_deref(), Some("<%= three %>"));
        assert_eq!(origins.text(&origins.place("main.tex", Some(6))), None);
    }

    #[test]
    fn a_line_that_tex_does_not_report_is_searched_for() {
        let site = site();
        let folder = Folder::of(&site);
        let origins = Origins::of(&folder, None);
        let of = |log: &str| origins.of_error(&error(log)).unwrap().to_string();
        assert_eq!(of("(/t/a.sty (/t/b.sty\n/t/b.sty:7: Package b Error: No.\n\nl.7 x\n"), "main.tex:3");
        assert_eq!(of("(/t/zz.sty\n/t/zz.sty:7: Package b Error: No.\n\nl.7 x\n"), "main.tex");
        assert_eq!(of("(./part.tex\n[\\directlua]:2: bad\nl.5 \\end{luacode}\n\n"), "part.tex:4");
        let runaway = "Runaway argument?\n{book}\n! File ended while scanning use of \\documentclass.\n";
        assert_eq!(of(runaway), "main.tex:1");
        let cut = "(./part.tex)\n! File ended while scanning use of \\UTFviii@three@octets.\n";
        assert_eq!(of(cut), "part.tex:6");
        assert_eq!(of("./part.tex:3: There's no line here to end.\n\nl.3 \n    a\n"), "part.tex:2");
        assert_eq!(of("./part.tex:3: Paragraph ended before \\x was complete.\nl.3 \n    \n"), "part.tex:3");
        assert_eq!(
            of("./main.tex:4: LaTeX Error: Option clash for package c.\n\nl.4 \\begin\n  {document}\n"),
            "main.tex:3"
        );
        assert_eq!(origins.of_letter("中").unwrap().line, Some(5));
        assert_eq!((stem("/x/tikzlibrarycalc.code.tex"), stem("a.sty")), ("calc".to_owned(), "a".to_owned()));
    }

    #[test]
    fn lines_are_found_by_their_numbers_and_beginnings() {
        let text = b"a\n\nb";
        let lines = [0, 1, 2, 3, 4].map(|number| line_of(text, number));
        assert_eq!(lines, [None, Some(&b"a"[..]), Some(&b""[..]), Some(&b"b"[..]), None]);
        let text = "x\n  x y x\nz x\n";
        assert_eq!(
            [text, &text[..11], &text[..2]].map(|text| last_line_that_begins(text, "x")),
            [Some(2), Some(2), Some(1)]
        );
        // Each line is looked at once, however often it has the words.
        assert_eq!(last_line_that_begins(&format!("y{}", "x".repeat(1_000_000)), "x"), None);
    }
}
