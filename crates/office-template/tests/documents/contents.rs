//! `{:toc}`: a table of contents.

use crate::effort::assert_linear;
use crate::support::{docx, docx_with, fault, fill, p, paragraphs, part, table, try_fill};

const STYLES: &str = "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Standard\"><w:name w:val=\"Normal\"/></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"Kapitel\"><w:name w:val=\"Kapitel\"/><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"Unter\"><w:name w:val=\"Unter\"/><w:basedOn w:val=\"Kapitel\"/></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"Ring\"><w:name w:val=\"Ring\"/><w:basedOn w:val=\"Ring\"/></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"Verzeichnis2\"><w:name w:val=\"toc 2\"/></w:style>";

fn styled(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn with_styles(body: &str) -> Vec<u8> {
    docx_with(body, &[("styles.xml", "styles", "styles", STYLES)])
}

/// The document's text and its styles.
fn filled(body: &str, data: &str) -> (String, String) {
    let filled = try_fill(with_styles(body), data, "{}").unwrap_or_else(|error| panic!("{error}"));
    assert!(filled.warnings.is_empty(), "{:?}", filled.warnings);
    (part(&filled.file, "word/document.xml"), part(&filled.file, "word/styles.xml"))
}

#[test]
fn its_entries_are_the_headings_as_they_are_filled() {
    let body = [
        p("{:toc}"),
        styled("berschrift1", "{#parts}"),
        styled("berschrift1", "{n} &amp; more"),
        styled("Kapitel", "in {n}"),
        styled("berschrift1", "{/parts}"),
        styled("Unter", "below"),
        styled("Ring", "no heading"),
        p("nor this"),
    ];
    let (document, styles) = filled(&body.concat(), r#"{"parts":[{"n":"A"},{"n":"B"}]}"#);
    let texts = paragraphs(&document);
    let expected = ["\tA & more\t1", "\tin A\t1", "\tB & more\t1", "\tin B\t1", "\tbelow\t1", "A & more"];
    // The first tab of an entry is its tab stop.
    assert_eq!(texts[..6], expected, "{document}");
    assert!(document.contains(" TOC \\o \"1-3\" \\h \\z \\u "), "{document}");
    assert_eq!(document.matches("w:pStyle w:val=\"Verzeichnis2\"").count(), 3, "{document}");
    assert_eq!(document.matches("w:pStyle w:val=\"TOC1\"").count(), 2, "{document}");
    assert_eq!(styles.matches("w:styleId=\"TOC1\"").count(), 1, "{styles}");
    assert!(!styles.contains("TOC2") && !styles.contains("TOC3"), "{styles}");
    let kinds = ["begin", "separate", "end"];
    assert!(
        kinds.iter().all(|kind| document.matches(&format!("fldCharType=\"{kind}\"")).count() == 6),
        "{document}"
    );
    assert!(!document.contains("<?platen"), "{document}");
}

#[test]
fn an_entry_leads_to_a_bookmark_around_its_heading() {
    let taken =
        "<w:p><w:bookmarkStart w:id=\"7\" w:name=\"_Toc000000001\"/><w:bookmarkEnd w:id=\"7\"/></w:p>";
    let (document, _) = filled(&[taken, &p("{:toc}"), &styled("Kapitel", "one")].concat(), "{}");
    let heading = "<w:bookmarkStart w:id=\"8\" w:name=\"_Toc000000002\"/><w:r><w:t>one</w:t></w:r><w:bookmarkEnd w:id=\"8\"/></w:p>";
    assert!(document.contains(heading), "{document}");
    assert!(document.contains("<w:hyperlink w:anchor=\"_Toc000000002\""), "{document}");
    assert!(document.contains(" PAGEREF _Toc000000002 \\h "), "{document}");
}

#[test]
fn it_has_as_many_levels_as_are_asked_for() {
    let headings = [styled("berschrift1", "one"), styled("Kapitel", "two")].concat();
    let own = "<w:p><w:pPr><w:outlineLvl w:val=\"4\"/></w:pPr><w:r><w:t>five</w:t></w:r></w:p>";
    let is_listed = |tag: &str, text: &str| {
        filled(&[&p(tag), &headings, own].concat(), "{\"n\":5}").0.matches(text).count() > 1
    };
    assert!(is_listed("{:toc 1}", "one") && !is_listed("{:toc 1}", "two"));
    assert!(is_listed("{:toc}", "two") && !is_listed("{:toc}", "five"));
    assert!(is_listed("{:toc n}", "five"));
    for levels in ["0", "10", "\"many\""] {
        let message = fault(&p(&format!("{{:toc {levels}}}")), "{}", "{}");
        assert!(message.contains("1 to 9 levels"), "{message}");
    }
}

#[test]
fn headings_in_tables_count_and_those_in_text_boxes_do_not() {
    let tabbed = "<w:p><w:pPr><w:pStyle w:val=\"Kapitel\"/><w:tabs><w:tab w:val=\"left\" w:pos=\"9\"/></w:tabs></w:pPr>\
                  <w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r></w:p>";
    let cell = table(&[&["x"]]).replace("<w:p>", "<w:p><w:pPr><w:pStyle w:val=\"Kapitel\"/></w:pPr>");
    let boxed = format!(
        "<w:p><w:r><w:pict><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></w:pict></w:r></w:p>",
        styled("Kapitel", "boxed")
    );
    let (document, _) =
        filled(&[&p("{:toc}"), tabbed, &cell, &boxed, &styled("Kapitel", " ")].concat(), "{}");
    assert_eq!(paragraphs(&document)[..3], ["\ta b\t1", "\tx\t1", "\ta\tb"], "{document}");
}

#[test]
fn its_numbers_stand_at_the_end_of_the_sections_lines() {
    let section = "<w:p><w:pPr><w:sectPr><w:pgSz w:w=\"10000\" w:h=\"1\"/><w:pgMar w:left=\"1000\" w:right=\"500\"/></w:sectPr></w:pPr></w:p>";
    let (document, _) = filled(&[&p("{:toc}"), section, &styled("Kapitel", "one")].concat(), "{}");
    assert!(document.contains("<w:tab w:val=\"right\" w:leader=\"dot\" w:pos=\"8500\"/>"), "{document}");
}

#[test]
fn without_headings_it_is_empty_and_says_so() {
    let filled = try_fill(docx(&[p("{:toc}"), p("text")].concat()), "{}", "{}").expect("it is filled");
    assert!(filled.warnings.iter().any(|warning| warning.contains("no headings")), "{:?}", filled.warnings);
    let document = part(&filled.file, "word/document.xml");
    assert_eq!(paragraphs(&document), ["", "text"], "{document}");
    assert_eq!(document.matches("w:fldChar ").count(), 3, "{document}");
}

#[test]
fn styles_are_added_where_there_are_none() {
    let heading = "<w:p><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr><w:r><w:t>one</w:t></w:r></w:p>";
    let filled = try_fill(docx(&[&p("{:toc}"), heading].concat()), "{}", "{}").expect("it is filled");
    assert!(part(&filled.file, "word/styles1.xml").contains("<w:name w:val=\"toc 1\"/>"));
    assert!(part(&filled.file, "[Content_Types].xml").contains("/word/styles1.xml"));
    assert!(part(&filled.file, "word/_rels/document.xml.rels").contains("Target=\"styles1.xml\""));
}

#[test]
fn it_stands_in_the_document_itself() {
    let header = p("{:toc}");
    let file = docx_with(&p("text"), &[("header1.xml", "header", "hdr", &header)]);
    let message = try_fill(file, "{}", "{}").expect_err("a header has none").to_string();
    assert!(
        message.contains(
            "word/header1.xml, paragraph 1, {:toc}: a table of contents stands in the document itself"
        ),
        "{message}"
    );
}

#[test]
fn a_long_one_takes_as_long_as_it_is() {
    let body = [p("{:toc}"), styled("Kapitel", "{#l}"), styled("Kapitel", "{.}"), styled("Kapitel", "{/l}")]
        .concat();
    assert_linear(1_250, |headings| {
        let list: Vec<usize> = (0..headings).collect();
        let (document, _) = filled(&body, &serde_json::json!({ "l": list }).to_string());
        assert_eq!(document.matches("PAGEREF").count(), headings);
    });
    let many = fill(&p("{:toc}").repeat(50), "{}");
    assert_eq!(many.matches(" TOC ").count(), 50);
}
