//! Characters from untrusted text, made safe for terminals and messages.

/// The character; one that controls a terminal or changes the direction of text is escaped, as `\u{1b}`.
pub fn escape_control(letter: char) -> String {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || letter.is_control() { letter.escape_unicode().to_string() } else { letter.to_string() }
}
