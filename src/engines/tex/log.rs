//! What a run left in its log, in the words that its author is told.

use std::collections::HashMap;

use tex_log::{Bibliography, Cause, Error, Kind, Report, Warning, package_of_file, package_of_font};

use super::folder::Folder;
use super::origin::Origins;

/// A line that is too wide by less is nobody's concern.
const SEEN_POINTS: f64 = 2.0;
/// So much of the line that TeX was in is told.
const EXCERPT_LETTERS: usize = 60;
/// And so much of the line as its author wrote it.
const LINE_LETTERS: usize = 100;
/// So many letters that fonts lack are looked for in the document.
const LETTERS: usize = 50;
/// What TeX says last, and first where Lua ends it.
const END: &str = "==> Fatal error";
const ENDED: &str = "TeX ended here without a word of its own, as it does at an error of Lua code";
/// What fontspec says where pdflatex reads it.
const OTHER_PROGRAM: &str = "requires either XeTeX or LuaTeX";

/// Whether the document needs a TeX that knows all letters.
pub(super) fn lacks_letters(error: &Error) -> bool {
    matches!(error.cause, Cause::Character(_)) || error.message.contains(OTHER_PROGRAM)
}

/// The error: file and line of the author's, what is wrong, what to do, and the line as it was written.
pub(super) fn sentence(error: &Error, origins: &Origins<'_>) -> String {
    let place = origins.of_error(error);
    let inside = error.own_file.as_ref().and(error.file.as_deref());
    let inside = inside.map(|file| format!(" (in {})", last_part(file))).unwrap_or_default();
    let shown = place.as_ref().map(|place| format!("{place}{inside}: ")).unwrap_or_default();
    let excerpt = error.excerpt.as_ref().filter(|_| error.own_file.is_none());
    let excerpt = excerpt.map(|excerpt| excerpt.before.trim()).unwrap_or_default();
    let begin = excerpt.char_indices().rev().nth(EXCERPT_LETTERS - 1).map_or(0, |(at, _)| at);
    let message = if error.message.starts_with(END) { ENDED } else { &error.message };
    let near = excerpt.get(begin..).filter(|text| !text.is_empty() && !message.contains(text));
    let line = place.and_then(|place| origins.text(&place));
    // A line that TeX shows whole is not shown again.
    let line = line.filter(|line| near.is_none_or(|near| near != line)).map(|line| short(&line));
    let near = near.map(|text| format!(", behind '{text}'")).unwrap_or_default();
    let line = line.map(|line| format!("; the line is '{line}'")).unwrap_or_default();
    format!("{shown}{message}{near}{}{line}", remedy(error))
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LINE_LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// What to do, with what stands before it.
fn remedy(error: &Error) -> String {
    let installed =
        |package: &str| format!("; the package {package} of Debian brings it, which is not installed");
    match &error.cause {
        Cause::MissingFile(name) => match package_of_file(name) {
            Some(package) => installed(package),
            None => tex_log::advice(&error.message).map_or_else(
                || "; put it beside the template, in one archive".to_owned(),
                |advice| format!("; {advice}"),
            ),
        },
        Cause::MissingFont(name) => package_of_font(name)
            .or_else(|| package_of_file(&format!("{name}.tfm")))
            .map_or_else(|| advised(&error.message), installed),
        Cause::Character(_) => "; lualatex has it (formatOpts.engine)".to_owned(),
        Cause::WantsShell => {
            "; a document starts no programs here, so do what it wants of them beforehand".to_owned()
        }
        Cause::UndefinedCommand(_) => "; look for a slip, or for the package that defines it".to_owned(),
        Cause::Capacity | Cause::Other => advised(&error.message),
    }
}

fn advised(message: &str) -> String {
    tex_log::advice(message).map(|advice| format!("; {advice}")).unwrap_or_default()
}

/// What the author should know of a document that was made: each once for a line of his, however often a loop repeats it.
pub(super) fn warnings(report: &Report, origins: &Origins<'_>) -> Vec<String> {
    let is_seen = |warning: &&Warning| match warning.kind {
        Kind::TooWide(points) | Kind::TooHigh(points) => points >= SEEN_POINTS,
        Kind::MissingCharacter { .. }
        | Kind::UndefinedReference(_)
        | Kind::UndefinedCitation(_)
        | Kind::DuplicateLabel(_)
        | Kind::FontSubstituted { .. }
        | Kind::Other { .. } => true,
    };
    let mut told: Vec<(Option<String>, Kind, u32)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for warning in report.warnings.iter().filter(is_seen) {
        let letter = match letter_of(&warning.kind) {
            Some(letter) if told.len() < LETTERS => origins.of_letter(letter),
            _ => None,
        };
        let place = letter.or_else(|| Some(origins.place(warning.file.as_deref()?, warning.line)));
        let place = place.map(|place| place.to_string());
        let key = format!("{place:?} {}", without_points(&warning.kind));
        if let Some((_, kind, times)) = known.get(&key).and_then(|at| told.get_mut(*at)) {
            *kind = larger(kind.clone(), &warning.kind);
            *times = times.saturating_add(warning.times);
        } else {
            known.insert(key, told.len());
            told.push((place, warning.kind.clone(), warning.times));
        }
    }
    let line = |(place, kind, times): (Option<String>, Kind, u32)| {
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        format!("{place}{kind}{times}")
    };
    told.into_iter().map(line).collect()
}

/// The letter that a font lacks.
fn letter_of(kind: &Kind) -> Option<&str> {
    if let Kind::MissingCharacter { character, .. } = kind { Some(character) } else { None }
}

/// What two warnings of one line have in common: by how much a line is too wide depends on the data.
fn without_points(kind: &Kind) -> String {
    if let Kind::TooWide(_) = kind {
        Kind::TooWide(0.0).to_string()
    } else if let Kind::TooHigh(_) = kind {
        Kind::TooHigh(0.0).to_string()
    } else {
        kind.to_string()
    }
}

fn larger(one: Kind, other: &Kind) -> Kind {
    match (one, other) {
        (Kind::TooWide(one), Kind::TooWide(other)) => Kind::TooWide(one.max(*other)),
        (Kind::TooHigh(one), Kind::TooHigh(other)) => Kind::TooHigh(one.max(*other)),
        (one, _) => one,
    }
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

fn last_part(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
