//! The members of one JSON object, read one by one; what was asked for is noted.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::value::RawValue;
use strum::VariantNames;

use crate::names::{Fault, Named, Unknown};
use crate::nearest::nearest;
use crate::shape::{Member, Shape};
use crate::value::{is_empty_array, kind, pointer_token};

/// How much of a wrong value a fault repeats, in characters: a caller may send megabytes.
const REPEATED_LIMIT_CHARS: usize = 64;
/// Most unknown names within nested objects that are kept: a path repeats the names above it, which may be long.
const KEPT_WITHIN: usize = 50;

/// The members of one JSON object. An explicit null counts as absent; of a name given twice the last one counts.
#[derive(Debug, Default)]
pub struct Members<'a> {
    pointer: String,
    values: BTreeMap<String, &'a RawValue>,
    faults: Vec<Fault>,
    asked: Vec<&'static str>,
    required: Vec<&'static str>,
    /// Whether every name was looked at, so that none is unknown.
    takes_all: bool,
    /// Names that are older ones of other members.
    old: Vec<&'static str>,
    /// Names within nested objects that nobody asked for.
    unknown_within: Vec<Unknown>,
    /// What was asked for; `None` unless this is a run for the description.
    described: Option<Vec<Member>>,
}

/// What an object is whose names are the caller's choice: for its description, and for faults.
#[derive(Clone, Copy, Debug)]
pub struct MapOf<'w> {
    /// What each value is called in a schema.
    pub title: &'static str,
    /// What must be sent, for the fault of any other value.
    pub wanted: &'w str,
    /// The same for each value in it.
    pub each: &'w str,
}

/// What `read` reads, in its order: it is run over nothing.
pub fn describe<T>(read: impl FnOnce(&mut Members<'static>) -> T) -> Vec<Member> {
    let mut members = Members { described: Some(Vec::new()), ..Members::default() };
    read(&mut members);
    let Members { required, old, described, .. } = members;
    let described = described.unwrap_or_default().into_iter().map(|member| Member {
        is_required: required.contains(&member.name),
        is_old: old.contains(&member.name),
        ..member
    });
    described.collect()
}

impl<'a> Members<'a> {
    /// The members of `object`, which is at `pointer` in the body (empty: the body itself). An empty array counts as an empty
    /// object: some clients write an empty map like that.
    ///
    /// # Errors
    /// When the text is neither an object nor an empty array.
    pub fn of(object: &'a str, pointer: &str) -> Result<Self, serde_json::Error> {
        let values = if is_empty_array(object) { BTreeMap::new() } else { serde_json::from_str(object)? };
        Ok(Self { pointer: pointer.to_owned(), values, ..Self::default() })
    }

    /// The member as it was sent, without asking for it: for checks across members.
    pub fn peek(&self, name: impl AsRef<str>) -> Option<&'a RawValue> {
        self.values.get(name.as_ref()).copied().filter(|value| value.get() != "null")
    }

    /// The member as it was sent, of a shape that the caller reads.
    pub fn raw(&mut self, name: impl Named, shape: impl FnOnce() -> Shape) -> Option<&'a RawValue> {
        self.asked.push(name.name());
        if let Some(described) = &mut self.described
            && described.iter().all(|member| member.name != name.name())
        {
            described.push(Member {
                name: name.name(),
                about: name.about(),
                shape: shape(),
                is_required: false,
                is_old: false,
            });
        }
        self.peek(name.name())
    }

    /// A string; an empty one counts as absent.
    pub fn text(&mut self, name: impl Named) -> Option<String> {
        let value = self.raw(name, || Shape::Text)?;
        self.text_in(name, value)
    }

    fn text_in(&mut self, name: impl Named, value: &RawValue) -> Option<String> {
        match serde_json::from_str::<String>(value.get()) {
            Ok(text) => Some(text).filter(|text| !text.is_empty()),
            Err(_) if value.get().starts_with('"') => {
                let detail =
                    "contains half of a surrogate pair (such as \\ud83d alone); send whole characters";
                self.wrong(name, detail.to_owned())
            }
            Err(_) => self.wrong(name, format!("must be a string, not {}", kind(value))),
        }
    }

    /// A string by an older name of another member.
    pub fn old_text(&mut self, name: impl Named) -> Option<String> {
        self.old.push(name.name());
        self.text(name)
    }

    /// A boolean.
    pub fn flag(&mut self, name: impl Named) -> Option<bool> {
        let value = self.raw(name, || Shape::Flag)?;
        match value.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => self.wrong(name, format!("must be true or false, not {}", kind(value))),
        }
    }

    /// A number within `range`.
    pub fn number(&mut self, name: impl Named, range: RangeInclusive<f64>) -> Option<f64> {
        let shape = || Shape::Number { least: *range.start(), most: *range.end() };
        let value = self.raw(name, shape)?;
        match serde_json::from_str::<f64>(value.get()) {
            Ok(number) => self.within(name, number, &range),
            Err(_) => self.wrong(name, format!("must be a number, not {}", kind(value))),
        }
    }

    /// A whole number of at least 1, also when it is written as a float (`2.0`).
    pub fn count(&mut self, name: impl Named) -> Option<u32> {
        self.whole(name, 1..=u32::MAX)
    }

    /// A whole number within `range`, also when it is written as a float (`2.0`).
    pub fn whole(&mut self, name: impl Named, range: RangeInclusive<u32>) -> Option<u32> {
        let value = self.raw(name, || Shape::Whole { least: *range.start(), most: *range.end() })?;
        let number = match serde_json::from_str::<f64>(value.get()) {
            Ok(number) if number.fract() == 0.0 => number,
            Ok(number) => return self.wrong(name, format!("must be an integer, not {number}")),
            Err(_) => return self.wrong(name, format!("must be an integer, not {}", kind(value))),
        };
        let number = self.within(name, number, &(f64::from(*range.start())..=f64::from(*range.end())))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and within the range of u32, as checked above"
        )]
        Some(number as u32)
    }

    /// A whole number within `range`, whose end is the setting `key`; a fault names the setting.
    pub fn limited(&mut self, name: impl Named, range: RangeInclusive<u32>, key: &str) -> Option<u32> {
        let found_before = self.faults.len();
        let number = self.whole(name, range);
        if let Some(fault) = self.faults.get_mut(found_before) {
            fault.detail = format!("{} ({key})", fault.detail);
        }
        number
    }

    fn within(&mut self, name: impl Named, number: f64, range: &RangeInclusive<f64>) -> Option<f64> {
        if range.contains(&number) {
            return Some(number);
        }
        let (least, most) = (range.start(), range.end());
        self.wrong(name, format!("{number} is out of range; give a number from {least} to {most}"))
    }

    /// One of the words that `T` knows.
    pub fn word<T: FromStr + VariantNames>(&mut self, name: impl Named) -> Option<T> {
        self.word_of(name, || T::VARIANTS.to_vec(), |word| word.parse().ok())
    }

    /// One of the words `known`, converted by `from_name`; `known` is called for a fault and for the description only.
    pub fn word_of<T>(
        &mut self,
        name: impl Named,
        known: impl Fn() -> Vec<&'static str>,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.raw(name, || Shape::words(known()))?;
        self.word_in((name, value), known, from_name)
    }

    /// The same where only some of the words are `known`, on this machine say; `all` of them have a title in a schema.
    pub fn word_among<T>(
        &mut self,
        name: impl Named,
        (title, all): (&'static str, &[&'static str]),
        known: impl Fn() -> Vec<&'static str>,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.raw(name, || Shape::Words { title, words: all.to_vec() })?;
        self.word_in((name, value), known, from_name)
    }

    fn word_in<T>(
        &mut self,
        (name, value): (impl Named, &RawValue),
        known: impl Fn() -> Vec<&'static str>,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text_in(name, value)?;
        let word = from_name(&text);
        if word.is_none() {
            let shown: String = text.chars().take(REPEATED_LIMIT_CHARS).collect();
            self.fault(name.name(), format!("'{shown}' is not known; give one of {}", known().join(", ")));
        }
        word
    }

    /// An object as it was sent; an empty array counts as `{}`.
    pub fn any(&mut self, name: impl Named) -> Option<&'a str> {
        let value = self.raw(name, || Shape::Any)?;
        let text = value.get();
        if is_empty_array(text) {
            return Some("{}");
        }
        if text.starts_with('{') {
            return Some(text);
        }
        self.wrong(name, format!("must be an object, not {}", kind(value)))
    }

    /// What `read` makes of a nested object, called `title` in a schema; any other value must be `wanted`. Its faults and
    /// unknown names come up by themselves.
    pub fn object<T>(
        &mut self,
        name: impl Named,
        (title, wanted): (&'static str, &str),
        read: impl Fn(&mut Members<'_>) -> T,
    ) -> Option<T> {
        self.raw(name, || Shape::Object { title, members: describe(&read) })?;
        self.within_object(name.name(), wanted, &read)
    }

    /// The same where a value of the shape `other` may stand as well, which the caller reads.
    pub fn object_or<T>(
        &mut self,
        name: impl Named,
        (title, wanted): (&'static str, &str),
        (either, other): (&'static str, Shape),
        read: impl Fn(&mut Members<'_>) -> T,
    ) -> Option<T> {
        let shape = || {
            let object = Shape::Object { title, members: describe(&read) };
            Shape::OneOf { title: either, shapes: vec![other, object] }
        };
        self.raw(name, shape)?;
        self.within_object(name.name(), wanted, &read)
    }

    /// What `read` makes of each value of an object. Its names are the caller's choice, as far as `name_of` takes them: any
    /// other is a fault with the sentence that it gives.
    pub fn map<N, T>(
        &mut self,
        name: impl Named,
        of: MapOf<'_>,
        name_of: impl Fn(&str) -> Result<N, String>,
        read: impl Fn(&mut Members<'_>) -> T,
    ) -> Vec<(N, T)> {
        let MapOf { title, wanted, each } = of;
        let shape = || Shape::Map(Box::new(Shape::Object { title, members: describe(&read) }));
        if self.raw(name, shape).is_none() {
            return Vec::new();
        }
        let entries = self.within_object(name.name(), wanted, &|entries: &mut Members<'_>| {
            entries.takes_all = true;
            let mut made = Vec::new();
            let names: Vec<_> = entries.sent().map(|entry| (entry.to_owned(), name_of(entry))).collect();
            for (entry, named) in names {
                match named {
                    Ok(key) => {
                        let value = entries.within_object(&entry, each, &read);
                        made.extend(value.map(|value| (key, value)));
                    }
                    Err(detail) => entries.fault(&entry, detail),
                }
            }
            made
        });
        entries.unwrap_or_default()
    }

    fn within_object<T>(
        &mut self,
        name: &str,
        wanted: &str,
        read: &impl Fn(&mut Members<'_>) -> T,
    ) -> Option<T> {
        let value = self.peek(name)?;
        let Ok(mut nested) = Members::of(value.get(), &self.pointer_to(name)) else {
            self.fault(name, format!("must be {wanted}, not {}", kind(value)));
            return None;
        };
        let made = read(&mut nested);
        let room = KEPT_WITHIN - self.unknown_within.len().min(KEPT_WITHIN);
        let own = nested.unknown().map(|unknown| (unknown, nested.nearest(unknown)));
        let deeper = nested.unknown_within.iter().map(|unknown| (unknown.path.as_str(), unknown.near));
        let unknown = own.chain(deeper).take(room);
        let unknown = unknown.map(|(path, near)| Unknown { path: format!("{name}.{path}"), near });
        self.unknown_within.extend(unknown);
        self.faults.append(&mut nested.faults);
        Some(made)
    }

    /// Notes that the member is known, and leaves it unread.
    pub fn pass(&mut self, name: impl Named) {
        self.asked.push(name.name());
    }

    /// Notes a missing member; null and an empty string count as missing.
    pub fn require(&mut self, name: impl Named) {
        self.required.push(name.name());
        if self.peek(name.name()).is_none_or(|value| value.get() == "\"\"") {
            self.fault(name.name(), "is required");
        }
    }

    /// Whether nothing was sent.
    pub fn is_empty(&self) -> bool {
        self.sent().next().is_none()
    }

    /// The names that were sent (other than as null), in the order of the alphabet.
    pub fn sent(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter(|(_, value)| value.get() != "null").map(|(name, _)| name.as_str())
    }

    /// The names that were asked for.
    pub fn asked(&self) -> &[&'static str] {
        &self.asked
    }

    /// Names that were sent (other than as null) and not asked for, in the order of the alphabet.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.sent().filter(|name| !self.takes_all && !self.asked.contains(name))
    }

    /// The same of nested objects that were read; the first ones, where there are many.
    pub fn unknown_within(&self) -> &[Unknown] {
        &self.unknown_within
    }

    /// The name that was asked for and looks most like `unknown`; `None` when none is near. Older names are not proposed.
    pub fn nearest(&self, unknown: &str) -> Option<&'static str> {
        nearest(unknown, self.asked.iter().copied().filter(|name| !self.old.contains(name)))
    }

    /// Makes a fault of each name that was not asked for.
    pub fn refuse_unknown(&mut self, detail: &str) {
        let faults: Vec<_> = self.unknown().map(|name| Fault::new(self.pointer_to(name), detail)).collect();
        self.faults.extend(faults);
        self.takes_all = true;
    }

    /// Notes that the member is wrong.
    pub fn fault(&mut self, name: impl AsRef<str>, detail: impl Into<String>) {
        let pointer = self.pointer_to(name.as_ref());
        self.faults.push(Fault::new(pointer, detail));
    }

    /// Adds faults found elsewhere in the same body.
    pub fn add_faults(&mut self, faults: Vec<Fault>) {
        self.faults.extend(faults);
    }

    /// Whether there is a fault of `name` already.
    pub fn has_fault(&self, name: impl AsRef<str>) -> bool {
        let pointer = self.pointer_to(name.as_ref());
        self.faults.iter().any(|fault| fault.pointer == pointer)
    }

    /// Takes the faults found so far out, in the order in which members were read.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// All faults, in the order in which members were read.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    fn pointer_to(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, pointer_token(name))
    }

    fn wrong<T>(&mut self, name: impl Named, detail: String) -> Option<T> {
        self.fault(name.name(), detail);
        None
    }
}

#[cfg(test)]
mod tests;
