//! Reads the members of a JSON object leniently, and collects all errors so that one answer names them all.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::value::RawValue;
use strum::VariantNames;

use super::error::shortened;
use crate::problem::FieldError;

/// The members of one JSON object. An explicit null counts as absent; of a name given twice the last one
/// counts; a member that is never read is not an error.
#[derive(Debug, Default)]
pub struct Members<'a> {
    pointer: String,
    values: BTreeMap<String, &'a RawValue>,
    errors: Vec<FieldError>,
}

impl<'a> Members<'a> {
    /// The members of `object`, which is at `pointer` in the body (empty: the body itself). An empty array counts as an empty
    /// object: some clients write an empty map like that.
    ///
    /// # Errors
    /// When the text is neither an object nor an empty array.
    pub fn of(object: &'a str, pointer: &str) -> Result<Self, serde_json::Error> {
        let values = if is_empty_array(object) { BTreeMap::new() } else { serde_json::from_str(object)? };
        Ok(Self { pointer: pointer.to_owned(), values, errors: Vec::new() })
    }

    /// The member as it was sent; null counts as absent.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.values.get(name).copied().filter(|value| value.get() != "null")
    }

    /// A string; an empty one counts as absent.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let value = self.raw(name)?;
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

    /// A boolean.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.raw(name)?;
        match value.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => self.wrong(name, format!("must be true or false, not {}", kind(value))),
        }
    }

    /// A number within `range`.
    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let value = self.raw(name)?;
        match serde_json::from_str::<f64>(value.get()) {
            Ok(number) if range.contains(&number) => Some(number),
            Ok(number) => {
                let (least, most) = (range.start(), range.end());
                self.wrong(name, format!("{number} is out of range; give a number from {least} to {most}"))
            }
            Err(_) => self.wrong(name, format!("must be a number, not {}", kind(value))),
        }
    }

    /// A whole number of at least 1, also when it is written as a float (`2.0`).
    pub fn count(&mut self, name: &str) -> Option<u32> {
        self.whole(name, 1..=u32::MAX)
    }

    /// A whole number within `range`, also when it is written as a float (`2.0`).
    pub fn whole(&mut self, name: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let value = self.raw(name)?;
        match serde_json::from_str::<f64>(value.get()) {
            Ok(number) if number.fract() == 0.0 => {}
            Ok(number) => return self.wrong(name, format!("must be an integer, not {number}")),
            Err(_) => return self.wrong(name, format!("must be an integer, not {}", kind(value))),
        }
        let number = self.number(name, f64::from(*range.start())..=f64::from(*range.end()))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and within the range of u32, as checked above"
        )]
        Some(number as u32)
    }

    /// The members of a nested object; any other value is an error that says it must be `wanted`.
    pub fn nested(&mut self, name: &str, wanted: &str) -> Option<Self> {
        let value = self.raw(name)?;
        let nested = Self::of(value.get(), &format!("{}/{name}", self.pointer)).ok();
        if nested.is_none() {
            self.error(name, format!("must be {wanted}, not {}", kind(value)));
        }
        nested
    }

    /// A whole number within `range`, whose end is the setting `key`; an error names the setting.
    pub fn limited(&mut self, name: &str, range: RangeInclusive<u32>, key: &str) -> Option<u32> {
        let found_before = self.errors.len();
        let number = self.whole(name, range);
        if let Some(error) = self.errors.get_mut(found_before) {
            error.detail = format!("{} ({key})", error.detail);
        }
        number
    }

    /// An object as it was sent; an empty array counts as `{}`.
    pub fn object(&mut self, name: &str) -> Option<&'a str> {
        let value = self.raw(name)?.get();
        if is_empty_array(value) {
            return Some("{}");
        }
        if value.starts_with('{') {
            return Some(value);
        }
        let found = self.raw(name).map_or("nothing", kind);
        self.wrong(name, format!("must be an object, not {found}"))
    }

    /// One of the words that `T` knows.
    pub fn word<T: FromStr + VariantNames>(&mut self, name: &str) -> Option<T> {
        self.word_of(name, || T::VARIANTS.to_vec(), |word| word.parse().ok())
    }

    /// One of the words `known`, converted by `from_name`; `known` is called for an error only.
    pub fn word_of<'k, T>(
        &mut self,
        name: &str,
        known: impl FnOnce() -> Vec<&'k str>,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name)?;
        let word = from_name(&text);
        if word.is_none() {
            let shown = shortened(&text);
            self.error(name, format!("'{shown}' is not known; give one of {}", known().join(", ")));
        }
        word
    }

    /// Notes that the member is wrong.
    pub fn error(&mut self, name: &str, detail: impl Into<String>) {
        let pointer = format!("{}/{}", self.pointer, pointer_token(name));
        self.errors.push(FieldError::new(pointer, detail));
    }

    /// Adds errors found elsewhere in the same body.
    pub fn add_errors(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// Whether there is an error for `name` already.
    pub fn has_error(&self, name: &str) -> bool {
        let pointer = format!("{}/{name}", self.pointer);
        self.errors.iter().any(|error| error.pointer == pointer)
    }

    /// The names sent (other than as null) that are not among `known`.
    pub fn unknown(&self, known: &[&str]) -> Vec<String> {
        let sent = self.values.keys().filter(|name| self.raw(name).is_some());
        sent.filter(|name| !known.contains(&name.as_str())).cloned().collect()
    }

    /// Takes the errors found so far out, in the order in which members were read.
    pub fn take_errors(&mut self) -> Vec<FieldError> {
        std::mem::take(&mut self.errors)
    }

    /// All errors, in the order in which members were read.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    fn wrong<T>(&mut self, name: &str, detail: String) -> Option<T> {
        self.error(name, detail);
        None
    }
}

/// The type of a value, for error messages.
pub fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// A member's name as a reference token of a JSON pointer (RFC 6901, 3).
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether `text` is an array without elements.
pub fn is_empty_array(text: &str) -> bool {
    let inner = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Members<'_> {
        Members::of(text, "").unwrap()
    }

    #[test]
    fn absent_null_and_empty_are_the_same() {
        let mut body = members(r#"{"a":null,"b":"","c":"x"}"#);
        assert_eq!(body.text("a"), None);
        assert_eq!(body.text("b"), None);
        assert_eq!(body.text("c").as_deref(), Some("x"));
        assert_eq!(body.text("d"), None);
        assert!(body.into_errors().is_empty());
    }

    #[test]
    fn every_error_is_collected_with_its_pointer() {
        let mut body = Members::of(r#"{"a":1,"b":"x","c/d":[1],"e":2.5,"f":9}"#, "/up").unwrap();
        assert_eq!(body.text("a"), None);
        assert_eq!(body.flag("b"), None);
        assert_eq!(body.object("c/d"), None);
        assert_eq!(body.count("e"), None);
        assert_eq!(body.number("f", 0.0..=2.0), None);
        let errors = body.into_errors();
        let pointers: Vec<_> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, ["/up/a", "/up/b", "/up/c~1d", "/up/e", "/up/f"]);
        assert_eq!(errors[2].detail, "must be an object, not an array");
        assert_eq!(errors[4].detail, "9 is out of range; give a number from 0 to 2");
    }

    #[test]
    fn floats_are_whole_numbers_and_empty_arrays_empty_objects() {
        let mut body = members(r#"{"page":2.0,"map":[ ],"last":1,"last":3}"#);
        assert_eq!(body.count("page"), Some(2));
        assert_eq!(body.object("map"), Some("{}"));
        assert_eq!(body.count("last"), Some(3));
        let mut wrong = members(r#"{"a":1.5,"b":"2"}"#);
        assert_eq!((wrong.count("a"), wrong.count("b")), (None, None));
        let details: Vec<_> = wrong.into_errors().into_iter().map(|error| error.detail).collect();
        assert_eq!(details, ["must be an integer, not 1.5", "must be an integer, not a string"]);
        assert_eq!(Members::of(" [ ] ", "").unwrap().unknown(&[]), Vec::<String>::new());
        assert!(Members::of("[1]", "").is_err());
    }

    #[test]
    fn an_object_keeps_its_spelling() {
        let mut body = members(r#"{"data":{"b":1.50, "a":1e3}}"#);
        assert_eq!(body.object("data"), Some(r#"{"b":1.50, "a":1e3}"#));
    }
}
