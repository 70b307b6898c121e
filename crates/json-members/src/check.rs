//! Checks that bytes are complete JSON that is not nested too deeply; errors name line and column.

use serde::de::IgnoredAny;

/// Why bytes are not valid JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct JsonError {
    /// Line of the error, from 1.
    pub line: usize,
    /// Column of the error in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
    /// Whether the text ends before its value does.
    pub is_cut: bool,
}

impl JsonError {
    /// What cut off a text of `bytes`, and the remedy, if a client that counts characters may have done it: its
    /// `Content-Length` is too small only where there are characters beyond ASCII.
    pub fn cut_by_length(&self, bytes: &[u8]) -> Option<String> {
        (self.is_cut && !bytes.is_ascii()).then(|| {
            format!(
                "ends after {} bytes: a client whose Content-Length counts characters instead of bytes cuts off the end \
                 where there are umlauts and the like; send the number of bytes",
                bytes.len()
            )
        })
    }
}

/// Checks that `bytes` are one JSON value (RFC 8259, UTF-8) nested at most `depth_limit` deep.
///
/// The depth is counted before anything is parsed: a parser that recurses for each level could overflow its stack.
///
/// # Errors
/// The first error, with its line and column.
pub fn check(bytes: &[u8], depth_limit: usize) -> Result<(), JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let is_cut = error.error_len().is_none();
        let what = if is_cut {
            "half a character at the end; the JSON is not complete"
        } else {
            "this is not UTF-8"
        };
        JsonError { is_cut, ..error_at(&bytes[..error.valid_up_to()], what.to_owned()) }
    })?;
    if let Some(at) = too_deep(bytes, depth_limit) {
        return Err(error_at(&bytes[..at], format!("nested deeper than {depth_limit} levels")));
    }
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| {
        // serde_json's message ends with line and column, the latter in bytes.
        let message = error.to_string();
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        let start: usize =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        // serde_json counts the byte that is wrong, but not a control character.
        let counted = usize::from(!what.starts_with("control character"));
        let end = (start + error.column().saturating_sub(counted)).min(bytes.len());
        let rest = if error.is_eof() { "; the JSON is not complete" } else { "" };
        JsonError { is_cut: error.is_eof(), ..error_at(&bytes[..end], format!("{what}{rest}")) }
    })
}

/// Where the value is nested deeper than `limit`.
fn too_deep(bytes: &[u8], limit: usize) -> Option<usize> {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    bytes.iter().position(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > limit
    })
}

/// An error at the end of these bytes.
fn error_at(before: &[u8], what: String) -> JsonError {
    let lines = before.split(|&byte| byte == b'\n');
    let (line, last) = lines.fold((0, &[][..]), |(number, _), line| (number + 1, line));
    let column = String::from_utf8_lossy(last).chars().count() + 1;
    JsonError { line, column, what, is_cut: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (usize, usize, String) {
        let error = check(text.as_bytes(), 8).unwrap_err();
        (error.line, error.column, error.what)
    }

    #[test]
    fn an_error_has_line_and_column() {
        for text in ["null", " true ", "-0.5e+10", "{\"a\":[1,2,{\"b\":null}],\"ü\":\"\\u00e4[\u{1f600}\"}"]
        {
            assert_eq!(check(text.as_bytes(), 8), Ok(()), "{text}");
        }
        assert_eq!(error("{\n  \"ä\": x}"), (2, 8, "expected value".to_owned()));
        assert_eq!(error("[1 2]"), (1, 4, "expected `,` or `]`".to_owned()));
        assert_eq!(error("{\"a\":1,}").1, 8);
        assert_eq!(error("{} {}"), (1, 4, "trailing characters".to_owned()));
        assert_eq!(error("\"a\nb\"").0, 1, "the line feed itself, which is not escaped");
        assert_eq!(error("{\"a\":\"b\tc\"}").1, 8, "the tab itself");
    }

    #[test]
    fn a_cut_off_document_is_reported_as_not_complete() {
        let whole = "{\"name\":\"Zoë\",\"rows\":[1,{\"a\":\"b\"}]}";
        for end in (1..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
            let error = check(&whole.as_bytes()[..end], 8).unwrap_err();
            assert!(error.what.contains("not complete"), "{end}: {error}");
        }
    }

    #[test]
    fn a_document_cut_by_a_length_in_characters_is_told_from_other_faults() {
        let advice = |bytes: &[u8]| check(bytes, 8).unwrap_err().cut_by_length(bytes);
        for whole in ["{\"name\":\"Zoë\"}", "[\"東京\"]", "{\"🦀\":[1,{\"a\":2}]}", "[\"aaaaaaaaaaü\"]"]
        {
            let (bytes, units) = (whole.as_bytes(), whole.encode_utf16().count());
            for length in [units, whole.chars().count()] {
                let advice = advice(&bytes[..length]).unwrap();
                assert!(advice.starts_with(&format!("ends after {length} bytes: ")), "{whole}: {advice}");
            }
        }
        for other in [&b"{\"name\":\"Zoe"[..], "{\"name\":\"Zoë\",}".as_bytes(), b"[\"Zo\xeb\"]"] {
            assert_eq!(advice(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn nesting_is_limited_without_recursion() {
        assert_eq!(check(b"[[[[[[[[]]]]]]]]", 8), Ok(()));
        assert_eq!(check(b"[\"\\\"[[[[[[[[[[[[[\"]", 8), Ok(()));
        assert_eq!(error("[[[[[[[[[]]]]]]]]]"), (1, 9, "nested deeper than 8 levels".to_owned()));
        assert_eq!(check(&b"[".repeat(1_000_000), 1_000).unwrap_err().column, 1_001);
        let endless = check(&b"[".repeat(1_000_000), usize::MAX).unwrap_err();
        assert!(endless.what.contains("not complete"), "{endless}");
    }
}
