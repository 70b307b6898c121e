//! pandoc's log: a list of messages in JSON.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::known;
use crate::notice::{Notice, What};
use crate::texts::{Place, Texts};

/// Most kinds of notices that are told of one document.
const NOTICES_LIMIT: usize = 500;
/// The longest name or address that is quoted.
const QUOTED_LETTERS: usize = 120;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    r#type: String,
    verbosity: String,
    contents: String,
    message: String,
    path: String,
    source: String,
    line: usize,
    column: usize,
}

/// Where something stands: looked for only where it is told.
enum Where<'m> {
    At(Place),
    Words(&'m str),
    Key(&'m str),
    Nowhere,
}

/// What the log says of the document `texts`; in the order of its lines. A log that is none says nothing.
pub fn notices(log: &[u8], texts: &Texts<'_>) -> Vec<Notice> {
    let messages: Vec<Entry> = serde_json::from_slice(log).unwrap_or_default();
    let begin = texts.preamble();
    // What stands in a caption is read twice.
    let mut seen = BTreeSet::new();
    let mut notices: Vec<Notice> = Vec::new();
    for message in &messages {
        let is_again = message.r#type == "SkippedContent"
            && !seen.insert((&message.source, message.line, message.column, &message.contents));
        if is_again {
            continue;
        }
        let Some((what, place)) = read(message, begin.as_ref()) else { continue };
        if let Some(known) = notices.iter_mut().find(|known| known.what == what) {
            known.count += 1;
            if let Where::At(place) = place {
                known.place = known.place.take().into_iter().chain([place]).min();
            }
        } else if notices.len() < NOTICES_LIMIT {
            let place = match place {
                Where::At(place) => Some(place),
                Where::Words(words) => texts.find(words),
                Where::Key(key) => texts.find_key(key),
                Where::Nowhere => None,
            };
            notices.push(Notice { place, what, count: 1 });
        }
    }
    notices.sort_by(|one, other| {
        let key = |notice: &Notice| (notice.place.is_none(), notice.place.clone());
        key(one).cmp(&key(other))
    });
    notices
}

fn read<'m>(message: &'m Entry, begin: Option<&Place>) -> Option<(What, Where<'m>)> {
    let is_warning = message.verbosity == "WARNING";
    match &*message.r#type {
        "SkippedContent" => skipped(message, begin),
        "CouldNotLoadIncludeFile" if is_warning => {
            Some((What::File(quoted(&message.path)), place_of(message)))
        }
        "CouldNotFetchResource" => Some((What::Picture(quoted(&message.path)), Where::Words(&message.path))),
        "CouldNotConvertTeXMath" => match unknown_in(&message.message) {
            Some(command) => Some((What::Formula(quoted(command)), Where::Words(command))),
            None => Some((What::Formula("all of it".to_owned()), Where::Nowhere)),
        },
        "CiteprocWarning" => Some(citation(&message.message)),
        "ScriptingWarning" => Some(of_filter(&message.message)),
        // A package's own commands, which are defined here already.
        "MacroAlreadyDefined" => None,
        _ if is_warning => {
            let words = [&message.message, &message.contents, &message.r#type];
            let words = words.into_iter().find(|words| !words.is_empty())?;
            Some((What::Other(quoted(words.lines().next().unwrap_or_default())), place_of(message)))
        }
        _ => None,
    }
}

/// What pandoc's reader does not know. `begin` is where the document begins behind its preamble.
fn skipped<'m>(message: &'m Entry, begin: Option<&Place>) -> Option<(What, Where<'m>)> {
    let contents = message.contents.trim_end();
    // The line is the one on which a command ends, and an environment begins.
    let lines = if contents.starts_with("\\begin{") { 0 } else { contents.matches('\n').count() };
    let line = message.line.saturating_sub(lines).max(1);
    let file = &message.source;
    let is_package = [".sty", ".cls", ".def", ".cfg"].iter().any(|extension| file.ends_with(extension));
    let is_preamble = begin.is_some_and(|begin| begin.file == *file && line < begin.line);
    if is_package || is_preamble {
        return None;
    }
    let place = Where::At(Place { file: file.clone(), line });
    if let Some(rest) = contents.strip_prefix("\\begin{") {
        let name = rest.split('}').next().unwrap_or_default();
        let is_whole = contents.ends_with(&format!("\\end{{{name}}}"));
        let what = if is_whole { What::Drawing } else { What::Environment };
        return known::is_missed_around(name).then(|| (what(quoted(name)), place));
    }
    let name = contents.strip_prefix('\\')?;
    let end = name.find(|letter: char| !letter.is_alphabetic() && !matches!(letter, '@' | '*'));
    let name = &name[..end.unwrap_or(name.len())];
    let is_named = !name.is_empty() && name != "end";
    (is_named && known::is_missed(name)).then(|| (What::Command(format!("\\{}", quoted(name))), place))
}

/// `citation KEY not found`.
fn citation(message: &str) -> (What, Where<'_>) {
    match message.strip_prefix("citation ").and_then(|rest| rest.strip_suffix(" not found")) {
        Some(key) => (What::Citation(quoted(key)), Where::Key(key)),
        None => (What::Other(quoted(message)), Where::Nowhere),
    }
}

/// What a filter of ours says: a word for what it is, and its name.
fn of_filter(message: &str) -> (What, Where<'_>) {
    let (kind, name) = message.split_once(": ").unwrap_or(("", message));
    let what: fn(String) -> What = match kind {
        "reference" => return (What::Reference(quoted(name)), Where::Key(name)),
        "picture" => What::Picture,
        "remote" => What::Remote,
        "format" => What::Format,
        "link" => What::Link,
        _ => return (What::Other(quoted(message)), Where::Nowhere),
    };
    (what(quoted(name)), Where::Words(name))
}

/// The command of which a message on a formula tells: `unexpected control sequence \foo`.
fn unknown_in(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unexpected control sequence ")?;
    rest.split_whitespace().next()
}

fn place_of(message: &Entry) -> Where<'static> {
    if message.line == 0 {
        return Where::Nowhere;
    }
    Where::At(Place { file: message.source.clone(), line: message.line })
}

fn quoted(words: &str) -> String {
    match words.char_indices().nth(QUOTED_LETTERS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.to_owned(),
    }
}
