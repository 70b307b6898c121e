//! Bookmarks in sections, and what refers to them: within a turn it leads into the same turn.

use crate::audit::{audit, targets, values};
use crate::support::{DOCUMENT, docx, docx_with, p, part, try_fill};

const DATA: &str = r#"{"xs":[{"t":"A","l":[1,2]},{"t":"B","l":[3]},{"t":"C","l":[4]}],"two":[1,2]}"#;

pub fn bookmark(id: u32, name: &str, content: &str) -> String {
    format!("<w:bookmarkStart w:id=\"{id}\" w:name=\"{name}\"/>{content}<w:bookmarkEnd w:id=\"{id}\"/>")
}

pub fn run(text: &str) -> String {
    format!("<w:r><w:t>{text}</w:t></w:r>")
}

pub fn paragraph(pieces: &[String]) -> String {
    format!("<w:p>{}</w:p>", pieces.concat())
}

/// A field whose code is cut at each `|`.
pub fn field(code: &str) -> String {
    let mark = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let code: String = { code.split('|') }
        .map(|piece| format!("<w:r><w:instrText xml:space=\"preserve\">{piece}</w:instrText></w:r>"))
        .collect();
    [mark("begin"), code, mark("separate"), run("1"), mark("end")].concat()
}

fn figure() -> String {
    let number = "<w:fldSimple w:instr=\" SEQ Figure \\* ARABIC \"><w:r><w:t>1</w:t></w:r></w:fldSimple>";
    paragraph(&[run("Figure "), bookmark(1, "_Ref1234", number), run(": {t}")])
}

fn filled(file: Vec<u8>) -> (String, Vec<u8>) {
    let filled = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(audit(&filled.file), Vec::<String>::new(), "{}", part(&filled.file, DOCUMENT));
    (part(&filled.file, DOCUMENT), filled.file)
}

/// The names of bookmarks in their order, and what is referred to.
fn names(body: &[String]) -> (Vec<String>, Vec<String>) {
    let (document, _) = filled(docx(&body.concat()));
    (values(&document, "w:bookmarkStart", "w:name"), targets(&document))
}

/// Whether each turn refers to its own bookmark, and all are different.
fn assert_own(body: &[String], turns: usize) {
    let (mut names, mut targets) = names(body);
    names.sort();
    targets.sort();
    assert_eq!(names.len(), turns);
    targets.dedup();
    assert_eq!(names, targets);
    names.dedup();
    assert_eq!(names.len(), turns);
}

#[test]
fn a_reference_leads_into_its_own_turn() {
    for code in [
        " REF _Ref1234 \\h ",
        "REF _Re|f12|34 \\h",
        "PAGEREF _Ref1234",
        " NOTEREF \"_Ref1234\" \\f ",
        "HYPERLINK \\l &quot;_Ref1234&quot;",
        "ref _Ref1234",
    ] {
        let reference = paragraph(&[run("see "), field(code)]);
        let (names, targets) = names(&[p("{#xs}"), figure(), reference.clone(), p("{/xs}")]);
        if code.starts_with("ref") {
            continue;
        }
        assert_eq!(names, targets, "{code}");
        assert_eq!((names.len(), names[0].as_str()), (3, "_Ref1234"), "{code}");
        // The reference stands before the bookmark.
        assert_own(&[p("{#xs}"), reference, figure(), p("{/xs}")], 3);
    }
    let simple =
        "<w:fldSimple w:instr=\" PAGEREF _Ref1234 \\h \"><w:r><w:t>1</w:t></w:r></w:fldSimple>".to_owned();
    assert_own(&[p("{#xs}"), figure(), paragraph(&[simple]), p("{/xs}")], 3);
    let link = format!("<w:hyperlink w:anchor=\"_Ref1234\" w:history=\"1\">{}</w:hyperlink>", run("see"));
    assert_own(&[p("{#xs}"), figure(), paragraph(&[link]), p("{/xs}")], 3);
}

#[test]
fn bookmarks_of_rows_inline_sections_and_ranges_are_each_turns_own() {
    let cell = |content: &str| format!("<w:tc><w:tcPr/>{content}</w:tc>");
    let row = [
        cell(&paragraph(&[run("{#xs}"), bookmark(1, "m", &run("{t}"))])),
        cell(&paragraph(&[field("PAGEREF m"), run("{/xs}")])),
    ];
    assert_own(&[format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{}</w:tr></w:tbl>", row.concat()), p("")], 3);
    assert_own(&[paragraph(&[run("{#xs}"), bookmark(1, "m", &run("{t}")), field("REF m"), run("{/xs}")])], 3);
    // A bookmark over several paragraphs, and an empty one.
    let begin = "<w:bookmarkStart w:id=\"7\" w:name=\"long\"/>".to_owned();
    let long = [
        p("{#xs}"),
        begin,
        p("{t}"),
        p("x") + "<w:bookmarkEnd w:id=\"7\"/>",
        paragraph(&[field("REF long")]),
        p("{/xs}"),
    ];
    assert_own(&long, 3);
    assert_own(&[p("{#xs}"), paragraph(&[bookmark(1, "e", ""), field("PAGEREF e \\p")]), p("{/xs}")], 3);
}

#[test]
fn in_nested_sections_the_innermost_common_turn_counts() {
    let inner =
        [p("{#l}"), paragraph(&[bookmark(1, "i", &run("{.}")), field("REF i"), field("REF o")]), p("{/l}")]
            .concat();
    let outer = paragraph(&[bookmark(2, "o", &run("{t}")), field("REF i"), field("REF o")]);
    let (names, targets) = names(&[paragraph(&[field("REF o")]), p("{#xs}"), outer, inner, p("{/xs}")]);
    let index = |name: &String| names.iter().position(|one| one == name).expect("it is there");
    // In the order of the document: o i i, o i, o.
    let found: Vec<usize> = targets[..6].iter().map(index).collect();
    assert_eq!(found, [0, 1, 0, 1, 0, 2], "{names:?} {targets:?}");
}

#[test]
fn names_stay_short_and_free_and_a_torn_bookmark_stands_once() {
    let long = "x".repeat(40);
    let body = [
        p("{#xs}"),
        paragraph(&[bookmark(1, &long, &run("{t}")), field(&format!("REF {long}"))]),
        p("{/xs}"),
    ];
    let (names, _) = names(&body);
    assert!(names.len() == 3 && names.iter().all(|name| name.len() <= 40), "{names:?}");
    let torn = [
        "<w:bookmarkStart w:id=\"3\" w:name=\"torn\"/>".to_owned(),
        p("{#xs}"),
        p("{t}") + "<w:bookmarkEnd w:id=\"3\"/>",
        paragraph(&[field("REF torn")]),
        p("{/xs}"),
    ];
    let (names, targets) = self::names(&torn);
    assert_eq!((names, targets), (vec!["torn".to_owned()], vec!["torn".to_owned(); 3]));
    // The anchor of another document is none of this one's.
    let link = "<w:hyperlink r:id=\"rId1\" w:anchor=\"m\"/>".to_owned();
    let body = [p("{#xs}"), paragraph(&[bookmark(1, "m", &run("{t}")), link]), p("{/xs}")].concat();
    let filled_file = try_fill(docx(&body), DATA, "{}").expect("filled").file;
    assert_eq!(part(&filled_file, DOCUMENT).matches("w:anchor=\"m\"").count(), 3);
    // What only looks like a name of a bookmark is none.
    let body = [
        p("{#xs}"),
        paragraph(&[
            bookmark(1, "Figure", &run("{t}")),
            field("SEQ Figure"),
            field("HYPERLINK \"Figure\""),
            field("REF Figure"),
        ]),
        p("{/xs}"),
    ];
    let (document, _) = filled(docx(&body.concat()));
    assert_eq!(
        document.matches(">SEQ Figure<").count() + document.matches(">HYPERLINK \"Figure\"<").count(),
        6
    );
}

#[test]
fn a_note_and_a_header_refer_to_the_turn_that_they_belong_to() {
    let note = format!("<w:footnote w:id=\"1\">{}</w:footnote>", paragraph(&[run("{t} "), field("REF m")]));
    let header = paragraph(&[run("{t} "), field("PAGEREF m")]);
    let parts = [
        ("footnotes.xml", "footnotes", "footnotes", note.as_str()),
        ("header1.xml", "header", "hdr", header.as_str()),
    ];
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId2\"/></w:sectPr></w:pPr></w:p>";
    let reference = "<w:r><w:footnoteReference w:id=\"1\"/></w:r>".to_owned();
    let body =
        [p("{#xs}"), paragraph(&[bookmark(1, "m", &run("{t}")), reference]), section.to_owned(), p("{/xs}")];
    let (document, file) = filled(docx_with(&body.concat(), &parts));
    let names = values(&document, "w:bookmarkStart", "w:name");
    assert_eq!(targets(&part(&file, "word/footnotes.xml")), names);
    let headers = ["word/header1.xml", "word/header2.xml", "word/header3.xml"];
    assert_eq!(headers.map(|name| targets(&part(&file, name)).concat()).to_vec(), names);
}

#[test]
fn what_says_pages_is_refreshed_and_so_are_references_of_turns() {
    let dirty = |body: &[String]| filled(docx(&body.concat())).0.matches("dirty").count();
    let contents = paragraph(&[field(" TOC \\o \"1-3\" \\h ")]);
    assert_eq!(dirty(&[contents.clone(), p("{#xs}"), p("{t}"), p("{/xs}")]), 1);
    assert_eq!(dirty(&[contents.clone(), p("{two}")]), 1);
    assert_eq!(dirty(&[p("{#xs}"), figure(), paragraph(&[field("REF _Ref1234 \\h")]), p("{/xs}")]), 6);
    assert_eq!(dirty(&[p("{two}"), figure(), paragraph(&[field("REF _Ref1234 \\h")])]), 0);
    // A mark that says no is replaced: an attribute may not stand twice.
    for no in ["false", "0"] {
        let begin = "w:fldCharType=\"begin\"";
        let marked = contents.replace(begin, &format!("{begin} w:dirty=\"{no}\""));
        let (document, _) = filled(docx(&(marked + &p("{two}"))));
        assert!(document.contains("w:fldCharType=\"begin\" w:dirty=\"true\"/>"), "{document}");
    }
    // A document without tags is not touched.
    let file = docx(&contents);
    let filled = try_fill(file.clone(), "{}", "{}").expect("filled").file;
    assert_eq!(part(&filled, DOCUMENT), part(&file, DOCUMENT));
    let header = [("header1.xml", "header", "hdr", p("{t}") + &paragraph(&[field("PAGEREF x")]))];
    let header: Vec<_> =
        header.iter().map(|(name, kind, root, text)| (*name, *kind, *root, text.as_str())).collect();
    let filled = try_fill(docx_with(&p("x"), &header), DATA, "{}").expect("filled").file;
    assert!(part(&filled, "word/header1.xml").contains("w:dirty=\"true\""));
}

/// A text box as Word writes it: as a shape, and once more for programs that know none, with the same bookmark in both.
fn text_box() -> String {
    let content =
        |id: u32| format!("<w:txbxContent>{}</w:txbxContent>", paragraph(&[bookmark(id, "m", &run("{t}"))]));
    format!(
        "<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wps:txbx>{0}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{0}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>",
        content(1)
    )
}

#[test]
fn a_bookmark_of_a_text_box_is_each_turns_own_in_both_forms() {
    let body = [p("{#xs}"), paragraph(&[text_box(), field("REF m")]), p("{/xs}")].concat();
    let filled = try_fill(docx(&body), DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    let document = part(&filled.file, DOCUMENT);
    let mut names = values(&document, "w:bookmarkStart", "w:name");
    assert_eq!(names.len(), 6, "{document}");
    names.dedup();
    assert_eq!((names.len(), &names), (3, &targets(&document)));
    let [begun, ended] = ["w:bookmarkStart", "w:bookmarkEnd"].map(|end| values(&document, end, "w:id"));
    assert_eq!(begun, ended);
}

#[test]
fn a_header_that_has_several_places_has_its_bookmarks_in_each() {
    let header = paragraph(&[field("REF own"), bookmark(5, "own", &run("{t}")), field("PAGEREF own")])
        + &paragraph(&[run("{#l}"), bookmark(6, "in", &run("{.}")), field("REF in"), run("{/l}")]);
    let parts = [("header1.xml", "header", "hdr", header.as_str())];
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/></w:sectPr></w:pPr></w:p>";
    let turns = [p("{#xs}"), p("{t}"), section.to_owned(), p("{/xs}")].concat();
    for (body, count) in [
        (turns.clone() + section, 4),
        (section.to_owned() + &turns, 4),
        (turns.clone() + &turns, 6),
        (turns.clone() + &turns + section, 7),
        ([p("{#xs}"), section.to_owned(), p("{t}"), section.to_owned(), p("{/xs}")].concat(), 6),
    ] {
        let (_, file) = filled(docx_with(&body, &parts));
        let headers =
            crate::support::entries(&file).into_iter().filter(|(name, _)| name.starts_with("word/header"));
        let headers: Vec<String> = headers.map(|(_, xml)| String::from_utf8(xml).expect("UTF-8")).collect();
        assert_eq!(headers.len(), count);
        for header in headers {
            let own = values(&header, "w:bookmarkStart", "w:name");
            let targets = targets(&header);
            assert_eq!((&targets[0], &targets[1]), (&own[0], &own[0]), "{header}");
            assert_eq!(targets[2..], own[1..], "{header}");
        }
    }
}
