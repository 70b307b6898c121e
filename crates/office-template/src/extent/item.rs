//! Items of lists: paragraphs with a bullet or a number.

use crate::lexer::Tag;
use crate::powerpoint;
use crate::styles::Styles;
use crate::tags::{Placed, Tags};
use crate::word::{Dialect, Id, Part};

/// Word's built-in styles with bullets or numbers, for documents that do not define them.
const STYLES: [&str; 2] = ["ListBullet", "ListNumber"];

/// The list that the element `paragraph` is an item of.
pub(crate) fn list<'a>(part: &'a Part, styles: &'a Styles, paragraph: Id) -> Option<&'a str> {
    if part.dialect == Dialect::Slide {
        return powerpoint::list(part, paragraph);
    }
    if let Some(numbering) = part.property(paragraph, "numPr") {
        return part.child(numbering, "numId").and_then(|id| part.val(id)).filter(|&number| number != "0");
    }
    let style = part.property(paragraph, "pStyle").and_then(|id| part.val(id))?;
    let is_known = || STYLES.into_iter().any(|known| style.starts_with(known)).then_some(style);
    styles.list(style).or_else(is_known)
}

/// Whether a section within one paragraph is all that the paragraph says: before it only outer sections begin, behind it they
/// only end, and no words follow.
pub(super) fn is_all(part: &Part, tags: &Tags, opening: &Placed, closing: &Placed) -> bool {
    let Some(paragraph) = part.paragraphs.get(opening.paragraph) else { return false };
    let is_free = |range: std::ops::Range<usize>, may_stand: fn(char) -> bool| {
        paragraph.text.get(range).is_some_and(|text| text.chars().all(may_stand))
    };
    let is_blank = |letter: char| letter.is_whitespace() || letter == '\u{ad}';
    let mut at = 0;
    for placed in tags.of(opening.paragraph).take_while(|placed| placed.text.end <= opening.text.start) {
        let is_opening = matches!(placed.tag, Tag::Section(..) | Tag::Otherwise(_));
        if !is_opening || !is_free(at..placed.text.start, is_blank) {
            return false;
        }
        at = placed.text.end;
    }
    if !is_free(at..opening.text.start, is_blank) {
        return false;
    }
    at = closing.text.end;
    for placed in tags.of(opening.paragraph).filter(|placed| placed.text.start >= closing.text.end) {
        if !matches!(placed.tag, Tag::End(_)) || !is_free(at..placed.text.start, is_no_word) {
            return false;
        }
        at = placed.text.end;
    }
    is_free(at..paragraph.text.len(), is_no_word)
}

/// Whether it is no letter or digit, such as a blank or full stop, and no picture (U+FFFC).
fn is_no_word(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '\u{fffc}'
}
