//! What hangs on a section: what counts against limits, what is shared by all turns, and what copies refer to.

use crate::audit::{audit, values};
use crate::dependents::{COMMENTS, DATA, FOOTNOTES, filled, footnoted, noted, notes, section};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, docx_with, entries, p, paragraphs, part, try_fill};

#[test]
fn sections_of_other_spellings_have_notes_of_their_own_too() {
    let row = |cell: &str| format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>");
    let notes_of = |body: &str| notes(&filled(footnoted(body, &[(1, "About {n}")])), ("footnote", FOOTNOTES));
    let own = ["About A", "About B"];
    assert_eq!(notes_of(&noted("{-w:p items}{n}{/}", 1)), own);
    assert_eq!(notes_of(&(row(&noted("{-w:tr items}{n}{/items}", 1)) + &p(""))), own);
    assert_eq!(notes_of(&(row(&noted("{-w:tc items}{n}{/}", 1)) + &p(""))), own);
    assert_eq!(notes_of(&(row(&noted("a-b {-w:tr\u{a0}items}{n}{/}", 1)) + &p(""))), own);
}

/// How a document with these limits of tags is refused.
fn refused(file: Vec<u8>, tags: u64) -> Option<String> {
    let mut limits = crate::support::limits();
    limits.tags.value = tags;
    office_template::Template::read(file, None, &limits).err().map(|error| error.to_string())
}

#[test]
fn tags_of_what_is_referred_to_count_at_each_reference() {
    let many = footnoted(
        &[p("{#items}"), noted("{n}", 1).repeat(50), p("{/items}")].concat(),
        &[(1, &"{q}".repeat(20))],
    );
    assert_eq!(refused(many.clone(), 2000), None);
    assert!(refused(many, 900).is_some_and(|message| message.contains("test.tags")));
    // Each header refers to the next one ten times.
    let names: Vec<String> = (1..=8).map(|number| format!("header{number}.xml")).collect();
    let text = p("{n}");
    let parts: Vec<_> = names.iter().map(|name| (name.as_str(), "header", "hdr", text.as_str())).collect();
    let body = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    let mut files = entries(&docx_with(&body, &parts));
    for number in 1..8 {
        let links: String = (0..10)
            .map(|id| {
                format!("<Relationship Id=\"rId{id}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/header\" Target=\"header{}.xml\"/>", number + 1)
            })
            .collect();
        let links = format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{links}</Relationships>"
        );
        files.push((format!("word/_rels/header{number}.xml.rels"), links.into_bytes()));
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let message = refused(crate::support::zipped(&files), 100_000);
    assert!(message.as_ref().is_some_and(|message| message.contains("test.tags")), "{message:?}");
}

#[test]
fn a_comments_reference_may_stand_before_the_end_of_its_range() {
    let commented = "<w:p><w:commentRangeStart w:id=\"4\"/><w:r><w:t>{n}</w:t></w:r><w:r><w:commentReference w:id=\"4\"/></w:r><w:commentRangeEnd w:id=\"4\"/></w:p>";
    let comments = format!("<w:comment w:id=\"4\" w:author=\"A\">{}</w:comment>", p("Ask {q}"));
    let parts = [("comments.xml", "comments", "comments", comments.as_str())];
    for body in [
        commented.to_owned(),
        commented.replace("<w:commentRangeEnd w:id=\"4\"/>", ""),
        commented.replace("<w:commentRangeStart w:id=\"4\"/>", ""),
        commented
            .replace("<w:commentRangeEnd w:id=\"4\"/>", "")
            .replace("<w:commentRangeStart w:id=\"4\"/>", ""),
    ] {
        let body = [p("{#items}"), body, p("{/items}")].concat();
        let filled = try_fill(docx_with(&body, &parts), DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
        let document = part(&filled.file, DOCUMENT);
        let ids = values(&document, "w:commentReference", "w:id");
        assert_eq!(ids.len(), 2);
        assert_ne!(ids[0], ids[1]);
        for mark in ["w:commentRangeStart", "w:commentRangeEnd"] {
            let marks = values(&document, mark, "w:id");
            assert!(marks.is_empty() || marks == ids, "{document}");
        }
        assert_eq!(notes(&filled.file, ("comment", COMMENTS)), ["Ask qa", "Ask qb"]);
        assert_eq!(values(&part(&filled.file, COMMENTS), "w:comment", "w:id").len(), 2);
    }
}

/// A file with these relationships of the header besides.
fn with_links(file: &[u8], links: &str) -> Vec<u8> {
    let links = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{links}</Relationships>"
    );
    let mut files = entries(file);
    files.push(("word/_rels/header1.xml.rels".to_owned(), links.into_bytes()));
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    crate::support::zipped(&files)
}

#[test]
fn a_link_within_the_document_stays_one_in_copies() {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink";
    let links: String = [("rId7", "#bm"), ("rId6", "other.docx#x")]
        .map(|(id, target)| format!("<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"/>"))
        .concat();
    let header = p("{n}") + "<w:p><w:hyperlink r:id=\"rId7\"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>";
    let body = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    let file = with_links(&docx_with(&body, &[("header1.xml", "header", "hdr", &header)]), &links);
    let filled = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    let copied = part(&filled, "word/_rels/header2.xml.rels");
    assert!(copied.contains("Target=\"#bm\"") && copied.contains("Target=\"other.docx#x\""), "{copied}");
}

#[test]
fn what_a_section_of_a_header_writes_is_not_filled_outside_of_it() {
    // The second turn has the first copy where the first one has no inner turn.
    let data = r#"{"items":[{"n":"A","l":[]},{"n":"B","l":[{"v":1},{"v":2}]},{"n":"C","l":[{"v":3}]}]}"#;
    let header = [p("{n}"), p("{#l}"), "<w:altChunk r:id=\"rId9\"/>".to_owned(), p("{/l}")].concat();
    let inner = format!(
        "<w:hdr xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">{}</w:hdr>",
        p("{v.toFixed(1)}")
    );
    let body = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    let file = with_links(&docx_with(&body, &[("header1.xml", "header", "hdr", &header)]), "");
    let kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml";
    let file = with(
        &file,
        &[("word/inner1.xml", kind, &inner)],
        &[("word/header1.xml", "rId9", "header", "inner1.xml")],
    );
    let filled = try_fill(file, data, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    assert_eq!(audit(&filled), Vec::<String>::new());
    let parts = entries(&filled).into_iter().filter(|(name, _)| name.starts_with("word/inner"));
    let mut texts: Vec<String> =
        parts.map(|(_, xml)| paragraphs(&String::from_utf8(xml).expect("UTF-8")).concat()).collect();
    texts.sort();
    assert_eq!(texts, ["1.0", "2.0", "3.0"]);
}

#[test]
fn a_header_without_anything_of_a_turn_is_shared() {
    let plain = "<w:p><w:r><w:t>same</w:t></w:r></w:p>";
    let marked = "<w:p><w:bookmarkStart w:id=\"1\" w:name=\"m\"/><w:r><w:t>own</w:t></w:r><w:bookmarkEnd w:id=\"1\"/></w:p>";
    let count = |header: &str| {
        let body = [p("{#items}"), p("{n}"), section(&[("header", 1)]), p("{/items}")].concat();
        let file = filled(docx_with(&body, &[("header1.xml", "header", "hdr", header)]));
        entries(&file).iter().filter(|(name, _)| name.starts_with("word/header")).count()
    };
    assert_eq!((count(plain), count(marked), count(&p("{n}"))), (1, 2, 2));
}

#[test]
fn an_untagged_part_that_cannot_be_read_is_shared() {
    let body = [p("{#items}"), noted("{n}", 1), section(&[("header", 2)]), p("{/items}")].concat();
    let parts = [("footnotes.xml", "footnotes", "footnotes", "N"), ("header1.xml", "header", "hdr", "H")];
    let file = docx_with(&body, &parts);
    let utf_16 = |text: &str| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    for broken in ["<w:x>&own;</w:x>", "<w:x>", "<!DOCTYPE x><x/>"] {
        for is_wide in [true, false] {
            let content = if is_wide { utf_16(broken) } else { broken.as_bytes().to_vec() };
            let files: Vec<_> = entries(&file)
                .into_iter()
                .map(|(name, xml)| {
                    let is_broken = name == "word/footnotes.xml" || name == "word/header1.xml";
                    (name, if is_broken { content.clone() } else { xml })
                })
                .collect();
            let files: Vec<_> =
                files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
            let template = office_template::Template::read(
                crate::support::zipped(&files),
                None,
                &crate::support::limits(),
            )
            .unwrap_or_else(|error| panic!("{broken}: {error}"));
            let answer = crate::support::run(template.program(), DATA, "{}");
            let filled = template.fill(&answer, &mut office_template::NoFiles).expect("it is filled").file;
            let kept = entries(&filled).into_iter().find(|(name, _)| name == "word/header1.xml");
            assert_eq!(kept.map(|(_, kept)| kept), Some(content), "{broken}");
        }
    }
}
