//! Tags that give more than a text.

use crate::support::{docx, entries, fault, fill, p, paragraphs, part, table, try_fill};

const RELATIONS: &str = "word/_rels/document.xml.rels";

#[test]
fn a_link_stands_between_runs_and_leads_out_of_the_document() {
    let filled = try_fill(
        docx(&p("See {:link name url}, please")),
        r#"{"name":"A & B","url":"https://a.example/?x=1&y=2"}"#,
        "{}",
    )
    .expect("a link");
    let document = part(&filled.file, "word/document.xml");
    assert_eq!(paragraphs(&document), ["See A & B, please"]);
    assert!(document.contains("<w:hyperlink xmlns:r="), "{document}");
    let relations = part(&filled.file, RELATIONS);
    assert!(
        relations.contains("Target=\"https://a.example/?x=1&amp;y=2\" TargetMode=\"External\""),
        "{relations}"
    );
}

#[test]
fn a_link_leads_to_no_script_and_no_file() {
    for address in ["javascript:alert(1)", "file:///etc/passwd", "", "vbscript:x"] {
        let data = format!("{{\"url\":\"{address}\"}}");
        let message = fault(&p("{:link \"x\" url}"), &data, "{}");
        assert!(message.contains("paragraph 1, {:link \"x\" url}: "), "{message}");
    }
}

#[test]
fn the_same_address_is_one_relationship() {
    let filled =
        try_fill(docx(&p("{#a}{:link . \"https://a.example\"} {/a}")), r#"{"a":["x","y","z"]}"#, "{}")
            .expect("links");
    assert_eq!(part(&filled.file, RELATIONS).matches("hyperlink").count(), 1);
}

#[test]
fn a_page_breaks_where_the_tag_stands() {
    assert!(
        fill(&p("a{:pagebreak}b"), "{}")
            .contains("a</w:t><w:br w:type=\"page\"/><w:t xml:space=\"preserve\">b")
    );
}

#[test]
fn xml_takes_the_place_of_its_paragraph() {
    let data = r#"{"x":"<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>","y":"<w:p><w:r><w:t>new</w:t></w:r></w:p>"}"#;
    let filled = fill(&format!("{}{}{}", p("{@x}"), p("{@y}"), p("end")), data);
    assert_eq!(paragraphs(&filled), ["", "new", "end"], "{filled}");
    assert_eq!(filled.matches("<w:tbl>").count(), 1);
    let beside = fill(&p("before {@y} after"), data);
    assert_eq!(paragraphs(&beside), ["before ", "new", " after"], "{beside}");
    let nothing = fill(&format!("{}{}", p("{@z}"), p("end")), data);
    assert_eq!(paragraphs(&nothing), ["end"], "{nothing}");
}

#[test]
fn a_paragraph_stands_behind_a_table_where_there_is_no_other() {
    let data = r#"{"x":"<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"}"#;
    let (tag, text) = (p("{@x}"), p("text"));
    assert!(fill(&format!("{tag}{text}"), data).contains("</w:tbl><w:p><w:r><w:t>text"));
    for body in [format!("{tag}{}", table(&[&["text"]])), format!("{tag}{tag}"), table(&[&["{@x}"]])] {
        let filled = fill(&body, data);
        assert!(!filled.contains("</w:tbl><w:tbl>") && !filled.contains("</w:tbl></w:tc>"), "{filled}");
    }
    // None of the two is the other's.
    let cell = format!("<w:tbl><w:tr><w:tc><w:tcPr/>{}{}</w:tc></w:tr></w:tbl>", p("{@a}"), p("{@b}"));
    assert!(fill(&cell, "{}").contains("</w:p></w:tc>"), "{}", fill(&cell, "{}"));
}

#[test]
fn xml_that_is_none_or_refers_to_something_is_refused() {
    for (xml, why) in [
        ("<w:p>", "ends within"),
        ("text", "text outside"),
        ("<w:p r:id='rId1'/>", "refers to another part"),
        ("<x:p/>", "prefix x:"),
        ("<w:body/>", "cannot stand here"),
        ("<!DOCTYPE x><w:p/>", "declaration"),
        ("<w:p/></w:p>", "broken"),
    ] {
        let data = serde_json::json!({ "x": xml }).to_string();
        let message = fault(&p("{@x}"), &data, "{}");
        assert!(message.contains(why), "{xml}: {message}");
    }
}

#[test]
fn xml_may_be_a_piece_of_the_text_or_nothing() {
    let filled = fill(&p("a{@x}b"), r#"{"x":"<w:br w:type=\"page\"/>"}"#);
    assert!(filled.contains("a</w:t><w:br w:type=\"page\"/><w:t xml:space=\"preserve\">b"), "{filled}");
    assert_eq!(paragraphs(&fill(&[p("a"), p("{@x}"), p("b")].concat(), r#"{"x":false}"#)), ["a", "b"]);
}

#[test]
fn tables_of_xml_get_what_word_wants_of_them() {
    let tables = |xml: &str| {
        let filled = fill(&p("{@x}"), &serde_json::json!({ "x": xml }).to_string());
        let (from, to) =
            (filled.find("<w:tbl>").expect("a table"), filled.rfind("</w:tbl>").expect("its end"));
        filled[from..to].to_owned()
    };
    let cell = "<w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr></w:tc><w:tc><w:p/></w:tc>";
    let row = format!("<w:tr><w:trPr><w:gridBefore w:val=\"1\"/></w:trPr>{cell}</w:tr>");
    let whole_row = row.replace("</w:tcPr></w:tc>", "</w:tcPr><w:p/></w:tc>");
    let grid = format!("<w:tblGrid>{}</w:tblGrid>", "<w:gridCol/>".repeat(4));
    assert_eq!(
        tables(&format!("<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr>{row}</w:tbl>")),
        format!("<w:tbl><w:tblPr/>{grid}<w:tr><w:tc><w:p/></w:tc></w:tr>{whole_row}")
    );
    assert_eq!(
        tables(&format!("<w:tbl><w:tblPr><w:jc w:val=\"end\"/></w:tblPr>{row}</w:tbl>")),
        format!("<w:tbl><w:tblPr><w:jc w:val=\"end\"/></w:tblPr>{grid}{whole_row}")
    );
    let inner = "<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>";
    let outer = |end: &str| {
        format!("<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>{inner}{end}</w:tc></w:tr>")
    };
    assert_eq!(tables(&(outer("") + "</w:tbl>")), outer("<w:p/>"));
}

#[test]
fn what_stands_between_paragraphs_leaves_no_empty_halves() {
    let mark =
        |name: &str| format!("<w:bookmarkStart w:id=\"9\" w:name=\"{name}\"/><w:bookmarkEnd w:id=\"9\"/>");
    let noise =
        "<w:proofErr w:type=\"gramStart\"/><w:r><w:rPr><w:b/></w:rPr><w:lastRenderedPageBreak/></w:r>";
    let body = format!(
        "<w:p>{noise}{}<w:r><w:t>{{@x}}</w:t></w:r>{}{noise}</w:p>{}",
        mark("one"),
        mark("other"),
        p("end")
    );
    let filled = fill(&body, r#"{"x":"<w:p><w:r><w:t>new</w:t></w:r></w:p>"}"#);
    assert_eq!(paragraphs(&filled), ["new", "end"]);
    assert!(filled.contains(&format!("{}<w:p><w:r><w:t>new", mark("one"))), "{filled}");
    assert!(filled.contains(&format!("</w:p>{}<w:p>", mark("other"))), "{filled}");
}

#[test]
fn values_may_say_themselves_what_they_are() {
    let data = r#"{"l":{"_type":"link","text":"t","target":"https://a.example"},"x":{"_type":"rawXml","xml":"<w:p/>"},"t":{"_type":"text","text":"5"}}"#;
    let filled = fill(&p("{l} {t}"), data);
    assert!(filled.contains("w:hyperlink"));
    assert_eq!(paragraphs(&filled), ["t 5"]);
    assert_eq!(paragraphs(&fill(&p("{x}"), data)), [""]);
}

#[test]
fn a_section_break_stays_at_the_end_of_its_paragraph() {
    let body = "<w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>{@x}</w:t></w:r></w:p>";
    let filled = fill(body, r#"{"x":"<w:p><w:r><w:t>new</w:t></w:r></w:p>"}"#);
    let (new, section) = (filled.find("new"), filled.find("<w:sectPr/>"));
    assert!(new < section && section.is_some(), "{filled}");
}

#[test]
fn nothing_is_added_where_nothing_is_needed() {
    let filled = try_fill(docx(&p("{a}")), r#"{"a":1}"#, "{}").expect("a text");
    assert!(
        entries(&filled.file)
            .iter()
            .all(|(name, content)| name != RELATIONS || content.ends_with(b"\"></Relationships>"))
    );
}
