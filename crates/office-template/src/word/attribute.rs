//! Attributes of a start tag, with their places.

use std::borrow::Cow;
use std::ops::Range;

use quick_xml::events::BytesStart;

/// An attribute's places in its tag.
pub(crate) struct Attribute {
    /// With the blank before it.
    pub whole: Range<usize>,
    pub name: Range<usize>,
    pub value: Range<usize>,
}

/// The attributes of `tag`, a start tag that is known to be well-formed, with its `<` or without.
pub(crate) fn attributes(tag: &[u8]) -> impl Iterator<Item = Attribute> + '_ {
    let mut at = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
    std::iter::from_fn(move || {
        let begin = at;
        let name = begin + tag.get(begin..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let equals = name + memchr::memchr(b'=', tag.get(name..)?)?;
        let opening = equals + memchr::memchr2(b'"', b'\'', tag.get(equals..)?)?;
        let quote = *tag.get(opening)?;
        let closing = opening + 1 + memchr::memchr(quote, tag.get(opening + 1..)?)?;
        at = closing + 1;
        Some(Attribute { whole: begin..at, name: name..equals, value: opening + 1..closing })
    })
}

/// The attribute whose name without its prefix is `local`.
pub(crate) fn attribute(tag: &[u8], local: &str) -> Option<Attribute> {
    attributes(tag).find(|attribute| {
        let name = tag.get(attribute.name.clone()).unwrap_or_default().trim_ascii_end();
        name.rsplit(|&byte| byte == b':').next() == Some(local.as_bytes())
    })
}

/// The value of the attribute whose name without its prefix is `local`, as text; empty where there is none.
pub(crate) fn value(tag: &BytesStart<'_>, local: &str) -> String {
    value_in(tag, local)
}

/// The same of a start tag as it is written, with its `<` or without.
pub(crate) fn value_in(tag: &[u8], local: &str) -> String {
    let value = attribute(tag, local).and_then(|attribute| tag.get(attribute.value)).unwrap_or_default();
    unescaped(&String::from_utf8_lossy(value))
}

/// Whether a value says yes (`ST_OnOff`; ECMA-376, part 1, 22.9.2.7).
pub(crate) fn is_on(value: &str) -> bool {
    matches!(value, "1" | "true" | "on")
}

/// A value with its entities resolved; as it is written where one is not known.
pub(crate) fn unescaped(value: &str) -> String {
    quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), Cow::into_owned)
}
