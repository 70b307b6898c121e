//! Which TeX program makes a document: the one in formatOpts, else the one that the file names, else the one that its packages need.

use std::borrow::Cow;

use latex_pandoc::without_comments;
use memchr::memmem;
use tex_log::{Cause, Program};

use crate::domain::format_opts::TexProgram;

/// The comment that names a program must be among so many first lines.
const MAGIC_LINES: usize = 20;

/// Words of a preamble that only the given program understands.
const NEEDS: [(&str, TexProgram); 13] = [
    ("xeCJK", TexProgram::Xelatex),
    ("xltxtra", TexProgram::Xelatex),
    ("mathspec", TexProgram::Xelatex),
    ("fontspec", TexProgram::Lualatex),
    ("unicode-math", TexProgram::Lualatex),
    ("polyglossia", TexProgram::Lualatex),
    ("luatexja", TexProgram::Lualatex),
    ("luacode", TexProgram::Lualatex),
    ("\\directlua", TexProgram::Lualatex),
    ("\\setmainfont", TexProgram::Lualatex),
    ("\\setsansfont", TexProgram::Lualatex),
    ("\\babelfont", TexProgram::Lualatex),
    ("\\setmathfont", TexProgram::Lualatex),
];

/// Commands that load packages and languages.
const LOADING: [&str; 6] = [
    "\\documentclass",
    "\\usepackage",
    "\\RequirePackage",
    "\\PassOptionsToPackage",
    "\\babelprovide",
    "\\babeltags",
];

/// How many characters of options and arguments are read behind each of these commands.
const ARGUMENTS_LIMIT: usize = 4_096;

/// The program for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgramChoice {
    /// The program.
    pub program: TexProgram,
    /// Neither caller nor file named a program, so another one may be tried where this one fails.
    pub is_free: bool,
    /// babel is loaded with Greek.
    pub is_greek: bool,
}

impl ProgramChoice {
    /// The program for `source`; `asked` is the one in formatOpts.
    pub fn of(asked: Option<TexProgram>, source: &str) -> Self {
        let asked = asked.or_else(|| named(source).and_then(TexProgram::from_name));
        let preamble = preamble(source);
        let has = |word: &str| memmem::find(preamble.as_bytes(), word.as_bytes()).is_some();
        let needed = || NEEDS.iter().find(|(word, _)| has(word)).map(|(_, program)| *program);
        let is_greek = is_greek(&preamble);
        let usual = if is_greek { TexProgram::Lualatex } else { TexProgram::Pdflatex };
        Self { program: asked.or_else(needed).unwrap_or(usual), is_free: asked.is_none(), is_greek }
    }

    /// Another program that supports what this one failed for, if any.
    pub fn other(self, cause: &Cause) -> Option<TexProgram> {
        let other = if matches!(cause, Cause::Character(_) | Cause::Program(Program::Luatex)) {
            TexProgram::Lualatex
        } else if matches!(cause, Cause::Program(Program::Xetex)) {
            TexProgram::Xelatex
        } else {
            return None;
        };
        (self.is_free && other != self.program).then_some(other)
    }
}

/// The name in `% !TeX program = name`, a comment that editors read. There may be no such program.
pub(super) fn named(source: &str) -> Option<&str> {
    source.lines().take(MAGIC_LINES).find_map(|line| {
        let comment = line.trim_start().strip_prefix('%')?.trim_start_matches(['%', ' ', '\t']);
        let (mark, rest) = comment.split_at_checked("!TeX".len())?;
        let (key, name) = rest.split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        let is_program = mark.eq_ignore_ascii_case("!TeX") && matches!(&*key, "program" | "ts-program");
        is_program.then(|| name.trim())
    })
}

/// Whether babel is loaded with Greek in this preamble. In pdflatex's encoding of that language the codes of Latin letters are
/// Greek letters: the name `Platen` in a value would be printed in Greek letters, and nothing would say so.
fn is_greek(preamble: &str) -> bool {
    let (mut has_babel, mut has_greek) = (false, false);
    for text in LOADING.iter().flat_map(|command| arguments_of(preamble, command)) {
        for word in text.split(|letter: char| !letter.is_ascii_alphabetic()) {
            has_babel |= word == "babel";
            has_greek |= matches!(word, "greek" | "polutonikogreek");
        }
    }
    has_babel && has_greek
}

/// The options and arguments of each `command`. Each part of the source is read once: it may have millions of commands, and
/// brackets without an end.
fn arguments_of<'a>(mut rest: &'a str, command: &str) -> impl Iterator<Item = &'a str> {
    let (finder, length) = (memmem::Finder::new(command), command.len());
    std::iter::from_fn(move || {
        let at = finder.find(rest.as_bytes())?;
        let (found, left) = arguments(&rest[at + length..]);
        rest = left;
        Some(found)
    })
}

/// The options and arguments at the start of `rest`, and what was not read.
fn arguments(rest: &str) -> (&str, &str) {
    let (mut end, mut read, mut depth) = (0, 0, 0_usize);
    for (at, letter) in rest.char_indices().take(ARGUMENTS_LIMIT) {
        match letter {
            '[' | '{' => depth += 1,
            ']' | '}' if depth > 0 => {
                depth -= 1;
                end = if depth == 0 { at + 1 } else { end };
            }
            letter if depth == 0 && !letter.is_whitespace() => break,
            _ => {}
        }
        read = at + letter.len_utf8();
    }
    (&rest[..end], &rest[if depth > 0 { read } else { end }..])
}

/// The preamble without its comments.
fn preamble(source: &str) -> Cow<'_, str> {
    let end = memmem::find(source.as_bytes(), b"\\begin{document}").unwrap_or(source.len());
    without_comments(&source[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_without_an_end_are_read_once() {
        assert!(!is_greek(&"\\babeltags{".repeat(500_000)));
    }

    #[test]
    fn the_caller_goes_before_the_file_and_the_file_before_its_needs() {
        let chosen = |asked, source: &str| ProgramChoice::of(asked, source).program.name();
        let file = "\u{feff}% letter\n%% !TEX TS-program = XeLaTeX\n\\usepackage{fontspec}\\begin{document}";
        assert_eq!(chosen(Some(TexProgram::Pdflatex), file), "pdflatex");
        assert_eq!(chosen(None, file), "xelatex");
        for (source, program) in [
            ("\\documentclass{article}", "pdflatex"),
            ("% !TeX program = lualatex", "lualatex"),
            ("% !TeX encoding = lualatex", "pdflatex"),
            ("% !TeX program = latexmk", "pdflatex"),
            ("\\usepackage{fontspec}", "lualatex"),
            ("\\usepackage{xeCJK}", "xelatex"),
            ("%\\usepackage{fontspec}\n\\begin{document}fontspec", "pdflatex"),
            ("\\%\\usepackage{fontspec}", "lualatex"),
            ("\\\\%\\usepackage{fontspec}", "pdflatex"),
            ("\\usepackage[greek]{babel}", "lualatex"),
            ("\\documentclass[polutonikogreek]{article}\n\\usepackage{babel}", "lualatex"),
            ("\\usepackage{babel}\n\\babelprovide[main,import]{greek}", "lualatex"),
            ("% !TeX program = pdflatex\n\\usepackage[greek,english]{babel}", "pdflatex"),
            ("\\usepackage[english]{babel}\\newcommand\\greek{}%greek", "pdflatex"),
            ("\\newcommand\\language{greek}", "pdflatex"),
            ("\\usepackage[english]{babel}\\title{A greek tragedy}", "pdflatex"),
            ("\\usepackage[\n  english, % both\n  greek\n]{babel}", "lualatex"),
        ] {
            assert_eq!(chosen(None, source), program, "{source}");
        }
        assert!(!ProgramChoice::of(None, file).is_free && ProgramChoice::of(None, "").is_free);
        assert_eq!(named("% !TeX program = latexmk"), Some("latexmk"));
    }
}
