//! Letters of strangers as they may be shown.

/// The letter; one that commands a terminal or turns the direction of the text is spelled out, as `\u{1b}`.
pub fn spelled(letter: char) -> String {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || letter.is_control() { letter.escape_unicode().to_string() } else { letter.to_string() }
}
