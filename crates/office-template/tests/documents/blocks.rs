//! What stands between paragraphs, and what ends runs and paragraphs for it.

use serde_json::json;

use crate::effort::assert_linear;
use crate::support::{DOCUMENT, docx, docx_with, fill, p, paragraphs, part, try_fill, well_formed};

const SECTION: &str = "<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/></w:sectPr>";

fn in_section(runs: &str) -> String {
    format!("<w:p><w:pPr>{SECTION}</w:pPr>{runs}</w:p>")
}

fn run(text: &str) -> String {
    format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

#[test]
fn a_paragraph_that_ends_a_section_ends_it_once() {
    let data = json!({ "h": "<p>a</p><p>b</p>", "l": [1, 2] }).to_string();
    let text_box = "<w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r>";
    for runs in [
        run("{~h}"),
        run("before {~h} after"),
        run("{~h}{~h}"),
        run("{#l}{~h}{/l}"),
        format!("{text_box}{}", run("{~h} tail")),
    ] {
        let filled = fill(&in_section(&runs), &data);
        assert_eq!(filled.matches("<w:sectPr>").count(), 1, "{filled}");
        let (section, text) = (filled.find("<w:sectPr>"), filled.rfind(">b<"));
        assert!(text < section, "the section ends behind the text: {filled}");
    }
}

#[test]
fn what_stands_before_a_tag_in_its_text_does_not_break_its_answer() {
    let data = json!({ "d": "Street 1\nTown\tX" }).to_string();
    for paragraph in [
        p("{:color \"red\"}a {d}"),
        p("{:color \"red\"}{d}"),
        p("{:color \"red\"}{:pagebreak}x"),
        "<w:p><w:r><w:t>x<!-- a > b -->{d}</w:t></w:r></w:p>".to_owned(),
    ] {
        let file = try_fill(docx(&paragraph), &data, "{}").expect("it is filled").file;
        well_formed(DOCUMENT, part(&file, DOCUMENT).as_bytes());
    }
}

#[test]
fn numbers_of_changes_stand_once_where_a_tag_divides_them() {
    let data = json!({ "h": "<p>x</p><p>y</p>" }).to_string();
    let inserted = "<w:ins w:id=\"5\" w:author=\"A\">";
    let around = format!("<w:p>{inserted}{}</w:ins></w:p>", run("a {:link \"x\" \"https://a.example\"} b"));
    let mark = format!(
        "<w:p><w:pPr><w:rPr><w:ins w:id=\"7\" w:author=\"A\"/></w:rPr></w:pPr>{}</w:p>",
        run("a {~h} b")
    );
    for body in [around, mark] {
        let filled = fill(&body, &data);
        let mut numbers: Vec<&str> =
            filled.split("<w:ins w:id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "{filled}");
    }
}

#[test]
fn a_fault_in_a_header_names_the_tag_of_the_header() {
    let field = "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>HYPERLINK \"{u}\"</w:instrText></w:r>\
         <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>x</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>";
    let file = docx_with(&p("body {ok} body {ok}"), &[("header1.xml", "header", "hdr", field)]);
    let data = json!({ "ok": 1, "u": "javascript:alert(1)" }).to_string();
    let message = try_fill(file, &data, "{}").expect_err("no address").to_string();
    assert!(message.starts_with("word/header1.xml") && message.contains("{u}"), "{message}");
}

#[test]
fn many_blocks_take_as_long_as_they_are_many() {
    assert_linear(10_000, |blocks| {
        let data = json!({ "l": vec![1; blocks], "x": "<w:p/>" }).to_string();
        let filled = fill(&[p("{#l}"), p("{@x}"), p("{/l}")].concat(), &data);
        assert_eq!(paragraphs(&filled).len(), blocks);
    });
}

#[test]
fn a_control_of_plain_text_is_none_when_more_is_put_in() {
    let control = |tag: &str| {
        format!(
            "<w:sdt><w:sdtPr><w:alias w:val=\"x\"/><w:text/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>",
            p(tag)
        )
    };
    let data = json!({ "h": "<p>a</p><table><tr><td>b</td></tr></table>" }).to_string();
    assert!(!fill(&control("{~h}"), &data).contains("<w:text/>"));
    assert!(fill(&control("{h}"), &data).contains("<w:text/>"));
}
