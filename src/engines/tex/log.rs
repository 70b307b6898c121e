//! Errors and warnings for the author, from the errors and warnings in TeX's log.

use std::collections::HashMap;
use std::fmt::Display;

use tex_log::{
    Cause, Error, Kind, Program, Report, Warning, missing_characters, package_of_file, package_of_font,
};

use super::errors::SecondAttempt;
use super::formats::EarlyTag;
use super::origin::Origins;

/// An overfull line is reported from so many points on.
const SEEN_POINTS: f64 = 2.0;
/// How much of the line that TeX was reading is quoted.
const EXCERPT_LETTERS: usize = 60;
/// How much of the author's line is quoted.
const LINE_LETTERS: usize = 100;
/// How many letters without a font are searched for in the document.
const LETTERS: usize = 50;
/// How many of them one warning names. Hazard: a job keeps few warnings, and a text in a script that the font lacks has more
/// letters than that.
const NAMED_LETTERS: usize = 12;
/// TeX's last message. It is also the first where Lua code ended TeX, which then gives no reason.
const END: &str = "==> Fatal error";
const ENDED: &str = "TeX ended here without a word of its own, as it does at an error of Lua code";

/// The error: file and line of the author's, what is wrong, what to do, and the line as it was written.
pub(super) fn sentence(error: &Error, origins: &Origins<'_>) -> String {
    let Finding { message, line } = finding(error, origins);
    format!("{message}{}{line}", remedy(error))
}

/// The error where two programs were tried and both failed in the document.
pub(super) fn sentence_of_both(tried: &SecondAttempt, error: &Error, origins: &Origins<'_>) -> String {
    format!("{} (said {})", sentence(error, origins), why(tried, origins))
}

/// The error where the second program was ended with the message `end`.
pub(super) fn sentence_of_end(tried: &SecondAttempt, end: &str, origins: &Origins<'_>) -> String {
    format!("{end} (this was {})", why(tried, origins))
}

/// The second program, and why it was tried.
fn why(SecondAttempt { first, before, second }: &SecondAttempt, origins: &Origins<'_>) -> String {
    let message = finding(before, origins).message;
    format!("{}, which was tried because {} said: {message}", second.name(), first.name())
}

/// The warning that `second` made the document because `first` could not.
pub(super) fn other_program(
    SecondAttempt { first, before, second }: &SecondAttempt,
    origins: &Origins<'_>,
) -> String {
    let (first, second) = (first.name(), second.name());
    let ask = format!("ask for that by formatOpts.engine or % !TeX program = {second}");
    if matches!(before.cause, Cause::Character(_)) {
        format!(
            "{first} lacks letters of the document, so {second} made it, which takes longer; {ask}, with fonts that have them"
        )
    } else {
        format!("{second} made the document, for {first} said: {}; {ask}", finding(before, origins).message)
    }
}

/// The parts of an error's text.
struct Finding {
    /// The place and TeX's message.
    message: String,
    /// The author's line, where it is known.
    line: String,
}

fn finding(error: &Error, origins: &Origins<'_>) -> Finding {
    let place = origins.of_error(error);
    let inside = error.own_file.as_ref().and(error.file.as_deref());
    let inside = inside.map(|file| format!(" (in {})", file.rsplit('/').next().unwrap_or(file)));
    let inside = inside.unwrap_or_default();
    let shown = place.as_ref().map(|place| format!("{place}{inside}: ")).unwrap_or_default();
    let excerpt = error.excerpt.as_ref().filter(|_| error.own_file.is_none());
    let excerpt = excerpt.map(|excerpt| excerpt.before.trim()).unwrap_or_default();
    let begin = excerpt.char_indices().rev().nth(EXCERPT_LETTERS - 1).map_or(0, |(at, _)| at);
    let message = if error.message.starts_with(END) { ENDED } else { &error.message };
    let near = excerpt.get(begin..).filter(|text| !text.is_empty() && !message.contains(text));
    let line = place.and_then(|place| origins.text(&place));
    // A line that TeX has quoted whole is not quoted twice.
    let line = line.filter(|line| near.is_none_or(|near| near != line)).map(|line| short(&line));
    let near = near.map(|text| format!(", behind '{text}'")).unwrap_or_default();
    let line = line.map(|line| format!("; the line is '{line}'")).unwrap_or_default();
    Finding { message: format!("{shown}{message}{near}"), line }
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LINE_LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The remedy, with the separator before it.
fn remedy(error: &Error) -> String {
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
            .map_or_else(|| with_advice(&error.message), installed),
        Cause::Character(_) => "; lualatex has it (formatOpts.engine)".to_owned(),
        Cause::WantsShell => {
            "; a document starts no programs here, so do what it wants of them beforehand".to_owned()
        }
        Cause::UndefinedCommand(_) => "; look for a slip, or for the package that defines it".to_owned(),
        Cause::Program(Program::Luatex) => "; lualatex reads it (formatOpts.engine)".to_owned(),
        Cause::Program(Program::Xetex) => "; xelatex reads it (formatOpts.engine)".to_owned(),
        Cause::Capacity | Cause::Other => with_advice(&error.message),
    }
}

fn with_advice(message: &str) -> String {
    tex_log::advice(message).map(|advice| format!("; {advice}")).unwrap_or_default()
}

/// The remedy for a missing file: the package that has it, or the template.
pub(super) fn where_from(name: &str) -> String {
    let beside = || "; put it beside the template, in one archive".to_owned();
    package_of_file(name).map_or_else(beside, installed)
}

fn installed(package: &str) -> String {
    format!("; the package {package} of Debian brings it, which is not installed")
}

/// The warnings in the log of the last run, each once for a line of the template, however often a loop repeats it.
pub(super) fn warnings(report: &Report, origins: &Origins<'_>) -> Vec<String> {
    let is_seen = |warning: &&Warning| match &warning.kind {
        Kind::TooWide(points) | Kind::TooHigh(points) => *points >= SEEN_POINTS,
        Kind::MissingCharacter { .. }
        | Kind::UndefinedReference(_)
        | Kind::UndefinedCitation(_)
        | Kind::MissingEntry(_)
        | Kind::DuplicateLabel(_)
        | Kind::FontSubstituted { .. } => true,
        // shellesc warns that no program may be started also where the document starts none.
        Kind::Other { by, .. } => by != "shellesc",
    };
    let mut merged: Vec<Merged> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut searched = 0;
    for warning in report.warnings.iter().filter(is_seen) {
        let mut letter = None;
        if let Kind::MissingCharacter { character, .. } = &warning.kind
            && searched < LETTERS
        {
            searched += 1;
            letter = origins.of_letter(character);
        }
        let place = letter.or_else(|| Some(origins.place(warning.file.as_deref()?, warning.line)));
        let place = place.map(|place| place.to_string());
        let key = format!("{place:?} {}", without_points(&warning.kind));
        if let Some(same) = known.get(&key).and_then(|at| merged.get_mut(*at)) {
            same.kind = larger(same.kind.clone(), &warning.kind);
            same.times = same.times.saturating_add(warning.times);
        } else {
            known.insert(key, merged.len());
            merged.push(Merged { place, kind: warning.kind.clone(), times: warning.times });
        }
    }
    sentences(&merged)
}

/// A warning of a line of the template.
struct Merged {
    place: Option<String>,
    kind: Kind,
    times: u32,
}

/// A sentence for each, but one for several letters that a font lacks on one line.
fn sentences(merged: &[Merged]) -> Vec<String> {
    let line = |place: Option<&String>, what: &dyn Display, times: u32| {
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        format!("{place}{what}{times}")
    };
    // By place and font.
    let mut letters = HashMap::<_, Vec<(&str, u32)>>::new();
    for one in merged {
        if let Kind::MissingCharacter { character, font } = &one.kind {
            letters.entry((one.place.as_ref(), font.as_str())).or_default().push((character, one.times));
        }
    }
    let mut lines = Vec::new();
    for Merged { place, kind, times } in merged {
        let Kind::MissingCharacter { font, .. } = kind else {
            lines.push(line(place.as_ref(), kind, *times));
            continue;
        };
        // All of them at the place of the first.
        let of_font = letters.remove(&(place.as_ref(), font.as_str())).unwrap_or_default();
        for some in of_font.chunks(NAMED_LETTERS) {
            let named: Vec<&str> = some.iter().map(|(letter, _)| *letter).collect();
            let times = some.iter().fold(0_u32, |sum, (_, times)| sum.saturating_add(*times));
            lines.push(line(place.as_ref(), &missing_characters(&named, font), times));
        }
    }
    lines
}

/// A key that two warnings share although their widths, which depend on the data, differ.
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

/// The warning that a tag keeps packages out of the format of `entry`.
pub(super) fn early_tag(tag: EarlyTag, entry: &str) -> String {
    let EarlyTag { line, packages } = tag;
    format!(
        "{entry}:{line}: behind this template code, {packages} packages are loaded for each document anew; put it behind \
         them, and they are loaded once for all"
    )
}
