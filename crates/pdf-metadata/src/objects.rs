//! Objects of a file, found by its table (ISO 32000-1, 7.5.4), never by a search: contents may spell anything.

use memchr::memmem;

/// The end of the file is looked for here.
const TAIL_BYTES: usize = 2 << 10;
/// How long each line of the table is.
const LINE_BYTES: usize = 20;
/// Longest object that is read as text before its stream: a tree of 50,000 pages.
const OBJECT_BYTES: usize = 512 << 10;

/// What a file's end tells.
pub struct Objects<'a> {
    file: &'a [u8],
    /// Where the first line of the table is.
    lines: usize,
    /// Where the table is.
    pub table: usize,
    pub size: u32,
    pub root: u32,
    pub information: u32,
    /// Its `/ID` entry, or nothing.
    pub identity: String,
}

impl<'a> Objects<'a> {
    pub fn of(file: &'a [u8]) -> Option<Self> {
        let tail = file.get(file.len().saturating_sub(TAIL_BYTES)..)?;
        let trailer = text(tail.get(memmem::rfind(tail, b"trailer")?..)?)?;
        let (dictionary, end) = trailer.split_once("startxref")?;
        if dictionary.contains("/Encrypt") || dictionary.contains("/Prev") {
            return None;
        }
        let table: usize = end.split_ascii_whitespace().next()?.parse().ok()?;
        let size = number(dictionary, "/Size")?;
        // One section with all objects.
        let head = format!("xref\n0 {size}\n");
        let lines = table.checked_add(head.len())?;
        if file.get(table..lines)? != head.as_bytes() {
            return None;
        }
        let identity = dictionary.find("/ID").and_then(|at| {
            let rest = dictionary.get(at..)?;
            rest.get(..=rest.find(']')?).map(str::to_owned)
        });
        Some(Self {
            file,
            lines,
            table,
            size,
            root: reference(dictionary, "/Root")?,
            information: reference(dictionary, "/Info")?,
            identity: identity.unwrap_or_default(),
        })
    }

    /// The object, from behind its number.
    fn object(&self, number: u32) -> Option<&'a [u8]> {
        if number >= self.size {
            return None;
        }
        let line = self.lines.checked_add(usize::try_from(number).ok()?.checked_mul(LINE_BYTES)?)?;
        let line = text(self.file.get(line..line.checked_add(LINE_BYTES)?)?)?;
        let place: usize = line.get(..10)?.parse().ok()?;
        let head = format!("{number} 0 obj");
        self.file.get(place..)?.strip_prefix(head.as_bytes())
    }

    /// An object that is a dictionary.
    pub fn dictionary(&self, number: u32) -> Option<&'a str> {
        let object = self.object(number)?;
        let object = object.get(..object.len().min(OBJECT_BYTES))?;
        text(object.get(..memmem::find(object, b"endobj")?)?).map(str::trim)
    }

    /// The dictionary and the content of a stream that is not compressed.
    pub fn stream(&self, number: u32) -> Option<(&'a str, &'a str)> {
        let object = self.object(number)?;
        let head = object.get(..object.len().min(OBJECT_BYTES))?;
        let at = memmem::find(head, b"stream\n")?;
        let dictionary = text(head.get(..at)?)?.trim();
        if dictionary.contains("/Filter") {
            return None;
        }
        let begin = at + b"stream\n".len();
        let length = usize::try_from(self::number(dictionary, "/Length")?).ok()?;
        Some((dictionary, text(object.get(begin..begin.checked_add(length)?)?)?))
    }
}

/// The number of the object that `key` refers to.
pub fn reference(dictionary: &str, key: &str) -> Option<u32> {
    let (_, rest) = dictionary.split_once(key)?;
    let mut words = rest.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let is_reference = words.next() == Some("0") && words.next()?.starts_with('R');
    is_reference.then_some(number)
}

/// The dictionary with this length.
pub fn with_length(dictionary: &str, length: usize) -> Option<String> {
    let (before, rest) = dictionary.split_once("/Length")?;
    let behind = rest.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    Some(format!("{before}/Length {length}{behind}"))
}

/// The first entry of what is left of a dictionary: its name, its text with its brackets, what is behind it.
pub fn entry(rest: &str) -> Option<(&str, &str, &str)> {
    let rest = rest.get(rest.find('/')?..)?;
    let open = rest.find(['<', '('])?;
    let close = if rest.as_bytes().get(open) == Some(&b'<') { '>' } else { ')' };
    let end = open + rest.get(open..)?.find(close)? + 1;
    Some((rest.get(..open)?.trim(), rest.get(open..end)?, rest.get(end..)?))
}

/// The number that stands behind `key`.
pub fn number(dictionary: &str, key: &str) -> Option<u32> {
    let (_, rest) = dictionary.split_once(key)?;
    let digits = rest.trim_start().split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
