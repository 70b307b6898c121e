//! Lines of Hebrew and Arabic: a PDF draws their letters from left to right, and they are read from right to left.

use std::borrow::Cow;

/// A line as it is read, of one as it is drawn. What is written against its line's direction (a name, a number) keeps its own.
pub fn logical(line: &str) -> Cow<'_, str> {
    let back = line.chars().filter(|letter| is_back(*letter)).count();
    if back == 0 {
        return Cow::Borrowed(line);
    }
    let forth = line.chars().filter(|letter| letter.is_alphabetic() && !is_back(*letter)).count();
    let letters: Vec<char> = line.chars().collect();
    Cow::Owned(if back < forth {
        turned(letters, is_back)
    } else {
        let letters = letters.into_iter().rev().collect();
        turned(letters, |letter| letter.is_alphanumeric() && !is_back(letter))
    })
}

/// The letters with each stretch of these turned round, and what stands between two of them with them.
fn turned(mut letters: Vec<char>, is_of_stretch: impl Fn(char) -> bool) -> String {
    let is_strong = |letter: char| letter.is_alphanumeric();
    let mut at = 0;
    while let Some(begin) =
        (at..letters.len()).find(|&at| letters.get(at).copied().is_some_and(&is_of_stretch))
    {
        let rest = letters.get(begin..).unwrap_or_default();
        let end = rest.iter().position(|&letter| is_strong(letter) && !is_of_stretch(letter));
        let stretch = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let last = stretch.iter().rposition(|&letter| is_of_stretch(letter)).unwrap_or_default();
        if let Some(stretch) = letters.get_mut(begin..=begin + last) {
            stretch.reverse();
        }
        at = begin + last + 1;
    }
    letters.into_iter().collect()
}

/// Hebrew, Arabic and their neighbours, with the forms that letters take within words.
fn is_back(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && !matches!(letter, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
}

#[cfg(test)]
mod tests {
    use super::logical;

    #[test]
    fn lines_are_as_they_are_read() {
        assert_eq!(logical("plain 12"), "plain 12");
        assert_eq!(
            logical("a \u{5d2}\u{5d1} \u{5d0} long b"),
            "a \u{5d0} \u{5d1}\u{5d2} long b",
            "words among others"
        );
        assert_eq!(
            logical("\u{5d3} 12 abc \u{5d1}\u{5d0}"),
            "\u{5d0}\u{5d1} 12 abc \u{5d3}",
            "others among them"
        );
        assert_eq!(logical("\u{64a}\u{628}\u{631}\u{639}"), "\u{639}\u{631}\u{628}\u{64a}");
    }
}
