//! Evaluates templates whose tags are only names without an engine, with the same results as `library/core.js`.
//!
//! Hazard: a difference between the two would silently change documents. So only plain cases are evaluated here. Anything else in
//! a tag or the data is [`Unusual`], and then the engine evaluates the whole document. `tests/documents/paths.rs` compares both.

mod data;

use std::borrow::Cow;
use std::ops::Range;

use self::data::{Value, member};
use crate::answer::Answer;
use crate::program::{Step, Term};

/// JavaScript's global names: one that the data lack has a value in the engine.
const GLOBALS: [&str; 24] = [
    "Math",
    "Number",
    "String",
    "Boolean",
    "Array",
    "Object",
    "Date",
    "JSON",
    "Intl",
    "BigInt",
    "RegExp",
    "Map",
    "Set",
    "parseInt",
    "parseFloat",
    "isNaN",
    "isFinite",
    "NaN",
    "Infinity",
    "undefined",
    "encodeURI",
    "encodeURIComponent",
    "decodeURI",
    "decodeURIComponent",
];

/// Texts that the engine warns of: a program that made the data has probably printed them by accident.
const WRONG: [&str; 4] = ["NaN", "Infinity", "-Infinity", "undefined"];

/// How such a text of an object begins.
const WRONG_OBJECT: &str = "[object ";

/// The numbers that JavaScript prints without an exponent.
const WRITTEN_OUT: Range<f64> = 1e-6..1e21;

/// Two different decimals of up to this many digits are always two different numbers.
const DIGITS: usize = 15;

/// A case that only the engine decides.
#[derive(Debug)]
pub(crate) struct Unusual;

/// The data of a template, read without an engine.
#[derive(Debug)]
pub struct Data<'a>(Value<'a>);

impl<'a> Data<'a> {
    /// Reads JSON that has `most` values at most; `None` for what only the engine may read.
    pub fn read(json: &'a [u8], most: usize) -> Option<Self> {
        Value::read(json, most).map(Self)
    }
}

/// The answers to a template's tags, found without an engine.
#[derive(Debug)]
pub struct PathAnswers<'a>(pub(crate) Vec<Answer<'a>>);

/// Limits of the answers.
#[derive(Clone, Copy, Debug)]
pub struct PathLimits {
    /// Whether a name that the data lack is an error, which the engine reports.
    pub strict: bool,
    /// The most repetitions of all sections together.
    pub items: u64,
    /// The most answers.
    pub answers: usize,
}

/// Whether all steps have kinds that are evaluated here, and no filters.
pub(crate) fn are_paths(steps: &[Step]) -> bool {
    let is_path = |step: &Step| {
        matches!(step.kind, "value" | "section" | "otherwise" | "cell" | "day" | "rows" | "columns")
            && step.term.filters.is_empty()
            && are_paths(&step.body)
    };
    steps.iter().all(is_path)
}

pub(crate) fn answers<'d>(
    steps: &[Step],
    data: &'d Data<'_>,
    limits: PathLimits,
) -> Result<PathAnswers<'d>, Unusual> {
    let scope = Scope { item: Found::Data(&data.0), turn: None, outer: None };
    Walk { limits }.answers(steps, &scope).map(PathAnswers)
}

/// The value of a name.
#[derive(Clone, Copy)]
enum Found<'d> {
    Missing,
    Data(&'d Value<'d>),
    Count(usize),
    Truth(bool),
}

/// Where names are looked up: an item, then the scopes around it.
struct Scope<'s, 'd> {
    item: Found<'d>,
    /// The item's index and the list's length, if it is in a list.
    turn: Option<(usize, usize)>,
    outer: Option<&'s Scope<'s, 'd>>,
}

impl<'d> Scope<'_, 'd> {
    fn find(&self, name: &str) -> Result<Option<Found<'d>>, Unusual> {
        if let Some(local) = self.local(name) {
            return Ok(Some(local));
        }
        let mut at = Some(self);
        while let Some(scope) = at {
            // A text has no members that names could mean, not even `length`.
            let is_text = matches!(scope.item, Found::Data(Value::Text(_)));
            let found = if is_text { None } else { own(scope.item, name)? };
            if found.is_some() {
                return Ok(found);
            }
            at = scope.outer;
        }
        Ok(None)
    }

    fn local(&self, name: &str) -> Option<Found<'d>> {
        match name {
            "$parent" => self.outer.map(|outer| outer.item),
            "$index" | "$first" | "$last" => {
                let mut at = Some(self);
                let (index, count) = loop {
                    match at? {
                        Scope { turn: Some(turn), .. } => break *turn,
                        Scope { outer, .. } => at = *outer,
                    }
                };
                Some(match name {
                    "$index" => Found::Count(index),
                    "$first" => Found::Truth(index == 0),
                    _ => Found::Truth(index + 1 == count),
                })
            }
            _ => None,
        }
    }
}

/// The value's own member of this name.
fn own<'d>(value: Found<'d>, name: &str) -> Result<Option<Found<'d>>, Unusual> {
    let Found::Data(value) = value else { return Ok(None) };
    match value {
        Value::Object(members) => Ok(member(members, name).map(Found::Data)),
        Value::List(items) if name == "length" => Ok(Some(Found::Count(items.len()))),
        Value::List(_) if name.starts_with(|first: char| first.is_ascii_digit()) => Err(Unusual),
        Value::Text(_) if name == "length" => Err(Unusual),
        Value::Null
        | Value::Truth(_)
        | Value::Integer(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_) => Ok(None),
    }
}

/// Evaluates steps and counts the answers.
struct Walk {
    /// The limits, reduced by what was used.
    limits: PathLimits,
}

impl Walk {
    fn answers<'d>(&mut self, steps: &[Step], scope: &Scope<'_, 'd>) -> Result<Vec<Answer<'d>>, Unusual> {
        self.limits.answers = self.limits.answers.checked_sub(steps.len()).ok_or(Unusual)?;
        // Collecting into a `Result` would not reserve the exact room: a row of ten would take room for sixteen.
        let mut answers = Vec::with_capacity(steps.len());
        for step in steps {
            answers.push(self.answer(step, scope)?);
        }
        Ok(answers)
    }

    fn answer<'d>(&mut self, step: &Step, scope: &Scope<'_, 'd>) -> Result<Answer<'d>, Unusual> {
        let value = self.evaluate(&step.term, scope)?;
        if step.kind == "value" {
            return printed(value).map(Answer::Text);
        }
        if matches!(step.kind, "cell" | "day") {
            return cell(value, step.kind == "day");
        }
        let is_of_lines = matches!(step.kind, "rows" | "columns");
        if is_of_lines && matches!(value, Found::Data(Value::List(items)) if items.is_empty()) {
            return Ok(Answer::Null);
        }
        let copies = match (step.kind, is_true(value)) {
            ("otherwise", true) | ("section" | "rows" | "columns", false) => Vec::new(),
            ("section" | "rows" | "columns", true) => self.section(step, value, scope)?,
            _ => vec![self.copy(step, scope)?],
        };
        Ok(Answer::List(copies))
    }

    fn section<'d>(
        &mut self,
        step: &Step,
        value: Found<'d>,
        scope: &Scope<'_, 'd>,
    ) -> Result<Vec<Answer<'d>>, Unusual> {
        let inside = |item, turn| Scope { item, turn, outer: Some(scope) };
        match value {
            Found::Data(Value::List(items)) => {
                let count = items.len();
                let copy = |(index, item)| self.copy(step, &inside(Found::Data(item), Some((index, count))));
                items.iter().enumerate().map(copy).collect()
            }
            // `true` makes no scope of its own.
            Found::Truth(_) | Found::Data(Value::Truth(_)) => Ok(vec![self.copy(step, scope)?]),
            Found::Missing | Found::Count(_) | Found::Data(_) => {
                Ok(vec![self.copy(step, &inside(value, None))?])
            }
        }
    }

    /// A section's body, once.
    fn copy<'d>(&mut self, step: &Step, scope: &Scope<'_, 'd>) -> Result<Answer<'d>, Unusual> {
        self.limits.items = self.limits.items.checked_sub(1).ok_or(Unusual)?;
        self.answers(&step.body, scope).map(Answer::List)
    }

    fn evaluate<'d>(&self, term: &Term, scope: &Scope<'_, 'd>) -> Result<Found<'d>, Unusual> {
        if let Some(found) = scope.find(&term.whole)? {
            return Ok(found);
        }
        if term.text != term.whole
            && let Some(found) = scope.find(&term.text)?
        {
            return Ok(found);
        }
        let names = term.path.as_deref().ok_or(Unusual)?;
        let (mut value, names) = match names {
            [first, names @ ..] if !term.own => (named(first, scope)?, names),
            names => (Some(scope.item), names),
        };
        for name in names {
            value = match value {
                Some(value) => own(value, name)?,
                None => break,
            };
        }
        value.map_or_else(|| self.missing(), Ok)
    }

    fn missing<'d>(&self) -> Result<Found<'d>, Unusual> {
        if self.limits.strict { Err(Unusual) } else { Ok(Found::Missing) }
    }
}

fn named<'d>(name: &str, scope: &Scope<'_, 'd>) -> Result<Option<Found<'d>>, Unusual> {
    match scope.find(name)? {
        None if GLOBALS.contains(&name) => Err(Unusual),
        found => Ok(found),
    }
}

fn is_true(value: Found<'_>) -> bool {
    match value {
        Found::Missing | Found::Data(Value::Null) => false,
        Found::Truth(truth) | Found::Data(&Value::Truth(truth)) => truth,
        Found::Count(count) => count != 0,
        Found::Data(Value::Integer(written)) => *written != "0",
        Found::Data(Value::Number(number)) => *number != 0.0,
        Found::Data(Value::Text(text)) => !text.is_empty(),
        Found::Data(Value::List(items)) => !items.is_empty(),
        Found::Data(Value::Object(_)) => true,
    }
}

fn printed(value: Found<'_>) -> Result<Cow<'_, str>, Unusual> {
    let truth = |truth| Cow::Borrowed(if truth { "true" } else { "false" });
    Ok(match value {
        Found::Missing | Found::Data(Value::Null) => Cow::Borrowed(""),
        Found::Truth(given) | Found::Data(&Value::Truth(given)) => truth(given),
        Found::Count(count) => Cow::Owned(count.to_string()),
        Found::Data(Value::Integer(written)) => Cow::Borrowed(written),
        Found::Data(Value::Number(number)) => written(*number)?,
        Found::Data(Value::Text(text)) if WRONG.contains(&&**text) || text.starts_with(WRONG_OBJECT) => {
            return Err(Unusual);
        }
        Found::Data(Value::Text(text)) => Cow::Borrowed(text),
        Found::Data(Value::List(_) | Value::Object(_)) => return Err(Unusual),
    })
}

/// The answer for a cell whose whole text is the tag.
fn cell(value: Found<'_>, is_day: bool) -> Result<Answer<'_>, Unusual> {
    Ok(match value {
        Found::Missing | Found::Data(Value::Null) => Answer::Null,
        Found::Truth(truth) | Found::Data(&Value::Truth(truth)) => Answer::Truth(truth),
        Found::Data(Value::Integer(written)) if written.len() <= DIGITS => {
            Answer::Number(written.parse().map_err(|_| Unusual)?)
        }
        Found::Data(Value::Integer(_)) => return Err(Unusual),
        Found::Data(Value::Number(number)) => Answer::Number(*number),
        // It may be a date, which the engine reads.
        Found::Data(Value::Text(text)) if is_day && text.contains('-') => return Err(Unusual),
        Found::Count(count) => Answer::Number(f64::from(u32::try_from(count).map_err(|_| Unusual)?)),
        Found::Data(Value::Text(_) | Value::List(_) | Value::Object(_)) => Answer::Text(printed(value)?),
    })
}

/// The shortest spelling that is read as this number. Up to [`DIGITS`] digits there is only one, so it is the engine's too; of
/// longer ones two may be equally near, and the engine may choose the other.
fn written<'d>(number: f64) -> Result<Cow<'d, str>, Unusual> {
    if number == 0.0 {
        return Ok(Cow::Borrowed("0"));
    }
    let written = number.to_string();
    let digits = written.trim_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let is_plain = digits <= DIGITS && WRITTEN_OUT.contains(&number.abs());
    is_plain.then_some(Cow::Owned(written)).ok_or(Unusual)
}
