//! Small documents, written here part by part.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};

use document_fonts::{asked, missing, warning};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const THEME: &str = "<a:theme><a:fontScheme><a:majorFont><a:latin typeface=\"Head Theme\"/><a:ea typeface=\"\"/></a:majorFont>\
    <a:minorFont><a:latin typeface=\"Text Theme\"/></a:minorFont></a:fontScheme></a:theme>";

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(part.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn names(document: &[u8]) -> Vec<String> {
    asked(document, 1 << 20).into_iter().collect()
}

#[test]
fn a_word_file_asks_for_what_its_text_is_in() {
    let styles = "<w:styles><w:docDefaults><w:rFonts w:asciiTheme=\"minorHAnsi\" w:eastAsia=\"East\"/></w:docDefaults>\
        <w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"/>\
        <w:style w:type=\"paragraph\" w:styleId=\"Heading\"><w:basedOn w:val=\"Base\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Base\"><w:basedOn w:val=\"Heading\"/><w:rFonts w:asciiTheme=\"majorHAnsi\"/></w:style>\
        <w:style w:type=\"paragraph\" w:styleId=\"Unused\"><w:rFonts w:ascii=\"Unused\"/></w:style></w:styles>";
    let body = "<w:document><w:p><w:pPr><w:pStyle w:val=\"Heading\"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>\
        <w:p><w:r><w:rPr><w:rFonts w:ascii=\"A &amp; B\" w:hAnsi=\"A\"/></w:rPr><w:t>run</w:t></w:r>\
        <w:r><w:rPr><w:rFonts w:ascii=\"Empty\"/></w:rPr><w:t> </w:t></w:r></w:p>";
    let parts =
        |body| [("word/document.xml", body), ("word/styles.xml", styles), ("word/theme/theme1.xml", THEME)];
    let whole = format!("{body}</w:document>");
    assert_eq!(names(&package(&parts(&whole))), ["A & B", "Head Theme"]);
    let plain = format!("{body}<w:p><w:r><w:t>日本</w:t></w:r></w:p></w:document>");
    assert_eq!(names(&package(&parts(&plain))), ["A & B", "East", "Head Theme", "Text Theme"]);
    let embedded = "<w:fonts><w:font w:name=\"A &amp; B\"><w:embedRegular/></w:font></w:fonts>";
    let body = format!("{body}</w:document>");
    let [document, styles, theme] = parts(&body);
    assert_eq!(names(&package(&[document, styles, theme, ("word/fontTable.xml", embedded)])), ["Head Theme"]);
}

#[test]
fn a_workbook_asks_for_the_fonts_of_its_formats() {
    let styles = "<styleSheet><fonts><font><name val=\"Calibri\"/></font><font><name val=\"Unused\"/></font><font><name val=\"Gotham\"/></font>\
        </fonts><cellStyleXfs><xf fontId=\"1\"/></cellStyleXfs><cellXfs><xf fontId=\"0\"/><xf fontId=\"2\"/></cellXfs></styleSheet>";
    let strings = "<sst><si><r><rPr><rFont val=\"Rich\"/></rPr><t>x</t></r></si></sst>";
    let document = package(&[("xl/styles.xml", styles), ("xl/sharedStrings.xml", strings)]);
    assert_eq!(names(&document), ["Calibri", "Gotham", "Rich"]);
}

#[test]
fn slides_ask_for_their_own_fonts_and_their_theme_s() {
    let document = package(&[
        ("ppt/slides/slide1.xml", "<p:sld><a:latin typeface=\"Own\"/><a:latin typeface=\"+mn-lt\"/></p:sld>"),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            "<Relationships><Relationship Target=\"../slideLayouts/slideLayout2.xml\"/></Relationships>",
        ),
        (
            "ppt/slideLayouts/_rels/slideLayout2.xml.rels",
            "<r><r Target=\"../slideMasters/slideMaster1.xml\"/></r>",
        ),
        ("ppt/slideMasters/slideMaster1.xml", "<p:sldMaster/>"),
        ("ppt/slideMasters/_rels/slideMaster1.xml.rels", "<r><r Target=\"../theme/theme3.xml\"/></r>"),
        ("ppt/theme/theme3.xml", THEME),
        ("ppt/theme/theme1.xml", "<a:majorFont><a:latin typeface=\"Other\"/></a:majorFont>"),
    ]);
    assert_eq!(names(&document), ["Head Theme", "Own", "Text Theme"]);
}

#[test]
fn what_is_no_document_or_damaged_asks_for_nothing_or_for_what_was_read() {
    assert!(names(b"no archive").is_empty());
    assert!(names(&package(&[("x", "y")])).is_empty());
    let cut =
        "<w:document><w:p><w:r><w:rPr><w:rFonts w:ascii=\"Seen\"/></w:rPr><w:t>a</w:t></w:r><w:p><w:r><";
    assert_eq!(names(&package(&[("word/document.xml", cut)])), ["Seen"]);
    assert!(asked(&package(&[("word/document.xml", cut)]), 10).is_empty());
}

#[test]
fn twins_of_the_same_measures_are_no_alarm() {
    let asked: BTreeSet<String> =
        ["Calibri", "ARIAL", "Cambria", "Gotham", "Symbol", "Dejavu Sans"].map(str::to_owned).into();
    let installed = |family: &str| ["carlito", "liberation sans", "dejavu sans"].contains(&family);
    let missed = missing(&asked, &installed);
    assert_eq!(missed, ["Cambria", "Gotham"]);
    let said = warning(&missed).unwrap();
    assert!(said.starts_with("the fonts 'Cambria', 'Gotham' are not installed: others"), "{said}");
    assert!(warning(&["A\nB"]).unwrap().starts_with("the font 'AB' is not"));
    assert_eq!(warning(&[]), None);
    assert!(warning(&["x"; 20]).unwrap().contains("'x' and 8 more are"));
}
