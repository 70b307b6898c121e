//! Whether a static page refers to anything outside of itself: one that does not can be written into a tab directly, without
//! the page server.
//!
//! One pass over the raw bytes. It errs to `true`, which only costs a navigation to the page server.

use super::markup::{attribute_value, begins, hides_a_letter, is_utf16, places, skip_blanks, table_of};

/// Attributes that load what they name. `href` loads in every element but `a` and `area`; `xlink:href`
/// ends like it.
const LOADING_ATTRIBUTES: [&[u8]; 9] =
    [b"src", b"srcset", b"href", b"poster", b"background", b"data", b"imagesrcset", b"manifest", b"srcdoc"];

/// How far before `href` its tag may begin for the tag to be looked at; a link with more before it counts
/// as one that loads. Without a bound a tag full of `href` would be searched from its beginning each time.
const TAG_REACH_BYTES: usize = 512;

/// Beginnings of links that lead to other hosts, to no host, or within the page.
const WHOLE: [&[u8]; 6] = [b"https://", b"http://", b"mailto:", b"tel:", b"data:", b"#"];

/// Functions and rules of style sheets that load. What stands in `url(` is looked at more closely.
const LOADING_STYLES: [&[u8]; 4] = [b"@import", b"image-set(", b"image(", b"src("];

/// Bytes at which one of the words above begins, or may be hidden.
const INTERESTING: [bool; 256] = table_of(b"shpbdimuSHPBDIMU@&\\\x00\x1b");

/// Whether the page may load anything but what it carries itself (`data:` and `#fragment`).
pub fn has_references(html: &[u8]) -> bool {
    if is_utf16(html) {
        return true;
    }
    html.iter()
        .enumerate()
        .filter(|&(_, &byte)| INTERESTING[usize::from(byte)])
        .any(|(at, _)| refers(html, at))
}

/// Whether the page may have a link for readers that is neither a whole address nor within the page.
pub fn has_relative_links(html: &[u8]) -> bool {
    places(html, b"href").any(|at| {
        let value = attribute_value(&html[at + b"href".len()..]).map(skip_blanks);
        let is_whole = |value| WHOLE.iter().any(|begin| begins(value, begin));
        value.is_some_and(|value| !is_whole(value)) && !tag_name(&html[..at]).eq_ignore_ascii_case(b"link")
    })
}

fn refers(html: &[u8], at: usize) -> bool {
    let text = &html[at..];
    match text[0] {
        b'&' => hides_a_letter(text),
        // An escape in a style sheet may spell any of the words.
        b'\\' => text.get(1).is_some_and(u8::is_ascii_hexdigit),
        b'\x00' | b'\x1b' => true,
        b'u' | b'U' if begins(text, b"url(") => leads_out(unquoted(&text[4..])),
        _ => LOADING_STYLES.iter().any(|word| begins(text, word)) || attribute_loads(html, at),
    }
}

fn attribute_loads(html: &[u8], at: usize) -> bool {
    let text = &html[at..];
    LOADING_ATTRIBUTES.iter().filter(|name| begins(text, name)).any(|name| {
        let Some(value) = attribute_value(&text[name.len()..]) else { return false };
        match *name {
            b"srcset" | b"imagesrcset" | b"srcdoc" => true,
            b"href" => leads_out(value) && !is_link(&html[..at]),
            _ => leads_out(value),
        }
    })
}

/// Whether an address leads out of the page.
fn leads_out(address: &[u8]) -> bool {
    let address = skip_blanks(address);
    let stays = matches!(address.first(), None | Some(b'#' | b'"' | b'\'' | b'>' | b')'))
        || begins(address, b"data:");
    !stays
}

fn unquoted(text: &[u8]) -> &[u8] {
    match skip_blanks(text) {
        [b'"' | b'\'', rest @ ..] => rest,
        text => text,
    }
}

/// Whether the tag that `before` ends in is a link for readers, which loads nothing.
fn is_link(before: &[u8]) -> bool {
    let name = tag_name(before);
    name.eq_ignore_ascii_case(b"a") || name.eq_ignore_ascii_case(b"area")
}

/// The name of the tag that `before` ends in; empty where the tag does not begin within reach.
fn tag_name(before: &[u8]) -> &[u8] {
    let before = &before[before.len().saturating_sub(TAG_REACH_BYTES)..];
    let Some(open) = memchr::memrchr(b'<', before) else { return &[] };
    let name = &before[open + 1..];
    let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    &name[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loads_is_told_from_what_stays_in_the_page() {
        let pages: [(&str, bool); 24] = [
            ("<img src=logo.png>", true),
            ("<img SRC = 'https://example.com/a.png'>", true),
            ("<img srcset='data:,x 1x, a.png 2x'>", true),
            ("<link rel=stylesheet href=style.css>", true),
            ("<link title='<p>' href=/a.css>", true),
            ("<svg><image xlink:href='a.png'/><use href='b.svg#c'/></svg>", true),
            ("<video poster=a.png>", true),
            ("<table background=a.png>", true),
            ("<object data=a.pdf>", true),
            ("<style>@import 'a.css';</style>", true),
            ("<p style='background: URL( \"a.png\" )'>", true),
            ("<p style='background:url(&quot;a.png&quot;)'>", true),
            ("<p style='background:&#117;rl(a.png)'>", true),
            ("<style>p{background:\\75rl(a.png)}</style>", true),
            ("<style>p{background:image-set('a.png' 1x)}</style>", true),
            ("<style>@font-face{font-family:a;src:url(a.woff2)}</style>", true),
            (&format!("<a {} href=a>", "x".repeat(600)), true),
            ("", false),
            (
                "<!doctype html><meta charset=utf-8><title>Data and source</title><p class=data>src, href",
                false,
            ),
            ("<img src=\"data:image/png;base64,AAAA\"><img src=''>", false),
            ("<p style='background:url(data:image/png;base64,AA)'><p style=\"fill:url('#g')\">", false),
            ("<svg><use href='#a'/><use xlink:href=\"#b\"/></svg>", false),
            ("<a href='https://example.com/'>site</a><a class=x href=page.html>&amp; &#34;</a>", false),
            ("<td data-x=1>database = 5</td>", false),
        ];
        for (page, expected) in pages {
            assert_eq!(has_references(page.as_bytes()), expected, "{page}");
        }
        assert!(has_references(b"\xff\xfe<\x00"));
    }

    #[test]
    fn links_that_need_an_address_to_start_from_are_found() {
        for (page, expected) in [
            ("<a href=terms.pdf>", true),
            ("<A class=x HREF = '/a'>", true),
            ("<svg><a xlink:href=\"a.pdf\">", true),
            ("<map><area href=?a>", true),
            ("<a href=''>", true),
            (&format!("<link {} href=a>", "x".repeat(600)), true),
            (
                "<a href='https://example.com/'><a href=\"mailto:a@b.c\"><a href=TEL:1><a href=#a><a href=' #b'>",
                false,
            ),
            ("<link rel=stylesheet href=style.css><p>href, a.href", false),
        ] {
            assert_eq!(has_relative_links(page.as_bytes()), expected, "{page}");
        }
    }
}
