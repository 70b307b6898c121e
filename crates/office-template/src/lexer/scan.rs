//! Follows strings and brackets: as much of JavaScript as it takes to find the end of a tag and its filters.

/// A longer tag ends at the first end delimiter. Otherwise unpaired brackets would be followed to the text's end for every tag,
/// in quadratic time.
const TAG_CHARACTERS: usize = 20_000;

/// As [`TAG_CHARACTERS`], once [`VAIN_BYTES`] of a text have been followed in vain.
const SHORT_TAG_CHARACTERS: usize = 500;

/// How many bytes of a text are followed in vain before tags must be short.
const VAIN_BYTES: usize = 400_000;

/// How far the tags of one text may be followed.
#[derive(Default)]
pub(super) struct Reach {
    /// Bytes that were followed through quotes and brackets that then did not pair.
    vain: usize,
}

impl Reach {
    fn characters(&self) -> usize {
        if self.vain < VAIN_BYTES { TAG_CHARACTERS } else { SHORT_TAG_CHARACTERS }
    }
}

/// Follows strings and brackets letter by letter.
#[derive(Default)]
struct Nesting {
    brackets: Vec<char>,
    quote: Option<char>,
    is_escaped: bool,
    previous: Option<char>,
}

impl Nesting {
    /// Whether `letter` is outside of strings and brackets, or an outermost bracket; `None` where brackets do not pair.
    fn pass(&mut self, letter: char) -> Option<bool> {
        let previous = self.previous.replace(letter);
        if let Some(quote) = self.quote {
            if letter == quote && !self.is_escaped {
                self.quote = None;
            }
            self.is_escaped = letter == '\\' && !self.is_escaped;
            return Some(false);
        }
        let is_top = self.brackets.is_empty();
        match letter {
            '`' => self.quote = Some(letter),
            // Behind a letter or digit it is an apostrophe or the sign for inches, and begins no string.
            '"' | '\'' if !previous.is_some_and(char::is_alphanumeric) => self.quote = Some(letter),
            '(' => self.brackets.push(')'),
            '[' => self.brackets.push(']'),
            '{' => self.brackets.push('}'),
            ')' | ']' | '}' => {
                if self.brackets.pop() != Some(letter) {
                    return None;
                }
                return Some(self.brackets.is_empty());
            }
            _ => {}
        }
        Some(is_top && self.quote.is_none())
    }

    fn is_over(&self) -> bool {
        self.brackets.is_empty() && self.quote.is_none()
    }
}

/// The offset of the end delimiter for the content at `begin`: the first one outside of strings and brackets or, where these do
/// not pair, the first of all.
pub(super) fn end_of(text: &str, begin: usize, end: &str, reach: &mut Reach) -> Option<usize> {
    let first = begin + text[begin..].find(end)?;
    let mut nesting = Nesting::default();
    let mut followed = 0;
    for (at, letter) in text[begin..].char_indices().take(reach.characters()) {
        followed = at;
        if nesting.is_over() && text[begin + at..].starts_with(end) {
            return Some(begin + at);
        }
        if let Some(letter) = straight(letter)
            && nesting.pass(letter).is_none()
        {
            break;
        }
    }
    reach.vain += followed;
    Some(first)
}

/// The letters outside of strings and brackets, with the outermost brackets; `None` where something does not pair.
pub(super) fn outside(text: &str) -> Option<Vec<(usize, char)>> {
    let mut nesting = Nesting::default();
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        if nesting.pass(letter)? {
            found.push((at, letter));
        }
    }
    nesting.is_over().then_some(found)
}

/// A tag's content with Word's automatic changes undone.
pub(super) fn plain(content: &str) -> String {
    content.chars().filter_map(straight).collect()
}

fn straight(letter: char) -> Option<char> {
    match letter {
        '\u{201c}'..='\u{201f}' => Some('"'),
        '\u{2018}'..='\u{201b}' => Some('\''),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\t' | '\n' | '\r' => {
            Some(' ')
        }
        // Soft hyphens, zero-width blanks, marks of direction, and anchors of pictures. The joiners U+200C and U+200D are kept:
        // they are parts of words and emoji, and so of keys.
        '\u{ad}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fffc}' => None,
        _ => Some(letter),
    }
}

/// A name of XML without a prefix, or of a filter.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || "_$".contains(first))
        && letters.all(|letter| letter.is_alphanumeric() || "_$".contains(letter))
}
