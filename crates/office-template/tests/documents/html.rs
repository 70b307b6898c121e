//! Rich text in the places of its tags.

use serde_json::json;

use crate::support::{docx, entries, fault, p, paragraphs, part, table, try_fill};

const RICH: &str = "<h2>Terms</h2><p>Pay <b>soon</b>, see <a href=\"https://a.example\">here</a>.</p>\
    <ul><li>one</li><li>two<ol><li>inner</li></ol></li></ul><table><tr><td>a</td><td>b</td></tr></table>";

fn filled(body: &str, html: &str) -> Vec<u8> {
    try_fill(docx(body), &json!({ "x": html }).to_string(), "{}").expect("rich text").file
}

#[test]
fn rich_text_stands_in_the_place_of_its_paragraph() {
    let file = filled(&format!("{}{}", p("{~x}"), p("end")), RICH);
    let document = part(&file, "word/document.xml");
    assert_eq!(
        paragraphs(&document),
        ["Terms", "Pay soon, see here.", "one", "two", "inner", "a", "b", "end"],
        "{document}"
    );
    assert_eq!(document.matches("<w:tbl>").count(), 1);
    let styles = part(&file, "word/styles1.xml");
    assert!(styles.contains("w:val=\"heading 2\"") && styles.contains("w:val=\"Hyperlink\""), "{styles}");
    let numbering = part(&file, "word/numbering1.xml");
    assert!(numbering.contains("<w:abstractNum ") && numbering.contains("<w:num "), "{numbering}");
    let relations = part(&file, "word/_rels/document.xml.rels");
    for kind in ["styles", "numbering", "hyperlink"] {
        assert!(relations.contains(&format!("relationships/{kind}\"")), "{relations}");
    }
    let types = part(&file, "[Content_Types].xml");
    assert!(types.contains("/word/styles1.xml") && types.contains("/word/numbering1.xml"), "{types}");
}

#[test]
fn rich_text_of_one_line_stands_in_its_paragraph() {
    let file = filled(&p("before {~x} after"), "a <i>b</i>");
    assert_eq!(paragraphs(&part(&file, "word/document.xml")), ["before a b after"]);
    assert!(entries(&file).iter().all(|(name, _)| !name.contains("numbering")));
}

#[test]
fn rich_text_in_a_cell_leaves_a_paragraph_at_its_end() {
    let document =
        part(&filled(&table(&[&["{~x}", "y"]]), "<table><tr><td>a</td></tr></table>"), "word/document.xml");
    assert!(document.contains("</w:tbl><w:p"), "{document}");
    let empty = part(&filled(&table(&[&["{~x}", "y"]]), ""), "word/document.xml");
    assert!(empty.contains("<w:tcPr/><w:p"), "{empty}");
}

#[test]
fn rich_text_keeps_the_style_of_its_tag() {
    let body = "<w:p><w:pPr><w:jc w:val=\"center\"/></w:pPr><w:r><w:rPr><w:color w:val=\"FF0000\"/></w:rPr><w:t>{~x}</w:t></w:r></w:p>";
    let document = part(&filled(body, "<p>one</p><p>two</p>"), "word/document.xml");
    assert_eq!(document.matches("w:val=\"center\"").count(), 2, "{document}");
    assert_eq!(document.matches("w:val=\"FF0000\"").count(), 2, "{document}");
}

#[test]
fn pictures_in_rich_text_are_those_of_the_document() {
    let red = crate::pictures::RED;
    let html = format!(
        "<p><img src=\"data:image/png;base64,{red}\" alt=\"red\" width=\"40\"> <img src=\"gone.png\" alt=\"gone\"></p>"
    );
    let written = try_fill(docx(&p("{~x}")), &json!({ "x": html }).to_string(), "{}").expect("rich text");
    assert!(entries(&written.file).iter().any(|(name, _)| name == "word/media/image1.png"));
    let document = part(&written.file, "word/document.xml");
    assert!(
        document.contains("cx=\"381000\" cy=\"190500\"") && document.contains("descr=\"red\""),
        "{document}"
    );
    assert_eq!(paragraphs(&document), [" gone"]);
    assert!(written.warnings.iter().any(|warning| warning.contains("gone.png")), "{:?}", written.warnings);
}

#[test]
fn links_of_rich_text_lead_to_no_script() {
    let file = filled(&p("{~x}"), "<a href=\"javascript:alert(1)\">x</a>");
    assert!(!part(&file, "word/document.xml").contains("hyperlink"));
}

#[test]
fn rich_text_that_is_no_text_is_a_fault() {
    let message = fault(&p("{~x}"), r#"{"x":{"a":1}}"#, "{}");
    assert!(message.contains("an object has no text"), "{message}");
}
