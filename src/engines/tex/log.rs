//! What a run left in its log, in the words that its author is told.

use tex_log::{Cause, Error, Kind, Program, Report, Warning, package_of_file, package_of_font};

use super::folder::Folder;
use super::formats::Halt;
use super::opening;
use crate::domain::format_opts::TexProgram;

/// A line that is too wide by less is nobody's concern.
const SEEN_POINTS: f64 = 2.0;
/// So much of the line that TeX was in is told.
const EXCERPT_LETTERS: usize = 60;
/// What TeX says last, and first where Lua ends it.
const END: &str = "==> Fatal error";
const ENDED: &str = "TeX ended here without a word of its own, as it does at an error of Lua code";
/// The error: file and line of the author's, what is wrong, and what to do.
pub(super) fn sentence(error: &Error, folder: &Folder<'_>) -> String {
    format!("{}{}", finding(error, folder), remedy(&error.cause))
}

/// The same of two programs, of which the second was tried for what the first one lacks.
pub(super) fn sentence_of_both(
    (first, before): (TexProgram, &Error),
    (second, error): (TexProgram, &Error),
    folder: &Folder<'_>,
) -> String {
    format!(
        "{} (said {}, which was tried because {} said: {})",
        sentence(error, folder),
        second.name(),
        first.name(),
        finding(before, folder)
    )
}

/// What is told where `second` made what `first` could not.
pub(super) fn instead(first: TexProgram, before: &Error, second: TexProgram, folder: &Folder<'_>) -> String {
    let second = second.name();
    let ask = format!("ask for that by formatOpts.engine or % !TeX program = {second}");
    match before.cause {
        Cause::Character(_) => format!(
            "{} lacks letters of the document, so {second} made it, which takes longer; {ask}, with fonts that have them",
            first.name()
        ),
        _ => format!(
            "{second} made the document, for {} said: {}; {ask}",
            first.name(),
            finding(before, folder)
        ),
    }
}

/// The place and what is wrong.
fn finding(error: &Error, folder: &Folder<'_>) -> String {
    let place = match (&error.own_file, &error.file, error.line) {
        // In a class or a package of TeX's, to which the author's file led.
        (Some(own), Some(file), _) => format!("{} (in {}): ", name(own, folder), last_part(file)),
        (_, Some(file), Some(line)) => format!("{}:{line}: ", name(file, folder)),
        (_, Some(file), None) => format!("{}: ", name(file, folder)),
        (_, None, _) => String::new(),
    };
    let excerpt = error.excerpt.as_ref().map(|excerpt| excerpt.before.trim()).unwrap_or_default();
    let begin = excerpt.char_indices().rev().nth(EXCERPT_LETTERS - 1).map_or(0, |(at, _)| at);
    let message = if error.message.starts_with(END) { ENDED } else { &error.message };
    let near = excerpt.get(begin..).filter(|text| !text.is_empty() && !message.contains(text));
    let near = near.map(|text| format!(", behind '{text}'")).unwrap_or_default();
    format!("{place}{message}{near}")
}

/// What to do, with what stands before it.
fn remedy(cause: &Cause) -> String {
    match cause {
        Cause::MissingFile(name) => where_from(name),
        Cause::MissingFont(name) => package_of_font(name)
            .or_else(|| package_of_file(&format!("{name}.tfm")))
            .map(installed)
            .unwrap_or_default(),
        Cause::Character(_) => "; lualatex has it (formatOpts.engine)".to_owned(),
        Cause::WantsShell => {
            "; a document starts no programs here, so do what it wants of them beforehand".to_owned()
        }
        Cause::Capacity => "; look for what nests or repeats without an end".to_owned(),
        Cause::UndefinedCommand(_) => "; look for a slip, or for the package that defines it".to_owned(),
        Cause::Program(Program::Luatex) => "; lualatex reads it (formatOpts.engine)".to_owned(),
        Cause::Program(Program::Xetex) => "; xelatex reads it (formatOpts.engine)".to_owned(),
        Cause::Other => String::new(),
    }
}

/// Where a file comes from that is not there.
pub(super) fn where_from(name: &str) -> String {
    let beside = || "; put it beside the template, in one archive".to_owned();
    package_of_file(name).map_or_else(beside, installed)
}

fn installed(package: &str) -> String {
    format!("; the package {package} of Debian brings it, which is not installed")
}

/// What the author should know of a document that was made.
pub(super) fn warnings<'r>(report: &'r Report, folder: &'r Folder<'_>) -> impl Iterator<Item = String> + 'r {
    let is_seen = |warning: &&Warning| match &warning.kind {
        Kind::TooWide(points) | Kind::TooHigh(points) => *points >= SEEN_POINTS,
        Kind::MissingCharacter { .. }
        | Kind::UndefinedReference(_)
        | Kind::UndefinedCitation(_)
        | Kind::MissingEntry(_)
        | Kind::DuplicateLabel(_)
        | Kind::FontSubstituted { .. } => true,
        // It says that no program may be started, whether the document would start one or not.
        Kind::Other { by, .. } => by != "shellesc",
    };
    report.warnings.iter().filter(is_seen).map(|warning| match (&warning.file, warning.line) {
        (Some(file), Some(line)) => format!("{}:{line}: {}", name(file, folder), warning.kind),
        (Some(file), None) => format!("{}: {}", name(file, folder), warning.kind),
        (None, _) => warning.kind.to_string(),
    })
}

/// What keeps the preamble of `entry` from being read ahead.
pub(super) fn halted(halt: Halt, entry: &str) -> String {
    let Halt { line, packages } = halt;
    format!(
        "{entry}:{line}: behind this template code, {packages} packages are loaded for each document anew; put it behind \
         them, and they are loaded once for all"
    )
}

/// A file's name as its author knows it: what TeX reads first leads to the entry.
fn name<'n>(file: &'n str, folder: &'n Folder<'_>) -> &'n str {
    if file == opening::name() { folder.entry() } else { folder.shown(file) }
}

fn last_part(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
