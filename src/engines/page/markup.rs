//! What the scans of a page share: looking at raw bytes the way an HTML parser would, erring to one side.

/// Whether `text` begins with `word` (lower case), in any case.
pub(super) fn begins(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word)
}

/// The text behind the blanks at its beginning, as HTML means them.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// Tab, line feed, form feed, carriage return, space.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Where `word`, given in lower case, is in `text`, in any case.
pub(super) fn places<'a>(text: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let starts = memchr::memchr2_iter(word[0], word[0].to_ascii_uppercase(), text);
    starts.filter(move |&at| begins(&text[at..], word))
}

/// Whether a text is UTF-16 by its byte order mark. Hazard: that hides every word from a scan of bytes.
pub(super) fn is_utf16(text: &[u8]) -> bool {
    text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff")
}

/// A table of all bytes, true for these.
pub(super) const fn table_of(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// What follows `=` where `text`, which stands behind an attribute's name, has one; behind blanks and
/// an opening quote.
pub(super) fn attribute_value(text: &[u8]) -> Option<&[u8]> {
    let value = skip_blanks(skip_blanks(text).strip_prefix(b"=")?);
    Some(match value {
        [b'"' | b'\'', rest @ ..] => rest,
        _ => value,
    })
}

/// Whether `text`, which begins with `&`, is a character reference that hides a letter, a colon or a
/// blank: nothing that escaping makes, so it is meant to hide a word.
pub(super) fn hides_a_letter(text: &[u8]) -> bool {
    let Some(number) = text.strip_prefix(b"&#") else {
        return [&b"&colon"[..], b"&tab", b"&newline"].iter().any(|name| begins(text, name));
    };
    let value = match number {
        [b'x' | b'X', digits @ ..] => parse(digits, 16),
        digits => parse(digits, 10),
    };
    value
        .and_then(|value| u8::try_from(value).ok())
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b':' || byte < b' ')
}

/// The number at the beginning of `text`; more digits than a character needs are too large for one.
fn parse(text: &[u8], radix: u32) -> Option<u32> {
    let digits = text.iter().map_while(|&byte| char::from(byte).to_digit(radix));
    let mut value = None;
    for digit in digits {
        value = Some(value.unwrap_or(0_u32).saturating_mul(radix).saturating_add(digit));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_letters_are_seen() {
        for text in ["&#106;", "&#x6A", "&#0000000000106;", "&colon;", "&Tab;", "&NewLine;", "&#9;", "&#x3a;"]
        {
            assert!(hides_a_letter(text.as_bytes()), "{text}");
        }
        for text in ["&#34;", "&#39;", "&amp;", "&#8364;", "&#", "&#x", "&", "&#99999999999;", "&#48;"] {
            assert!(!hides_a_letter(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_value_is_found_behind_blanks_and_quotes() {
        assert_eq!(attribute_value(b" \n= 'a'"), Some(&b"a'"[..]));
        assert_eq!(attribute_value(b"=a"), Some(&b"a"[..]));
        assert_eq!(attribute_value(b" a"), None);
    }
}
