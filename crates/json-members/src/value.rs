//! What a value or a name looks like, for readers and for faults.

use serde_json::value::RawValue;

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
