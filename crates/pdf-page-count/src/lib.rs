//! Counts the pages of a PDF while it streams past, in constant memory.
//!
//! Hazard: titles, outlines, texts and the bytes of embedded pictures come from strangers, and may spell anything
//! that a PDF's objects are written with. So nothing is searched for: the file is read token by token (ISO 32000-1,
//! 7.2–7.5), strings and comments are passed over as such, streams by their `/Length`. What counts is the `/Count` of
//! the page tree that the trailer's catalog names. A file that is not written like that has no count, not a wrong one.

/// Names and numbers that are looked at are shorter; of others the beginning is kept, which is none of those.
const TOKEN_BYTES: usize = 32;
/// Catalogs and roots of page trees that are remembered: a file has one of each.
const REMEMBERED: usize = 8;

/// Counts over pieces, whose borders may lie anywhere.
#[derive(Default)]
pub struct PageCounter {
    mode: Mode,
    token: Vec<u8>,
    /// The last two numbers outside of any dictionary: an object's own, and its generation.
    numbers: [u64; 2],
    /// Dictionaries and arrays that are open.
    depth: u32,
    object: Object,
    key: Option<Key>,
    /// The key of the value that was read last, for what stands behind its first word.
    last: Key,
    /// Object and `/Count` of page trees that no other one holds.
    trees: Vec<(u64, u64)>,
    /// Object and `/Pages` of catalogs.
    catalogs: Vec<(u64, u64)>,
    root: Option<u64>,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Between,
    Name,
    Word,
    Text {
        nesting: u32,
        escaped: bool,
    },
    Hexadecimal,
    /// A `<`, which begins a text or, with another one, a dictionary.
    Opening,
    /// A `>`, of which two end a dictionary.
    Closing,
    Comment,
    /// The end of the line behind `stream`.
    StreamLine,
    Stream(u64),
    /// This is no file as we know them.
    Lost,
}

/// The object that is being read, as far as it matters.
#[derive(Clone, Copy, Default)]
struct Object {
    number: u64,
    container: Container,
    kind: Kind,
    has_parent: bool,
    /// Its stream has been passed over, and its end must come now.
    is_stream_over: bool,
    count: Option<u64>,
    pages: Option<u64>,
    root: Option<u64>,
    length: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Container {
    #[default]
    None,
    Dictionary,
    Array,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Other,
    PageTree,
    Catalog,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Key {
    #[default]
    Other,
    Type,
    Parent,
    Count,
    Pages,
    Root,
    Length,
}

impl Key {
    fn of(name: &[u8]) -> Self {
        match name {
            b"Type" => Self::Type,
            b"Parent" => Self::Parent,
            b"Count" => Self::Count,
            b"Pages" => Self::Pages,
            b"Root" => Self::Root,
            b"Length" => Self::Length,
            _ => Self::Other,
        }
    }
}

impl PageCounter {
    /// A piece of the file passes.
    pub fn pass(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let [byte, behind @ ..] = rest {
            match self.mode {
                Mode::Lost => return,
                Mode::Stream(left) => {
                    let passed = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    let left = left - passed as u64;
                    self.mode = if left == 0 { Mode::Between } else { Mode::Stream(left) };
                    rest = &rest[passed..];
                }
                Mode::Between
                | Mode::Name
                | Mode::Word
                | Mode::Text { .. }
                | Mode::Hexadecimal
                | Mode::Opening
                | Mode::Closing
                | Mode::Comment
                | Mode::StreamLine => {
                    self.take(*byte);
                    rest = behind;
                }
            }
        }
    }

    /// The pages of a file that has passed; `None` where it does not say.
    pub fn pages(&self) -> Option<u32> {
        let root = self.root.filter(|_| self.mode != Mode::Lost)?;
        let (_, tree) = self.catalogs.iter().find(|(number, _)| *number == root)?;
        let (_, count) = self.trees.iter().find(|(number, _)| number == tree)?;
        u32::try_from(*count).ok()
    }

    fn take(&mut self, byte: u8) {
        match self.mode {
            Mode::Between => self.begin(byte),
            Mode::Name | Mode::Word if is_regular(byte) => {
                if self.token.len() < TOKEN_BYTES {
                    self.token.push(byte);
                }
            }
            Mode::Name => {
                self.name();
                self.begin(byte);
            }
            Mode::Word => {
                self.mode = Mode::Between;
                self.word();
                if self.mode == Mode::StreamLine {
                    self.stream_line(byte);
                } else if self.mode == Mode::Between {
                    self.begin(byte);
                }
            }
            Mode::Text { nesting, escaped } => self.text(nesting, escaped, byte),
            Mode::Opening if byte == b'<' => self.open(Container::Dictionary),
            Mode::Closing if byte == b'>' => self.close(),
            // It cannot stand by itself.
            Mode::Closing => self.mode = Mode::Lost,
            Mode::Opening | Mode::Hexadecimal => {
                self.mode = if byte == b'>' { Mode::Between } else { Mode::Hexadecimal };
            }
            Mode::Comment if matches!(byte, b'\n' | b'\r') => self.mode = Mode::Between,
            Mode::StreamLine => self.stream_line(byte),
            Mode::Comment | Mode::Stream(_) | Mode::Lost => {}
        }
    }

    /// A byte that may begin something.
    fn begin(&mut self, byte: u8) {
        self.mode = Mode::Between;
        match byte {
            b'%' => self.mode = Mode::Comment,
            b'/' => self.begin_token(Mode::Name),
            b'[' => self.open(Container::Array),
            b']' => self.close(),
            b'(' => self.begin_value(Mode::Text { nesting: 0, escaped: false }),
            b'<' => self.mode = Mode::Opening,
            b'>' => self.mode = Mode::Closing,
            byte if is_regular(byte) => {
                self.begin_token(Mode::Word);
                self.token.push(byte);
            }
            _ => {}
        }
        if byte == b'<' && self.depth == 1 {
            // Whatever it begins is the key's value, and none that is looked at.
            self.key = None;
        }
    }

    fn begin_token(&mut self, mode: Mode) {
        self.token.clear();
        self.mode = mode;
    }

    fn begin_value(&mut self, mode: Mode) {
        if self.depth == 1 {
            self.key = None;
        }
        self.mode = mode;
    }

    fn open(&mut self, container: Container) {
        self.begin_value(Mode::Between);
        if self.depth == 0 {
            self.object.container = container;
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.mode = Mode::Between;
        self.depth = self.depth.saturating_sub(1);
    }

    fn text(&mut self, nesting: u32, escaped: bool, byte: u8) {
        let nesting = match byte {
            b'(' if !escaped => nesting + 1,
            b')' if !escaped && nesting == 0 => return self.mode = Mode::Between,
            b')' if !escaped => nesting - 1,
            _ => nesting,
        };
        self.mode = Mode::Text { nesting, escaped: !escaped && byte == b'\\' };
    }

    /// A name has ended. In an object's own dictionary it is a key, or a key's value.
    fn name(&mut self) {
        if self.depth != 1 || self.object.container != Container::Dictionary {
            return;
        }
        match self.key.take() {
            None => self.key = Some(Key::of(&self.token)),
            Some(Key::Type) => {
                self.object.kind = match self.token.as_slice() {
                    b"Pages" => Kind::PageTree,
                    b"Catalog" => Kind::Catalog,
                    _ => Kind::Other,
                };
            }
            Some(_) => {}
        }
    }

    /// A number or a keyword has ended.
    fn word(&mut self) {
        let number = std::str::from_utf8(&self.token).ok().and_then(|text| text.parse::<u64>().ok());
        match (self.depth, number) {
            (0, Some(number)) => self.numbers = [self.numbers[1], number],
            (0, None) => self.keyword(),
            (1, _) if self.object.container == Container::Dictionary => self.value(number),
            _ => {}
        }
    }

    fn value(&mut self, number: Option<u64>) {
        let Some(key) = self.key.take() else {
            // A length that stands elsewhere, maybe further on: where the stream ends cannot be told in passing.
            if self.token == b"R" && self.last == Key::Length {
                self.object.length = None;
            }
            return;
        };
        self.last = key;
        match key {
            Key::Count => self.object.count = number,
            Key::Pages => self.object.pages = number,
            Key::Root => self.object.root = number,
            Key::Length => self.object.length = number,
            Key::Parent => self.object.has_parent = true,
            Key::Type | Key::Other => {}
        }
    }

    fn keyword(&mut self) {
        let is_end = self.token == b"endstream";
        if is_end != std::mem::take(&mut self.object.is_stream_over) {
            return self.mode = Mode::Lost;
        }
        match self.token.as_slice() {
            b"obj" => self.object = Object { number: self.numbers[0], ..Object::default() },
            b"trailer" => self.object = Object::default(),
            b"stream" => self.mode = Mode::StreamLine,
            b"endobj" => self.end_object(),
            b"startxref" => self.root = self.object.root,
            _ => {}
        }
        self.key = None;
    }

    /// Behind `stream` comes one end of a line, then the stream.
    fn stream_line(&mut self, byte: u8) {
        self.mode = match (byte, self.object.length) {
            (b'\r', Some(_)) => Mode::StreamLine,
            (b'\n', Some(0)) => Mode::Between,
            (b'\n', Some(length)) => Mode::Stream(length),
            _ => Mode::Lost,
        };
        self.object.is_stream_over = true;
    }

    fn end_object(&mut self) {
        let Object { number, kind, has_parent, count, pages, .. } = self.object;
        let (known, value) = match kind {
            Kind::PageTree if !has_parent => (&mut self.trees, count),
            Kind::Catalog => (&mut self.catalogs, pages),
            Kind::PageTree | Kind::Other => return,
        };
        if let Some(value) = value.filter(|_| known.len() < REMEMBERED) {
            known.push((number, value));
        }
    }
}

/// Part of a name or a word: neither white space nor a delimiter.
fn is_regular(byte: u8) -> bool {
    !matches!(byte, b'\0' | b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'(' | b')' | b'<' | b'>' | b'[' | b']')
        && !matches!(byte, b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests;
