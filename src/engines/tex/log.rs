//! What a run left in its log, in the words that its author is told.

use tex_log::{Bibliography, Cause, Error, Kind, Program, Report, Warning, package_of_file, package_of_font};

use super::folder::Folder;
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
    let first = first.name();
    if matches!(before.cause, Cause::Character(_)) {
        format!(
            "{first} lacks letters of the document, so {second} made it, which takes longer; {ask}, with fonts that have them"
        )
    } else {
        format!("{second} made the document, for {first} said: {}; {ask}", finding(before, folder))
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
    let installed =
        |package: &str| format!("; the package {package} of Debian brings it, which is not installed");
    match cause {
        Cause::MissingFile(name) => match package_of_file(name) {
            Some(package) => installed(package),
            None => "; put it beside the template, in one archive".to_owned(),
        },
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

/// What the author should know of a document that was made.
pub(super) fn warnings<'r>(report: &'r Report, folder: &'r Folder<'_>) -> impl Iterator<Item = String> + 'r {
    let is_seen = |warning: &&Warning| match &warning.kind {
        Kind::TooWide(points) | Kind::TooHigh(points) => *points >= SEEN_POINTS,
        Kind::MissingCharacter { .. }
        | Kind::UndefinedReference(_)
        | Kind::UndefinedCitation(_)
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

/// What other programs would have to make of what this run wrote, and nobody does here.
pub(super) fn undone(report: &Report, folder: &Folder<'_>) -> Vec<String> {
    let made = |file: &str, extension: &str| {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        format!("{stem}.{extension}")
    };
    let bibliography = report.needs.bibliography.map(|program| {
        let program = match program {
            Bibliography::Bibtex => "BibTeX",
            Bibliography::Biber => "Biber",
        };
        (program, format!("{}.bbl", folder.name))
    });
    let index = report.needs.indexes.iter().map(|file| ("makeindex", made(file, "ind")));
    let glossary = report.needs.glossaries.iter().map(|file| ("makeglossaries", made(file, "gls")));
    let wanted = bibliography.into_iter().chain(index).chain(glossary);
    wanted
        .filter(|(_, file)| !folder.brings(file))
        .map(|(program, file)| {
            format!("{file} is missing: {program} is not run here; make it beforehand and put it beside the template")
        })
        .collect()
}

/// A file's name as its author knows it: what TeX reads first leads to the entry.
fn name<'n>(file: &'n str, folder: &'n Folder<'_>) -> &'n str {
    if file == opening::name() { folder.entry() } else { folder.shown(file) }
}

fn last_part(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
