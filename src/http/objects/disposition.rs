//! `Content-Disposition` with a file's name (RFC 6266), whatever letters it has (RFC 8187).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Bytes that need no escape in an extended value: `attr-char` of RFC 8187.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// `inline` or `attachment`, with the file name. Browsers read `filename*`; `filename` is for other clients and has `_`
/// in place of letters that they would decode differently.
pub(super) fn of(is_inline: bool, name: &str) -> String {
    let shown = if is_inline { "inline" } else { "attachment" };
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if plain == name {
        return format!("{shown}; filename=\"{plain}\"");
    }
    format!("{shown}; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(name, ENCODED))
}

fn is_plain(letter: char) -> bool {
    matches!(letter, ' '..='~') && !matches!(letter, '"' | '\\' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_so_that_every_browser_reads_it() {
        assert_eq!(of(true, "invoice 12.pdf"), "inline; filename=\"invoice 12.pdf\"");
        assert_eq!(
            of(false, "Größe \"3\" 100%.html"),
            "attachment; filename=\"Gr__e _3_ 100_.html\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%223%22%20100%25.html"
        );
    }
}
