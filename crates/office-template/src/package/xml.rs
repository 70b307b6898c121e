//! Helpers that escape and edit small pieces of XML.

use std::ops::Range;

use crate::word::attribute::{attributes, unescaped};

/// Whether XML allows a character.
pub(crate) fn can_stand(letter: char) -> bool {
    !matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Escapes text between tags, without characters that XML does not allow.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ if can_stand(letter) => out.push(letter),
            _ => {}
        }
    }
    out
}

/// Escapes text of an attribute; line ends and tabs too, which a parser would turn into blanks.
pub(crate) fn attribute_text(text: &str) -> String {
    escaped(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;")
}

/// `xml` with `piece` as the last child of its root. The piece's names have no prefix: they get the root's.
pub(crate) fn before_end(xml: &[u8], piece: &str) -> Vec<u8> {
    let (_, _, name) = end(xml);
    let prefix = name.split_once(':').map(|(prefix, _)| format!("{prefix}:")).unwrap_or_default();
    let piece = if prefix.is_empty() { piece.to_owned() } else { prefixed(piece, &prefix) };
    with_last(xml, &piece)
}

/// `xml` with `piece` as the last child of its root, as it is.
pub(crate) fn with_last(xml: &[u8], piece: &str) -> Vec<u8> {
    let (before, last, name) = end(xml);
    if last.starts_with(b"</") {
        return [before, piece.as_bytes(), last].concat();
    }
    // The root is empty: <Relationships …/>
    let start = last.strip_suffix(b"/>").unwrap_or(last);
    [before, start, b">", piece.as_bytes(), b"</", name.as_bytes(), b">"].concat()
}

fn prefixed(piece: &str, prefix: &str) -> String {
    piece.replace("</", "\u{1}").replace('<', &format!("<{prefix}")).replace('\u{1}', &format!("</{prefix}"))
}

/// `xml` with these ranges replaced, which must be in order.
pub(crate) fn replaced(xml: &[u8], edits: &[(Range<usize>, String)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(xml.len());
    let mut from = 0;
    for (range, piece) in edits {
        out.extend_from_slice(xml.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(piece.as_bytes());
        from = from.max(range.end);
    }
    out.extend_from_slice(xml.get(from..).unwrap_or_default());
    out
}

/// The unescaped value of the start tag's first attribute for whose name, prefix included, `is_meant` is true.
pub(crate) fn attribute_of(tag: &[u8], is_meant: impl Fn(&[u8]) -> bool) -> Option<String> {
    let mut all = attributes(tag);
    let found = all.find(|one| is_meant(tag.get(one.name.clone()).unwrap_or_default().trim_ascii_end()))?;
    Some(unescaped(&String::from_utf8_lossy(tag.get(found.value)?)))
}

/// The XML before the last tag, the tag, and its name.
fn end(xml: &[u8]) -> (&[u8], &[u8], &str) {
    let written = xml.trim_ascii_end();
    let at = memchr::memrchr(b'<', written).unwrap_or(written.len());
    let (before, last) = written.split_at(at);
    let name = last.strip_prefix(b"</").or_else(|| last.strip_prefix(b"<")).unwrap_or_default();
    let name = name.split(|&byte| byte.is_ascii_whitespace() || byte == b'>' || byte == b'/').next();
    (before, last, name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default())
}
