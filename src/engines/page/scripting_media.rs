//! Whether a style sheet beside a page may ask if script runs (`@media (scripting: none)`): such a page gets the scripted
//! lane, since the output must not depend on the lane. `lane` looks at the page itself.
//!
//! The template's own sheets are read. Those of an allowed host are not known before the page loads them; such a page gets
//! the scripted lane, and loses little by it: its tab is not reused anyway. It errs to `true`, which only costs that lane.

use super::markup::{begins, is_utf16, places, skip_blanks};
use crate::domain::site::Site;

/// How far behind `@import` and `<link` an address is looked for.
const REACH_BYTES: usize = 1_000;
/// How far after a parenthesis its first word is looked for. Hazard: a sheet may be made of parentheses and comments, each of
/// which would be read to the end of the sheet.
const LEAD_BYTES: usize = 256;

/// Whether the output of `site` may depend, by its sheets, on whether script runs; `hosts`: it may reach other hosts.
pub fn ask_for_scripting(site: &Site, hosts: bool) -> bool {
    let mut own = site.style_sheets();
    own.any(|sheet| asks(sheet) || hosts && imports_foreign(sheet))
        || hosts && site.page().is_some_and(|page| links_foreign(page) || imports_foreign(page))
}

/// How much there is to be read.
pub fn length(site: &Site) -> usize {
    site.style_sheets().map(bytes::Bytes::len).sum()
}

/// `(scripting: none)` in a style sheet.
fn asks(sheet: &[u8]) -> bool {
    is_utf16(sheet) || memchr::memchr_iter(b'(', sheet).any(|at| names_scripting(&sheet[at + 1..]))
}

/// Whether the text of a parenthesis begins with `scripting`; true also where an escape may spell it, or the first word is
/// too far.
fn names_scripting(text: &[u8]) -> bool {
    let is_cut = text.len() > LEAD_BYTES;
    let mut text = &text[..text.len().min(LEAD_BYTES)];
    loop {
        text = skip_blanks(text);
        let Some(comment) = text.strip_prefix(b"/*") else { break };
        let Some(end) = memchr::memmem::find(comment, b"*/") else { return is_cut };
        text = &comment[end + 2..];
    }
    if is_cut && text.len() < b"scripting".len() {
        return true;
    }
    let plain = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    // `:not(a\:b)` names a class, not a feature.
    begins(text, b"scripting") || (text.get(plain) == Some(&b'\\') && may_spell_scripting(&text[..plain]))
}

fn may_spell_scripting(beginning: &[u8]) -> bool {
    beginning.len() < b"scripting".len() && b"scripting"[..beginning.len()].eq_ignore_ascii_case(beginning)
}

fn links_foreign(page: &[u8]) -> bool {
    places(page, b"<link").any(|at| {
        let tag = &page[at..page.len().min(at + REACH_BYTES)];
        let tag = &tag[..memchr::memchr(b'>', tag).unwrap_or(tag.len())];
        places(tag, b"stylesheet").next().is_some() && memchr::memmem::find(tag, b"//").is_some()
    })
}

fn imports_foreign(text: &[u8]) -> bool {
    places(text, b"@import").any(|at| {
        let rule = &text[at..text.len().min(at + REACH_BYTES)];
        let rule = &rule[..memchr::memchr2(b';', b'<', rule).unwrap_or(rule.len())];
        memchr::memmem::find(rule, b"//").is_some()
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn site(page: &str, sheet: &str) -> Site {
        let files = [("index.html", page), ("css/A.CSS", sheet), ("note.txt", "@media (scripting: none){}")];
        let files = files.map(|(name, text)| (name.to_owned(), Bytes::copy_from_slice(text.as_bytes())));
        Site::new("index.html", files.into())
    }

    #[test]
    fn sheets_that_ask_are_seen() {
        for sheet in [
            "@media (scripting: none) {p{color:red}}",
            "@media print and (\n Scripting ) {}",
            "@media not (/* x */ /**/scripting: initial-only) {}",
            "@media (\\73 cripting: none) {}",
            "@media (s\\63ripting: none) {}",
            "@import 'b.css' (scripting:none);",
            "\u{feff}p{width:if(media(scripting: none): 1px)}",
        ] {
            assert!(ask_for_scripting(&site("", sheet), false), "{sheet}");
        }
        let wide = Site::new("i", [("a.css".to_owned(), Bytes::from_static(b"\xff\xfe("))].into());
        assert!(ask_for_scripting(&wide, false));
    }

    #[test]
    fn usual_sheets_do_not_ask() {
        let bold = "https://h.example/b.css";
        for sheet in [
            "@media (min-width: 1px) and (orientation: landscape) {p{color:rgb(1,2,3)}}",
            ".a::before{content:'\\f101'} .sm\\:b:not(.c\\:d){}",
            ":is(td\\:a){} .scripting{} /* scripting */ p:not(s\\:x",
            &format!("@import '{bold}'; p{{}} (/* never ended"),
        ] {
            let asks = ask_for_scripting(&site("<link rel=stylesheet href=css/A.CSS>", sheet), false);
            assert_eq!(asks, sheet.contains("(s\\:x"), "{sheet}: an escape may spell anything");
        }
    }

    #[test]
    fn a_sheet_of_parentheses_and_comments_is_decided_at_once() {
        let begun = std::time::Instant::now();
        let many = |text: &str| text.repeat((2 << 20) / text.len());
        let block = format!("{}*/ x)", "(/*".repeat(60));
        for (sheet, asks_for) in [
            (many("(/*"), true),
            (format!("{}*/ x)", many("(/*")), true),
            (many(&block), false),
            (many("/*(/**/"), true),
            (format!("({}x)", many(" ")), true),
            (format!("({}scripting", " ".repeat(LEAD_BYTES - 4)), true),
            (format!("({}min-width: 1px)", " ".repeat(LEAD_BYTES / 2)), false),
        ] {
            assert_eq!(ask_for_scripting(&site("", &sheet), false), asks_for, "{}", &sheet[..20]);
        }
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }

    #[test]
    fn sheets_of_other_hosts_may_ask_where_they_are_reached() {
        for (page, sheet) in [
            ("<LINK REL=StyleSheet href='https://h.example/a.css'>", ""),
            ("<link href=//h.example/a.css rel='preload stylesheet'>", ""),
            ("<style>@IMPORT url(//h.example/a.css);</style>", ""),
            ("", "@import \"https://h.example/a.css\" screen;"),
        ] {
            assert!(ask_for_scripting(&site(page, sheet), true), "{page}{sheet}");
            assert!(!ask_for_scripting(&site(page, sheet), false), "{page}{sheet}");
        }
        let page = "<link rel=stylesheet href=a.css><link rel=icon href=https://h.example/i><a href=//h.example>stylesheet";
        assert!(!ask_for_scripting(&site(page, "@import 'b.css'; p{background:url(//h.example/x)}"), true));
    }
}
