//! Whether an assembled page surely has no script: then it may have the cheaper tab.
//!
//! One pass over the raw bytes. It errs to [`Lane::Scripted`]: a word in running text that only looks like a handler costs
//! time, and leaks nothing. A static page's tab has script switched off, so what the scan misses does not run there.

use super::markup::{attribute_value, begins, hides_a_letter, is_blank, is_utf16, skip_blanks, table_of};
use crate::domain::lane::Lane;

/// Elements that are script, hold another page, change what addresses mean, or set attributes later.
/// Longer names with the same beginning are meant as well (`frameset`, `animateTransform`).
const ACTIVE_ELEMENTS: [&[u8]; 12] = [
    b"script",
    // It is shown where script is off, so the static lane would change the page.
    b"noscript",
    b"iframe",
    b"frame",
    b"fencedframe",
    b"object",
    b"embed",
    b"applet",
    b"portal",
    b"base",
    b"animate",
    b"set",
];

/// Values of `http-equiv` that start nothing; `refresh` does.
const QUIET_PRAGMAS: [&[u8]; 3] = [b"content-type", b"x-ua-compatible", b"content-language"];

/// Bytes at which a closer look is taken.
const INTERESTING: [bool; 256] = table_of(b"<&(\x00\x1bjJoOhHlL");

/// The lane of a page, from its bytes as they would be sent.
pub fn lane_of(html: &[u8]) -> Lane {
    if is_utf16(html) {
        return Lane::Scripted;
    }
    let may_run = html
        .iter()
        .enumerate()
        .filter(|&(_, &byte)| INTERESTING[usize::from(byte)])
        .any(|(at, _)| is_active(html, at));
    if may_run { Lane::Scripted } else { Lane::Static }
}

fn is_active(html: &[u8], at: usize) -> bool {
    let text = &html[at..];
    match text[0] {
        b'<' => ACTIVE_ELEMENTS.iter().any(|name| begins(&text[1..], name)),
        b'&' => hides_a_letter(text),
        // `@media (scripting: none)`: the same in a style sheet.
        b'(' => begins(skip_blanks(&text[1..]), b"scripting"),
        b'o' | b'O' => at > 0 && may_end_attribute(html[at - 1]) && is_handler(text),
        b'j' | b'J' => is_script_address(text),
        // Lazy pictures are loaded at an animation frame, which static tabs never get.
        b'l' | b'L' => begins(text, b"loading") && is_lazy(&text[b"loading".len()..]),
        b'h' | b'H' => begins(text, b"http-equiv") && !is_quiet_pragma(&text[b"http-equiv".len()..]),
        // NUL, and ESC, with which a decoder switches its character set and which it then drops.
        _ => true,
    }
}

/// What may stand before an attribute's name.
fn may_end_attribute(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'"' | b'\'' | b'/')
}

/// `on`, letters, blanks, `=`.
fn is_handler(text: &[u8]) -> bool {
    if !begins(text, b"on") {
        return false;
    }
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    letters > 2 && skip_blanks(&text[letters..]).first() == Some(&b'=')
}

/// `javascript:` with whatever a parser of addresses drops in between.
fn is_script_address(text: &[u8]) -> bool {
    let mut visible = text.iter().filter(|&&byte| byte > b' ');
    b"javascript:".iter().all(|&letter| visible.next().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter)))
}

fn is_lazy(text: &[u8]) -> bool {
    attribute_value(text).is_some_and(|value| begins(value, b"lazy"))
}

fn is_quiet_pragma(text: &[u8]) -> bool {
    attribute_value(text).is_some_and(|value| {
        QUIET_PRAGMAS.iter().any(|name| {
            begins(value, name)
                && value
                    .get(name.len())
                    .is_some_and(|&end| is_blank(end) || matches!(end, b'"' | b'\'' | b'>' | b'/'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_may_run_script_are_seen() {
        let pages: [&[u8]; 42] = [
            b"<img src=a.png LOADING = 'lazy'>",
            b"<script>1</script>",
            b"<SCRIPT src=a>",
            b"<svg><script/>",
            b"<img src=x onerror=alert(1)>",
            b"<img src=x ONERROR = alert(1)>",
            b"<img/onerror=1>",
            b"<img title=\"a\"onload=1>",
            b"<img title='a'onload=1>",
            b"<svg\nonload\n=\n1>",
            b"<svg\x0conload\x0c=1>",
            b"<body onpageshow='x'>",
            b"<details open ontoggle=x>",
            b"<a href=javascript:alert(1)>",
            b"<a href=' JaVa\tScript\n:alert(1)'>",
            b"<a href=&#106;avascript:alert(1)>",
            b"<a href=&#x6a;avascript:alert(1)>",
            b"<a href=javascript&colon;alert(1)>",
            b"<a href=java&Tab;script:alert(1)>",
            b"<a href=java&#10;script:alert(1)>",
            b"<iframe src=a>",
            b"<IFRAME srcdoc='&lt;'>",
            b"<frameset><frame src=a>",
            b"<object data=a>",
            b"<embed src=a>",
            b"<applet code=a>",
            b"<portal src=a>",
            b"<base href=a>",
            b"<meta http-equiv=refresh content=0>",
            b"<meta content='0' HTTP-EQUIV = 'Refresh'>",
            b"<meta http-equiv=content-typerefresh>",
            b"<meta http-equiv='&#114;efresh'>",
            b"<svg><a><animate attributeName=href values=x>",
            b"<svg><animateTransform/>",
            b"<svg><set attributeName=onclick to=x>",
            b"\xff\xfe<\x00s\x00",
            b"\xfe\xff\x00<",
            b"<scr\x1b(Bipt>",
            b"<p>\x00</p>",
            b"<p>a<NoScript>enable it</noscript>",
            b"<style>@media (scripting: none) {p{color:red}}</style>",
            b"<style>@media print and ( Scripting:enabled){}</style>",
        ];
        for page in pages {
            assert_eq!(lane_of(page), Lane::Scripted, "{}", String::from_utf8_lossy(page));
        }
    }

    #[test]
    fn pages_that_surely_run_none_are_seen() {
        let pages: [&[u8]; 12] = [
            b"",
            b"<!doctype html><html lang=en><head><meta charset=utf-8><title>Invoice</title>",
            b"<meta http-equiv=\"X-UA-Compatible\" content=\"IE=edge\">",
            b"<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>",
            b"\xef\xbb\xbf<p>one of them</p>",
            b"<p>based on = nothing</p><p>onto</p>",
            b"<a href=\"https://example.com/?on=1\">javascript is a language: JSON, Java</a>",
            b"<style>@page{margin:0} td.on{color:red}</style><td class=on>a &amp; b &#34;c&#34; &#8364;",
            b"<img src=data:image/png;base64,onAAjavaA=>",
            b"<svg><path d='M0 0'/><use href='#a'/></svg>",
            b"<button>Person=1</button><input name=one>",
            b"<p>a < b, x<5, 1 <= 2",
        ];
        for page in pages {
            assert_eq!(lane_of(page), Lane::Static, "{}", String::from_utf8_lossy(page));
        }
    }
}
