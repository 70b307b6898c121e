//! What hangs on a repeated place: notes, comments, headers, charts, embedded files. Each turn has its own.

use crate::audit::{audit, values};
use crate::chart_frames::beside_too;
use crate::charts::{self, CHART, bars};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, docx, docx_with, entries, escape, p, paragraphs, part, try_fill};

const DATA: &str = r#"{"items":[{"n":"A","q":"qa","l":[1,2]},{"n":"B","q":"qb","l":[3]}],"none":[],"t":"T","one":{"n":"O","q":"qo"}}"#;
const FOOTNOTES: &str = "word/footnotes.xml";
const COMMENTS: &str = "word/comments.xml";

/// A paragraph with a text and a reference to a note.
fn noted(text: &str, id: u32) -> String {
    format!(
        "<w:p><w:r><w:t>{}</w:t></w:r><w:r><w:footnoteReference w:id=\"{id}\"/></w:r></w:p>",
        escape(text)
    )
}

fn note(kind: &str, id: u32, text: &str) -> String {
    format!("<w:{kind} w:id=\"{id}\">{}</w:{kind}>", p(text))
}

/// A document with footnotes; those of a separator come first, as Word writes them.
fn footnoted(body: &str, notes: &[(u32, &str)]) -> Vec<u8> {
    let separator = "<w:footnote w:type=\"separator\" w:id=\"-1\"><w:p/></w:footnote>";
    let notes: String = notes.iter().map(|(id, text)| note("footnote", *id, text)).collect();
    docx_with(body, &[("footnotes.xml", "footnotes", "footnotes", &format!("{separator}{notes}"))])
}

fn filled(file: Vec<u8>) -> Vec<u8> {
    let filled = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(audit(&filled.file), Vec::<String>::new());
    filled.file
}

/// The texts of the notes in the order in which the document refers to them.
fn notes(file: &[u8], (kind, of): (&str, &str)) -> Vec<String> {
    let xml = part(file, of);
    let ids = values(&part(file, DOCUMENT), &format!("w:{kind}Reference"), "w:id");
    let of_id = |id: String| {
        let begin = xml.find(&format!("w:id=\"{id}\"")).expect("the note is there");
        let end = xml[begin..].find(&format!("</w:{kind}>")).expect("it ends") + begin;
        paragraphs(&format!("<x {}", &xml[begin..end])).join("¶")
    };
    ids.into_iter().map(of_id).collect()
}

#[test]
fn each_turn_has_a_footnote_of_its_own() {
    let footnotes = |file: Vec<u8>| {
        let file = filled(file);
        (notes(&file, ("footnote", FOOTNOTES)), values(&part(&file, FOOTNOTES), "w:footnote", "w:id").len())
    };
    let said = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let simple = [p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    assert_eq!(
        footnotes(footnoted(&simple, &[(1, "About {n}: {q}")])),
        (said(&["About A: qa", "About B: qb"]), 3)
    );
    // Within a paragraph, within a row, in sections of both, and beside notes outside of sections.
    let inline = noted("{#items}{n}", 1).replace("</w:p>", "<w:r><w:t>{/items}</w:t></w:r></w:p>");
    assert_eq!(footnotes(footnoted(&inline, &[(1, "{q}")])).0, said(&["qa", "qb"]));
    let row = |cell: &str| format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>");
    let row = row(&[noted("{#items}{n}", 1), p("{/items}")].concat());
    assert_eq!(footnotes(footnoted(&(row + &p("")), &[(1, "{q}")])).0, said(&["qa", "qb"]));
    let nested =
        [p("{#items}"), p("{#l}"), noted("{.}", 2), p("{/l}"), noted("{n}", 1), p("{/items}"), noted("x", 3)]
            .concat();
    let texts = [(1, "{q}"), (2, "{n}{.}{#l}!{/l}"), (3, "{t}")];
    assert_eq!(footnotes(footnoted(&nested, &texts)), (said(&["A1!!", "A2!!", "qa", "B3!", "qb", "T"]), 7));
    // Without tags; without turns; of an object; where nothing is there.
    assert_eq!(footnotes(footnoted(&simple, &[(1, "plain")])), (said(&["plain", "plain"]), 3));
    assert_eq!(footnotes(footnoted(&simple.replace("items", "none"), &[(1, "{n}")])), (said(&[]), 1));
    assert_eq!(footnotes(footnoted(&simple.replace("items", "one"), &[(1, "{q}")])), (said(&["qo"]), 2));
    assert_eq!(
        footnotes(footnoted(&simple.replace("{#", "{^").replace("items", "none"), &[(1, "{t}")])),
        (said(&["T"]), 2)
    );
    // Two notes a turn, in the other order of their ids.
    let two = [p("{#items}"), noted("{n}", 2), noted("{n}", 1), p("{/items}")].concat();
    assert_eq!(footnotes(footnoted(&two, &[(1, "1{n}"), (2, "2{n}")])).0, said(&["2A", "1A", "2B", "1B"]));
}

#[test]
fn a_note_that_is_referred_to_outside_as_well_is_filled_there_too() {
    let body = [noted("{t}", 1), p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    let file = filled(footnoted(&body, &[(1, "{t}{n}")]));
    assert_eq!(notes(&file, ("footnote", FOOTNOTES)), ["T", "TA", "TB"]);
}

#[test]
fn endnotes_and_comments_are_each_turns_own() {
    let body = [p("{#items}"), noted("{n}", 1).replace("footnote", "endnote"), p("{/items}")].concat();
    let endnotes = note("endnote", 1, "{q}");
    let file = filled(docx_with(&body, &[("endnotes.xml", "endnotes", "endnotes", &endnotes)]));
    assert_eq!(notes(&file, ("endnote", "word/endnotes.xml")), ["qa", "qb"]);
    let commented = "<w:p><w:commentRangeStart w:id=\"4\"/><w:r><w:t>{n}</w:t></w:r><w:commentRangeEnd w:id=\"4\"/><w:r><w:commentReference w:id=\"4\"/></w:r></w:p>";
    let comments = format!(
        "<w:comment w:id=\"4\" w:author=\"A\" w:initials=\"A\">{}</w:comment>",
        p("Ask {q}").replace("<w:p>", "<w:p w14:paraId=\"00000001\">")
    );
    let parts = [("comments.xml", "comments", "comments", comments.as_str())];
    let body = [p("{#items}"), commented.to_owned(), p("{/items}")].concat();
    let file = filled(docx_with(&body, &parts));
    assert_eq!(notes(&file, ("comment", COMMENTS)), ["Ask qa", "Ask qb"]);
    assert_eq!(values(&part(&file, COMMENTS), "w:comment", "w:author"), ["A", "A"]);
    // Amid of a paragraph, and with a range that the section tears: that is one comment.
    let inline = commented.replace("{n}", "{#items}{n}{/items}");
    assert_eq!(notes(&filled(docx_with(&inline, &parts)), ("comment", COMMENTS)), ["Ask "]);
    let torn =
        [p("{#items}"), commented.replace("<w:commentRangeStart w:id=\"4\"/>", ""), p("{/items}")].concat();
    let torn = format!("<w:p><w:commentRangeStart w:id=\"4\"/></w:p>{torn}");
    assert_eq!(notes(&filled(docx_with(&torn, &parts)), ("comment", COMMENTS)), ["Ask "]);
}

#[test]
fn faults_of_a_note_are_told_with_its_part_and_paragraph() {
    let body = [p("{#items}"), noted("{n}", 2), p("{/items}")].concat();
    let file = footnoted(&body, &[(1, "first"), (2, "{n.x.trim()}")]);
    let message = try_fill(file, DATA, "{}").expect_err("a fault").to_string();
    assert!(message.starts_with("word/footnotes.xml, paragraph 3, {n.x.trim()}"), "{message}");
    let file = footnoted(&body, &[(1, "first"), (2, "{#n}")]);
    let message = try_fill(file, DATA, "{}").expect_err("a fault").to_string();
    assert!(
        message.contains("word/footnotes.xml, paragraph 3, {#n}: the section is never closed"),
        "{message}"
    );
    // The words around a tag are those of its own note, and so they are of a note that no section writes.
    let body = body + &noted("{t}", 3);
    let notes = [(1, "first"), (2, "second {n.x.trim()} of turns"), (3, "third {t} and {t.x.trim()}")];
    let message = try_fill(footnoted(&body, &notes), DATA, "{}").expect_err("two faults").to_string();
    for said in [
        "paragraph 3, {n.x.trim()}",
        "second {n.x.trim()} of turns",
        "paragraph 4, {t.x.trim()}",
        "third {t} and {t.x.trim()}",
    ] {
        assert!(message.contains(said), "{said}: {message}");
    }
}

/// A paragraph that ends a section of the document with these headers and footers.
fn section(references: &[(&str, u32)]) -> String {
    let references: String = { references.iter() }
        .map(|(kind, id)| format!("<w:{kind}Reference w:type=\"default\" r:id=\"rId{id}\"/>"))
        .collect();
    format!("<w:p><w:pPr><w:sectPr>{references}</w:sectPr></w:pPr></w:p>")
}

/// The texts of the headers of this kind, in the order of the document's sections.
fn headers(file: &[u8], kind: &str) -> Vec<String> {
    let links = part(file, "word/_rels/document.xml.rels");
    let ids = values(&part(file, DOCUMENT), &format!("w:{kind}Reference"), "r:id");
    let of_id = |id: String| {
        let begin = links.find(&format!("Id=\"{id}\"")).expect("a relationship");
        let target = links[begin..]
            .split("Target=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("a target");
        paragraphs(&part(file, &format!("word/{}", target.trim_start_matches("/word/")))).join("¶")
    };
    ids.into_iter().map(of_id).collect()
}

#[test]
fn each_turns_section_has_headers_of_its_own() {
    let parts = [
        ("header1.xml", "header", "hdr", p("For {n} ({q}){#l} {.}{/l}")),
        ("footer1.xml", "footer", "ftr", p("Page of {n}")),
        ("header2.xml", "header", "hdr", p("{t}")),
    ];
    let parts: Vec<_> =
        parts.iter().map(|(name, kind, root, text)| (*name, *kind, *root, text.as_str())).collect();
    let body = [
        p("{#items}"),
        p("Dear {n}"),
        section(&[("header", 1), ("footer", 2)]),
        p("{/items}"),
        section(&[("header", 3)]),
    ]
    .concat();
    let file = filled(docx_with(&body, &parts));
    assert_eq!(headers(&file, "header"), ["For A (qa) 1 2", "For B (qb) 3", "T"]);
    assert_eq!(headers(&file, "footer"), ["Page of A", "Page of B"]);
    let count =
        |file: &[u8]| entries(file).iter().filter(|(name, _)| name.starts_with("word/header")).count();
    assert_eq!(count(&file), 3);
    // Without turns the header goes; one that is used outside of the section too stays, and each turn has a copy.
    let none = filled(docx_with(&body.replace("items", "none"), &parts));
    assert_eq!((headers(&none, "header"), count(&none)), (vec!["T".to_owned()], 1));
    let both = [body.clone(), section(&[("header", 1)])].concat();
    let file = filled(docx_with(&both, &parts));
    assert_eq!(headers(&file, "header"), ["For A (qa) 1 2", "For B (qb) 3", "T", "For  ()"]);
    // In nested sections, and of a header without tags.
    let nested = [
        p("{#items}"),
        p("{#l}"),
        section(&[("header", 1)]),
        p("{/l}"),
        section(&[("footer", 2)]),
        p("{/items}"),
    ]
    .concat();
    let file = filled(docx_with(&nested, &parts));
    assert_eq!(headers(&file, "header"), ["For A (qa) 1 2", "For A (qa) 1 2", "For B (qb) 3"]);
    let plain = [("header1.xml", "header", "hdr", "<w:p><w:r><w:t>same</w:t></w:r></w:p>")];
    let file = filled(docx_with(
        &[p("{#items}"), p("{n}"), section(&[("header", 1)]), p("{/items}")].concat(),
        &plain,
    ));
    assert_eq!(headers(&file, "header"), ["same", "same"]);
}

#[test]
fn a_header_keeps_its_picture_and_its_link() {
    let header = p("{n}")
        + "<w:p><w:hyperlink r:id=\"rId7\"><w:r><w:t>x</w:t></w:r></w:hyperlink><w:r><w:drawing><wp:inline><wp:docPr id=\"5\" name=\"P\"/><a:blip r:embed=\"rId8\"/></wp:inline></w:drawing></w:r></w:p>";
    let body = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    let file = docx_with(&body, &[("header1.xml", "header", "hdr", &header)]);
    let links = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";
    let mut files = entries(&file);
    files.push(("word/_rels/header1.xml.rels".to_owned(), links.as_bytes().to_vec()));
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let file = with(
        &crate::support::zipped(&files),
        &[("word/media/image1.png", "image/png", "a picture")],
        &[
            ("word/header1.xml", "rId7", "hyperlink", "https://a.example/{q}"),
            ("word/header1.xml", "rId8", "image", "media/image1.png"),
        ],
    );
    let file = filled(file);
    let links = |name: &str| part(&file, &format!("word/_rels/{name}.rels"));
    assert!(links("header1.xml").contains("a.example/qa\""), "{}", links("header1.xml"));
    assert!(links("header2.xml").contains("a.example/qb\"") && links("header2.xml").contains("image1.png"));
    assert!(
        !links("header2.xml").contains("{q}") && !links("header2.xml").contains("%7Bq"),
        "{}",
        links("header2.xml")
    );
    assert_eq!(
        entries(&file).iter().filter(|(name, _)| name.contains("media")).count(),
        1,
        "the picture is shared"
    );
}

/// A document whose chart stands in a section.
fn charted(title: &str, alt: &str) -> Vec<u8> {
    let file = beside_too(&charts::document(title, &bars(1), ""), alt);
    let parts = entries(&file).into_iter().map(|(name, content)| {
        if name != DOCUMENT {
            return (name, content);
        }
        let text = String::from_utf8(content).expect("UTF-8");
        let end = "</w:drawing></w:r></w:p>";
        let text = text.replace("{intro}", "{#items}").replace(end, &(end.to_owned() + &p("{/items}")));
        (name, text.into_bytes())
    });
    let parts: Vec<_> = parts.collect();
    let parts: Vec<_> = parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    crate::support::zipped(&parts)
}

#[test]
fn each_turn_has_a_chart_with_a_workbook_of_its_own() {
    let file = filled(charted("Of {n}", ""));
    let count =
        |file: &[u8], folder: &str| entries(file).iter().filter(|(name, _)| name.starts_with(folder)).count();
    assert!(part(&file, CHART).contains("Of A"));
    assert!(part(&file, "word/charts/chart2.xml").contains("Of B"));
    assert_eq!(count(&file, "word/embeddings/"), 2);
    assert_ne!(
        part(&file, "word/charts/_rels/chart2.xml.rels"),
        part(&file, "word/charts/_rels/chart1.xml.rels")
    );
    let sales = |value: u32| {
        format!(
            "{{\"sales\":{{\"_type\":\"chart\",\"title\":\"T\",\"categories\":{{\"names\":[\"a\"]}},\"series\":[{{\"name\":\"S\",\"values\":[{value}]}}]}}}}"
        )
    };
    let data = format!("{{\"items\":[{},{}]}}", sales(41), sales(42));
    for file in [charted("x", "{sales}"), charted("{sales}", "")] {
        let filled = try_fill(file, &data, "{}").unwrap_or_else(|error| panic!("{error}")).file;
        assert_eq!(audit(&filled), Vec::<String>::new());
        for (chart, value) in [(1, 41), (2, 42)] {
            let xml = part(&filled, &format!("word/charts/chart{chart}.xml"));
            assert!(xml.contains(&format!("<c:v>{value}</c:v>")), "{xml}");
        }
    }
}

#[test]
fn embedded_files_and_alternative_chunks_are_copied() {
    let chunk = "<w:altChunk r:id=\"rId9\"/>";
    let object = "<w:p><w:r><w:object><v:shape id=\"s\"/><o:OLEObject Type=\"Embed\" ShapeID=\"s\" r:id=\"rId8\"/></w:object></w:r></w:p>";
    let body = [&p("{#items}"), &p("{n}"), object, chunk, &p("{/items}")].map(ToOwned::to_owned).concat();
    let file = with(
        &docx(&body),
        &[
            (
                "word/embeddings/oleObject1.bin",
                "application/vnd.openxmlformats-officedocument.oleObject",
                "an object",
            ),
            ("word/afchunk.html", "text/html", "<p>hello</p>"),
        ],
        &[
            ("word/document.xml", "rId8", "oleObject", "embeddings/oleObject1.bin"),
            ("word/document.xml", "rId9", "aFChunk", "afchunk.html"),
        ],
    );
    let file = filled(file);
    let ids = values(&part(&file, DOCUMENT), "o:OLEObject", "r:id");
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
    assert_eq!(
        values(&part(&file, DOCUMENT), "v:shape", "id"),
        values(&part(&file, DOCUMENT), "o:OLEObject", "ShapeID")
    );
    let chunks = values(&part(&file, DOCUMENT), "w:altChunk", "r:id");
    assert!(chunks.len() == 2 && chunks[0] != chunks[1], "{chunks:?}");
    let count = |end: &str| entries(&file).iter().filter(|(name, _)| name.ends_with(end)).count();
    assert_eq!((count(".bin"), count(".html")), (2, 2));
}

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
