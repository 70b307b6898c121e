//! The files that are open at a place of the log: TeX writes `(` and a name when it opens one, `)` when it has read it.
//!
//! Other parentheses stand in a log as well. They are counted like files without a name, so that those which are
//! balanced change nothing; lines of messages are not passed at all.

/// Deepest nesting that is remembered; TeX itself opens 15 files at once.
const DEPTH: usize = 200;
/// Longest name of a file.
const NAME_BYTES: usize = 255;
/// Most spaces in a name.
const SPACES: usize = 8;
/// A name that no folder stands before is one by its extension.
const EXTENSIONS: [&str; 18] = [
    "tex", "ltx", "sty", "cls", "clo", "def", "cfg", "fd", "ldf", "aux", "bbl", "toc", "lof", "lot", "out",
    "ind", "gls", "nav",
];

/// Files that are open, and the one that was closed last.
#[derive(Default)]
pub(crate) struct Files {
    open: Vec<Option<String>>,
    /// Openings deeper than are remembered.
    beyond: usize,
    main: Option<String>,
    closed: Option<String>,
}

impl Files {
    /// Reads what a line opens and closes.
    pub(crate) fn pass(&mut self, line: &[u8]) {
        let mut rest = line;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'(' | b')')) {
            let (opens, behind) = (rest.get(at) == Some(&b'('), rest.get(at + 1..).unwrap_or_default());
            if opens {
                let name = name(behind);
                rest = behind.get(name.map_or(0, <[u8]>::len)..).unwrap_or_default();
                self.open(name.map(|name| shown(&String::from_utf8_lossy(name))));
            } else {
                rest = behind;
                self.close();
            }
        }
    }

    /// The file that TeX reads; at the end of a log the main one.
    pub(crate) fn current(&self) -> Option<&str> {
        self.open.iter().rev().flatten().next().or(self.main.as_ref()).map(String::as_str)
    }

    /// The innermost file that is none of TeX's tree.
    pub(crate) fn own(&self) -> Option<&str> {
        let mut open = self.open.iter().rev().flatten();
        open.find(|name| !is_foreign(name)).or(self.main.as_ref()).map(String::as_str)
    }

    /// The file that the one of [`own`](Self::own) has open.
    pub(crate) fn entered(&self) -> Option<&str> {
        let open = self.open.iter().rev().flatten();
        open.take_while(|name| is_foreign(name)).last().map(String::as_str)
    }

    /// The file that was read to its end last.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// The first file that was opened.
    pub(crate) fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }

    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.open.iter().flatten().any(|open| open == name)
    }

    fn open(&mut self, name: Option<String>) {
        if self.main.is_none() {
            self.main.clone_from(&name);
        }
        if self.open.len() < DEPTH {
            self.open.push(name);
        } else {
            self.beyond += 1;
        }
    }

    fn close(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if let Some(Some(name)) = self.open.pop() {
            self.closed = Some(name);
        }
    }
}

/// Whether a file is elsewhere than in the folder that TeX runs in.
pub(crate) fn is_foreign(name: &str) -> bool {
    name.starts_with('/')
}

/// A name as it is told: without the `./` of the folder that TeX runs in, without quotes.
pub(crate) fn shown(name: &str) -> String {
    let name = name.trim_matches('"');
    name.strip_prefix("./").unwrap_or(name).to_owned()
}

/// The name of a file at the beginning of `text`, if it is one. Names may have spaces in them: then it ends behind its extension.
fn name(text: &[u8]) -> Option<&[u8]> {
    if text.first() == Some(&b'"') {
        let end = text.iter().take(NAME_BYTES).skip(1).position(|byte| *byte == b'"')?;
        return text.get(..end + 2);
    }
    let is_part = |byte: &u8| {
        !matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'"') && *byte >= b' '
    };
    let length = text.iter().take(NAME_BYTES).take_while(|byte| is_part(byte)).count();
    let longest = text.get(..length)?;
    let spaces = || longest.iter().enumerate().filter(|(_, byte)| **byte == b' ').map(|(at, _)| at);
    let has_folder = longest.starts_with(b"./") || longest.starts_with(b"../") || longest.starts_with(b"/");
    if !has_folder {
        let word = longest.get(..spaces().next().unwrap_or(length))?;
        let extension = std::str::from_utf8(extension(word)?).ok()?;
        return EXTENSIONS.contains(&extension).then_some(word);
    }
    let ends = || spaces().take(SPACES).chain([length]);
    let whole = ends().find(|end| longest.get(..*end).and_then(extension).is_some());
    longest.get(..whole.or_else(|| ends().next())?)
}

/// What is behind the last dot of a name, where that is an extension.
fn extension(name: &[u8]) -> Option<&[u8]> {
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let at = last.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0)?;
    let found = last.get(at + 1..)?;
    ((1..=8).contains(&found.len()) && found.iter().all(u8::is_ascii_alphanumeric)).then_some(found)
}
