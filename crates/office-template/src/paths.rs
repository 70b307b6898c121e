//! Templates whose tags are only names: what they say is found here, without an engine, and is what `library/core.js` would say.
//!
//! Hazard: a difference between the two would show in nothing but the document. So this knows the plain cases alone. Whatever else
//! a tag, the data or what it finds there may be is [`Unusual`], and then the engine is asked for the whole document, as if this were not here.
//! `tests/documents/paths.rs` lets both answer.

mod data;

use std::borrow::Cow;
use std::ops::Range;

use self::data::{Value, member};
use crate::answer::Answer;
use crate::program::{Step, Term};

/// The language's own names: what one that the data lack is, the engine knows.
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

/// JavaScript prints others with an exponent.
const WRITTEN_OUT: Range<f64> = 1e-6..1e21;

/// Any two decimals of so many digits are two numbers.
const DIGITS: usize = 15;

/// What an engine is to decide.
#[derive(Debug)]
pub(crate) struct Unusual;

/// The data of a template, read without an engine.
#[derive(Debug)]
pub struct Data<'a>(Value<'a>);

impl<'a> Data<'a> {
    /// Reads JSON that has `most` values at most; `None` for what only an engine is to read.
    pub fn read(json: &'a [u8], most: usize) -> Option<Self> {
        Value::read(json, most).map(Self)
    }
}

/// What the tags of a template say, found without an engine.
#[derive(Debug)]
pub struct PathAnswers<'a>(pub(crate) Vec<Answer<'a>>);

/// What bounds the answers.
#[derive(Clone, Copy, Debug)]
pub struct PathLimits {
    /// A name that the data lack is for the engine to tell of.
    pub strict: bool,
    /// How often all sections together are repeated at most.
    pub items: u64,
    /// How many answers there are at most.
    pub answers: usize,
}

/// Whether no step is anything but a name.
pub(crate) fn are_paths(steps: &[Step]) -> bool {
    let is_path = |step: &Step| {
        matches!(step.kind, "value" | "section" | "otherwise" | "cell" | "day" | "rows" | "columns")
            && step.term.filters.is_empty()
            && are_paths(&step.body)
    };
    steps.iter().all(is_path)
}

/// The answers to `steps`.
pub(crate) fn answers<'d>(
    steps: &[Step],
    data: &'d Data<'_>,
    limits: PathLimits,
) -> Result<PathAnswers<'d>, Unusual> {
    let scope = Scope { item: Found::Data(&data.0), turn: None, outer: None };
    Walk { limits }.answers(steps, &scope).map(PathAnswers)
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Found<'d> {
    Missing,
    Data(&'d Value<'d>),
    Count(usize),
    Truth(bool),
}

/// Where names are looked for: an item, and what it stands in.
struct Scope<'s, 'd> {
    item: Found<'d>,
    /// Which item of how many it is, if it is one of a list.
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
            // The names of texts are not those of what is in them.
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

/// What a value has itself under this name.
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

/// On its way through the tags.
struct Walk {
    /// What is left of them.
    limits: PathLimits,
}

impl Walk {
    fn answers<'d>(&mut self, steps: &[Step], scope: &Scope<'_, 'd>) -> Result<Vec<Answer<'d>>, Unusual> {
        self.limits.answers = self.limits.answers.checked_sub(steps.len()).ok_or(Unusual)?;
        // Collected as a result it would not be known how many there are, and a row of ten would have room for sixteen.
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
            // What is only true is around itself.
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
        Found::Data(Value::Text(text)) => Cow::Borrowed(text),
        Found::Data(Value::List(_) | Value::Object(_)) => return Err(Unusual),
    })
}

/// What a cell holds whose whole text is the tag.
fn cell(value: Found<'_>, is_day: bool) -> Result<Answer<'_>, Unusual> {
    Ok(match value {
        Found::Missing | Found::Data(Value::Null) => Answer::Null,
        Found::Truth(truth) | Found::Data(&Value::Truth(truth)) => Answer::Truth(truth),
        Found::Data(Value::Integer(written)) if written.len() <= DIGITS => {
            Answer::Number(written.parse().map_err(|_| Unusual)?)
        }
        Found::Data(Value::Integer(_)) => return Err(Unusual),
        Found::Data(Value::Number(number)) => Answer::Number(*number),
        // It may be a date.
        Found::Data(Value::Text(text)) if is_day && text.contains('-') => return Err(Unusual),
        Found::Count(count) => Answer::Number(f64::from(u32::try_from(count).map_err(|_| Unusual)?)),
        Found::Data(Value::Text(_) | Value::List(_) | Value::Object(_)) => Answer::Text(printed(value)?),
    })
}

/// The shortest spelling that is read as this number. Of so few digits there is only one, and so the engine's; of more there may be two that
/// are as near, of which each program takes another one.
fn written<'d>(number: f64) -> Result<Cow<'d, str>, Unusual> {
    if number == 0.0 {
        return Ok(Cow::Borrowed("0"));
    }
    let written = number.to_string();
    let digits = written.trim_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let is_plain = digits <= DIGITS && WRITTEN_OUT.contains(&number.abs());
    is_plain.then_some(Cow::Owned(written)).ok_or(Unusual)
}
