//! How a text is written in place of a tag.

use crate::address::external;
use crate::package::xml::{attribute_text, escaped};

/// How a text is written, which depends on the tag's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// In a run of Word's.
    Run,
    /// In a run of a drawing, such as a chart's title.
    DrawingRun,
    /// In a run of a slide, where links are possible.
    SlideRun,
    /// In place of a whole shape of a slide.
    Shape,
    /// In an attribute.
    Attribute,
    /// As the text of an element.
    Element,
    /// In the code of a field.
    Code(CodePlace),
    /// In the code of a field that is an attribute.
    CodeAttribute(CodePlace),
    /// In an address.
    Address,
    /// Not written: it ticks a check box.
    Tick,
}

/// The place of a tag in a field's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodePlace {
    /// At the beginning of the address of a link.
    Address,
    Elsewhere,
}

impl Writing {
    /// Whether it is in a run of Word's, where forms are possible; most other places take only text.
    pub(crate) fn is_run(self) -> bool {
        self == Self::Run
    }

    /// The text escaped for a place outside of paragraphs; an error where it is not allowed there.
    pub(crate) fn aside(self, text: &str) -> Result<String, String> {
        match self {
            Self::Element => Ok(escaped(text)),
            Self::Code(place) => Ok(escaped(&quoted(text, place)?)),
            Self::CodeAttribute(place) => Ok(in_quotes(&quoted(text, place)?)),
            Self::Address => Ok(encoded(text)),
            Self::Run | Self::DrawingRun | Self::SlideRun | Self::Shape | Self::Attribute | Self::Tick => {
                Ok(in_quotes(text))
            }
        }
    }
}

/// Escapes for an attribute in double or single quotes. Line breaks become blanks, since an alternative text does not show them.
fn in_quotes(text: &str) -> String {
    attribute_text(&one_line(text)).replace('\'', "&apos;")
}

fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n', '\t'], " ")
}

/// Escapes a field's argument: unescaped, quotes in data would end it and a backslash would begin a switch of the field.
fn quoted(text: &str, place: CodePlace) -> Result<String, String> {
    let text = if place == CodePlace::Address { external(text)? } else { text.to_owned() };
    Ok(one_line(&text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Escapes a piece of an address: only characters that no address may have; authors encode others themselves.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.trim().char_indices() {
        let is_code = || {
            let digits = text.trim().as_bytes().get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let stands = match letter {
            '%' => is_code(),
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => false,
            _ => letter.is_ascii_graphic(),
        };
        if stands {
            out.push(letter);
        } else {
            let mut bytes = [0; 4];
            out.extend(letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{CodePlace, Writing, encoded};

    #[test]
    fn addresses_are_encoded_where_they_must_be() {
        assert_eq!(encoded(" a b/ä?x=1&y=%20%zz#{\"}"), "a%20b/%C3%A4?x=1&y=%20%25zz#%7B%22%7D");
    }

    #[test]
    fn what_would_end_an_argument_is_quoted() {
        let code = Writing::CodeAttribute(CodePlace::Elsewhere);
        assert_eq!(code.aside("a\" \\o\n'b'").as_deref(), Ok("a\\&quot; \\\\o &apos;b&apos;"));
    }
}
