//! A strict look at JSON bytes: whole, well-formed, not nested too deeply; says where a fault is.

use std::fmt;

/// Where JSON is not JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for JsonFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for JsonFault {}

/// Looks whether `bytes` are one JSON value (RFC 8259, UTF-8) nested at most `depth_limit` deep. It goes
/// over the bytes once, without recursion.
///
/// # Errors
/// The first fault, with its line and column.
pub fn check(bytes: &[u8], depth_limit: usize) -> Result<(), JsonFault> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(fault_at(bytes, error.valid_up_to(), "this is not UTF-8")),
    };
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    scan.document(depth_limit).map_err(|what| fault_at(bytes, scan.at, &what))
}

fn fault_at(bytes: &[u8], at: usize, what: &str) -> JsonFault {
    let before = bytes.get(..at).unwrap_or(bytes);
    let lines = before.split(|&byte| byte == b'\n');
    let (line, last) = lines.fold((0, &[][..]), |(number, _), line| (number + 1, line));
    let column = String::from_utf8_lossy(last).chars().count() + 1;
    JsonFault { line, column, what: what.to_owned() }
}

/// What encloses the value at hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Object,
    Array,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Step<T> = Result<T, String>;

impl Scan<'_> {
    fn document(&mut self, depth_limit: usize) -> Step<()> {
        if self.bytes.starts_with("\u{feff}".as_bytes()) {
            return Err("there is a byte order mark; send the JSON without one".to_owned());
        }
        let mut frames = Vec::new();
        loop {
            if let Some(opened) = self.value()? {
                if frames.len() == depth_limit {
                    self.at -= 1;
                    return Err(format!("nested deeper than {depth_limit} levels"));
                }
                frames.push(opened);
                if !self.closes(opened) {
                    if opened == Frame::Object {
                        self.key()?;
                    }
                    continue;
                }
                frames.pop();
            }
            if self.ends(&mut frames)? {
                return Ok(());
            }
        }
    }

    /// Goes over a scalar, or into an object or array.
    fn value(&mut self) -> Step<Option<Frame>> {
        self.space();
        match self.peek() {
            Some(b'{') => Ok(Some(self.enter(Frame::Object))),
            Some(b'[') => Ok(Some(self.enter(Frame::Array))),
            Some(b'"') => self.string().map(|()| None),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| None),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            None => Err("the JSON ends where a value should be; it is not complete".to_owned()),
            Some(_) => Err(format!("{} is not the start of a value", self.shown())),
        }
    }

    /// Goes over what follows a value; true at the end of the document.
    fn ends(&mut self, frames: &mut Vec<Frame>) -> Step<bool> {
        while let Some(&frame) = frames.last() {
            if self.closes(frame) {
                frames.pop();
            } else if self.peek() == Some(b',') {
                self.at += 1;
                if frame == Frame::Object {
                    self.key()?;
                }
                return Ok(false);
            } else {
                let (kind, close) = if frame == Frame::Object { ("object", '}') } else { ("array", ']') };
                return Err(match self.peek() {
                    None => format!("the JSON ends inside an {kind}; it is not complete"),
                    Some(_) => format!("{} where ',' or '{close}' should be", self.shown()),
                });
            }
        }
        self.space();
        if self.at == self.bytes.len() {
            return Ok(true);
        }
        Err(format!("{} after the end of the JSON", self.shown()))
    }

    fn enter(&mut self, frame: Frame) -> Frame {
        self.at += 1;
        frame
    }

    fn closes(&mut self, frame: Frame) -> bool {
        self.space();
        let closes = self.peek() == Some(if frame == Frame::Object { b'}' } else { b']' });
        self.at += usize::from(closes);
        closes
    }

    fn key(&mut self) -> Step<()> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string()?,
            None => return Err("the JSON ends inside an object; it is not complete".to_owned()),
            Some(_) => return Err(format!("{} where a name in quotes should be", self.shown())),
        }
        self.space();
        if self.peek() != Some(b':') {
            return Err(format!("{} where ':' should be", self.shown()));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Step<()> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape()?,
                0..=0x1f => {
                    return Err("a control character inside a string; write it as \\u00XX".to_owned());
                }
                _ => self.at += 1,
            }
        }
        self.at = start;
        Err("this string is not closed; the JSON is not complete".to_owned())
    }

    fn escape(&mut self) -> Step<()> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err("\\u needs four hexadecimal digits".to_owned());
                }
                self.at += 6;
            }
            _ => return Err("this escape is unknown".to_owned()),
        }
        Ok(())
    }

    fn number(&mut self) -> Step<()> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let mut sound = match self.digits() {
            0 => false,
            1 => true,
            _ => !leading_zero,
        };
        if self.peek() == Some(b'.') {
            self.at += 1;
            sound &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            sound &= self.digits() > 0;
        }
        if sound {
            return Ok(());
        }
        self.at = start;
        Err("this is not a number as JSON writes it".to_owned())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn literal(&mut self, word: &str) -> Step<Option<Frame>> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(format!("{} is not the start of a value", self.shown()));
        }
        self.at += word.len();
        Ok(None)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn shown(&self) -> String {
        let rest = String::from_utf8_lossy(&self.bytes[self.at..self.bytes.len().min(self.at + 4)]);
        rest.chars().next().map_or("the end".to_owned(), |found| format!("'{}'", found.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fault(text: &str) -> (usize, usize, String) {
        let fault = check(text.as_bytes(), 8).unwrap_err();
        (fault.line, fault.column, fault.what)
    }

    #[test]
    fn sound_json_passes() {
        for text in [
            "{}",
            "[]",
            "null",
            " true ",
            "-0.5e+10",
            "0",
            "\"\\u00e4\\n\"",
            "[[[]],{}]",
            "{\"a\":[1,2,{\"b\":null}],\"ü\":\"\u{1f600}\"}",
            "\"\\ud800\"",
            "\r\n\t[ 1 , 2 ]\n",
        ] {
            assert_eq!(check(text.as_bytes(), 8), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_fault_has_its_place() {
        assert_eq!(fault("{\n  \"ä\": x}"), (2, 8, "'x' is not the start of a value".to_owned()));
        assert_eq!(fault("[1 2]"), (1, 4, "'2' where ',' or ']' should be".to_owned()));
        assert_eq!(fault("{\"a\":1,}"), (1, 8, "'}' where a name in quotes should be".to_owned()));
        assert_eq!(fault("[1,]"), (1, 4, "']' is not the start of a value".to_owned()));
        assert_eq!(fault("{} {}"), (1, 4, "'{' after the end of the JSON".to_owned()));
        assert_eq!(fault("[01]").2, "this is not a number as JSON writes it");
        assert_eq!(fault("\"a\nb\"").2, "a control character inside a string; write it as \\u00XX");
        assert_eq!(fault("\"\\x\"").2, "this escape is unknown");
        assert_eq!(fault("").2, "the JSON ends where a value should be; it is not complete");
    }

    #[test]
    fn a_cut_off_document_is_told_as_not_complete() {
        let whole = "{\"name\":\"Zoë\",\"rows\":[1,{\"a\":\"b\"}]}";
        for end in (1..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
            let fault = check(&whole.as_bytes()[..end], 8).unwrap_err();
            let told = fault.what.contains("not complete") || fault.what.contains("':' should be");
            assert!(told, "{end}: {fault}");
        }
        assert_eq!(check(&whole.as_bytes()[..12], 8).unwrap_err().what, "this is not UTF-8");
    }

    #[test]
    fn nesting_is_limited_without_recursion() {
        assert_eq!(check(b"[[[[[[[[]]]]]]]]", 8), Ok(()));
        assert_eq!(fault("[[[[[[[[[]]]]]]]]]"), (1, 9, "nested deeper than 8 levels".to_owned()));
        assert_eq!(check(&b"[".repeat(1_000_000), 1_000).unwrap_err().column, 1_001);
    }

    proptest! {
        #[test]
        fn it_agrees_with_serde_json(text in r#"[\[\]{}:,"\\a-c0-2.eE+\- tfn\n]{0,24}"#) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(check(text.as_bytes(), 64).is_ok(), theirs);
        }

        #[test]
        fn it_passes_whatever_serde_json_writes(values in prop::collection::vec((".*", any::<f64>()), 0..8)) {
            let text = serde_json::to_string(&values).unwrap();
            prop_assert_eq!(check(text.as_bytes(), 4), Ok(()));
        }
    }
}
