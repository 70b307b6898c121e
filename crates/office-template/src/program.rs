//! What the engine runs: the tags with their expressions, nested as what they fill is.

use serde::Serialize;

use crate::lexer::{Expression, Tag};
use crate::plan::Node;
use crate::tags::{Placed, list};

/// Words that are no names, though they look like some.
const LITERALS: [&str; 5] = ["true", "false", "null", "this", "new"];

/// A tag as `library.js` reads it. Every field is there in each of them: what is missing would be looked for in a prototype.
#[derive(Serialize)]
pub(crate) struct Step {
    id: usize,
    kind: &'static str,
    whole: String,
    text: String,
    /// The expression as it is compiled.
    code: String,
    /// The names of a plain path; `null` where it takes an expression.
    path: Option<Vec<String>>,
    /// The path begins at the item itself.
    own: bool,
    filters: Vec<Call>,
    body: Vec<Step>,
}

#[derive(Serialize)]
struct Call {
    name: String,
    codes: Vec<String>,
}

/// The steps of a part: one for each value and section of `nodes`, in their order. `first` is the number of the part's first tag.
pub(crate) fn steps(nodes: &[Node], tags: &[Placed], first: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    add(&mut steps, nodes, tags, first);
    steps
}

fn add(steps: &mut Vec<Step>, nodes: &[Node], tags: &[Placed], first: usize) {
    for node in nodes {
        match node {
            Node::Value(index) => {
                if let Some(Tag::Value(value)) = tags.get(*index).map(|placed| &placed.tag) {
                    steps.push(step("value", first + index, value, Vec::new()));
                }
            }
            Node::Section(index, body) => {
                let Some(tag) = tags.get(*index).map(|placed| &placed.tag) else { continue };
                let kind = if matches!(tag, Tag::Otherwise(_)) { "otherwise" } else { "section" };
                if let Some(list) = list(tag) {
                    steps.push(step(kind, first + index, list, self::steps(body, tags, first)));
                }
            }
            Node::Holder(_, body) => add(steps, body, tags, first),
            Node::Raw(_)
            | Node::Owned(_)
            | Node::First(_)
            | Node::Last(_)
            | Node::Number(_)
            | Node::Paragraph(_) => {}
        }
    }
}

fn step(kind: &'static str, id: usize, expression: &Expression, body: Vec<Step>) -> Step {
    let Expression { whole, text, filters } = expression;
    let own = text.strip_prefix('.');
    let path = match own {
        Some("") => Some(Vec::new()),
        Some(names) => path(names),
        None => path(text),
    };
    let filters = filters.iter().map(|filter| Call {
        name: filter.name.clone(),
        codes: filter.arguments.iter().map(|argument| code(argument)).collect(),
    });
    Step {
        id,
        kind,
        whole: whole.clone(),
        text: text.clone(),
        code: code(text),
        path,
        own: own.is_some(),
        filters: filters.collect(),
        body,
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
