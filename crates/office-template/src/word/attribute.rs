//! Attributes of a start tag, with their places.

use std::ops::Range;

use quick_xml::events::BytesStart;

/// An attribute's places in its tag.
pub(crate) struct Attribute {
    /// With the blank before it.
    pub whole: Range<usize>,
    pub name: Range<usize>,
    pub value: Range<usize>,
}

/// The attributes of `tag`, a start tag that has been found well-formed.
pub(crate) fn attributes(tag: &[u8]) -> impl Iterator<Item = Attribute> + '_ {
    let mut at = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
    std::iter::from_fn(move || {
        let begin = at;
        let name = begin + tag.get(begin..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let equals = name + tag.get(name..)?.iter().position(|&byte| byte == b'=')?;
        let opening = equals + tag.get(equals..)?.iter().position(|&byte| byte == b'"' || byte == b'\'')?;
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

/// The start tag's attribute without its prefix, as text.
pub(crate) fn value(tag: &BytesStart<'_>, local: &str) -> String {
    // With the `<` that the reader leaves out.
    let tag = [b"<", &**tag].concat();
    let value = attribute(&tag, local).and_then(|attribute| tag.get(attribute.value));
    let value = value.map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default();
    quick_xml::escape::unescape(&value).map(std::borrow::Cow::into_owned).unwrap_or(value.clone())
}
