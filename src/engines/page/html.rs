//! Target html of a template without files beside it: the assembled page itself, with the data that its scripts expect.

use bytes::{BufMut as _, Bytes, BytesMut};
use memchr::{memchr, memchr_iter};

use super::lane::lane_of;
use super::references::has_references;
use crate::domain::encoding;
use crate::domain::error::JobError;
use crate::domain::lane::Lane;
use crate::thread;

/// Whether the page runs nothing and refers to nothing, so that it needs none of the files beside it.
///
/// # Errors
/// `internal` when the scan panicked.
pub async fn opens_by_itself(page: &Bytes) -> Result<bool, JobError> {
    let (length, page) = (page.len(), page.clone());
    let opens = move || lane_of(&page) == Lane::Static && !has_references(&page);
    Ok(thread::by_size(length, opens).await?)
}

/// The page as a document that opens by itself: where it has scripts, the data object is put before the first of them; a page
/// without script stays as it is, byte by byte. It is UTF-8: one that declares another encoding (its template's) gets the
/// mark of UTF-8, which wins.
pub fn with_data(page: &Bytes, data: &[u8]) -> Bytes {
    let page = encoding::with_bom_if_misleading(page.clone());
    if lane_of(&page) == Lane::Static {
        return page;
    }
    let at = after_doctype(&page);
    let script = data_script(data);
    let mut document = BytesMut::with_capacity(page.len() + script.len());
    document.put_slice(&page[..at]);
    document.put_slice(script.as_bytes());
    document.put_slice(&page[at..]);
    document.freeze()
}

/// A script element that sets the two globals. The JSON text is in a string literal, so every character that could end the
/// literal or the element is escaped.
fn data_script(data: &[u8]) -> String {
    let text = String::from_utf8_lossy(data);
    let mut literal = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '<' => literal.push_str("\\u003c"),
            '\u{2028}' => literal.push_str("\\u2028"),
            '\u{2029}' => literal.push_str("\\u2029"),
            other => literal.push(other),
        }
    }
    format!("<script>window.__POGODOC_DATA__=window.__PLATEN_DATA__=JSON.parse(\"{literal}\")</script>")
}

/// Where a first element may be without putting the page into quirks mode: after the byte order mark, white space and
/// comments before the doctype, and the doctype. The parser opens `html` and `head` there by itself and merges the attributes
/// of the page's own `html` tag.
fn after_doctype(page: &[u8]) -> usize {
    let mut at = if page.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    loop {
        at += page[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = &page[at..];
        let end = if rest.starts_with(b"<!--") {
            comment_end(rest)
        } else if rest.len() > 9 && rest[..9].eq_ignore_ascii_case(b"<!doctype") {
            return at + memchr(b'>', rest).map_or(0, |end| end + 1);
        } else if [&b"<?"[..], b"<!", b"</"].iter().any(|begin| rest.starts_with(begin)) {
            // The parser takes these for comments, such as the prolog of XHTML.
            memchr(b'>', rest).map(|end| end + 1)
        } else {
            None
        };
        match end {
            Some(end) => at += end,
            None => return at,
        }
    }
}

/// Where a comment ends: after `-->`, or `--!>`, which a parser takes for it.
fn comment_end(comment: &[u8]) -> Option<usize> {
    // Both ends are looked for in one pass: a search for one that the page does not have would read all of it for each comment.
    let inside = &comment[2..];
    let is_end = |at: &usize| inside[..*at].ends_with(b"--") || inside[..*at].ends_with(b"--!");
    memchr_iter(b'>', inside).find(is_end).map(|at| 2 + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_script_stays_as_it_is() {
        let page = Bytes::from_static(b"<!doctype html><p>1</p>");
        assert_eq!(with_data(&page, b"{}"), page);
    }

    #[tokio::test]
    async fn a_page_that_needs_no_file_is_known() {
        for (page, alone) in [
            ("<!doctype html><p>1</p>", true),
            ("<a href=x.html>x</a>", true),
            ("<img src=x.png>", false),
            ("<link rel=stylesheet href=a.css>", false),
            ("<script>1</script>", false),
        ] {
            assert_eq!(opens_by_itself(&Bytes::from(page)).await, Ok(alone), "{page}");
        }
    }

    #[test]
    fn nothing_before_the_doctype_is_mistaken_for_the_page() {
        for before in [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
            "<!-- a --!> ",
            "<!-- a > b - -- c -->",
            "<!---->",
            "<!-->",
            "<!-- a --->",
            "</x><!x>",
            "<!-- 1 --><?2?><!-- 3 -->",
        ] {
            let page = Bytes::from(format!("{before}<!DOCTYPE html><script>go()</script>"));
            let document = with_data(&page, b"{}");
            let wanted = format!("{before}<!DOCTYPE html><script>window.");
            assert!(document.starts_with(wanted.as_bytes()), "{}", String::from_utf8_lossy(&document));
        }
    }

    #[test]
    fn the_data_stands_before_the_first_script_and_cannot_end_its_element() {
        let page = Bytes::from_static(b"\xef\xbb\xbf<!-- x --> <!DOCTYPE html>\n<script>go()</script>");
        let document = with_data(&page, br#"{"a":"</script>\u00e4 \"q\""}"#);
        let text = String::from_utf8(document.to_vec()).unwrap();
        assert!(text.starts_with("\u{feff}<!-- x --> <!DOCTYPE html><script>window."), "{text}");
        assert!(text.contains(r#"JSON.parse("{\"a\":\"\u003c/script>\\u00e4 \\\"q\\\"\"}")"#), "{text}");
    }
}
