//! The program that the engine runs: the tags with their expressions, nested like the content that they fill.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::lexer::{Expression, Filter, Tag};
use crate::library::is_filter;
use crate::plan::Node;
use crate::tags::{Placed, list};

/// Words of JavaScript that look like names but are none.
const LITERALS: [&str; 5] = ["true", "false", "null", "this", "new"];

/// Filters that set how a picture or code is shown; all others change its value.
const OPTIONS: [&str; 13] = [
    "size",
    "width",
    "height",
    "fit",
    "alt",
    "link",
    "kind",
    "level",
    "margin",
    "color",
    "background",
    "text",
    "maxSize",
];

/// Names of JavaScript that print a word which says that something went wrong, as `library/words.js` looks for it.
const WORDS: [&str; 3] = ["NaN", "Infinity", "undefined"];

/// Kinds of tags that print nothing of their own, or a long picture.
const SILENT: [&str; 5] = ["image", "include", "pagebreak", "toc", "color"];

/// Filters whose text is a number or a date in the words of a locale.
const FORMATTING: [&str; 4] = ["number", "currency", "percent", "date"];

/// A tag as `library/core.js` reads it. Every field is always written: JavaScript would look a missing one up in the object's
/// prototype.
#[derive(Clone, Serialize)]
pub(crate) struct Step {
    id: usize,
    pub kind: &'static str,
    /// The tag's expression; empty for a command.
    #[serde(flatten)]
    pub term: Term,
    terms: Vec<Term>,
    /// How a picture is shown.
    options: Vec<Call>,
    /// What it prints is computed: it may say `NaN` though the data say nothing of the kind.
    computes: bool,
    /// What it computes may be printed by other tags: it makes the items of a section, or may change the data.
    alters: bool,
    pub body: Vec<Step>,
}

/// An expression with its filters.
#[derive(Clone, Serialize)]
pub(crate) struct Term {
    pub whole: String,
    pub text: String,
    /// The JavaScript that is compiled.
    code: String,
    /// The names of a plain path; `null` where it takes an expression.
    pub path: Option<Vec<String>>,
    /// The names of a text that is a name to its author and none to JavaScript, such as `first-name` or `Middle Name`; `null` for
    /// all others.
    loose: Option<Vec<String>>,
    /// The path begins at the item itself.
    pub own: bool,
    pub filters: Vec<Call>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Call {
    name: String,
    codes: Vec<String>,
    /// The codes are texts and numbers: they give the same in each turn.
    constant: bool,
    /// Where the library keeps what constant codes give; always `null` in the program.
    given: (),
}

/// The steps of other texts that a part writes.
pub(crate) struct Others<'a> {
    /// Of documents, by the tags that include them.
    pub documents: BTreeMap<usize, &'a [Step]>,
    /// Of notes, headers and their like, by the offsets of the references to them.
    pub dependents: BTreeMap<usize, &'a [Step]>,
}

/// The steps of a part: one for each value and section of `nodes`, in their order. `first` is the number of the part's first tag.
pub(crate) fn steps(nodes: &[Node], tags: &[Placed], (first, others): (usize, &Others<'_>)) -> Vec<Step> {
    let mut steps = Vec::new();
    add(&mut steps, nodes, tags, (first, others));
    steps
}

impl Step {
    /// Says whether it computes. A plain name, and what filters without arguments make of it, prints what the data say.
    fn judged(self) -> Self {
        let Self { kind, term: Term { path, filters, .. }, terms, .. } = &self;
        // A pattern of a date is printed, but for its letters.
        let formats = |filter: &Call| {
            FORMATTING.contains(&filter.name.as_str())
                && (filter.name != "date" || filter.codes.iter().all(|code| is_text(code)))
        };
        let is_formatted = filters.last().is_some_and(formats);
        let changes = |(behind, filter): (usize, &Call)| {
            !is_filter(&filter.name) || !filter.codes.is_empty() || (filter.name == "sum" && behind > 0)
        };
        let is_expression = path.is_none() && terms.is_empty();
        let is_changed = is_expression || filters.iter().rev().enumerate().any(changes);
        let is_code = terms.iter().any(|term| term.path.is_none());
        let is_word = path.iter().flatten().any(|name| WORDS.contains(&name.as_str()));
        let computes = !SILENT.contains(kind) && (is_code || is_word || (is_changed && !is_formatted));
        // Operators alone change no data.
        let codes = filters.iter().flat_map(|filter| &filter.codes).chain([&self.term.code]);
        let codes = codes.chain(terms.iter().map(|term| &term.code));
        let calls = codes
            .into_iter()
            .any(|code| code.contains(['(', '=', '`']) || code.contains("++") || code.contains("--"));
        let makes_items = is_expression && ["section", "rows", "columns"].contains(kind);
        let alters = makes_items || ((is_code || is_changed) && calls);
        Self { computes, alters, ..self }
    }

    /// The step with these steps as its body.
    pub(crate) fn with_body(self, body: Vec<Self>) -> Self {
        Self { body, ..self }
    }
}

/// How deep sections and included documents are nested.
pub(crate) fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| {
        let holds_steps = matches!(step.kind, "section" | "otherwise" | "rows" | "columns" | "include");
        usize::from(holds_steps) + depth(&step.body)
    };
    steps.iter().map(of).max().unwrap_or_default()
}

fn add(steps: &mut Vec<Step>, nodes: &[Node], tags: &[Placed], (first, others): (usize, &Others<'_>)) {
    for node in nodes {
        match node {
            Node::Content(slot) => {
                let tag = tags.get(slot.tag).map(|placed| &placed.tag);
                let step = tag.and_then(|tag| content(tag, first + slot.tag));
                steps.extend(step.map(|step| match others.documents.get(&slot.tag) {
                    Some(body) => Step { terms: Vec::new(), body: body.to_vec(), ..step },
                    None => step,
                }));
            }
            Node::Address(address) => {
                for &(_, index) in &address.tags {
                    steps.extend(tags.get(index).and_then(|placed| content(&placed.tag, first + index)));
                }
            }
            // A box is a section: a true value ticks it.
            Node::Tick(index) => {
                if let Some(Tag::Value(value)) = tags.get(*index).map(|placed| &placed.tag) {
                    steps.push(step("section", first + index, value));
                }
            }
            Node::Section(index, body, _) => {
                let Some(tag) = tags.get(*index).map(|placed| &placed.tag) else { continue };
                let kind = if matches!(tag, Tag::Otherwise(_)) { "otherwise" } else { "section" };
                if let Some(list) = list(tag) {
                    let body = self::steps(body, tags, (first, others));
                    steps.push(Step { body, ..step(kind, first + index, list) });
                }
            }
            Node::Holder(_, body) => add(steps, body, tags, (first, others)),
            Node::Reference(reference) if !reference.is_mark() => {
                let of = others.dependents.get(&reference.id.start);
                steps.extend(of.into_iter().flat_map(|steps| steps.iter().cloned()));
            }
            Node::Raw(_)
            | Node::Owned(_)
            | Node::First(_)
            | Node::Number(_)
            | Node::Shape(_)
            | Node::List(_)
            | Node::Reference(_)
            | Node::Bookmark(_)
            | Node::BookmarkName(_)
            | Node::AddressAgain(_)
            | Node::Ticked(..)
            | Node::Paragraph(_) => {}
        }
    }
}

/// The step of a tag that is replaced by content; `None` for all other tags.
pub(crate) fn content(tag: &Tag, id: usize) -> Option<Step> {
    match tag {
        Tag::Value(value) => Some(step("value", id, value)),
        Tag::Image(picture) => Some(picture_step("image", id, picture)),
        Tag::Qr(text) => Some(picture_step("qr", id, text)),
        Tag::Barcode(text) => Some(picture_step("barcode", id, text)),
        Tag::Html(text) => Some(step("html", id, text)),
        Tag::Xml(text) => Some(step("xml", id, text)),
        Tag::Command(command, arguments) => {
            let plain =
                |text: &String| Expression { whole: text.clone(), text: text.clone(), filters: Vec::new() };
            let terms = arguments.iter().map(|argument| term(&plain(argument)));
            let none = Expression { whole: String::new(), text: String::new(), filters: Vec::new() };
            Some(Step { terms: terms.collect(), ..step(command.name, id, &none) }.judged())
        }
        Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => None,
    }
}

/// The step of a picture or code, whose [`OPTIONS`] are separated from its other filters.
fn picture_step(kind: &'static str, id: usize, expression: &Expression) -> Step {
    let is_option = |filter: &&Filter| OPTIONS.contains(&filter.name.as_str());
    let (options, filters): (Vec<&Filter>, Vec<&Filter>) = expression.filters.iter().partition(is_option);
    let Expression { whole, text, .. } = expression;
    let shown = Expression {
        whole: whole.clone(),
        text: text.clone(),
        filters: filters.into_iter().cloned().collect(),
    };
    Step { options: options.into_iter().map(call).collect(), ..step(kind, id, &shown) }
}

/// The step that repeats a slide: a section over the steps of all parts that are copied with it.
pub(crate) fn repeated((id, list): (usize, &Expression), body: Vec<Step>) -> Step {
    Step { body, ..step("section", id, list) }
}

pub(crate) fn step(kind: &'static str, id: usize, expression: &Expression) -> Step {
    let (terms, options, body) = (Vec::new(), Vec::new(), Vec::new());
    Step { id, kind, term: term(expression), terms, options, computes: false, alters: false, body }.judged()
}

fn call(filter: &Filter) -> Call {
    let codes: Vec<String> = filter.arguments.iter().map(|argument| code(argument)).collect();
    let is_number = |code: &str| !code.is_empty() && code.bytes().all(|letter| letter.is_ascii_digit());
    let constant = codes.iter().all(|code| is_text(code) || is_number(code));
    Call { name: filter.name.clone(), codes, constant, given: () }
}

fn term(expression: &Expression) -> Term {
    let Expression { whole, text, filters } = expression;
    let own = text.strip_prefix('.');
    let path = match own {
        Some("") => Some(Vec::new()),
        Some(names) => path(names),
        None => path(text),
    };
    let loose = if path.is_none() { loose(own.unwrap_or(text)) } else { None };
    Term {
        whole: whole.clone(),
        text: text.clone(),
        code: code(text),
        path,
        loose,
        own: own.is_some(),
        filters: filters.iter().map(call).collect(),
    }
}

/// Whether JavaScript is a text and nothing else.
fn is_text(code: &str) -> bool {
    let within = |quote: char| code.strip_prefix(quote).and_then(|code| code.strip_suffix(quote));
    ['"', '\''].into_iter().any(|quote| within(quote).is_some_and(|text| !text.contains(quote)))
}

/// The expression as JavaScript: a leading dot means the current item, which the library calls `$$item`.
pub(crate) fn code(text: &str) -> String {
    match text.strip_prefix('.') {
        Some("") => "$$item".to_owned(),
        Some(rest) if rest.starts_with(|letter: char| letter.is_alphabetic() || "_$[".contains(letter)) => {
            if rest.starts_with('[') {
                format!("$$item{rest}")
            } else {
                format!("$$item{text}")
            }
        }
        _ => text.to_owned(),
    }
}

/// The names of `a.b.c`; `None` where the text is no plain path.
fn path(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> = text.split('.').map(str::to_owned).collect();
    let is_name = |name: &String| {
        name.starts_with(|first: char| first.is_alphabetic() || "_$".contains(first))
            && name.chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter))
    };
    let is_literal = names.first().is_some_and(|name| LITERALS.contains(&name.as_str()));
    (!is_literal && names.iter().all(is_name)).then_some(names)
}

/// Signs that Word's correction and authors write for operators and quotes. A text with one is no name: it would be empty where
/// an amount was meant.
const SIGNS: [RangeInclusive<char>; 9] = [
    '\u{ab}'..='\u{ac}',
    '\u{b1}'..='\u{b1}',
    '\u{b7}'..='\u{b7}',
    '\u{bb}'..='\u{bb}',
    '\u{d7}'..='\u{d7}',
    '\u{f7}'..='\u{f7}',
    '\u{201a}'..='\u{2027}',
    '\u{2190}'..='\u{22ff}',
    '\u{2a00}'..='\u{2aff}',
];

/// The names of a text that is read as a name if the data have it, or if nothing else can be meant: letters and digits, with
/// blanks, hyphens, dots and apostrophes between them. `assets/tag-faults.js` has the same rule.
fn loose(text: &str) -> Option<Vec<String>> {
    let is_sign = |letter: char| SIGNS.iter().any(|signs| signs.contains(&letter));
    let is_letter = |letter: char| {
        if letter.is_ascii() {
            letter.is_ascii_alphanumeric() || "_$".contains(letter)
        } else {
            !is_sign(letter)
        }
    };
    // Beside a blank a dash is a minus, as Word makes one of a hyphen.
    let is_dash = |letter: char| ('\u{2010}'..='\u{2015}').contains(&letter);
    let has_minus = text.split(' ').any(|word| word.starts_with(is_dash) || word.ends_with(is_dash));
    let is_name = text.starts_with(is_letter)
        && text.chars().all(|letter| is_letter(letter) || " .'-".contains(letter))
        && !text.ends_with([' ', '\'', '-'])
        && !has_minus;
    is_name.then(|| text.split('.').map(str::to_owned).collect())
}
