//! Finds the tags in a paragraph's text, as `docs/office-tags.md` defines them. Knows nothing of XML, and evaluates no
//! expression.

mod filters;
mod scan;

use std::ops::Range;

pub use filters::{Expression, Filter};
use scan::{Reach, end_of, is_name, outside, plain};

/// The longest delimiter, in characters.
const DELIMITER_CHARACTERS: usize = 8;

/// Most unclosed tags of one text: the search for an end may go through the whole text for each of them.
const UNCLOSED_TAGS: u32 = 100;

/// What a tag begins and ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiters {
    /// Before the tag, as `{`.
    pub start: String,
    /// Behind the tag, as `}`.
    pub end: String,
}

impl Default for Delimiters {
    fn default() -> Self {
        Self { start: "{".to_owned(), end: "}".to_owned() }
    }
}

impl Delimiters {
    /// Checks that both delimiters can be used.
    ///
    /// # Errors
    ///
    /// A message that says which characters a delimiter cannot have.
    pub fn check(&self) -> Result<(), String> {
        [&self.start, &self.end].into_iter().try_for_each(|delimiter| {
            let is_usable = |letter: char| {
                !letter.is_alphanumeric() && !letter.is_whitespace() && !letter.is_control() && !"=\"'`".contains(letter)
            };
            let length = delimiter.chars().count();
            if (1..=DELIMITER_CHARACTERS).contains(&length) && delimiter.chars().all(is_usable) {
                return Ok(());
            }
            Err(format!(
                "{delimiter:?} cannot be a delimiter: it takes 1 to {DELIMITER_CHARACTERS} characters, none of them a blank, \
                 a letter, a digit, a quote or ="
            ))
        })
    }
}

/// A tag in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// The bytes of the text that it takes, its delimiters among them.
    pub range: Range<usize>,
    /// The text between the delimiters, with Word's automatic changes undone (curly quotes, special blanks).
    pub source: String,
    /// The delimiters in force at its place.
    pub delimiters: Delimiters,
    /// What it means, or what is wrong with it.
    pub tag: Result<Tag, String>,
}

/// What a tag means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `{x}`
    Value(Expression),
    /// `{#x}`, and `{-w:tr x}` or `{-rows x}` with the element that is repeated.
    Section(Expression, Option<String>),
    /// `{^x}`
    Otherwise(Expression),
    /// `{/}`, `{/x}`
    End(Option<String>),
    /// `{%x}`
    Image(Expression),
    /// `{%qr x}`
    Qr(Expression),
    /// `{%barcode x}`
    Barcode(Expression),
    /// `{~x}`
    Html(Expression),
    /// `{@x}`
    Xml(Expression),
    /// `{:name …}` with its arguments.
    Command(Command, Vec<String>),
    /// `{:slides x}`
    Slides(Expression),
    /// `{:sheet x}`
    Sheet(Expression),
    /// `{=[[ ]]=}`
    Delimiters(Delimiters),
}

impl Tag {
    /// Whether it is a picture, or a code that is drawn as one.
    pub fn is_picture(&self) -> bool {
        matches!(self, Self::Image(_) | Self::Qr(_) | Self::Barcode(_))
    }

    /// Whether content replaces the tag: not for tags of sections, of repeated slides and sheets, and of delimiters.
    pub fn has_content(&self) -> bool {
        match self {
            Self::Value(_)
            | Self::Image(_)
            | Self::Qr(_)
            | Self::Barcode(_)
            | Self::Html(_)
            | Self::Xml(_)
            | Self::Command(..) => true,
            Self::Section(..)
            | Self::Otherwise(_)
            | Self::End(_)
            | Self::Slides(_)
            | Self::Sheet(_)
            | Self::Delimiters(_) => false,
        }
    }
}

/// What `{:name …}` does: name, fewest and most arguments, how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name behind the colon.
    pub name: &'static str,
    fewest: usize,
    most: usize,
    usage: &'static str,
}

const COMMANDS: [Command; 5] = [
    Command { name: "link", fewest: 2, most: 2, usage: "{:link text url}" },
    Command { name: "pagebreak", fewest: 0, most: 0, usage: "{:pagebreak}" },
    Command { name: "include", fewest: 1, most: 1, usage: "{:include name}" },
    Command { name: "toc", fewest: 0, most: 1, usage: "{:toc} or {:toc levels}" },
    Command { name: "color", fewest: 1, most: 2, usage: "{:color colour} or {:color colour \"cell\"}" },
];

/// The command that is a section over the whole slide: its list may have filters.
const SLIDES: &str = "slides";

/// The command that is a section over a whole sheet of a workbook.
const SHEET: &str = "sheet";

/// Words that say what a section repeats in a workbook: `{-rows x}`.
pub(crate) const LINES: [&str; 3] = ["rows", "columns", "right"];

impl Token {
    /// The tag as its author wrote it, for messages; a long one is cut.
    pub fn shown(&self) -> String {
        let Self { range, source, delimiters: Delimiters { start, end }, .. } = self;
        let is_closed = range.len() >= start.len() + end.len() && range.len() > start.len();
        format!("{start}{}{}", crate::error::quoted(source), if is_closed { end } else { "" })
    }
}

/// The tags of a paragraph's text. A tag that changes the delimiters changes `delimiters` for all that follows, later texts
/// included.
pub fn lex<'a>(text: &'a str, delimiters: &'a mut Delimiters) -> impl Iterator<Item = Token> + 'a {
    let mut from = 0;
    let mut unclosed_left = UNCLOSED_TAGS;
    let mut reach = Reach::default();
    std::iter::from_fn(move || {
        let start = from + text[from..].find(&delimiters.start).filter(|_| unclosed_left > 0)?;
        let begin = start + delimiters.start.len();
        let end = end_of(text, begin, &delimiters.end, &mut reach);
        let Some(end) = end.filter(|&end| is_closed(text, begin, end, delimiters)) else {
            from = begin;
            unclosed_left -= 1;
            return Some(unclosed(text, start, begin, delimiters));
        };
        let source = plain(&text[begin..end]).trim().to_owned();
        let tag = read(&source);
        from = end + delimiters.end.len();
        let here = delimiters.clone();
        if let Ok(Tag::Delimiters(next)) = &tag {
            delimiters.clone_from(next);
        }
        Some(Token { range: start..from, source, delimiters: here, tag })
    })
}

/// Whether a tag's content is really its own. If it contains a start delimiter and its brackets do not pair, the end belongs to a
/// later tag.
fn is_closed(text: &str, begin: usize, end: usize, delimiters: &Delimiters) -> bool {
    let content = &text[begin..end];
    !content.contains(&delimiters.start) || outside(&plain(content)).is_some()
}

fn unclosed(text: &str, start: usize, begin: usize, delimiters: &Delimiters) -> Token {
    const SHOWN: usize = 30;
    let Delimiters { start: opening, end: closing } = delimiters;
    let rest = &text[begin..];
    let shown = &rest[..rest.find(opening).unwrap_or(rest.len())];
    let source: String = plain(shown).trim().chars().take(SHOWN).collect();
    let message = format!(
        "the tag has no {closing} in its paragraph; to print {opening}, write {opening}'{opening}'{closing} or choose other delimiters"
    );
    Token { range: start..begin, source, delimiters: delimiters.clone(), tag: Err(message) }
}

/// What a tag's content means.
fn read(source: &str) -> Result<Tag, String> {
    let Some(first) = source.chars().next() else {
        return Err("the tag is empty; it takes a name, as in {customer}".to_owned());
    };
    let rest = source[first.len_utf8()..].trim();
    match first {
        '#' => Ok(Tag::Section(expression(rest, "a section takes a list, as in {#items}")?, None)),
        '^' => Ok(Tag::Otherwise(expression(rest, "it takes a list, as in {^items}")?)),
        '/' => Ok(Tag::End((!rest.is_empty()).then(|| rest.to_owned()))),
        // docxtemplater doubles the sign where the tag is alone in its paragraph; here one sign does both.
        '%' => picture(rest.strip_prefix('%').unwrap_or(rest).trim_start()),
        '~' => Ok(Tag::Html(expression(
            rest.strip_prefix('~').unwrap_or(rest).trim_start(),
            "it takes a text of HTML, as in {~description}",
        )?)),
        '@' => Ok(Tag::Xml(expression(rest, "it takes a text of XML, as in {@rows}")?)),
        ':' => command(rest),
        '=' => new_delimiters(rest),
        '-' => repeat(source).unwrap_or_else(|| Ok(Tag::Value(Expression::read(source)?))),
        _ => Ok(Tag::Value(Expression::read(source)?)),
    }
}

fn expression(text: &str, missing: &str) -> Result<Expression, String> {
    if text.is_empty() { Err(missing.to_owned()) } else { Expression::read(text) }
}

/// Whether a section may begin in a text with whatever delimiters: by `#`, by `^`, or by a dash with a name as in `{-w:tr list}`.
pub(crate) fn may_open(text: &str) -> bool {
    let repeats = |behind: &str| {
        let behind = plain(behind.split_inclusive(char::is_whitespace).next().unwrap_or_default());
        let name = behind.trim_end();
        name.len() < behind.len() && (LINES.contains(&name) || name.contains(':'))
    };
    text.contains(['#', '^']) || text.split('-').skip(1).any(repeats)
}

/// `{-w:tr list}`: a name with a prefix directly behind the dash, then a blank; or a word of [`LINES`], a blank and a name.
fn repeat(source: &str) -> Option<Result<Tag, String>> {
    let (name, list) = source.strip_prefix('-')?.split_once(char::is_whitespace)?;
    let begins = |list: &str| list.starts_with(|first: char| first.is_alphabetic() || "_$.".contains(first));
    if LINES.contains(&name) && begins(list.trim_start()) {
        return Some(Expression::read(list.trim()).map(|list| Tag::Section(list, Some(name.to_owned()))));
    }
    let (prefix, local) = name.split_once(':')?;
    let is_qualified = is_name(prefix) && is_name(local);
    is_qualified.then(|| Ok(Tag::Section(Expression::read(list.trim())?, Some(name.to_owned()))))
}

/// `{%logo}`, `{%qr url}`: `qr` and `barcode` mean a code only where an expression follows.
fn picture(rest: &str) -> Result<Tag, String> {
    const MISSING: &str = "a picture takes a name, as in {%logo}";
    if let Some((word, content)) = rest.split_once(char::is_whitespace) {
        let content = content.trim_start();
        let is_expression = !content.starts_with('|');
        match word {
            "qr" if is_expression => return Ok(Tag::Qr(expression(content, MISSING)?)),
            "barcode" if is_expression => return Ok(Tag::Barcode(expression(content, MISSING)?)),
            _ => {}
        }
    }
    Ok(Tag::Image(expression(rest, MISSING)?))
}

fn command(rest: &str) -> Result<Tag, String> {
    let (name, content) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name == SLIDES {
        let list = expression(content.trim(), "it takes a list, as in {:slides items}")?;
        return Ok(Tag::Slides(list));
    }
    if name == SHEET {
        let list = expression(content.trim(), "it takes a list, as in {:sheet branches}")?;
        return Ok(Tag::Sheet(list));
    }
    let Some(command) = COMMANDS.into_iter().find(|command| command.name == name) else {
        let known: Vec<&str> = COMMANDS.iter().map(|command| command.name).chain([SLIDES, SHEET]).collect();
        return Err(format!("there is no command {name:?}; there are {}", known.join(", ")));
    };
    let arguments = arguments(content)?;
    if (command.fewest..=command.most).contains(&arguments.len()) {
        return Ok(Tag::Command(command, arguments));
    }
    Err(format!(
        "it is written {}; an argument that contains a blank stands in parentheses or quotes",
        command.usage
    ))
}

/// A command's arguments, separated by blanks outside of strings and brackets.
fn arguments(content: &str) -> Result<Vec<String>, String> {
    let top = outside(content).unwrap_or_else(|| content.char_indices().collect());
    if top.iter().any(|&(_, letter)| letter == '|') {
        return Err("a command takes no filters; write a bitwise or in parentheses".to_owned());
    }
    let mut arguments = Vec::new();
    let mut from = 0;
    let blanks = top.iter().filter(|(_, letter)| letter.is_whitespace());
    for end in blanks.map(|&(at, _)| at).chain([content.len()]) {
        let argument = content[from..end].trim();
        if !argument.is_empty() {
            arguments.push(argument.to_owned());
        }
        from = end;
    }
    Ok(arguments)
}

/// `{=[[ ]]=}`
fn new_delimiters(rest: &str) -> Result<Tag, String> {
    const USAGE: &str = "a tag that begins with = changes the delimiters and is written as in {=[[ ]]=}";
    let content = rest.strip_suffix('=').ok_or(USAGE)?;
    let [start, end] = content.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(USAGE.to_owned());
    };
    let delimiters = Delimiters { start: start.to_owned(), end: end.to_owned() };
    delimiters.check()?;
    Ok(Tag::Delimiters(delimiters))
}

/// The delimiters of a document whose tags are all written `{{…}}`, or all `[[…]]`; `texts` are those of its paragraphs.
pub(crate) fn detect<'a, I: Iterator<Item = &'a str>>(texts: impl Fn() -> I) -> Option<Delimiters> {
    let is_doubled = |text: &str, letter: char| {
        let mut letters = text.chars().peekable();
        while let Some(next) = letters.next() {
            if next == letter && letters.next() != Some(letter) {
                return false;
            }
        }
        true
    };
    let has = |what: &str| texts().any(|text| text.contains(what));
    let doubled =
        |start: char, end: char| texts().all(|text| is_doubled(text, start) && is_doubled(text, end));
    let delimiters = |start: &str, end: &str| Delimiters { start: start.to_owned(), end: end.to_owned() };
    if has("{{") && doubled('{', '}') {
        return Some(delimiters("{{", "}}"));
    }
    let is_bracketed =
        || texts().any(|text| text.split_once("[[").is_some_and(|(_, rest)| rest.contains("]]")));
    (!has("{") && is_bracketed() && doubled('[', ']')).then(|| delimiters("[[", "]]"))
}
