//! Whether a static page leaves state in its document when its elements are gone. Where it leaves none, the next page of
//! its account is written into the same document.
//!
//! A language or colour scheme that `meta` sets, and the title of the style sheets in force, stay for the next page in the
//! same document; nothing else that was tried does (`tests/browser/in_place_reuse.rs`). One pass over the raw bytes; it errs
//! to `true`, which costs a new document.

use super::markup::{attribute_value, begins, is_blank, places, skip_blanks};

/// Names of `meta` that set nothing in the document; all others count as ones that may.
const STATELESS_META_NAMES: [&[u8]; 6] =
    [b"viewport", b"description", b"author", b"keywords", b"generator", b"format-detection"];

/// Whether something of the page may be there for the next one in the same document.
pub fn leaves_document_state(html: &[u8]) -> bool {
    memchr::memchr3_iter(b'<', b'a', b'A', html).any(|at| {
        let text = &html[at..];
        match text[0] {
            b'<' => tag_leaves_state(&text[1..]),
            // Only one element of a document is ever given the focus by itself.
            _ => begins(text, b"autofocus"),
        }
    })
}

fn tag_leaves_state(text: &[u8]) -> bool {
    let is_meta = begins(text, b"meta");
    if !is_meta && !begins(text, b"style") {
        return begins(text, b"link");
    }
    // A tag without an end, or with another one in it, counts as one that leaves something. Hazard: in a page made of such
    // tags, to look for the end of each would take quadratic time.
    let Some(tag) = tag_of(text).filter(|tag| !has(tag, b"<meta") && !has(tag, b"<style")) else {
        return true;
    };
    if is_meta {
        return has(tag, b"http-equiv") || !attributes(tag, b"name").all(is_stateless);
    }
    has(tag, b"title")
}

/// The tag at the beginning of `text`, none where it does not end; a `>` within quotes does not end it.
fn tag_of(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'=', b'>', rest) {
        if rest[at] == b'>' {
            return Some(&text[..text.len() - rest.len() + at]);
        }
        rest = match skip_blanks(&rest[at + 1..]) {
            [quote @ (b'"' | b'\''), value @ ..] => &value[memchr::memchr(*quote, value)? + 1..],
            value => value,
        };
    }
    None
}

fn has(tag: &[u8], word: &[u8]) -> bool {
    places(tag, word).next().is_some()
}

/// What every attribute is set to whose name ends in `name`.
fn attributes<'a>(tag: &'a [u8], name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    places(tag, name).filter_map(|at| attribute_value(&tag[at + name.len()..]))
}

fn is_stateless(value: &[u8]) -> bool {
    STATELESS_META_NAMES.iter().any(|name| {
        begins(value, name)
            && value.get(name.len()).is_none_or(|&end| is_blank(end) || b"\"'/".contains(&end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_leave_document_state_are_recognised() {
        for (page, leaves) in [
            ("<meta http-equiv=content-language content=ja>", true),
            ("<META content=ja HTTP-EQUIV = 'Content-Language'>", true),
            ("<meta name=color-scheme content=dark>", true),
            ("<meta name='viewport' NAME = color-scheme>", true),
            ("<meta name=viewportish>", true),
            ("<meta name=referrer content=no-referrer>", true),
            ("<meta\nname=theme-color", true),
            ("<style title=a>p{}</style>", true),
            ("<svg><style media=all TITLE='a'>", true),
            ("<link rel=icon href='data:,'>", true),
            ("<style media=\"(width > 400px)\" title=a>", true),
            ("<meta content='a > b' name=color-scheme>", true),
            ("<style a=b\" c = \">\" title=a>", true),
            ("<input AutoFocus>", true),
            ("", false),
            ("<!doctype html><meta charset=utf-8><title>a</title><style>p{color:red}</style>", false),
            ("<p title=a>link, meta", false),
            ("<meta name=\"viewport\" content=\"width=device-width\"><meta name=author content=x>", false),
            ("<meta name=description content=\"Bob's > a title\"><style type='text/css'>", false),
            ("<meta property='og:title' content=x><meta name=generator/>", false),
        ] {
            assert_eq!(leaves_document_state(page.as_bytes()), leaves, "{page}");
        }
    }

    #[test]
    fn a_page_made_of_tags_is_decided_at_once() {
        let begun = std::time::Instant::now();
        for tag in ["<meta", "<style", "<meta a=", "<style a='x'", "<meta a='", "<meta name=author "] {
            for end in ["", ">", "'>"] {
                let page = format!("{}{end}", tag.repeat((2 << 20) / tag.len()));
                assert!(leaves_document_state(page.as_bytes()), "{tag}{end}");
            }
        }
        let usual = "<meta name=author content=x><style>p{}</style>".repeat(40_000);
        assert!(!leaves_document_state(usual.as_bytes()));
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }
}
