//! Fields whose results are no longer true once a document is filled: tables of contents, indexes, page numbers, references.
//!
//! Nobody knows the pages here, so these fields are marked as dirty (`w:dirty`; ECMA-376, part 1, 17.16.18): Word asks its user
//! and refreshes them, and other programs refresh them when they are told to. Fields in the result of a marked field are not
//! marked: they are written anew with it.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::package::xml::replaced;
use crate::word::attribute::{attribute, is_on, value_in};

/// Fields that say pages, or list what is in the document.
const OF_PAGES: [&str; 4] = ["TOC", "TOA", "INDEX", "PAGEREF"];

/// Fields that say numbers or texts of other places, which are others where a section repeats the places.
const OF_PLACES: [&str; 3] = ["REF", "NOTEREF", "SEQ"];

/// What is written instead of a range.
type Edit = (Range<usize>, String);

/// A field that has begun.
struct Open {
    /// What marks it; `None` where the field is not to be refreshed.
    mark: Option<Edit>,
    code: String,
    is_in_code: bool,
    is_marked: bool,
}

/// `xml` with its stale fields marked; `repeats` says that sections repeat some of it.
pub(crate) fn marked(xml: Vec<u8>, w: &str, repeats: bool) -> Vec<u8> {
    let is_stale = |code: &str| {
        let name = code.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        OF_PAGES.contains(&name.as_str()) || repeats && OF_PLACES.contains(&name.as_str())
    };
    let marks = stale(&xml, w, is_stale);
    if marks.is_empty() { xml } else { replaced(&xml, &marks) }
}

/// The start tag that `xml` begins with, up to its `>`: one in an attribute's value ends no tag.
fn start_tag(xml: &[u8]) -> Option<&[u8]> {
    let mut quote = None;
    let end = xml.iter().position(|&byte| {
        if let Some(open) = quote {
            quote = quote.filter(|_| byte != open);
            return false;
        }
        quote = Some(byte).filter(|byte| matches!(byte, b'"' | b'\''));
        byte == b'>'
    })?;
    xml.get(..=end)
}

/// Marks the field of the tag at `begin`, whose name has `length` bytes with the `<`. `w:dirty="false"` is replaced: the attribute
/// may not stand twice.
fn mark((tag, begin): (&[u8], usize), length: usize, w: &str) -> Edit {
    match attribute(tag, "dirty") {
        Some(found) => (begin + found.value.start..begin + found.value.end, "true".to_owned()),
        None => (begin + length..begin + length, format!(" {w}dirty=\"true\"")),
    }
}

/// The marks of stale fields, in ascending order.
fn stale(xml: &[u8], w: &str, is_stale: impl Fn(&str) -> bool) -> Vec<Edit> {
    let [field, simple, code] = ["fldChar", "fldSimple", "instrText"].map(|name| format!("<{w}{name}"));
    let mut tags: Vec<usize> = [&field, &simple, &code]
        .into_iter()
        .flat_map(|name| memmem::find_iter(xml, name.as_bytes()))
        .collect();
    tags.sort_unstable();
    let mut marks = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for begin in tags {
        let Some(rest) = xml.get(begin..) else { continue };
        let Some(tag) = start_tag(rest) else { continue };
        let is_set = |name: &str| is_on(&value_in(tag, name));
        let may_be_marked = || !is_set("dirty") && !is_set("fldLock");
        if tag.starts_with(simple.as_bytes()) {
            let is_inner = open.iter().any(|field| field.is_marked);
            if !is_inner && is_stale(&value_in(tag, "instr")) && may_be_marked() {
                marks.push(mark((tag, begin), simple.len(), w));
            }
        } else if tag.starts_with(code.as_bytes()) {
            if let Some(field) = open.last_mut().filter(|field| field.is_in_code) {
                let text = rest.get(tag.len()..).unwrap_or_default();
                let text = text.get(..memchr(b'<', text).unwrap_or_default()).unwrap_or_default();
                field.code.push_str(&String::from_utf8_lossy(text));
            }
        } else {
            match value_in(tag, "fldCharType").as_str() {
                "begin" => {
                    let mark = may_be_marked().then(|| mark((tag, begin), field.len(), w));
                    // One that is marked already is refreshed with all that is in it.
                    open.push(Open {
                        mark,
                        code: String::new(),
                        is_in_code: true,
                        is_marked: is_set("dirty"),
                    });
                }
                kind @ ("separate" | "end") => {
                    let [around @ .., last] = open.as_mut_slice() else { continue };
                    if last.is_in_code {
                        last.is_in_code = false;
                        let is_inner = around.iter().any(|field| field.is_marked);
                        let is_meant = !is_inner && is_stale(&last.code);
                        if let Some(mark) = last.mark.take().filter(|_| is_meant) {
                            last.is_marked = true;
                            marks.push(mark);
                        }
                    }
                    if kind == "end" {
                        open.pop();
                    }
                }
                _ => {}
            }
        }
    }
    marks.sort_unstable_by_key(|(range, _)| range.start);
    marks
}

#[cfg(test)]
mod tests {
    use super::marked;

    fn field(more: &str, code: &str, result: &str) -> String {
        let mut pieces = String::new();
        for piece in code.split('|') {
            pieces.extend(["<w:instrText>", piece, "</w:instrText>"]);
        }
        format!(
            "<w:fldChar w:fldCharType=\"begin\"{more}/>{pieces}<w:fldChar w:fldCharType=\"separate\"/>{result}<w:fldChar w:fldCharType=\"end\"/>"
        )
    }

    fn said(xml: &str, repeats: bool) -> String {
        String::from_utf8(marked(xml.as_bytes().to_vec(), "w:", repeats)).expect("UTF-8")
    }

    #[test]
    fn what_says_pages_is_marked_once() {
        for code in [" TOC \\o \"1-3\" ", "toc \\h \\z \\c \"Figure\"", "IN|DEX \\c 2", " PAGEREF _Toc1 \\h "]
        {
            let xml = said(&field("", code, "old"), false);
            assert_eq!(
                xml.matches("<w:fldChar w:dirty=\"true\" w:fldCharType=\"begin\"/>").count(),
                1,
                "{xml}"
            );
        }
        let contents = field("", "TOC", &field("", "PAGEREF a", "1"));
        assert_eq!(said(&contents, true).matches("dirty").count(), 1);
        let simple = "<w:fldSimple w:instr=\" PAGEREF a \"><w:r/></w:fldSimple>";
        assert!(said(simple, false).starts_with("<w:fldSimple w:dirty=\"true\" w:instr="));
    }

    #[test]
    fn a_mark_that_says_no_is_replaced() {
        for no in ["false", "0", "off", ""] {
            let more = format!(" w:dirty=\"{no}\"");
            let xml = said(&field(&more, "TOC", ""), false);
            assert_eq!(xml, field(" w:dirty=\"true\"", "TOC", ""));
            let simple = format!("<w:fldSimple w:instr=\"PAGEREF a\"{more}><w:r/></w:fldSimple>");
            assert_eq!(
                said(&simple, false),
                "<w:fldSimple w:instr=\"PAGEREF a\" w:dirty=\"true\"><w:r/></w:fldSimple>"
            );
        }
        let compared = "<w:fldSimple w:instr=\"TOC > \" w:dirty='0'/>";
        assert_eq!(said(compared, false), "<w:fldSimple w:instr=\"TOC > \" w:dirty='true'/>");
        let first = "<w:fldChar w:dirty=\"false\" w:fldCharType=\"begin\"/><w:instrText>INDEX</w:instrText><w:fldChar w:fldCharType=\"end\"/>";
        assert_eq!(said(first, false), first.replace("false", "true"));
    }

    #[test]
    fn others_stay_as_they_are() {
        for code in ["PAGE", "HYPERLINK \\l \"a\"", "NUMPAGES", "DATE", "TOCX", ""] {
            let xml = field("", code, "1");
            assert_eq!(said(&xml, true), xml);
        }
        for more in [" w:dirty=\"1\"", " w:fldLock=\"true\""] {
            let xml = field(more, "TOC", &field("", "x", "1"));
            assert_eq!(said(&xml, true), xml);
        }
        let reference = field("", "REF a", "1") + "<w:fldSimple w:instr=\"SEQ Figure\"/>";
        assert_eq!(said(&reference, false), reference);
        assert_eq!(said(&reference, true).matches("dirty").count(), 2);
        for broken in
            ["<w:fldChar", "<w:fldChar w:fldCharType=\"end\"/>", "<w:instrText>TOC", "<w:fldSimple/>"]
        {
            assert_eq!(said(broken, true), broken);
        }
    }
}
