//! How much documents that are taken in may be: circles, depths, bombs, and many copies.

use office_template::Error;

use crate::effort::{assert_linear, in_a_moment};
use crate::includes::{fault, packed, text, try_with, with};
use crate::support::{DOCUMENT, docx, limits, p, paragraphs, part};

#[test]
fn one_that_takes_in_itself_is_a_fault() {
    let files =
        [("a.docx", docx(&p("{:include \"b.docx\"}"))), ("b.docx", docx(&p("{:include \"a.docx\"}")))];
    let message = fault(&p("{:include \"a.docx\"}"), "{}", &files);
    assert!(
        message.contains(
            "b.docx, paragraph 1, {:include \"a.docx\"}: a.docx takes in b.docx takes in a.docx again"
        ),
        "{message}"
    );
}

#[test]
fn documents_go_no_deeper_than_a_limit() {
    const NAMES: [&str; 13] = [
        "0.docx", "1.docx", "2.docx", "3.docx", "4.docx", "5.docx", "6.docx", "7.docx", "8.docx", "9.docx",
        "10.docx", "11.docx", "12.docx",
    ];
    let file = |index: usize| docx(&p(&format!("{{:include \"{}.docx\"}}", index + 1)));
    let files: Vec<(&'static str, Vec<u8>)> =
        NAMES.iter().enumerate().map(|(index, &name)| (name, file(index))).collect();
    assert!(fault(&p("{:include \"0.docx\"}"), "{}", &files).contains("no deeper than 10"));
}

#[test]
fn doubling_documents_are_counted_by_their_tags() {
    const NAMES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let include = |index: usize| p(&format!("{{:include \"{index}\"}}")).repeat(8);
    let mut files: Vec<(&'static str, Vec<u8>)> =
        NAMES.iter().enumerate().map(|(index, &name)| (name, docx(&include(index + 1)))).collect();
    files[9].1 = docx(&p("{x}"));
    let message = fault(&include(0), "{}", &files);
    assert!(message.contains("test.tags"), "{message}");
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let bomb = packed(&p("x"), "", &[("word/bomb.xml", &vec![b' '; 30 << 20])]);
    for tag in ["{:include \"bomb.docx\"}", "{:include bomb}"] {
        let error =
            try_with(docx(&p(tag)), r#"{"bomb":"bomb.docx"}"#, &[("bomb.docx", bomb.clone())], &limits());
        let Err(Error::Limit(message)) = error else { panic!("{tag}: it is taken in") };
        assert!(message.starts_with("bomb.docx: ") && message.contains("test.ratio"), "{message}");
    }
}

#[test]
fn what_all_documents_unpack_to_is_limited_together() {
    let large = docx(&p(&"x".repeat(100_000)));
    let mut limits = limits();
    limits.unpacked_bytes.value = 250_000;
    let body = |count: usize| {
        let names = ["a", "b", "c"];
        docx(&names[..count].iter().map(|name| p(&format!("{{:include \"{name}\"}}"))).collect::<String>())
    };
    let files = [("a", large.clone()), ("b", large.clone()), ("c", large)];
    assert!(try_with(body(2), "{}", &files, &limits).is_ok());
    let error = try_with(body(3), "{}", &files, &limits);
    assert!(matches!(error, Err(Error::Limit(message)) if message.contains("test.unpacked")));
}

#[test]
fn sections_of_documents_are_counted_together() {
    let nest =
        |depth: usize, inner: &str| p(&format!("{}{inner}{}", "{#a}".repeat(depth), "{/}".repeat(depth)));
    let files = [("a", docx(&nest(30, "x")))];
    assert!(fault(&nest(20, "{:include \"a\"}"), "{}", &files).contains("sections go no deeper than 50"));
    assert_eq!(text(&nest(19, "{:include \"a\"}"), r#"{"a":{"a":true}}"#, &files), ["x"]);
}

#[test]
fn many_copies_take_as_long_as_they_are_many() {
    assert_linear(250, |copies| {
        let data = serde_json::json!({ "l": vec![0; copies] }).to_string();
        let filled = with(&p("{#l}{:include \"a\"}{/l}"), &data, &[("a", docx(&p("x {.}")))]);
        assert_eq!(paragraphs(&part(&filled.file, DOCUMENT)).len(), copies);
    });
}

#[test]
fn what_a_document_refers_to_is_read_once() {
    let links: String = (0..20_000)
        .map(|at| format!("<Relationship Id=\"rId{at}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink\" Target=\"https://a.example/{at}\" TargetMode=\"External\"/>"))
        .collect();
    let linked = "<w:p><w:hyperlink r:id=\"rId19999\"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>";
    let styled = "<w:p><w:pPr><w:pStyle w:val=\"Missing\"/></w:pPr></w:p>";
    let body = [linked, styled, &p("{:link \"y\" \"https://b.example\"}")].concat();
    let mut limits = limits();
    limits.ratio.value = 100_000;
    let data = serde_json::json!({ "l": (0..500).collect::<Vec<u32>>() }).to_string();
    let file = docx(&[p("{#l}"), p("{:include \"a\"}"), p("{/l}")].concat());
    let parts = [("a", packed(&body, &links, &[]))];
    let filled = in_a_moment("500 copies", || try_with(file, &data, &parts, &limits)).expect("filled");
    assert_eq!(part(&filled.file, DOCUMENT).matches("<w:hyperlink").count(), 1000);
    assert_eq!(part(&filled.file, "word/_rels/document.xml.rels").matches("/hyperlink\"").count(), 2);
}
