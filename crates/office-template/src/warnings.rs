//! Warnings for a document's author, limited in number: rich text may lack a picture in each of a million rows.

use std::collections::HashSet;

/// The most lines; if there are more warnings, the last line says how many.
const LINES: usize = 50;

/// The longest line, in characters.
const CHARACTERS: usize = 300;

/// The warning of a tag that prints a word by which JavaScript says that there is no value, or that is empty in place of a
/// difference (`-`).
pub(crate) fn of_word(word: &str) -> String {
    let (word, why) = match word {
        "-" => {
            return "it is a name that the data lack, so it is empty; a subtraction has blanks, as in price - discount"
                .to_owned();
        }
        "NaN" => (word, "a value in it is missing or no number, or the data say so; write (price || 0)"),
        "Infinity" => (word, "it divides by zero, a number is too large, or the data say so"),
        "undefined" => (word, "a name in it is missing; write (name || '')"),
        _ => ("[object Object]", "an object has no text; name a member of it, as customer.name"),
    };
    format!("it prints {word}: {why}")
}

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    /// In the order in which they were added.
    kept: Vec<String>,
    known: HashSet<String>,
    more: usize,
}

impl Warnings {
    /// Keeps the beginning of `text`, or only counts it where there are enough. Control characters, which could break the line or
    /// control a terminal, become blanks.
    pub(crate) fn push(&mut self, text: &str) {
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        let text: String = text.chars().take(CHARACTERS).map(plain).collect();
        if self.known.contains(&text) {
            return;
        }
        if self.kept.len() == LINES {
            self.more += 1;
            return;
        }
        self.known.insert(text.clone());
        self.kept.push(text);
    }

    /// The warnings, one line each.
    pub(crate) fn lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.kept.truncate(LINES - 1);
            self.kept.push(format!("and {} more", self.more + 1));
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::Warnings;

    #[test]
    fn each_is_kept_once_and_what_is_too_much_is_counted() {
        let mut warnings = Warnings::default();
        for number in (0..50).chain(0..50) {
            warnings.push(&format!("{number}"));
        }
        assert_eq!(warnings.lines().len(), 50);
        let mut warnings = Warnings::default();
        for number in 0..1_000 {
            warnings.push(&format!("{number} \u{1}{}", "ä".repeat(400)));
        }
        let lines = warnings.lines();
        assert_eq!((lines.len(), lines[49].as_str()), (50, "and 951 more"));
        assert!(lines.iter().all(|line| line.chars().count() <= 300 && !line.contains('\u{1}')), "{lines:?}");
    }
}
