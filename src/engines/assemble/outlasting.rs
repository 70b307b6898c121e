//! Whether anything of a static page outlasts its elements: of one where nothing does, the next page of its account
//! may take the place without a new document in between.
//!
//! Tried with fifty kinds of markup, each before pages that look different wherever something is another one's: a
//! language or a colour scheme that `meta` set, and the title of the style sheets that count, stay for whoever is
//! written into the same document. One pass over the raw bytes; it errs to `true`, which costs a new document.

use super::markup::{attribute_value, begins, is_blank};

/// What `meta` may name. Everything else may be the document's.
const PASSING_NAMES: [&[u8]; 6] =
    [b"viewport", b"description", b"author", b"keywords", b"generator", b"format-detection"];

/// Whether something of the page may be there for the next one in the same document.
#[must_use]
pub fn outlasts_its_elements(html: &[u8]) -> bool {
    memchr::memchr3_iter(b'<', b'a', b'A', html).any(|at| {
        let text = &html[at..];
        match text[0] {
            b'<' => tag_outlasts(&text[1..]),
            // Only one element of a document is ever given the focus by itself.
            _ => begins(text, b"autofocus"),
        }
    })
}

fn tag_outlasts(text: &[u8]) -> bool {
    if ![&b"meta"[..], b"link", b"style"].iter().any(|name| begins(text, name)) {
        return false;
    }
    let tag = &text[..memchr::memchr(b'>', text).unwrap_or(text.len())];
    // It ends behind a `>` within quotes.
    if memchr::memchr2_iter(b'"', b'\'', tag).count() % 2 == 1 {
        return true;
    }
    if begins(tag, b"meta") {
        return has(tag, b"http-equiv") || !attributes(tag, b"name").all(is_passing);
    }
    begins(tag, b"link") || has(tag, b"title")
}

fn has(tag: &[u8], word: &[u8]) -> bool {
    places(tag, word).next().is_some()
}

/// What every attribute is set to whose name ends in `name`.
fn attributes<'a>(tag: &'a [u8], name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    places(tag, name).filter_map(|at| attribute_value(&tag[at + name.len()..]))
}

fn places<'a>(tag: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    (0..tag.len()).filter(move |&at| begins(&tag[at..], word))
}

fn is_passing(value: &[u8]) -> bool {
    PASSING_NAMES.iter().any(|name| {
        begins(value, name)
            && value.get(name.len()).is_none_or(|&end| is_blank(end) || b"\"'/".contains(&end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_behind_is_seen() {
        for page in [
            "<meta http-equiv=content-language content=ja>",
            "<META content=ja HTTP-EQUIV = 'Content-Language'>",
            "<meta name=color-scheme content=dark>",
            "<meta name='viewport' NAME = color-scheme>",
            "<meta name=viewportish>",
            "<meta name=referrer content=no-referrer>",
            "<meta\nname=theme-color",
            "<style title=a>p{}</style>",
            "<svg><style media=all TITLE='a'>",
            "<link rel=icon href='data:,'>",
            "<style media=\"(width > 400px)\" title=a>",
            "<meta content='a > b' name=color-scheme>",
            "<input AutoFocus>",
        ] {
            assert!(outlasts_its_elements(page.as_bytes()), "{page}");
        }
    }

    #[test]
    fn usual_pages_leave_nothing() {
        for page in [
            "",
            "<!doctype html><meta charset=utf-8><title>a</title><style>p{color:red}</style><p title=a>link, meta",
            "<meta name=\"viewport\" content=\"width=device-width\"><meta name=author content=x>",
            "<meta property='og:title' content=x><meta name=generator/><style type='text/css'>",
        ] {
            assert!(!outlasts_its_elements(page.as_bytes()), "{page}");
        }
    }
}
