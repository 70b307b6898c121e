//! `{@xml}`: what comes from the data neither breaks the file nor fetches anything.

use crate::effort::assert_linear;
use crate::support::{DOCUMENT, docx, fault, fill, p, paragraphs, part, try_fill, well_formed};

fn data(xml: &str) -> String {
    serde_json::json!({ "x": xml, "l": [1, 2] }).to_string()
}

fn filled(xml: &str) -> String {
    fill(&p("{@x}"), &data(xml))
}

#[track_caller]
fn refused(xml: &str, why: &str) {
    let message = fault(&p("{@x}"), &data(xml), "{}");
    assert!(message.contains(why), "{xml}: {message}");
}

#[test]
fn what_xml_cannot_hold_is_refused() {
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    for bad in ["\u{fffe}", "\u{ffff}", "\u{1}", "\u{b}"] {
        refused(&text(bad), "that XML cannot hold");
        refused(&format!("<w:p w:rsidR=\"{bad}\"/>"), "that XML cannot hold");
    }
    for bad in ["&#1;", "&#xFFFE;", "&#xD800;", "&bogus;"] {
        refused(&text(bad), "not one of XML's own");
        refused(&format!("<w:p w:rsidR=\"{bad}\"/>"), "");
    }
    refused(&text("a ]]> b"), "]]>");
    refused("<w:p w:rsidR=\"a & b\"/>", "broken attribute");
    for name in
        ["<w:p><1/></w:p>", "<w:p 1=\"x\"/>", "<w:p><w:r:x/></w:p>", "<w:p><:x/></w:p>", "<w:p w:=\"\"/>"]
    {
        refused(name, "a name that is none");
    }
    refused("<w:p w:rsidR=\"1\"w:rsidP=\"2\"/>", "no blank stands before it");
    refused("<w:p xmlns:a=\"n\" xmlns:b=\"n\" a:x=\"1\" b:x=\"2\"/>", "same attribute twice");
    refused("<w:p w:a=\"1\" w:a=\"2\"/>", "broken attribute");
    for declaration in
        ["xmlns:xml=\"x\"", "xmlns:xmlns=\"x\"", "xmlns:q=\"\"", "xmlns:1=\"x\"", "xmlns:q:r=\"x\""]
    {
        refused(&format!("<w:p {declaration}/>"), "that XML does not allow");
    }
    refused("<w:p xmlns:w=\"x\"/>", "another meaning");
    refused(
        &format!("<w:p{}/>", (0..200).map(|at| format!(" a{at}=\"\"")).collect::<String>()),
        "attributes",
    );
}

#[test]
fn comments_are_left_out() {
    for comment in ["<!-- a -- b -->", "<!--\u{1}-->", "<!--\u{fffe}-->"] {
        let filled = filled(&format!("<w:p>{comment}<w:r><w:t>]]{comment}> a</w:t></w:r></w:p>"));
        well_formed("a part", filled.as_bytes());
        assert!(!filled.contains("<!--") && filled.contains("<w:t>]]&gt; a</w:t>"), "{filled}");
    }
}

#[test]
fn what_is_written_anew_says_the_same() {
    let filled = filled(
        "<w:p\n w:rsidR='&quot;&#x41;&lt;'><w:r ><w:t xml:space='preserve'> a &amp; &#98;&apos;</w:t></w:r ></w:p>",
    );
    let expected =
        "<w:p w:rsidR=\"&quot;A&lt;\"><w:r><w:t xml:space=\"preserve\"> a &amp; b'</w:t></w:r></w:p>";
    assert!(filled.contains(expected), "{filled}");
}

#[test]
fn no_prefix_hides_a_relationship() {
    let namespace = "http://schemas.openxmlformats.org/officeDocument/2006/relationship";
    for address in [
        format!("{namespace}s"),
        format!("{namespace}&#115;"),
        "http://purl.oclc.org/ooxml/officeDocument/relationships".to_owned(),
    ] {
        refused(&format!("<w:p xmlns:z=\"{address}\" z:id=\"rId1\"/>"), "refers to another part");
        let root = docx(&p("{@x}"));
        let files = crate::support::entries(&root);
        let with_prefix = |name: &str, content: &[u8]| {
            let text = String::from_utf8_lossy(content).into_owned();
            if name == DOCUMENT {
                text.replacen(" xmlns:w=", &format!(" xmlns:z=\"{address}\" xmlns:w="), 1)
            } else {
                text
            }
        };
        let files: Vec<(String, String)> =
            files.iter().map(|(name, content)| (name.clone(), with_prefix(name, content))).collect();
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
        let error = try_fill(crate::support::zipped(&files), &data("<w:p z:id=\"rId1\"/>"), "{}");
        assert!(error.expect_err("it is filled").to_string().contains("refers to another part"));
    }
}

#[test]
fn files_are_read_neither_by_fields_nor_by_old_drawings() {
    let run = |inside: &str| format!("<w:r>{inside}</w:r>");
    let mark = |kind: &str| run(&format!("<w:fldChar w:fldCharType=\"{kind}\"/>"));
    let code = |text: &str| run(&format!("<w:instrText>{text}</w:instrText>"));
    let field = |codes: &str| [mark("begin"), codes.to_owned(), mark("separate"), mark("end")].concat();
    let reads = "reads or runs something";
    refused("<w:fldSimple w:instr=' includetext \"http://x\"'/>", reads);
    refused("<w:fldSimple w:instr='INCLUDETEXT\"http://x\"'/>", reads);
    for codes in [
        code(" INCLUDEPICTURE \"http://x\" \\d"),
        code("INCLUDE") + &code("TEXT \"x\""),
        code("DDE") + &run("<w:t>AUTO x</w:t>"),
        code("D&#68;E x"),
        code("IF 1 = 1 ") + &field(&code("DATABASE x")),
    ] {
        refused(&field(&codes), reads);
    }
    let word = "xmlns:q=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
    refused(&field(&format!("<w:r {word}><q:instrText>RD x</q:instrText></w:r>")), reads);
    refused(&field(&field(&code("QUOTE INCLUDETEXT"))), "begins with another field");
    refused(&code("PAGE"), "outside of a field");
    refused(&(mark("begin") + &code("PAGE")), "must begin and end in it");
    refused(&mark("end"), "must begin and end in it");
    assert!(filled(&field(&(code("PA") + &code("GE \\* ARABIC")))).contains("ARABIC"));
    for old in [
        "<v:imagedata xmlns:v='urn:schemas-microsoft-com:vml' src='http://x/a.png'/>",
        "<q:fill xmlns:q='urn:schemas-microsoft-com:vml' xmlns:o='urn:schemas-microsoft-com:office:office' o:href='http://x'/>",
        "<v:shape xmlns:v='urn:schemas-microsoft-com:vml' href='file:///x'/>",
    ] {
        refused(&run(&format!("<w:pict>{old}</w:pict>")), "refers to another part or to an address");
    }
}

#[test]
fn each_copy_has_numbers_of_its_own() {
    for note in ["footnoteReference", "endnoteReference", "commentReference"] {
        refused(&format!("<w:r><w:{note} w:id='1'/></w:r>"), "a note or a comment");
    }
    let xml = "<w:p w14:paraId='00000001' xmlns:w14='http://schemas.microsoft.com/office/word/2010/wordml'>\
        <w:bookmarkStart w:id='7' w:name='here'/><w:hyperlink w:anchor='here'><w:r><w:t>a</w:t></w:r></w:hyperlink><w:bookmarkEnd w:id='7'/>\
        <w:r><w:drawing><wp:docPr xmlns:wp='http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing' id='7' name='a'/></w:drawing></w:r></w:p>\
        <w:sdt><w:sdtPr><w:id w:val='5'/><w:tag w:val='t'/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>";
    let filled = fill(&[p("{#l}"), p("{@x}"), p("{/l}")].concat(), &data(xml));
    let all = |before: &str| -> Vec<String> {
        let found = filled.match_indices(before).map(|(at, _)| &filled[at + before.len()..]);
        found.map(|rest| rest.split('"').next().expect("a value").to_owned()).collect()
    };
    let (starts, ends) = (all("<w:bookmarkStart w:id=\""), all("<w:bookmarkEnd w:id=\""));
    assert!(starts == ends && starts[0] != starts[1], "{filled}");
    let (names, anchors) = (all("w:name=\""), all("w:anchor=\""));
    assert!(names == anchors && names[0] == "here" && names[1] != "here", "{filled}");
    let numbers: Vec<&str> =
        filled.split("docPr ").skip(1).filter_map(|rest| rest.split(" id=\"").nth(1)).collect();
    assert!(numbers.len() == 2 && numbers[0].split('"').next() != numbers[1].split('"').next(), "{filled}");
    assert!(!filled.contains("paraId") && !filled.contains("w:val=\"5\"") && filled.contains("w:val=\"t\""));
}

#[test]
fn many_declarations_take_as_long_as_they_are_many() {
    let declared: String = (0..80)
        .map(|row| {
            let names: String = (0..50).map(|at| format!(" xmlns:a{row}x{at}=\"n\"")).collect();
            format!("<w:r{names}>")
        })
        .collect();
    assert_linear(4_000, |texts| {
        let xml = format!("<w:p>{declared}{}{}</w:p>", "<w:t/>".repeat(texts), "</w:r>".repeat(80));
        assert_eq!(filled(&xml).matches("<w:t/>").count(), texts);
    });
}

#[test]
fn a_value_is_a_text_where_its_author_says_so() {
    let hidden = r#"{"x":{"_type":"rawXml","xml":"<w:p/>"},"y":"a"}"#;
    assert!(fault(&p("{x | text}"), hidden, "{}").contains("an object has no text"));
    let filled = try_fill(docx(&p("{y | text} {5 | text} {none | text}")), hidden, "{}").expect("filled");
    assert_eq!(paragraphs(&part(&filled.file, DOCUMENT)), ["a 5 "]);
}
