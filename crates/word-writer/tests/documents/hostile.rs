//! What nobody should write, and somebody does.

use std::fmt::Write as _;

use proptest::prelude::*;
use word_writer::{Base, Content, Error, Limits, html, write};

use super::support::{Docx, check, written, xml};

#[test]
fn a_million_elements_within_each_other_are_refused() {
    let text = "<div>".repeat(1_000_000);
    let limit = Limits::default().depth;
    assert_eq!(html::read(&text, &Limits::default()), Err(Error::Depth { limit }));
}

#[test]
fn links_tables_and_lists_within_each_other_are_bounded() {
    xml(&"<table><tr><td>x".repeat(60));
    xml(&"<ul><li>x".repeat(100));
    xml(&"<a href='https://a'>x".repeat(100));
    let many = "<font size=1><font size=2><p>".repeat(70);
    check_any(&many);
}

#[test]
fn more_elements_or_bytes_than_allowed_are_refused() {
    let limits = Limits { bytes: 100, elements: 10, ..Limits::default() };
    assert_eq!(html::read(&"a".repeat(101), &limits), Err(Error::Bytes { bytes: 101, limit: 100 }));
    assert_eq!(html::read(&"<b>a</b>".repeat(12), &limits), Err(Error::Elements { limit: 10 }));
}

#[test]
fn a_tag_of_a_hundred_thousand_attributes_costs_no_more_than_its_length() {
    let mut text = String::from("<p ");
    for number in 0..100_000 {
        let _ = write!(text, "a{number}=1 ");
    }
    text.push_str("style='color:red'>x</p>");
    assert!(xml(&text).contains("FF0000"));
}

#[test]
fn spans_beyond_all_sense_are_held_in_the_table() {
    let text = "<table><tr><td colspan=100000>a<td rowspan=99999>b</tr><tr><td colspan=2 rowspan=0>c<td>d</tr>\
                <tr><td>e<td rowspan=3 colspan=3>f</table>";
    xml(text);
    let wide = format!("<table><tr>{}</tr></table>", "<td>x".repeat(200));
    let (written, _) = written(&wide);
    assert!(
        written.warnings.iter().any(|one| one.contains("63 columns"))
            || xml(&wide).matches("<w:gridCol").count() == 63
    );
    assert_eq!(xml(&wide).matches(">x<").count(), 200);
}

#[test]
fn characters_that_xml_cannot_have_are_left_out() {
    let xml = xml("a\0b\u{1}c\u{b}d\u{FFFE}e&#0;f&#xD800;g&#x1F600;");
    assert!(xml.contains("abcde\u{FFFD}f\u{FFFD}g😀"), "{xml}");
}

fn check_any(text: &str) {
    let Ok(reading) = html::read(text, &Limits::default()) else { return };
    match write(&reading.document, &Base::default(), &mut Docx::default()).content {
        Content::Inline(xml) | Content::Blocks { xml, .. } => check(&xml),
    }
}

const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<a href='https://a'>",
    "</a>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<td colspan=3>",
    "<td rowspan=2>",
    "<th rowspan=0 colspan=70>",
    "<thead>",
    "<tbody>",
    "<tfoot>",
    "</tfoot>",
    "<caption>",
    "</caption>",
    "<col span=2>",
    "<ul>",
    "</ul>",
    "<ol start=4>",
    "</ol>",
    "<li>",
    "</li>",
    "<li value=3>",
    "<br>",
    "<hr>",
    "<pre>",
    "</pre>",
    "<q>",
    "<h1>",
    "</h1>",
    "<blockquote>",
    "</blockquote>",
    "<img src=x alt=y>",
    "<input type=checkbox>",
    "<svg>",
    "</svg>",
    "<template>",
    "</template>",
    "<select>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<!--",
    "-->",
    "<math>",
    "<![CDATA[",
    "]]>",
    "text ",
    " ",
    "\n",
    "&amp;",
    "&#0;",
    "שלום",
    "\u{ad}",
    "😀",
    "\t",
    "<p dir=rtl>",
    "<div style='page-break-after:always'>",
    "<span style='display:block;color:red;font-size:2em'>",
    "</span>",
    "<p style='mso-list:l0 level2 lfo1'>",
    "<font size=7 color=red>",
    "<details>",
    "<summary>",
    "<textarea>",
    "<form>",
    "<button>",
    "<frameset>",
    "<body style='color:red'>",
    "<html>",
    "</body>",
    "<plaintext>",
];

proptest! {
    #[test]
    fn any_tags_and_texts_become_well_formed(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        check_any(&pieces.concat());
    }

    #[test]
    fn any_text_becomes_well_formed(text in "\\PC{0,200}", raw in any::<String>()) {
        check_any(&text);
        check_any(&raw);
    }

    #[test]
    fn any_style_becomes_well_formed(style in "[a-z-]{0,20}:[ -~]{0,30}", value in any::<String>()) {
        check_any(&format!("<p style=\"{style}\">x<table style='{style}' border='{value}'><td width=\"{value}\" style='{style}'>y"));
    }
}
