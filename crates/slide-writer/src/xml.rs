//! Text in XML.

/// The text as it stands in an element or an attribute. What no file can have is left out, and a line's end stays one.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // As it is, an attribute would have a space of it.
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_is_text_and_what_no_file_has_is_left_out() {
        assert_eq!(escaped("a <b> & \"c\"\n\u{1}\u{ffff}d"), "a &lt;b&gt; &amp; &quot;c&quot;&#10;d");
    }
}
