//! What the engine runs: the tags with their expressions, nested as what they fill is.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::lexer::{Expression, Filter, Tag};
use crate::plan::Node;
use crate::tags::{Placed, list};

/// Words that are no names, though they look like some.
const LITERALS: [&str; 5] = ["true", "false", "null", "this", "new"];

/// Filters of pictures and codes that say how these are shown; all others change what they show.
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

/// A tag as `library/core.js` reads it. Every field is there in each of them: what is missing would be looked for in a prototype.
#[derive(Clone, Serialize)]
pub(crate) struct Step {
    id: usize,
    pub kind: &'static str,
    /// What the tag's expression is; of a command the first argument.
    #[serde(flatten)]
    pub term: Term,
    /// A command's arguments.
    terms: Vec<Term>,
    /// How a picture is shown.
    options: Vec<Call>,
    pub body: Vec<Step>,
}

/// An expression with its filters.
#[derive(Clone, Serialize)]
pub(crate) struct Term {
    pub whole: String,
    pub text: String,
    /// The expression as it is compiled.
    code: String,
    /// The names of a plain path; `null` where it takes an expression.
    pub path: Option<Vec<String>>,
    /// The path begins at the item itself.
    pub own: bool,
    pub filters: Vec<Call>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Call {
    name: String,
    codes: Vec<String>,
}

/// The steps of a part: one for each value and section of `nodes`, in their order. `first` is the number of the part's first tag, and
/// `bodies` are the steps of the documents that its tags take in.
pub(crate) fn steps(
    nodes: &[Node],
    tags: &[Placed],
    (first, bodies): (usize, &BTreeMap<usize, &[Step]>),
) -> Vec<Step> {
    let mut steps = Vec::new();
    add(&mut steps, nodes, tags, (first, bodies));
    steps
}

impl Step {
    /// The step of a section with these in it.
    pub(crate) fn with_body(self, body: Vec<Self>) -> Self {
        Self { body, ..self }
    }
}

/// How many sections and documents stand in each other.
pub(crate) fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| {
        let holds_steps = matches!(step.kind, "section" | "otherwise" | "rows" | "columns" | "include");
        usize::from(holds_steps) + depth(&step.body)
    };
    steps.iter().map(of).max().unwrap_or_default()
}

fn add(
    steps: &mut Vec<Step>,
    nodes: &[Node],
    tags: &[Placed],
    (first, bodies): (usize, &BTreeMap<usize, &[Step]>),
) {
    for node in nodes {
        match node {
            Node::Content(slot) => {
                let tag = tags.get(slot.tag).map(|placed| &placed.tag);
                let step = tag.and_then(|tag| content(tag, first + slot.tag));
                steps.extend(step.map(|step| match bodies.get(&slot.tag) {
                    Some(body) => Step { terms: Vec::new(), body: body.to_vec(), ..step },
                    None => step,
                }));
            }
            Node::Address(address) => {
                for &(_, index) in &address.tags {
                    steps.extend(tags.get(index).and_then(|placed| content(&placed.tag, first + index)));
                }
            }
            // What is true ticks a box, as it opens a section.
            Node::Tick(index) => {
                if let Some(Tag::Value(value)) = tags.get(*index).map(|placed| &placed.tag) {
                    steps.push(step("section", first + index, value));
                }
            }
            Node::Section(index, body) => {
                let Some(tag) = tags.get(*index).map(|placed| &placed.tag) else { continue };
                let kind = if matches!(tag, Tag::Otherwise(_)) { "otherwise" } else { "section" };
                if let Some(list) = list(tag) {
                    let body = self::steps(body, tags, (first, bodies));
                    steps.push(Step { body, ..step(kind, first + index, list) });
                }
            }
            Node::Holder(_, body) => add(steps, body, tags, (first, bodies)),
            Node::Raw(_)
            | Node::Owned(_)
            | Node::First(_)
            | Node::Number(_)
            | Node::AddressAgain(_)
            | Node::Ticked(..)
            | Node::Paragraph(_) => {}
        }
    }
}

/// The step of a tag that something stands in the place of.
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
            Some(Step { terms: terms.collect(), ..step(command.name, id, &none) })
        }
        Tag::Section(..)
        | Tag::Otherwise(_)
        | Tag::End(_)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => None,
    }
}

/// A picture: those of its filters that say how it is shown are told apart.
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

/// What repeats a slide: a section over all that is copied with it.
pub(crate) fn repeated((id, list): (usize, &Expression), body: Vec<Step>) -> Step {
    Step { body, ..step("section", id, list) }
}

/// A step without a body.
pub(crate) fn step(kind: &'static str, id: usize, expression: &Expression) -> Step {
    Step { id, kind, term: term(expression), terms: Vec::new(), options: Vec::new(), body: Vec::new() }
}

fn call(filter: &Filter) -> Call {
    let codes = filter.arguments.iter().map(|argument| code(argument)).collect();
    Call { name: filter.name.clone(), codes }
}

fn term(expression: &Expression) -> Term {
    let Expression { whole, text, filters } = expression;
    let own = text.strip_prefix('.');
    let path = match own {
        Some("") => Some(Vec::new()),
        Some(names) => path(names),
        None => path(text),
    };
    Term {
        whole: whole.clone(),
        text: text.clone(),
        code: code(text),
        path,
        own: own.is_some(),
        filters: filters.iter().map(call).collect(),
    }
}

/// JavaScript: an expression that begins with the item's own name takes it from what the library calls the item.
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

/// The names of `a.b.c`.
fn path(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> = text.split('.').map(str::to_owned).collect();
    let is_name = |name: &String| {
        name.starts_with(|first: char| first.is_alphabetic() || "_$".contains(first))
            && name.chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter))
    };
    let is_literal = names.first().is_some_and(|name| LITERALS.contains(&name.as_str()));
    (!is_literal && names.iter().all(is_name)).then_some(names)
}
