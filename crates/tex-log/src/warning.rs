//! Warnings: what a reader of the document would miss, with the place where that is known.

use std::fmt;

use crate::files::Files;
use crate::header::header;
use crate::lines::Lines;
use crate::text::{clean, number, quoted, sentence};

/// Most lines of a message, and of the text that TeX shows of a line that is too long.
const LINES: usize = 12;
/// What begins a message of LaTeX, its classes and packages.
const SPEAKERS: [&str; 4] = ["LaTeX ", "Package ", "Class ", "Module "];

/// One warning, and how often it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// What it is about.
    pub kind: Kind,
    /// The file as TeX names it, without a `./`.
    pub file: Option<String>,
    /// Its line, from 1: of a paragraph the first.
    pub line: Option<u32>,
    /// How often it was given for this place.
    pub times: u32,
}

/// What a warning is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A line is too wide by so many points.
    TooWide(f64),
    /// A page or box is too high by so many points.
    TooHigh(f64),
    /// A character that a font lacks: nothing is printed for it.
    MissingCharacter {
        /// It, or as TeX writes it.
        character: String,
        /// The font's name.
        font: String,
    },
    /// A label that is nowhere.
    UndefinedReference(String),
    /// An entry that no bibliography has.
    UndefinedCitation(String),
    /// The same, where the program that made the bibliography says which entry it has not found.
    MissingEntry(String),
    /// A label that is there twice.
    DuplicateLabel(String),
    /// A shape of a font that is not there, and the one in its place.
    FontSubstituted {
        /// As `T1/cmr/b/sc`.
        asked: String,
        /// Likewise.
        used: String,
    },
    /// What LaTeX, a class or a package says.
    Other {
        /// Who says it.
        by: String,
        /// In one sentence, without full stop.
        text: String,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooWide(points) => write!(to, "a line is {points:.1} pt too wide"),
            Self::TooHigh(points) => write!(to, "a page or box is {points:.1} pt too high"),
            Self::MissingCharacter { character, font } => {
                to.write_str(&missing_characters(&[character], font))
            }
            Self::UndefinedReference(name) => write!(to, "the reference '{name}' is not defined"),
            Self::UndefinedCitation(name) => write!(to, "the citation '{name}' is not defined"),
            Self::MissingEntry(name) => {
                write!(to, "the citation '{name}' is not defined: no database has an entry of that name")
            }
            Self::DuplicateLabel(name) => write!(to, "the label '{name}' is defined more than once"),
            Self::FontSubstituted { asked, used } => write!(to, "there is no font {asked}: {used} was used"),
            Self::Other { by, text } => write!(to, "{by}: {text}"),
        }
    }
}

/// That `font` lacks these characters, in one sentence.
pub fn missing_characters(characters: &[&str], font: &str) -> String {
    let named = characters.iter().map(|character| {
        let mut letters = character.chars();
        match (letters.next(), letters.next()) {
            // Some characters cannot be seen, and some look like others. pdfTeX's are bytes, which are none.
            (Some(letter), None) if letter != char::REPLACEMENT_CHARACTER => {
                format!("'{letter}' (U+{:04X})", u32::from(letter))
            }
            _ => format!("'{character}'"),
        }
    });
    let lost = if characters.len() == 1 { "it is" } else { "they are" };
    format!("the font {font} has no {}: {lost} not printed", named.collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Warning {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(to, "{file}:{line}: {}", self.kind),
            (Some(file), None) => write!(to, "{file}: {}", self.kind),
            (None, _) => write!(to, "{}", self.kind),
        }
    }
}

/// A message that is no error.
pub(crate) enum Message {
    /// What may matter, and its line.
    Warning(Kind, Option<u32>),
    /// What LaTeX, a class or a package says, and its line.
    Said(Said, Option<u32>),
    /// What is nobody's concern.
    Nothing,
}

/// A warning of LaTeX, a class or a package, not yet judged.
pub(crate) struct Said {
    by: String,
    pub(crate) text: String,
}

/// Reads the message that begins with `line`, and its lines out of `lines`; nothing where a line is none.
pub(crate) fn read(line: &str, lines: &mut Lines<'_>, files: &Files) -> Option<Message> {
    if line.starts_with("Overfull ") || line.starts_with("Underfull ") {
        skip_shown(lines, files);
        return Some(overfull(line).map_or(Message::Nothing, |(kind, line)| Message::Warning(kind, line)));
    }
    if let Some(rest) = line.strip_prefix("Missing character: There is no ") {
        return Some(missing_character(rest).map_or(Message::Nothing, |kind| Message::Warning(kind, None)));
    }
    let (by, is_warning, text) = spoken(line)?;
    let text = continued(text, lines);
    let said = || {
        let (text, line) = without_line(&text);
        Message::Said(Said { by: clean(by), text: sentence(text) }, line)
    };
    Some(if is_warning { said() } else { Message::Nothing })
}

impl Said {
    /// Whether its author has no use for it: it is empty, expected, or others say the same with names and lines.
    pub(crate) fn is_summary(&self) -> bool {
        self.text.is_empty() || SUMS.iter().any(|sum| self.text.starts_with(sum))
    }

    /// What a warning is about.
    pub(crate) fn kind(self) -> Kind {
        let Self { by, text } = self;
        let of = |before: &str| quoted(&text, before).map(sentence);
        let is_undefined = text.contains(" undefined");
        if let Some(name) = of("eference ").filter(|_| is_undefined) {
            Kind::UndefinedReference(name)
        } else if let Some(name) = of("Citation ").filter(|_| is_undefined) {
            Kind::UndefinedCitation(name)
        } else if let Some(name) = of("Label ").filter(|_| text.contains("multiply defined")) {
            Kind::DuplicateLabel(name)
        } else if let (Some(asked), Some(used)) = (of("Font shape "), of(" using ")) {
            Kind::FontSubstituted { asked, used }
        } else {
            Kind::Other { by, text }
        }
    }
}

/// What only sums up, or is meant to be so: from TeX Live 2024 on (Debian 13) graphicx loads epstopdf, which says that it
/// may start no program, for every document.
const SUMS: [&str; 7] = [
    "Shell escape feature is not enabled",
    "The following entry could not be found",
    "There were undefined",
    "There were multiply-defined",
    "Some font shapes were not available",
    "Size substitutions with differences",
    "Font shape declaration",
];

/// A line of a message behind its first, without the `(name)` before it.
pub(crate) fn without_name(line: &str) -> &str {
    let rest = line.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let named = rest
        .filter(|(name, text)| !name.contains([' ', '/', '(']) && (text.is_empty() || text.starts_with(' ')));
    named.map_or(line, |(_, text)| text).trim()
}

/// Who speaks, whether it is a warning, and what: `Package siunitx Warning: text`.
fn spoken(line: &str) -> Option<(&str, bool, &str)> {
    if let Some((_, text)) = line.split_once(": ").filter(|(who, _)| who.starts_with("pdfTeX warning")) {
        return Some(("pdfTeX", true, text));
    }
    if !SPEAKERS.iter().any(|begin| line.starts_with(begin)) {
        return None;
    }
    let (who, text) = line.split_once(':')?;
    let (who, what) = who.trim_end().rsplit_once(' ')?;
    let name = match who.split_once(' ') {
        Some(("Package" | "Class" | "Module", name)) => name.trim_matches('\''),
        _ => "LaTeX",
    };
    let is_message = matches!(what, "Warning" | "Info") && name.len() < 60;
    is_message.then_some((name, what == "Warning", text.trim()))
}

/// The message whole: further lines begin with a name in parentheses, or far to the right.
fn continued(first: &str, lines: &mut Lines<'_>) -> String {
    let mut text = first.to_owned();
    for _ in 0..LINES {
        let Some(line) = lines.peek() else { break };
        let is_far = line.starts_with("               ") && !line.trim().is_empty();
        let is_named = line.starts_with('(') && without_name(&line).len() < line.trim().len();
        if !is_far && !is_named {
            break;
        }
        text.push(' ');
        text.push_str(without_name(&line));
        lines.next();
    }
    text
}

/// Text and line of `text on input line 12.`
fn without_line(text: &str) -> (&str, Option<u32>) {
    let Some((before, rest)) = text.rsplit_once(" on input line ") else { return (text, None) };
    match number(rest) {
        Some((line, end)) if end.trim_matches(['.', ' ']).is_empty() => (before, Some(line)),
        _ => (text, None),
    }
}

/// `Overfull \hbox (12.3pt too wide) in paragraph at lines 4--6`, `… detected at line 9`.
fn overfull(line: &str) -> Option<(Kind, Option<u32>)> {
    let rest = line.strip_prefix("Overfull \\")?;
    let (_, rest) = rest.split_once('(')?;
    let (points, rest) = rest.split_once("pt too ")?;
    let points: f64 = points.parse().ok().filter(|points: &f64| points.is_finite())?;
    let kind = if rest.starts_with("wide") { Kind::TooWide(points) } else { Kind::TooHigh(points) };
    let at = rest.split_once(" at line").map(|(_, at)| at.trim_start_matches('s').trim_start());
    Some((kind, at.and_then(number).map(|(line, _)| line)))
}

/// What TeX shows of a line that is too long, up to an empty line.
fn skip_shown(lines: &mut Lines<'_>, files: &Files) {
    for _ in 0..LINES {
        let Some(line) = lines.peek() else { return };
        if line.trim().is_empty() || header(&line, files).is_some() || spoken(&line).is_some() {
            return;
        }
        lines.next();
    }
}

/// `中 (U+4E2D) in font [lmroman10-regular]:+tlig;!`; nothing for the font that stands for none, of which an error was told.
fn missing_character(rest: &str) -> Option<Kind> {
    let (character, font) = rest.rsplit_once(" in font ")?;
    let font = font.trim_end().trim_end_matches('!');
    let name = font
        .trim_start_matches(['"', '['])
        .split([']', ':', '/', '"'])
        .next()
        .filter(|name| !name.is_empty());
    let letter = character.split_once(" (").map_or(character, |(letter, _)| letter);
    let character = sentence(if letter.is_empty() { character } else { letter });
    (font != "nullfont").then(|| Kind::MissingCharacter { character, font: sentence(name.unwrap_or(font)) })
}
