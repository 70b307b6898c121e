//! An expression and the filters behind it.

use super::scan::{is_name, outside};

/// An expression, and the filters that are applied to its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The whole text with the filters, for it may be a key of the data.
    pub whole: String,
    /// The text before the first filter.
    pub text: String,
    /// In the order in which they are applied.
    pub filters: Vec<Filter>,
}

/// `| name(argument, …)` or `| name: argument, …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// A built-in filter, or a method.
    pub name: String,
    /// The arguments, as expressions.
    pub arguments: Vec<String>,
}

impl Expression {
    /// Reads an expression with its filters.
    pub(super) fn read(whole: &str) -> Result<Self, String> {
        let mut pieces = split(whole, |top, index| {
            let is_bar = |index: Option<usize>, at: usize| {
                index
                    .and_then(|index| top.get(index))
                    .is_some_and(|&(other, letter)| letter == '|' && other == at)
            };
            let (at, letter) = top[index];
            letter == '|'
                && !is_bar(index.checked_sub(1), at.wrapping_sub(1))
                && !is_bar(Some(index + 1), at + 1)
        })
        .into_iter();
        let text = pieces.next().unwrap_or_default().to_owned();
        if text.is_empty() {
            return Err("there is no value before the first |".to_owned());
        }
        let filters = pieces.map(filter).collect::<Result<_, _>>()?;
        Ok(Self { whole: whole.to_owned(), text, filters })
    }
}

/// `text` split at the separators outside of strings and brackets; the pieces are trimmed.
fn split(text: &str, is_parting: impl Fn(&[(usize, char)], usize) -> bool) -> Vec<&str> {
    let top = outside(text).unwrap_or_else(|| text.char_indices().collect());
    let mut pieces = Vec::new();
    let mut from = 0;
    for index in (0..top.len()).filter(|&index| is_parting(&top, index)) {
        let (at, letter) = top[index];
        pieces.push(text[from..at].trim());
        from = at + letter.len_utf8();
    }
    pieces.push(text[from..].trim());
    pieces
}

fn filter(text: &str) -> Result<Filter, String> {
    let end =
        text.find(|letter: char| !letter.is_alphanumeric() && !"_$".contains(letter)).unwrap_or(text.len());
    let (name, rest) = (&text[..end], text[end..].trim());
    if !is_name(name) {
        return Err(not_a_filter(text));
    }
    let arguments = match rest.chars().next() {
        None => return Ok(Filter { name: name.to_owned(), arguments: Vec::new() }),
        Some(':') => &rest[1..],
        Some('(') if is_one_bracket(rest) => &rest[1..rest.len() - 1],
        Some(_) => return Err(not_a_filter(text)),
    };
    let mut arguments: Vec<String> =
        split(arguments, |top, index| top[index].1 == ',').into_iter().map(str::to_owned).collect();
    if arguments == [""] {
        arguments.clear();
    }
    if arguments.iter().any(String::is_empty) {
        return Err(format!("an argument of the filter {name} is missing"));
    }
    Ok(Filter { name: name.to_owned(), arguments })
}

fn is_one_bracket(text: &str) -> bool {
    outside(text).is_some_and(|top| matches!(top[..], [(0, '('), (end, ')')] if end + 1 == text.len()))
}

fn not_a_filter(text: &str) -> String {
    format!(
        "{text:?} is no filter: | begins one, written as name, name(argument) or name:argument; bitwise or is written in \
         parentheses, as in {{(a | b)}}"
    )
}
