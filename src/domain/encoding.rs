//! Detects the encoding of a text as browsers do (HTML Standard, 13.2.3.2), and decodes it.
//!
//! Hazard: if the scan for scripts and the browser decoded a page differently, a script could pass unseen. So templates are
//! decoded here once and are UTF-8 from then on. A byte order mark counts most, then a declaration, then the encoding of the
//! page that includes the text. Two things differ from browsers, with a warning to the author: a text with valid UTF-8 beyond
//! ASCII is UTF-8 even if an old `meta` declares Latin, and the locale is not used to guess: what is neither declared nor
//! UTF-8 is windows-1252.

use std::borrow::Cow;

use bytes::{BufMut as _, Bytes, BytesMut};
pub use encoding_rs::{Encoding, UTF_8};
use encoding_rs::{REPLACEMENT, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far a declaration is searched for in a page, by the standard.
const WINDOW_BYTES: usize = 1_024;
/// How far a declaration is searched for that another parser might follow: some read on to the end of the head.
const WIDE_WINDOW_BYTES: usize = 64 << 10;
/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// The attributes of a `meta` that declare an encoding.
const DECLARING: [&[u8]; 3] = [b"http-equiv", b"content", b"charset"];
/// The start of a style sheet that declares its encoding (CSS Syntax Level 3, 3.2).
const CHARSET_RULE: &[u8] = b"@charset \"";

/// The syntax in which a text declares its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// By a `meta` element.
    Page,
    /// By a `@charset` rule.
    Sheet,
}

impl Syntax {
    /// The syntax of the file `path`, by its extension.
    pub fn of(path: &str) -> Self {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        if ending.eq_ignore_ascii_case("css") { Self::Sheet } else { Self::Page }
    }
}

/// A decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text. One that was UTF-8 is borrowed, with its byte order mark where it has one; others have none.
    pub text: Cow<'a, str>,
    /// The encoding of its bytes.
    pub encoding: &'static Encoding,
    /// A warning for its author.
    pub warning: Option<EncodingWarning>,
}

/// What was doubtful when a text was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingWarning {
    /// No encoding is declared, and this line is not UTF-8.
    Guessed(usize),
    /// It declares this encoding, but is UTF-8.
    Contradicted(&'static Encoding),
    /// Some of it is invalid in the encoding that it declares.
    Damaged(&'static Encoding),
}

impl EncodingWarning {
    /// A sentence about the file `path`.
    pub fn of(self, path: &str) -> String {
        match self {
            Self::Guessed(line) => format!(
                "{path}: line {line} is not UTF-8 and no encoding is declared, so it was read as windows-1252; save it \
                 as UTF-8, or declare what it is (<meta charset=…>)"
            ),
            Self::Contradicted(declared) => {
                let declared = declared.name();
                format!(
                    "{path}: it declares {declared} but is UTF-8, and was read as that; declare <meta charset=utf-8>"
                )
            }
            Self::Damaged(declared) => {
                let declared = declared.name();
                format!(
                    "{path}: some of it is not {declared}, which it declares to be; those letters are shown as \u{fffd}"
                )
            }
        }
    }
}

/// Decodes `bytes`; `around` is the encoding of the page that includes them. `None` if they are binary: neither declared nor
/// UTF-8, and with NUL bytes.
pub fn decode<'a>(bytes: &'a [u8], syntax: Syntax, around: Option<&'static Encoding>) -> Option<Decoded<'a>> {
    let declared = declared(bytes, syntax);
    let utf8 = std::str::from_utf8(bytes);
    let as_it_stands = |text, warning| Some(Decoded { text: Cow::Borrowed(text), encoding: UTF_8, warning });
    match (declared.or(around.filter(|around| around.is_ascii_compatible())), utf8) {
        (Some(encoding), Ok(text)) if encoding == UTF_8 => as_it_stands(text, None),
        // Latin text beyond ASCII is practically never valid UTF-8 by accident: each such letter would have to follow an 'Ã'.
        (Some(encoding), Ok(text)) if encoding.is_single_byte() => {
            let warning = declared.filter(|_| !text.is_ascii()).map(EncodingWarning::Contradicted);
            let decoded = Decoded { text: Cow::Borrowed(text), encoding, warning };
            Some(if text.is_ascii() { decoded } else { Decoded { encoding: UTF_8, ..decoded } })
        }
        (Some(encoding), _) => {
            let (text, _, is_damaged) = encoding.decode(bytes);
            Some(Decoded {
                text,
                encoding,
                warning: is_damaged.then_some(EncodingWarning::Damaged(encoding)),
            })
        }
        (None, Ok(text)) => as_it_stands(text, None),
        (None, Err(_)) if memchr::memchr(0, bytes).is_some() => None,
        (None, Err(error)) => {
            let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
            Some(Decoded { text, encoding: WINDOWS_1252, warning: Some(EncodingWarning::Guessed(line)) })
        }
    }
}

/// The encoding that `bytes` themselves declare.
pub fn declared(bytes: &[u8], syntax: Syntax) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding);
    }
    let head = &bytes[..bytes.len().min(WINDOW_BYTES)];
    match syntax {
        Syntax::Page => page_declares(head),
        Syntax::Sheet => {
            let name = head.strip_prefix(CHARSET_RULE)?;
            known(&name[..name.windows(2).position(|end| end == b"\";")?])
        }
    }
}

/// The bytes of `text`; not copied where it was borrowed from `bytes`.
pub fn shared(bytes: &Bytes, text: Cow<'_, str>) -> Bytes {
    match text {
        Cow::Borrowed(text) => bytes.slice_ref(text.as_bytes()),
        Cow::Owned(text) => Bytes::from(text),
    }
}

/// A UTF-8 page that every parser reads as UTF-8: a byte order mark, which counts more than any declaration, is added where the
/// page declares another encoding.
pub fn with_bom_if_misleading(page: Bytes) -> Bytes {
    let head = &page[..page.len().min(WIDE_WINDOW_BYTES)];
    let misleads = |declared: &'static Encoding| {
        declared != UTF_8
            && !(declared.is_ascii_compatible() && Encoding::ascii_valid_up_to(&page) == page.len())
    };
    if page.starts_with(BOM) || !page_declares(head).is_some_and(misleads) {
        return page;
    }
    let mut marked = BytesMut::with_capacity(BOM.len() + page.len());
    marked.put_slice(BOM);
    marked.put_slice(&page);
    marked.freeze()
}

/// The bytes without the byte order mark of UTF-8.
pub fn without_bom(bytes: Bytes) -> Bytes {
    if bytes.starts_with(BOM) { bytes.slice(BOM.len()..) } else { bytes }
}

/// The encoding that browsers use for a declared name. A declaration of UTF-16 that could be read as ASCII is wrong, and means
/// UTF-8 (HTML Standard).
fn known(name: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(name)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding).filter(|&encoding| encoding != REPLACEMENT)
    }
}

fn page_declares(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => Prescan { head, at: 0 }.meta().ok().flatten().or_else(|| xml_declares(head)),
    }
}

/// `<?xml version="1.0" encoding="…"?>` at the very beginning.
fn xml_declares(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let word = b"encoding";
    let behind = &declaration[memchr::memmem::find(declaration, word)? + word.len()..];
    let [quote @ (b'"' | b'\''), value @ ..] =
        behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start()
    else {
        return None;
    };
    known(&value[..memchr::memchr(*quote, value)?])
}

/// The standard's prescan: searches the beginning of a page for a `meta` that declares its encoding.
struct Prescan<'a> {
    head: &'a [u8],
    at: usize,
}

/// The searched part of the page has ended.
struct Over;

/// Name and value.
type Attribute = (Vec<u8>, Vec<u8>);

impl Prescan<'_> {
    fn meta(&mut self) -> Result<Option<&'static Encoding>, Over> {
        while let Some(found) = memchr::memchr(b'<', self.rest()) {
            self.at += found;
            let rest = self.rest();
            match rest {
                [b'<', b'!', b'-', b'-', ..] => {
                    self.at += 2 + memchr::memmem::find(&rest[2..], b"-->").ok_or(Over)? + 3;
                }
                _ if is_meta(rest) => {
                    self.at += b"<meta".len();
                    if let Some(encoding) = self.declaration()? {
                        return Ok(Some(encoding));
                    }
                }
                [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                    self.skip(|byte| !is_space(byte) && byte != b'>')?;
                    while self.attribute()?.is_some() {}
                }
                [b'<', b'!' | b'/' | b'?', ..] => self.skip(|byte| byte != b'>')?,
                _ => self.at += 1,
            }
        }
        Ok(None)
    }

    /// What the attributes of a `meta` declare.
    fn declaration(&mut self) -> Result<Option<&'static Encoding>, Over> {
        let (mut is_pragma, mut by_content, mut by_charset) = (false, None, None);
        // The first attribute of a name counts. Others are dropped at once: a tag may have thousands.
        let mut seen = [false; 3];
        while let Some((name, value)) = self.attribute()? {
            let Some(at) = DECLARING.iter().position(|declaring| *declaring == name.as_slice()) else {
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match at {
                0 => is_pragma = value == b"content-type",
                1 => by_content = in_content(&value),
                _ => by_charset = Some(known(&value)),
            }
        }
        Ok(by_charset.unwrap_or(by_content.filter(|_| is_pragma)))
    }

    /// The next attribute of a tag, name and value in lower case; `None` behind the last one.
    fn attribute(&mut self) -> Result<Option<Attribute>, Over> {
        self.skip(|byte| is_space(byte) || byte == b'/')?;
        let first = self.peek()?;
        if first == b'>' {
            return Ok(None);
        }
        // A leading '=' is part of the name.
        self.at += 1;
        let mut name = vec![first.to_ascii_lowercase()];
        name.extend(self.taken(|byte| is_space(byte) || matches!(byte, b'=' | b'/' | b'>'))?);
        self.skip(is_space)?;
        if self.peek()? != b'=' {
            return Ok(Some((name, Vec::new())));
        }
        self.at += 1;
        self.skip(is_space)?;
        let value = match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let value = self.taken(|byte| byte == quote)?;
                self.at += 1;
                value
            }
            _ => self.taken(|byte| is_space(byte) || byte == b'>')?,
        };
        Ok(Some((name, value)))
    }

    fn rest(&self) -> &[u8] {
        self.head.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Result<u8, Over> {
        self.rest().first().copied().ok_or(Over)
    }

    fn skip(&mut self, what: impl Fn(u8) -> bool) -> Result<(), Over> {
        self.at += self.rest().iter().position(|&byte| !what(byte)).ok_or(Over)?;
        Ok(())
    }

    /// The bytes before the first one that `ends` accepts, in lower case.
    fn taken(&mut self, ends: impl Fn(u8) -> bool) -> Result<Vec<u8>, Over> {
        let length = self.rest().iter().position(|&byte| ends(byte)).ok_or(Over)?;
        let taken = self.rest()[..length].to_ascii_lowercase();
        self.at += length;
        Ok(taken)
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"<meta") && (is_space(rest[5]) || rest[5] == b'/')
}

/// The encoding behind `charset=` in the lower-case `content` of a `meta`.
fn in_content(content: &[u8]) -> Option<&'static Encoding> {
    let word = b"charset";
    let mut rest = content;
    while let Some(at) = memchr::memmem::find(rest, word) {
        rest = &rest[at + word.len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        if let [quote @ (b'"' | b'\''), value @ ..] = value {
            return known(&value[..memchr::memchr(*quote, value)?]);
        }
        let end = value.iter().position(|&byte| is_space(byte) || byte == b';');
        return known(&value[..end.unwrap_or(value.len())]);
    }
    None
}

/// White space of HTML.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

#[cfg(test)]
mod tests;
