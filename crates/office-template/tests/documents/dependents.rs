//! What hangs on a repeated place: notes, comments, headers, charts, embedded files. Each turn has its own.

use crate::audit::{audit, values};
use crate::chart_frames::beside_too;
use crate::charts::{self, CHART, bars};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, docx, docx_with, entries, escape, p, paragraphs, part, try_fill};

pub const DATA: &str = r#"{"items":[{"n":"A","q":"qa","l":[1,2]},{"n":"B","q":"qb","l":[3]}],"none":[],"t":"T","one":{"n":"O","q":"qo"}}"#;
pub const FOOTNOTES: &str = "word/footnotes.xml";
pub const COMMENTS: &str = "word/comments.xml";

/// A paragraph with a text and a reference to a note.
pub fn noted(text: &str, id: u32) -> String {
    format!(
        "<w:p><w:r><w:t>{}</w:t></w:r><w:r><w:footnoteReference w:id=\"{id}\"/></w:r></w:p>",
        escape(text)
    )
}

fn note(kind: &str, id: u32, text: &str) -> String {
    format!("<w:{kind} w:id=\"{id}\">{}</w:{kind}>", p(text))
}

/// A document with footnotes; those of a separator come first, as Word writes them.
pub fn footnoted(body: &str, notes: &[(u32, &str)]) -> Vec<u8> {
    let separator = "<w:footnote w:type=\"separator\" w:id=\"-1\"><w:p/></w:footnote>";
    let notes: String = notes.iter().map(|(id, text)| note("footnote", *id, text)).collect();
    docx_with(body, &[("footnotes.xml", "footnotes", "footnotes", &format!("{separator}{notes}"))])
}

pub fn filled(file: Vec<u8>) -> Vec<u8> {
    let filled = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(audit(&filled.file), Vec::<String>::new());
    filled.file
}

/// The texts of the notes in the order in which the document refers to them.
pub fn notes(file: &[u8], (kind, of): (&str, &str)) -> Vec<String> {
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
pub fn section(references: &[(&str, u32)]) -> String {
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
