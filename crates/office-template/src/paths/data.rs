//! The data of a template that needs no engine: JSON, read exactly as `JSON.parse` does, or refused.
//!
//! What an engine might read differently is refused: lone surrogates, numbers that overflow, a member `__proto__`.

use std::borrow::Cow;

/// How deep lists and objects may be nested.
const DEPTH: usize = 128;

/// Objects with more members are sorted, for fast lookup: the same names are looked up in each row of a list.
const UNORDERED: usize = 8;

/// The most members that room is reserved for before an object is read: up to [`DEPTH`] objects may be open at a time.
const EXPECTED: usize = 64;

#[derive(Debug)]
pub(super) enum Value<'a> {
    Null,
    Truth(bool),
    /// As it is written, since integers of any length are printed so.
    Integer(&'a str),
    Number(f64),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<Member<'a>>),
}

/// A name and its value. Of members with one name the last one counts.
type Member<'a> = (Cow<'a, str>, Value<'a>);

impl<'a> Value<'a> {
    /// Reads JSON of `most` values at most: values here take several times the memory that they take in an engine.
    pub(super) fn read(json: &'a [u8], most: usize) -> Option<Self> {
        let mut reader = Reader { text: std::str::from_utf8(json).ok()?, at: 0, left: most, members: 0 };
        let value = reader.value(DEPTH)?;
        reader.skip_blanks();
        (reader.at == json.len()).then_some(value)
    }
}

/// The member of an object; of several with one name the last.
pub(super) fn member<'v, 'a>(members: &'v [Member<'a>], name: &str) -> Option<&'v Value<'a>> {
    let at = if members.len() > UNORDERED {
        let behind = members.partition_point(|(other, _)| other.as_ref() <= name);
        behind.checked_sub(1).filter(|&at| members.get(at).is_some_and(|(other, _)| other == name))
    } else {
        members.iter().rposition(|(other, _)| other == name)
    };
    members.get(at?).map(|(_, value)| value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// How many more values may be read.
    left: usize,
    /// How many members the last object had: rows of a list mostly have the same number.
    members: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.skip_blanks();
        match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.list(depth.checked_sub(1)?),
            b'"' => self.string().map(Value::Text),
            b't' => self.word("true", Value::Truth(true)),
            b'f' => self.word("false", Value::Truth(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value<'a>> {
        let mut members = Vec::with_capacity(self.members);
        self.at += 1;
        self.skip_blanks();
        while !self.takes(b'}') {
            if !members.is_empty() {
                self.take(b',')?;
                self.skip_blanks();
            }
            let name = self.string().filter(|name| name != "__proto__")?;
            self.skip_blanks();
            self.take(b':')?;
            members.push((name, self.value(depth)?));
            self.skip_blanks();
        }
        self.members = members.len().min(EXPECTED);
        members.shrink_to_fit();
        if members.len() > UNORDERED {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        Some(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<Value<'a>> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        while !self.takes(b']') {
            if !items.is_empty() {
                self.take(b',')?;
            }
            items.push(self.value(depth)?);
            self.skip_blanks();
        }
        items.shrink_to_fit();
        Some(Value::List(items))
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Option<Value<'a>> {
        self.rest().starts_with(word).then(|| self.at += word.len())?;
        Some(value)
    }

    fn number(&mut self) -> Option<Value<'a>> {
        let begin = self.at;
        let is_negative = self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        let mut is_integer = true;
        if self.takes(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            is_integer = false;
            let _ = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        let written = self.text.get(begin..self.at)?;
        if is_integer {
            return Some(Value::Integer(if is_negative && written == "-0" { "0" } else { written }));
        }
        let number: f64 = written.parse().ok()?;
        number.is_finite().then_some(Value::Number(number))
    }

    /// Skips digits; `None` where there are none.
    fn digits(&mut self) -> Option<()> {
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += length;
        (length > 0).then_some(())
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let mut unescaped: Option<String> = None;
        loop {
            let rest = self.rest();
            let length = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
            let (piece, end) = (rest.get(..length)?, rest.as_bytes().get(length)?);
            self.at += length + 1;
            match end {
                b'"' => {
                    return Some(match unescaped {
                        Some(text) => Cow::Owned(text + piece),
                        None => Cow::Borrowed(piece),
                    });
                }
                b'\\' => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(piece);
                    text.push(self.escaped()?);
                }
                _ => return None,
            }
        }
    }

    /// The character of an escape, read behind its `\`.
    fn escaped(&mut self) -> Option<char> {
        let kind = self.peek()?;
        self.at += 1;
        Some(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.escaped_unit(),
            _ => return None,
        })
    }

    fn escaped_unit(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(u32::from(first));
        }
        self.take(b'\\')?;
        self.take(b'u')?;
        let second = self.unit()?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    fn unit(&mut self) -> Option<u16> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.at += digits.len();
        u16::from_str_radix(digits, 16).ok()
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.takes(byte).then_some(())
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// `at` is always at a character's beginning: bytes are skipped one by one only where they are ASCII.
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}
