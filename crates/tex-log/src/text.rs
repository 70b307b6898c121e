//! Pieces of messages made fit to be shown.

/// Longest message or name, in characters.
const TEXT: usize = 400;

/// On one line, without control characters, in straight quotes, and not too long.
pub(crate) fn clean(text: &str) -> String {
    let visible = |letter: char| if letter.is_control() { ' ' } else { letter };
    let plain: String =
        text.chars().map(visible).map(|letter| if letter == '`' { '\'' } else { letter }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(TEXT).collect()
}

/// As [`clean`], without the full stop.
pub(crate) fn sentence(text: &str) -> String {
    clean(text).trim_end_matches(['.', ' ']).to_owned()
}

/// What stands in quotes behind `before`, whichever quotes these are. One that a letter follows is an apostrophe.
pub(crate) fn quoted<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    let rest = rest.trim_start().strip_prefix(['`', '\'', '"'])?;
    let closes = |at: usize| {
        !rest.get(at + 1..).unwrap_or_default().starts_with(|letter: char| letter.is_alphanumeric())
    };
    let (end, _) = rest.match_indices(['\'', '"']).find(|(at, _)| closes(*at))?;
    rest.get(..end)
}

/// The number that a text begins with, and what is behind it.
pub(crate) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    digits.parse().ok().map(|number| (number, rest))
}
