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
        b'l' | b'L' => {
            begins(text, b"loading")
                && attribute_value(&text[b"loading".len()..]).is_some_and(|value| begins(value, b"lazy"))
        }
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
    fn a_page_is_static_only_where_it_surely_runs_no_script() {
        let pages: [(&[u8], bool); 54] = [
            (b"<img src=a.png LOADING = 'lazy'>", false),
            (b"<script>1</script>", false),
            (b"<SCRIPT src=a>", false),
            (b"<svg><script/>", false),
            (b"<img src=x onerror=alert(1)>", false),
            (b"<img src=x ONERROR = alert(1)>", false),
            (b"<img/onerror=1>", false),
            (b"<img title=\"a\"onload=1>", false),
            (b"<img title='a'onload=1>", false),
            (b"<svg\nonload\n=\n1>", false),
            (b"<svg\x0conload\x0c=1>", false),
            (b"<body onpageshow='x'>", false),
            (b"<details open ontoggle=x>", false),
            (b"<a href=javascript:alert(1)>", false),
            (b"<a href=' JaVa\tScript\n:alert(1)'>", false),
            (b"<a href=&#106;avascript:alert(1)>", false),
            (b"<a href=&#x6a;avascript:alert(1)>", false),
            (b"<a href=javascript&colon;alert(1)>", false),
            (b"<a href=java&Tab;script:alert(1)>", false),
            (b"<a href=java&#10;script:alert(1)>", false),
            (b"<iframe src=a>", false),
            (b"<IFRAME srcdoc='&lt;'>", false),
            (b"<frameset><frame src=a>", false),
            (b"<object data=a>", false),
            (b"<embed src=a>", false),
            (b"<applet code=a>", false),
            (b"<portal src=a>", false),
            (b"<base href=a>", false),
            (b"<meta http-equiv=refresh content=0>", false),
            (b"<meta content='0' HTTP-EQUIV = 'Refresh'>", false),
            (b"<meta http-equiv=content-typerefresh>", false),
            (b"<meta http-equiv='&#114;efresh'>", false),
            (b"<svg><a><animate attributeName=href values=x>", false),
            (b"<svg><animateTransform/>", false),
            (b"<svg><set attributeName=onclick to=x>", false),
            (b"\xff\xfe<\x00s\x00", false),
            (b"\xfe\xff\x00<", false),
            (b"<scr\x1b(Bipt>", false),
            (b"<p>\x00</p>", false),
            (b"<p>a<NoScript>enable it</noscript>", false),
            (b"<style>@media (scripting: none) {p{color:red}}</style>", false),
            (b"<style>@media print and ( Scripting:enabled){}</style>", false),
            (b"", true),
            (b"<!doctype html><html lang=en><head><meta charset=utf-8><title>Invoice</title>", true),
            (b"<meta http-equiv=\"X-UA-Compatible\" content=\"IE=edge\">", true),
            (b"<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>", true),
            (b"\xef\xbb\xbf<p>one of them</p>", true),
            (b"<p>based on = nothing</p><p>onto</p>", true),
            (b"<a href=\"https://example.com/?on=1\">javascript is a language: JSON, Java</a>", true),
            (
                b"<style>@page{margin:0} td.on{color:red}</style><td class=on>a &amp; b &#34;c&#34; &#8364;",
                true,
            ),
            (b"<img src=data:image/png;base64,onAAjavaA=>", true),
            (b"<svg><path d='M0 0'/><use href='#a'/></svg>", true),
            (b"<button>Person=1</button><input name=one>", true),
            (b"<p>a < b, x<5, 1 <= 2", true),
        ];
        for (page, is_static) in pages {
            let lane = if is_static { Lane::Static } else { Lane::Scripted };
            assert_eq!(lane_of(page), lane, "{}", String::from_utf8_lossy(page));
        }
    }
}
