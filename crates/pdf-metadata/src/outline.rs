//! The bookmarks of a PDF of Chromium's, read while it streams past.
//!
//! Chromium writes them one behind the other, each with its title first, and their root behind them (ISO 32000-1, 12.3.3).
//! Hazard: other content may spell one. So only such a run counts, and of several the last, for the fonts alone come later.

use memchr::memmem;

use crate::text_string;

/// How a bookmark begins, behind its number.
const ITEM: &[u8] = b" 0 obj\n<</Title ";
/// How their root begins, behind its number.
const ROOT: &[u8] = b" 0 obj\n<</Type /Outlines\n";
const END: &[u8] = b"\nendobj\n";
/// Longest number of an object.
const DIGITS: usize = 10;
/// Longest bookmark that is read; only those behind a longer one are.
const ITEM_LIMIT_BYTES: usize = 1 << 20;
/// Most bytes of bookmarks that are kept; of a file with more only the last ones are.
const RUN_LIMIT_BYTES: usize = 32 << 20;

/// Finds the bookmarks over pieces, whose borders may lie anywhere.
#[derive(Debug, Default)]
pub struct OutlineReader {
    /// What was not read yet.
    pending: Vec<u8>,
    /// Those that may belong to a root.
    run: Vec<Bookmark>,
    run_bytes: usize,
    found: Vec<Bookmark>,
}

/// A bookmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    /// The number of its object.
    pub number: u32,
    /// Its text.
    pub title: String,
    /// The rest of its dictionary, with the end.
    rest: Vec<u8>,
}

impl Bookmark {
    /// The content of its object, with another title.
    pub fn with_title(&self, title: &str) -> Vec<u8> {
        [b"<</Title ", text_string(title).as_bytes(), &self.rest].concat()
    }
}

impl OutlineReader {
    /// A piece of the file passes.
    pub fn pass(&mut self, piece: &[u8]) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(piece);
        let read_bytes = self.read(&pending);
        pending.drain(..read_bytes);
        self.pending = pending;
    }

    /// The bookmarks of the file that has passed.
    pub fn finish(self) -> Vec<Bookmark> {
        self.found
    }

    /// Reads the objects that are complete; answers how many bytes are done with.
    fn read(&mut self, pending: &[u8]) -> usize {
        let mut at = 0;
        loop {
            if self.run.is_empty() {
                let Some(begin) = item_in(&pending[at..]) else {
                    return at.max(pending.len().saturating_sub(DIGITS + ITEM.len()));
                };
                at += begin;
            }
            let object = &pending[at..];
            match memmem::find(object, END) {
                Some(end) if self.take(&object[..end]) => at += end + END.len(),
                // It may be the first of another run.
                Some(_) if !self.run.is_empty() => self.run.clear(),
                Some(end) => at += end,
                None if object.len() < ITEM_LIMIT_BYTES => return at,
                None => {
                    self.run.clear();
                    return pending.len();
                }
            }
        }
    }

    /// Takes an object, without its end, into the run, or ends the run by its root; false where it is neither.
    fn take(&mut self, object: &[u8]) -> bool {
        let digits = object.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, content) = object.split_at(digits);
        if content.starts_with(ROOT) {
            self.found = std::mem::take(&mut self.run);
            return true;
        }
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        let title = content.strip_prefix(ITEM).and_then(text);
        let Some((number, (title, rest))) = number.zip(title) else { return false };
        self.run_bytes = if self.run.is_empty() { 0 } else { self.run_bytes } + object.len();
        if self.run_bytes > RUN_LIMIT_BYTES {
            return false;
        }
        self.run.push(Bookmark { number, title, rest: rest.to_vec() });
        true
    }
}

/// Where the first bookmark begins, with its number.
fn item_in(bytes: &[u8]) -> Option<usize> {
    let behind = memmem::find(bytes, ITEM)?;
    let number = bytes[..behind].iter().rev().take(DIGITS).take_while(|byte| byte.is_ascii_digit());
    Some(behind - number.count())
}

/// The text string at the beginning, and what is behind it (7.3.4, 7.9.2.2).
fn text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (string, rest) = match bytes.split_first()? {
        (b'(', rest) => literal(rest)?,
        (b'<', rest) => {
            let end = memchr::memchr(b'>', rest)?;
            (hexadecimal(&rest[..end])?, &rest[end + 1..])
        }
        _ => return None,
    };
    let text = match string.strip_prefix(b"\xfe\xff") {
        Some(units) => {
            let units = units.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
            char::decode_utf16(units).collect::<Result<_, _>>().ok()?
        }
        // Chromium writes ASCII so, where its code is that of the document's encoding.
        None => String::from_utf8(string).ok()?,
    };
    Some((text, rest))
}

/// A string in parentheses, behind the first. Chromium escapes each inner one.
fn literal(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut string = Vec::new();
    let mut rest = bytes;
    loop {
        let (&byte, behind) = rest.split_first()?;
        rest = behind;
        match byte {
            b')' => return Some((string, rest)),
            b'\\' => {
                let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                let (escaped, behind) = rest.split_at_checked(digits.max(1))?;
                let octal = || u8::from_str_radix(std::str::from_utf8(escaped).ok()?, 8).ok();
                string.push(if digits == 0 { escaped[0] } else { octal()? });
                rest = behind;
            }
            byte => string.push(byte),
        }
    }
}

fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks_exact(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "8 0 obj\n<</Title (One \\(1\\) \\134 two)\n/Dest [2 0 R]>>\nendobj\n\
        17 0 obj\n<</Title <FEFF00E4D83DDE00>\n/Dest [3 0 R]>>\nendobj\n7 0 obj\n<</Type /Outlines\n/Count 2>>\nendobj\n";
    const FILE: &str =
        "%PDF-1.4\n1 0 obj\n<</Title (T)\n/Producer (P)>>\nendobj\n3 0 obj\n<</ca 1>>\nendobj\n";

    fn read(file: &str, piece: usize) -> Vec<(u32, String)> {
        let mut reader = OutlineReader::default();
        file.as_bytes().chunks(piece).for_each(|piece| reader.pass(piece));
        reader.finish().into_iter().map(|bookmark| (bookmark.number, bookmark.title)).collect()
    }

    #[test]
    fn bookmarks_are_found_whatever_the_borders_of_pieces() {
        let wanted = [(8, "One (1) \\ two".to_owned()), (17, "ä\u{1f600}".to_owned())];
        for piece in [1, 7, 64, 10_000] {
            assert_eq!(
                read(&format!("{FILE}{RUN}9 0 obj\n<</Type /Catalog>>\nendobj\n"), piece),
                wanted,
                "{piece}"
            );
        }
    }

    #[test]
    fn what_only_looks_like_them_is_none() {
        let spelt = "5 0 obj\n<</Title (spelt by a picture)\n/Dest []>>\nendobj\n";
        let stream = format!("4 0 obj\n<<>> stream\n{spelt}{spelt}endstream\nendobj\n");
        assert_eq!(read(&format!("{FILE}{stream}"), 50), []);
        let run = read(&format!("{FILE}{stream}{RUN}"), 50);
        assert_eq!((run.len(), run[0].0), (2, 8));
        // A whole run of a picture's is followed by that of the file.
        let other = RUN.replace("8 0 obj", "5 0 obj");
        assert_eq!(read(&format!("{FILE}{other}{RUN}"), 50)[0].0, 8);
        for damaged in ["(One", "<FEFFD83D>", "<0G>", "[1]"] {
            let file = RUN.replace("<FEFF00E4D83DDE00>", damaged);
            assert_eq!(read(&format!("{FILE}{file}"), 50), [], "{damaged}");
        }
        let long =
            format!("6 0 obj\n<</Title ({})\n/Dest []>>\nendobj\n{RUN}", "x".repeat(2 * ITEM_LIMIT_BYTES));
        assert_eq!(read(&long, 9_000).len(), 2, "the one that is too long is none of them");
    }

    #[test]
    fn another_title_leaves_the_rest() {
        let mut reader = OutlineReader::default();
        reader.pass(RUN.as_bytes());
        let bookmark = reader.finish().remove(0);
        assert_eq!(bookmark.with_title("a b"), b"<</Title <FEFF006100200062>\n/Dest [2 0 R]>>");
    }
}
