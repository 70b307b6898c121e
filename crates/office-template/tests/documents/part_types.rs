//! The content types of parts, given by name or by extension, and the ways in which a package refers to its main part.

use office_template::{NoFiles, Template};

use crate::support::{DOCUMENT, docx, docx_with, entries, limits, p, paragraphs, part, try_fill, zipped};
use crate::workbooks::one_cell;
use crate::{includes, slides};

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";
const EXCEL: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const SLIDES: &str = "application/vnd.openxmlformats-officedocument.presentationml";

/// `file` with texts of its parts replaced, and with parts under other names.
fn with(file: &[u8], texts: &[(&str, &str)], names: &[(&str, &str)]) -> Vec<u8> {
    let files = entries(file).into_iter().map(|(name, content)| {
        let text = String::from_utf8(content).expect("a text");
        let text = texts.iter().fold(text, |text, (from, to)| text.replace(from, to));
        let other = names.iter().find(|(from, _)| *from == name);
        (other.map_or(name, |(_, to)| (*to).to_owned()), text)
    });
    let files: Vec<(String, String)> = files.collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    zipped(&files)
}

/// The line of the list for a part of this name.
fn named(name: &str, kind: &str) -> String {
    format!("<Override PartName=\"/{name}\" ContentType=\"{kind}+xml\"/>")
}

/// The line of the list for an extension.
fn default(extension: &str, kind: &str) -> String {
    format!("<Default Extension=\"{extension}\" ContentType=\"{kind}+xml\"/>")
}

const XML: &str = "<Default Extension=\"xml\" ContentType=\"application/xml\"/>";
const TARGET: &str = "Target=\"word/document.xml\"";

/// The paragraphs of a document's main part, which is filled with a name.
fn said(file: Vec<u8>, name: &str) -> Vec<String> {
    let filled = try_fill(file, r#"{"name":"Zed"}"#, "{}").unwrap_or_else(|error| panic!("{name}: {error}"));
    paragraphs(&part(&filled.file, name))
}

#[test]
fn the_main_part_is_the_one_that_the_package_refers_to() {
    let file = docx(&p("Hi {name}"));
    let main = format!("{WORD}.document.main");
    let (own, of_all) = (named(DOCUMENT, &main), default("xml", &main));
    let (own, of_all) = (own.as_str(), of_all.as_str());
    for (what, texts) in [
        ("its type is that of its extension", vec![(own, ""), (XML, of_all)]),
        ("it is written with a capital", vec![(own, ""), (XML, of_all), ("\"xml\"", "\"XML\"")]),
        ("an absolute target", vec![(TARGET, "Target=\"/word/document.xml\"")]),
        ("a target with dots", vec![(TARGET, "Target=\"./word/../word/document.xml\"")]),
        ("another spelling of the target", vec![(TARGET, "Target=\"Word/Document.XML\"")]),
        ("both", vec![(own, ""), (XML, of_all), (TARGET, "Target=\"/WORD/document.xml\"")]),
        ("a type with capitals and blanks", vec![("document.main+xml", "Document.Main+XML ")]),
        (
            "the strict form",
            vec![
                (
                    "schemas.openxmlformats.org/officeDocument/2006/relationships/",
                    "purl.oclc.org/ooxml/officeDocument/relationships/",
                ),
                (own, ""),
                (XML, of_all),
            ],
        ),
        ("no target that is there", vec![(TARGET, "Target=\"word/other.bin\"")]),
    ] {
        assert_eq!(said(with(&file, &texts, &[]), DOCUMENT), ["Hi Zed"], "{what}");
    }
    let upper = "word/DOCUMENT.XML";
    let texts = [(own, ""), (XML, of_all)];
    let names = [(DOCUMENT, upper), ("word/_rels/document.xml.rels", "word/_rels/DOCUMENT.XML.rels")];
    assert_eq!(said(with(&file, &texts, &names), upper), ["Hi Zed"], "its extension is in capitals");
}

#[test]
fn of_two_parts_with_the_type_of_main_parts_the_other_one_stays() {
    let main = format!("{WORD}.document.main");
    let file = docx_with(&p("Hi {name}"), &[("first.xml", "document.main", "document", &p("{name} {"))]);
    let (own, of_all) = (named(DOCUMENT, &main), default("xml", &main));
    let texts = [(own.as_str(), ""), (XML, of_all.as_str())];
    let filled = try_fill(with(&file, &texts, &[]), r#"{"name":"Zed"}"#, "{}").expect("it is filled");
    assert_eq!(paragraphs(&part(&filled.file, DOCUMENT)), ["Hi Zed"]);
    assert_eq!(paragraphs(&part(&filled.file, "word/first.xml")), ["{name} {"]);
}

#[test]
fn where_the_package_does_not_say_it_the_first_main_part_of_the_list_is_it() {
    let alone = docx(&p("Hi {name}"));
    let two = docx_with(&p("Hi {name}"), &[("a.xml", "document.main", "document", &p("{name} {"))]);
    for (what, texts, names) in [
        ("missing", vec![], vec![("_rels/.rels", "_rels/other.rels")]),
        ("of no main part", vec![(TARGET, "Target=\"word/styles.xml\"")], vec![]),
    ] {
        assert_eq!(said(with(&alone, &texts, &names), DOCUMENT), ["Hi Zed"], "{what}");
        let filled = try_fill(with(&two, &texts, &names), r#"{"name":"Zed"}"#, "{}");
        let filled = filled.unwrap_or_else(|error| panic!("{what}: {error}")).file;
        assert_eq!(paragraphs(&part(&filled, DOCUMENT)), ["Hi Zed"], "{what}");
        assert_eq!(paragraphs(&part(&filled, "word/a.xml")), ["{name} {"], "{what}");
    }
    // Its tags are read where the relationships are damaged. It is not filled: macros could not be found and left out.
    let target = "Target=\"xl/workbook.xml\"";
    for (file, target) in [(alone, TARGET), (two, TARGET), (one_cell("Hi {name}"), target)] {
        let file = with(&file, &[(target, "Target=\"x\"/></wrong><Relationship")], &[]);
        let told = Template::outline(file.clone(), None, &limits(), &mut NoFiles).expect("it is read");
        let tags: Vec<&str> = told.tags.iter().map(|tag| tag.shown.as_str()).collect();
        assert_eq!(tags, ["{name}"]);
        let why = try_fill(file, r#"{"name":"Zed"}"#, "{}").expect_err("it is damaged").to_string();
        assert!(why.contains("_rels/.rels is broken XML"), "{why}");
    }
}

#[test]
fn headers_and_notes_may_have_the_type_of_their_extension() {
    let note = format!("<w:footnote w:id=\"2\">{}</w:footnote>", p("Note for {name}"));
    let header = p("Header of {name}");
    let parts = [
        ("header1.xml", "header", "hdr", header.as_str()),
        ("header2.xml", "header", "hdr", header.as_str()),
        ("footnotes.xml", "footnotes", "footnotes", note.as_str()),
    ];
    let file = docx_with(&p("Hi {name}"), &parts);
    // As .NET's packages are: the type of the first part is that of the extension.
    let kind = format!("{WORD}.header");
    let of_headers = default("xml", &kind);
    let [first, second] = ["word/header1.xml", "word/header2.xml"].map(|name| named(name, &kind));
    let texts = [(XML, of_headers.as_str()), (first.as_str(), ""), (second.as_str(), "")];
    let filled = with(&file, &texts, &[]);
    for (name, text) in [
        (DOCUMENT, "Hi Zed"),
        ("word/header1.xml", "Header of Zed"),
        ("word/header2.xml", "Header of Zed"),
        ("word/footnotes.xml", "Note for Zed"),
    ] {
        assert_eq!(said(filled.clone(), name), [text], "{name}");
    }
    let upper = "word/HEADER2.Hdr";
    let both = format!("{XML}{}", default("hDR", &kind));
    let texts = [(XML, both.as_str()), (second.as_str(), ""), ("header2.xml", "HEADER2.Hdr")];
    assert_eq!(said(with(&file, &texts, &[("word/header2.xml", upper)]), upper), ["Header of Zed"]);
}

#[test]
fn a_template_whose_type_is_that_of_its_extension_becomes_a_document() {
    let own = named(DOCUMENT, &format!("{WORD}.document.main"));
    let of_all = default("xml", &format!("{WORD}.template.main"));
    let file = with(&docx(&p("Hi {name}")), &[(own.as_str(), ""), (XML, of_all.as_str())], &[]);
    let filled = try_fill(file, r#"{"name":"Zed"}"#, "{}").expect("it is filled");
    let list = part(&filled.file, "[Content_Types].xml");
    assert!(list.contains(&default("xml", &format!("{WORD}.document.main"))), "{list}");
    assert!(!list.contains("template"), "{list}");
}

#[test]
fn workbooks_and_presentations_may_have_types_of_extensions() {
    let data = r#"{"name":"Zed"}"#;
    let book = one_cell("Hi {name}");
    let (main, sheet) = (format!("{EXCEL}.sheet.main"), format!("{EXCEL}.worksheet"));
    let own = named("xl/workbook.xml", &main);
    let of_sheet = named("xl/worksheets/sheet1.xml", &sheet);
    let rels = "<Default Extension=\"rels\"";
    let of_all = format!("{}{rels}", default("XML", &main));
    let sheets = format!("{}{rels}", default("xml", &sheet));
    let (own, of_all) = (own.as_str(), of_all.as_str());
    let (of_sheet, sheets) = (of_sheet.as_str(), sheets.as_str());
    let target = ("Target=\"xl/workbook.xml\"", "Target=\"/xl/workbook.xml\"");
    for texts in [
        vec![(own, ""), (rels, of_all)],
        vec![(own, ""), (rels, of_all), target],
        vec![(of_sheet, ""), (rels, sheets), ("Target=\"worksheets/", "Target=\"/xl/worksheets/")],
    ] {
        let filled = try_fill(with(&book, &texts, &[]), data, "{}").expect("it is filled").file;
        let all: String =
            entries(&filled).into_iter().filter_map(|(_, part)| String::from_utf8(part).ok()).collect();
        assert!(all.contains("Hi Zed") && !all.contains("{name}"), "{texts:?}: {all}");
    }
    let deck = slides::pptx(&[&slides::shape(2, &["Hi {name}"])], "Notes for {name}");
    let (main, slide) = (format!("{SLIDES}.presentation.main"), format!("{SLIDES}.slide"));
    let own = named("ppt/presentation.xml", &main);
    let of_slide = named("ppt/slides/slide1.xml", &slide);
    let (of_all, slides_of_all) =
        (format!("{}{rels}", default("xml", &main)), format!("{}{rels}", default("Xml", &slide)));
    for texts in [
        vec![(own.as_str(), ""), (rels, of_all.as_str())],
        vec![
            (of_slide.as_str(), ""),
            (rels, slides_of_all.as_str()),
            ("Target=\"slides/", "Target=\"/ppt/slides/"),
        ],
    ] {
        let filled = try_fill(with(&deck, &texts, &[]), data, "{}").expect("it is filled").file;
        assert_eq!(slides::says(&filled, "ppt/slides/slide1.xml"), "Hi Zed", "{texts:?}");
        assert_eq!(slides::says(&filled, "ppt/notesSlides/notesSlide1.xml"), "Notes for Zed", "{texts:?}");
    }
}

#[test]
fn an_included_document_may_have_the_type_of_its_extension() {
    let main = format!("{WORD}.document.main");
    let (own, of_all) = (named(DOCUMENT, &main), default("xml", &main));
    let texts = [(own.as_str(), ""), (XML, of_all.as_str())];
    let terms = with(&docx(&p("Terms for {name}")), &texts, &[]);
    let said = includes::text(&p("{:include \"terms.docx\"}"), r#"{"name":"Zed"}"#, &[("terms.docx", terms)]);
    assert_eq!(said, ["Terms for Zed"]);
}
