//! Errors: TeX's message in one sentence, the place, and as much of the source as TeX shows.
//!
//! Behind the first line come further lines of the message (of packages only), the places in macros that TeX was in, the line
//! of the file as `l.12 what was read` and below it what was not, and advice for those who sit at a terminal.

use std::fmt;

use crate::files::{Files, is_foreign};
use crate::header::{Header, header};
use crate::lines::{Lines, decoded};
use crate::text::{clean, number, quoted, sentence};
use crate::warning;

/// Most lines of a message.
const MESSAGE_LINES: usize = 8;
/// The line of the file stands within so many behind the message.
const CONTEXT_LINES: usize = 60;
/// Most lines of advice.
const ADVICE_LINES: usize = 12;
/// How TeX says that it ends.
const STOP: &str = "Emergency stop";

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// TeX's message in one sentence, without full stop; `package: ` stands before what a package says.
    pub message: String,
    /// What it is about, where that is known.
    pub cause: Cause,
    /// The file as TeX names it, without a `./`.
    pub file: Option<String>,
    /// Where that is one of TeX's own: the author's file that led to it.
    pub own_file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// False where TeX had read on before it noticed: a class or package that is not there is asked for in a line before this one.
    pub line_is_exact: bool,
    /// What TeX shows of the line.
    pub excerpt: Option<Excerpt>,
    /// The beginning of what was read as an argument to which no end was found.
    pub runaway: Option<String>,
}

/// What an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A command that nothing defines, with its backslash.
    UndefinedCommand(String),
    /// A file that is not there (`siunitx.sty`, `logo.png`).
    MissingFile(String),
    /// A font by its family, or as pdfTeX names it (`ecrm1000`).
    MissingFont(String),
    /// A character that pdfTeX's fonts do not have.
    Character(char),
    /// A limit of TeX's memory.
    Capacity,
    /// A package would run a program.
    WantsShell,
    /// Another TeX must make the document: a package says so, or a command that only that one has.
    Program(Program),
    /// Anything else; the message says it.
    Other,
}

/// The kinds of TeX that a package may want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `lualatex`; also where either will do.
    Luatex,
    /// `xelatex`.
    Xetex,
}

/// A line of the source, as far as TeX shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// What TeX had read of it: the error is at its end.
    pub before: String,
    /// What it had not.
    pub after: String,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(to, "{file}:{line}: {}", self.message),
            (Some(file), None) => write!(to, "{file}: {}", self.message),
            (None, _) => to.write_str(&self.message),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}{}", self.before, self.after)
    }
}

/// Reads the error that begins with `head`, and its lines out of `lines`.
pub(crate) fn read(head: Header<'_>, lines: &mut Lines<'_>, files: &Files, runaway: Option<String>) -> Error {
    let mut message = head.message.to_owned();
    if is_of_a_package(&message) {
        add_continued(&mut message, lines);
    }
    let first = lines.peek().map(|line| line.trim_end().to_owned());
    let undefined =
        message.starts_with("Undefined control sequence").then(|| last_command(first.as_deref()?)).flatten();
    let source = take_source(lines, files);
    if let Some(told) = source.as_ref().is_none().then(|| why_stopped(lines.clone(), &message)).flatten() {
        message = told;
    }
    let (line, excerpt) = source.unzip();
    let read = excerpt.as_ref().map(|excerpt| &*excerpt.before).unwrap_or_default();
    let (message, cause) = (spoken(&message), cause(&message, undefined, read));
    let message = if let Cause::UndefinedCommand(name) = &cause {
        format!("{message} {name}")
    } else if matches!(cause, Cause::Program(_)) && message.starts_with(STOP) {
        format!("{message} at {}", read.trim())
    } else {
        message
    };
    // The file that ended is the one in which the argument was begun.
    let ended = message.starts_with("File ended");
    let file = if ended { None } else { head.file };
    let file = file
        .or_else(|| if ended { files.closed().or(files.main()) } else { files.current() }.map(str::to_owned));
    let (line, excerpt) = if ended { (None, None) } else { (head.line.or(line), excerpt) };
    let file = file.map(|file| clean(&file));
    let own_file = file.as_deref().filter(|file| is_foreign(file)).and_then(|_| files.own()).map(clean);
    Error { message, cause, file, own_file, line, line_is_exact: line.is_some(), excerpt, runaway }
}

impl Error {
    /// A run without a terminal ends where TeX asks for the name of another file: only this end has a place.
    pub(crate) fn ended_at(&mut self, end: Error) {
        let Cause::MissingFile(name) = &self.cause else { return };
        if self.line.is_some() || end.line.is_none() {
            return;
        }
        // TeX looks behind the name of a package for a date, and finds the next line.
        self.line_is_exact = ![".sty", ".cls"].iter().any(|extension| name.ends_with(extension));
        self.excerpt = end.excerpt.filter(|_| self.line_is_exact);
        (self.file, self.own_file, self.line) = (end.file, end.own_file, end.line);
    }
}

/// Whether TeX only says that it ends.
pub(crate) fn is_end(message: &str) -> bool {
    message.starts_with(STOP) || message.starts_with("==> Fatal error")
}

/// Whether macros wrote the message: `LaTeX Error: …`, `Package siunitx Error: …`.
fn is_of_a_package(message: &str) -> bool {
    message.split_once("rror: ").or_else(|| message.split_once("rror:")).is_some_and(|(who, _)| {
        ["LaTeX", "Package ", "Class ", "Module ", "Critical ", "Fatal "]
            .iter()
            .any(|begin| who.starts_with(begin))
    })
}

/// Adds lines of the message up to the empty one behind it.
fn add_continued(message: &mut String, lines: &mut Lines<'_>) {
    for _ in 0..MESSAGE_LINES {
        let Some(line) = lines.peek() else { return };
        if line.trim().is_empty() || line.starts_with("l.") || line.starts_with('!') {
            return;
        }
        message.push(' ');
        message.push_str(warning::without_name(&line));
        lines.next();
    }
}

/// Finds the line of the source, `l.12 …`, and takes all lines up to it and the advice behind it.
fn take_source(lines: &mut Lines<'_>, files: &Files) -> Option<(u32, Excerpt)> {
    let mut ahead = lines.clone();
    for _ in 0..CONTEXT_LINES {
        let line = decoded(ahead.next()?);
        if let Some((number, before)) = line.strip_prefix("l.").and_then(number) {
            let after = ahead.next().map(decoded).unwrap_or_default();
            *lines = ahead;
            skip_advice(lines, files);
            return Some((number, excerpt(before, &after)));
        }
        if header(&line, files).is_some() {
            return None;
        }
    }
    None
}

fn excerpt(before: &str, after: &str) -> Excerpt {
    let shown = |text: &str| {
        let text = text.trim_end().trim_end_matches("^^M");
        text.chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .take(300)
            .collect::<String>()
    };
    Excerpt { before: shown(before.strip_prefix(' ').unwrap_or(before)), after: shown(after.trim_start()) }
}

fn skip_advice(lines: &mut Lines<'_>, files: &Files) {
    for _ in 0..ADVICE_LINES {
        let Some(line) = lines.peek() else { return };
        let is_other = line.starts_with([')', '(', '[']) || header(&line, files).is_some();
        if line.trim().is_empty() || is_other {
            return;
        }
        lines.next();
    }
}

/// The sentence that TeX gives for its end, if it is ending: `*** (job aborted, no legal \end found)`.
fn why_stopped(lines: Lines<'_>, message: &str) -> Option<String> {
    let reason = |line: &[u8]| {
        let line = decoded(line);
        let reason = line.trim().strip_prefix("*** (")?;
        Some(format!("TeX stopped: {}", reason.trim_end_matches(')')))
    };
    message.starts_with(STOP).then(|| lines.take(ADVICE_LINES).find_map(reason)).flatten()
}

/// The command at the end of the line on which TeX noticed it.
fn last_command(line: &str) -> Option<String> {
    let at = line.rfind('\\')?;
    let name = clean(line.get(at..)?);
    (name.len() > 1).then_some(name)
}

/// The message without TeX's manners: `Package siunitx Error: text.` is `siunitx: text`.
fn spoken(message: &str) -> String {
    let message = sentence(message);
    let Some((who, text)) = message.split_once("rror: ").filter(|_| is_of_a_package(&message)) else {
        return message;
    };
    let who = who.strip_suffix(['E', 'e']).unwrap_or(who).trim();
    let who = ["Critical ", "Fatal "].iter().find_map(|word| who.strip_prefix(word)).unwrap_or(who);
    match who.split_once(' ') {
        Some(("Package" | "Class" | "Module", name)) => format!("{}: {text}", name.trim_matches('\'')),
        _ => text.to_owned(),
    }
}

fn cause(message: &str, undefined: Option<String>, read: &str) -> Cause {
    let message = clean(message);
    let small = message.to_lowercase();
    if let Some(program) = undefined.as_deref().map_or_else(|| wanted(&message, &small, read), owner) {
        return Cause::Program(program);
    }
    if let Some(name) = undefined {
        return Cause::UndefinedCommand(name);
    }
    if ["shell-escape", "shell escape", "shellescape", "write18"].iter().any(|word| small.contains(word)) {
        return Cause::WantsShell;
    }
    if message.starts_with("TeX capacity exceeded") {
        return Cause::Capacity;
    }
    if let Some(letter) = character(&message) {
        return Cause::Character(letter);
    }
    let is_missing =
        ["not found", "not find", "can't find", "cannot find", "cannot be found", "not loadable"];
    if !is_missing.iter().any(|words| small.contains(words)) {
        return Cause::Other;
    }
    font(&message).or_else(|| file(&message)).unwrap_or(Cause::Other)
}

/// The one TeX that has the command.
fn owner(command: &str) -> Option<Program> {
    // \XeTeX by itself is the name in its own letters.
    let is_longer = |begin: &str| command.strip_prefix(begin).is_some_and(|rest| !rest.is_empty());
    if command == "\\directlua" || is_longer("\\luatex") {
        Some(Program::Luatex)
    } else if is_longer("\\XeTeX") {
        Some(Program::Xetex)
    } else {
        None
    }
}

/// The TeX that a package names: `LuaTeX is required for this package`; some only end at `\RequireXeTeX`.
fn wanted(message: &str, small: &str, read: &str) -> Option<Program> {
    let text = if message.starts_with(STOP) { read } else { small };
    let says = ["require", "only with", "need", "cannot be run", "use ", "\\Require"];
    if !says.iter().any(|word| text.contains(word)) {
        return None;
    }
    let text = text.to_lowercase();
    let names = |words: [&str; 3]| words.iter().any(|word| text.contains(word));
    if names(["luatex", "lualatex", "luahbtex"]) {
        Some(Program::Luatex)
    } else if names(["xetex", "xelatex", "xe(la)tex"]) {
        Some(Program::Xetex)
    } else {
        None
    }
}

/// `Unicode character 中 (U+4E2D) not set up for use with LaTeX`.
fn character(message: &str) -> Option<char> {
    let (_, rest) = message.split_once("Unicode char")?;
    let (_, code) = rest.split_once("(U+")?;
    u32::from_str_radix(code.split_once(')')?.0, 16).ok().and_then(char::from_u32)
}

fn font(message: &str) -> Option<Cause> {
    if let Some(family) = quoted(message, "The font ") {
        return Some(Cause::MissingFont(family.to_owned()));
    }
    // \own=cmr10 not loadable
    if let Some((_, rest)) = message.split_once("Font ").filter(|_| message.contains("not loadable")) {
        let asked = rest.split_once('=')?.1.split(" not loadable").next()?;
        let name = asked.split(" at ").next()?.split(" scaled ").next()?;
        let is_metrics =
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let family =
            || name.trim_matches(['"', '[', ']']).split([':', '/']).next().unwrap_or_default().to_owned();
        return Some(if is_metrics {
            Cause::MissingFile(format!("{name}.tfm"))
        } else {
            Cause::MissingFont(family())
        });
    }
    // Font ecrm1000 at 600 not found
    let (_, rest) = message.split_once(": Font ")?;
    let (name, _) = rest.split_once(" at ")?;
    Some(Cause::MissingFont(name.to_owned()))
}

/// The first word that is the name of a file, or the style of biblatex that is in one.
fn file(message: &str) -> Option<Cause> {
    if let Some(style) = quoted(message, "biblatex Error: Style ") {
        return Some(Cause::MissingFile(format!("{style}.bbx")));
    }
    let named = quoted(message, "File ").or_else(|| quoted(message, "file ")).filter(|name| !name.is_empty());
    let is_name = |word: &&str| {
        let Some((stem, extension)) = word.rsplit_once('.') else { return false };
        let is_extension = (1..=5).contains(&extension.len())
            && extension.chars().all(|letter| letter.is_ascii_alphanumeric());
        is_extension && !stem.is_empty() && !stem.ends_with('.')
    };
    let bare = |word: &'_ str| word.trim_matches(['\'', '"', ',', ';', ':', '(', ')', '.']).to_owned();
    let word = || {
        message
            .split(' ')
            .skip(1)
            .map(bare)
            .find(|word| is_name(&word.as_str()) && !word.ends_with(".def Error"))
    };
    named.map(str::to_owned).or_else(word).map(Cause::MissingFile)
}
