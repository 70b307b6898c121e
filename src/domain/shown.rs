//! How untrusted text is shown: in warnings, errors, logs and terminals.

use std::borrow::Cow;

/// How much of a wrong value an error repeats, in characters.
const REPEATED_LIMIT_CHARS: usize = 64;

/// The beginning of a wrong value, for an error that repeats it: a caller may send megabytes.
pub fn shortened(value: &str) -> &str {
    value.char_indices().nth(REPEATED_LIMIT_CHARS).map_or(value, |(end, _)| &value[..end])
}

/// The same with a mark where something was left out.
pub fn shown(value: &str) -> Cow<'_, str> {
    let start = shortened(value);
    if start.len() < value.len() { format!("{start}…").into() } else { start.into() }
}

/// The character; one that controls a terminal or changes the direction of text is escaped, as `\u{1b}`.
pub fn escape_control(letter: char) -> String {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || letter.is_control() { letter.escape_unicode().to_string() } else { letter.to_string() }
}

/// The URL without what may be a secret: user and password, query (it may hold a signature), fragment. `address` may be
/// absolute, relative, or the `host:port` of a CONNECT.
pub fn redact_url(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let host = address.find("//").map_or(0, |slashes| slashes + 2);
    let (scheme, rest) = address.split_at(host);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_password_query_or_fragment() {
        for (address, shown) in [
            ("http://user:word@a.example:81/p/q?key=secret", "http://a.example:81/p/q"),
            ("http://user:w@rd@a.example#secret", "http://a.example"),
            ("//user:word@a.example/x", "//a.example/x"),
            ("https://a.example/npm/package@1.2/x.js", "https://a.example/npm/package@1.2/x.js"),
            ("a.example:443", "a.example:443"),
            ("user:word@[::1]:443", "[::1]:443"),
            ("img/a@b.png?secret", "img/a@b.png"),
        ] {
            assert_eq!(redact_url(address), shown);
        }
    }

    #[test]
    fn a_long_value_is_shown_by_its_beginning() {
        assert_eq!(shortened(&"ä".repeat(65)), "ä".repeat(64));
        assert_eq!(shortened("ä"), "ä");
        assert_eq!(shown(&"ä".repeat(65)), format!("{}…", "ä".repeat(64)));
    }
}
