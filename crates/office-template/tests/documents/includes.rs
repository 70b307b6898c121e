//! `{:include}`: other documents of the template's archive.

use std::collections::BTreeMap;

use office_template::{Error, Files, Filled, Limits, Template};

use crate::support::{
    docx, docx_with, entries, limits, p, paragraphs, part, run, table, well_formed, zipped,
};

const DOCUMENT: &str = "word/document.xml";

/// Files beside the template.
struct Beside(BTreeMap<&'static str, Vec<u8>>);

impl Files for Beside {
    fn file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("there is no file '{name}' beside the template"))
    }
}

pub fn try_with(
    file: Vec<u8>,
    data: &str,
    files: &[(&'static str, Vec<u8>)],
    limits: &Limits,
) -> Result<Filled, Error> {
    let mut files = Beside(files.iter().cloned().collect());
    let template = Template::read_beside(file, None, limits, &mut files)?;
    let answer = run(template.program(), data, "{}");
    let filled = template.fill(&answer, &mut files)?;
    for (name, content) in entries(&filled.file) {
        if [".xml", ".rels"].iter().any(|end| name.ends_with(end)) {
            well_formed(&name, &content);
        }
    }
    Ok(filled)
}

pub fn with(body: &str, data: &str, files: &[(&'static str, Vec<u8>)]) -> Filled {
    try_with(docx(body), data, files, &limits()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn text(body: &str, data: &str, files: &[(&'static str, Vec<u8>)]) -> Vec<String> {
    paragraphs(&part(&with(body, data, files).file, DOCUMENT))
}

pub fn fault(body: &str, data: &str, files: &[(&'static str, Vec<u8>)]) -> String {
    match try_with(docx(body), data, files, &limits()) {
        Ok(filled) => panic!("it is filled: {}", part(&filled.file, DOCUMENT)),
        Err(error) => error.to_string(),
    }
}

/// A document with other files and relationships of its main part.
pub fn packed(body: &str, relationships: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut all = entries(&docx(body));
    for (name, content) in &mut all {
        let text = String::from_utf8(content.clone()).expect("a text");
        if name.ends_with("document.xml.rels") {
            *content =
                text.replace("</Relationships>", &format!("{relationships}</Relationships>")).into_bytes();
        } else if name == DOCUMENT {
            let namespace =
                "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" xmlns:w=";
            *content = text.replacen("xmlns:w=", namespace, 1).into_bytes();
        } else if name.starts_with('[') {
            let png = "<Default Extension=\"png\" ContentType=\"image/png\"/></Types>";
            *content = text.replace("</Types>", png).into_bytes();
        }
    }
    all.extend(files.iter().map(|&(name, content)| (name.to_owned(), content.to_vec())));
    let all: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&all)
}

fn relationship(id: &str, kind: &str, target: &str) -> String {
    let base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    format!("<Relationship Id=\"{id}\" Type=\"{base}/{kind}\" Target=\"{target}\"/>")
}

#[test]
fn its_text_takes_the_place_of_the_tag() {
    let terms = docx(&[p("one"), p("two")].concat());
    let body = [p("before"), p("{:include \"terms.docx\"}"), p("behind")].concat();
    assert_eq!(text(&body, "{}", &[("terms.docx", terms.clone())]), ["before", "one", "two", "behind"]);
    assert_eq!(
        text(&p("a {:include './terms.docx'} b"), "{}", &[("terms.docx", terms)]),
        ["a ", "one", "two", " b"]
    );
}

#[test]
fn its_tags_are_filled_with_what_the_data_is_where_it_stands() {
    let clause = docx(&[p("{n}: {title}"), table(&[&["{#rows}{.}", "x{/rows}"]])].concat());
    let body = [p("{#items}"), p("{:include \"parts/clause.docx\"}"), p("{/items}"), p("end")].concat();
    let data = r#"{"title":"T","items":[{"n":1,"rows":["a","b"]},{"n":2,"rows":[]}]}"#;
    let expected = ["1: T", "a", "x", "b", "x", "2: T", "end"];
    let found = text(&body, data, &[("parts/clause.docx", clause)]);
    assert_eq!(found, expected);
}

#[test]
fn documents_take_in_documents() {
    let files = [
        ("a.docx", docx(&[p("a {x}"), p("{#l}{:include \"b.docx\"}{/l}")].concat())),
        ("b.docx", docx(&p("b {.}"))),
    ];
    let body = p("{:include \"a.docx\"}");
    let found = text(&body, r#"{"x":"X","l":[1,2]}"#, &files[..]);
    assert_eq!(found, ["a X", "b 1", "b 2"]);
}

#[test]
fn faults_name_the_file_that_they_are_in() {
    let files = [("terms.docx", docx(&[p("fine"), p("{#open}"), p("{a | 3}")].concat()))];
    let message = fault(&p("{:include \"terms.docx\"}"), "{}", &files);
    assert!(message.contains("terms.docx, paragraph 2, {#open}: the section is never closed"), "{message}");
    let files = [("terms.docx", docx(&p("{a.b.trim()}{:color \"reddish\"}")))];
    let message = fault(&p("{:include \"terms.docx\"}"), "{}", &files);
    assert!(message.contains("terms.docx, paragraph 1, {a.b.trim()}: "), "{message}");
    let files = [("terms.docx", docx(&p("{x}{:color \"reddish\"}")))];
    let message = fault(&[p("{y}"), p("{:include \"terms.docx\"}")].concat(), "{}", &files);
    assert!(message.contains("terms.docx, paragraph 1, {:color \"reddish\"}: "), "{message}");
}

#[test]
fn what_is_no_file_beside_the_template_is_refused() {
    for (name, why) in [
        ("../x.docx", "is no file beside the template"),
        ("/etc/passwd", "is no file beside the template"),
        ("a/../../x", "is no file beside the template"),
        ("https://a.example/x.docx", "is no file beside the template"),
        ("C:\\\\x.docx", "is no file beside the template"),
        ("", "it names no file"),
        ("none.docx", "there is no file 'none.docx'"),
        ("text.docx", "text.docx cannot be taken in: this is no Word file"),
    ] {
        let files = [("text.docx", b"text".to_vec())];
        for tag in [format!("{{:include \"{name}\"}}"), format!("{{:include (\"{name}\" + \"\")}}")] {
            let message = fault(&p(&tag), "{}", &files);
            assert!(message.contains(why), "{tag}: {message}");
        }
    }
}

#[test]
fn names_that_no_file_can_have_are_refused() {
    for name in [r"a\u0001b.docx".to_owned(), "x".repeat(5_000)] {
        let message = fault(&p("{:include name}"), &format!("{{\"name\":\"{name}\"}}"), &[]);
        assert!(message.contains("shorter than 4096 bytes and has no control characters"), "{message}");
    }
}

#[test]
fn a_calculated_name_puts_a_file_in_as_it_is() {
    let files = [("a.docx", docx(&p("plain"))), ("tags.docx", docx(&p("{x}")))];
    let body = p("{:include (name + \".docx\")}");
    assert_eq!(text(&body, r#"{"name":"a"}"#, &files), ["plain"]);
    let message = fault(&body, r#"{"name":"tags"}"#, &files);
    assert!(
        message.contains("tags.docx has tags, and these are filled only where the name stands in the tag"),
        "{message}"
    );
    assert!(fault(&body, r#"{"name":"b"}"#, &files).contains("there is no file 'b.docx'"));
}

const HEADING: &str =
    "<w:style w:type=\"paragraph\" w:styleId=\"H\"><w:name w:val=\"Head\"/><w:rPr><w:b/></w:rPr></w:style>";

#[test]
fn its_styles_come_with_it_and_the_hosts_win() {
    let host = "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>\
                <w:style w:type=\"paragraph\" w:styleId=\"Kopf\"><w:name w:val=\"head\"/></w:style>\
                <w:style w:type=\"character\" w:styleId=\"Base\"><w:name w:val=\"Other\"/></w:style>";
    let own = format!(
        "{HEADING}<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Standard\"><w:name w:val=\"Normal\"/></w:style>\
         <w:style w:type=\"paragraph\" w:styleId=\"Base\"><w:name w:val=\"Base\"/><w:basedOn w:val=\"Standard\"/><w:rPr><w14:glow/><w:i/></w:rPr></w:style>\
         <w:style w:type=\"paragraph\" w:styleId=\"Top\"><w:name w:val=\"Top\"/><w:basedOn w:val=\"Base\"/><w:next w:val=\"None\"/></w:style>\
         <w:style w:type=\"paragraph\" w:styleId=\"Unused\"><w:name w:val=\"Unused\"/></w:style>"
    );
    let styled = |id: &str| format!("<w:p><w:pPr><w:pStyle w:val=\"{id}\"/></w:pPr></w:p>");
    let file = docx_with(&(styled("H") + &styled("Top")), &[("styles.xml", "styles", "styles", &own)]);
    let template = docx_with(&p("{:include \"a\"}"), &[("styles.xml", "styles", "styles", host)]);
    let filled = try_with(template, "{}", &[("a", file)], &limits()).expect("it is filled");
    let (document, definitions) = (part(&filled.file, DOCUMENT), part(&filled.file, "word/styles.xml"));
    assert!(
        document.contains("w:pStyle w:val=\"Kopf\"") && document.contains("w:pStyle w:val=\"Top\""),
        "{document}"
    );
    assert!(!definitions.contains("Unused") && !definitions.contains("styleId=\"H\""), "{definitions}");
    assert!(definitions.contains("<w:basedOn w:val=\"Base_2\"/></w:style>"), "{definitions}");
    assert!(
        definitions.contains(
            "w:styleId=\"Base_2\"><w:name w:val=\"Base\"/><w:basedOn w:val=\"Normal\"/><w:rPr><w:i/></w:rPr>"
        ),
        "{definitions}"
    );
}

#[test]
fn its_lists_begin_again_in_each_copy() {
    let list = |levels: &str| {
        format!(
            "<w:abstractNum w:abstractNumId=\"0\"><w:nsid w:val=\"00000001\"/>{levels}</w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>"
        )
    };
    let level = "<w:lvl w:ilvl=\"0\"><w:start w:val=\"3\"/><w:numFmt w:val=\"decimal\"/></w:lvl>";
    let item = "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr></w:p>";
    let file = docx_with(item, &[("numbering.xml", "numbering", "numbering", &list(level))]);
    let body = [item, &p("{#l}{:include \"a\"}{/l}")].concat();
    let template = docx_with(&body, &[("numbering.xml", "numbering", "numbering", &list(""))]);
    let filled =
        try_with(template, r#"{"l":[1,2]}"#, &[("a", file.clone())], &limits()).expect("it is filled");
    let numbering = part(&filled.file, "word/numbering.xml");
    let document = part(&filled.file, DOCUMENT);
    let numbers: Vec<&str> = document.split("w:numId w:val=\"").skip(1).map(|rest| &rest[..1]).collect();
    assert_eq!(numbers, ["1", "2", "3"], "{document}");
    assert!(
        numbering.rfind("<w:abstractNum ").expect("one") < numbering.find("<w:num ").expect("one"),
        "{numbering}"
    );
    assert!(numbering.contains("<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num>"), "{numbering}");
    assert!(numbering.contains("<w:num w:numId=\"3\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"3\"/>"), "{numbering}");
    let alone = with(&p("{:include \"a\"}"), "{}", &[("a", file)]);
    assert!(part(&alone.file, "word/numbering1.xml").contains("w:abstractNumId=\"1\""));
}

#[test]
fn its_pictures_and_links_come_with_it() {
    let drawing = "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"1\" name=\"x\"/><a:blip xmlns:a=\"urn:a\" r:embed=\"rId5\"/></wp:inline></w:drawing></w:r>\
                   <w:hyperlink r:id=\"rId6\"><w:r><w:t>l</w:t></w:r></w:hyperlink><w:r><w:t>{:link \"m\" \"https://b.example\"}</w:t></w:r></w:p>\
                   <w:p><w:r><w:object><c:chart xmlns:c=\"urn:c\" r:id=\"rId7\"/></w:object></w:r></w:p>";
    let external =
        relationship("rId6", "hyperlink", "https://a.example").replace("/>", " TargetMode=\"External\"/>");
    let rels = [
        relationship("rId5", "image", "media/image1.png"),
        external,
        relationship("rId7", "chart", "charts/chart1.xml"),
    ]
    .concat();
    let chart = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{}</Relationships>",
        relationship("rId1", "package", "../embeddings/book.bin")
    );
    let file = packed(
        drawing,
        &rels,
        &[
            ("word/media/image1.png", b"picture"),
            ("word/charts/chart1.xml", b"<c/>"),
            ("word/charts/_rels/chart1.xml.rels", chart.as_bytes()),
            ("word/embeddings/book.bin", b"<book/>"),
        ],
    );
    let template = packed(&p("{#l}{:include \"a\"}{/l}"), "", &[("word/media/image1.png", b"another")]);
    let filled = try_with(template, r#"{"l":[1,2]}"#, &[("a", file)], &limits()).expect("it is filled");
    let document = part(&filled.file, DOCUMENT);
    assert_eq!(part(&filled.file, "word/media/image1.png"), "another");
    assert_eq!(part(&filled.file, "word/media/image2.png"), "picture");
    assert_eq!(entries(&filled.file).iter().filter(|(name, _)| name.contains("media/")).count(), 2);
    let rels = part(&filled.file, "word/_rels/document.xml.rels");
    assert!(
        ["https://a.example", "https://b.example", "media/image2.png", "charts/chart1.xml"]
            .iter()
            .all(|one| rels.matches(one).count() == 1),
        "{rels}"
    );
    let chart = part(&filled.file, "word/charts/_rels/chart1.xml.rels");
    assert!(chart.contains("Target=\"/word/embeddings/book1.bin\""), "{chart}");
    assert!(
        part(&filled.file, "[Content_Types].xml")
            .contains("PartName=\"/word/media/image2.png\" ContentType=\"image/png\"")
    );
    let ids: Vec<&str> =
        document.split("wp:docPr id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{document}");
}

#[test]
fn what_it_refers_to_and_has_not_is_a_fault() {
    let body = "<w:p><w:hyperlink r:id=\"rId9\"/></w:p>";
    assert!(
        fault(&p("{:include \"a\"}"), "{}", &[("a", packed(body, "", &[]))]).contains("refers to \"rId9\"")
    );
    for target in ["media/none.png", "../../../x", "document.xml"] {
        let file = packed(body, &relationship("rId9", "image", target), &[]);
        let message = fault(&p("{:include \"a\"}"), "{}", &[("a", file)]);
        assert!(message.contains("which it does not contain"), "{target}: {message}");
    }
}

#[test]
fn parts_that_refer_to_each_other_are_taken_once() {
    let body = "<w:p><w:hyperlink r:id=\"rId9\"/></w:p>";
    let whole = |target: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{}</Relationships>",
            relationship("rId1", "x", target)
        )
    };
    let file = packed(
        body,
        &relationship("rId9", "chart", "a.xml"),
        &[
            ("word/a.xml", b"<a/>"),
            ("word/_rels/a.xml.rels", whole("b.xml").as_bytes()),
            ("word/b.xml", b"<b/>"),
            ("word/_rels/b.xml.rels", whole("a.xml").as_bytes()),
        ],
    );
    let filled = with(&p("{:include \"a\"}"), "{}", &[("a", file)]);
    assert!(part(&filled.file, "word/_rels/b1.xml.rels").contains("/word/a1.xml"));
}

#[test]
fn bookmarks_numbers_and_what_is_bound_are_each_copys_own() {
    let body = "<w:p w14:paraId=\"00000001\"><w:bookmarkStart w:id=\"0\" w:name=\"b\"/><w:hyperlink w:anchor=\"b\"/><w:bookmarkEnd w:id=\"0\"/></w:p>\
                <w:sdt><w:sdtPr><w:id w:val=\"5\"/><w:dataBinding w:xpath=\"x\"/></w:sdtPr><w:sdtContent><w:p><w:ins w:id=\"0\"/></w:p></w:sdtContent></w:sdt>";
    let filled = with(&p("{#l}{:include \"a\"}{/l}"), r#"{"l":[1,2]}"#, &[("a", docx(body))]);
    let document = part(&filled.file, DOCUMENT);
    let names: Vec<&str> = document
        .split("bookmarkStart ")
        .skip(1)
        .filter_map(|rest| rest.split("w:name=\"").nth(1)?.split('"').next())
        .collect();
    assert!(names.len() == 2 && names[0] == "b" && names[1] != "b", "{document}");
    assert!(document.contains(&format!("w:anchor=\"{}\"", names[1])), "{document}");
    let ids: Vec<&str> =
        document.split("w:id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(
        (ids.len(), ids.iter().collect::<std::collections::BTreeSet<_>>().len()),
        (6, 4),
        "{document}"
    );
    assert!(
        !document.contains("paraId")
            && !document.contains("dataBinding")
            && !document.contains("w:val=\"5\""),
        "{document}"
    );
}

#[test]
fn sections_and_notes_are_left_out_and_said() {
    let body = "<w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>x</w:t><w:footnoteReference w:id=\"2\"/></w:r></w:p><!-- a --><?b c?>";
    let filled = with(&p("{#l}{:include \"a\"}{/l}"), r#"{"l":[1,2]}"#, &[("a", docx(body))]);
    let document = part(&filled.file, DOCUMENT);
    assert!(
        !document.contains("footnoteReference") && !document.contains("<!--") && !document.contains("<?b"),
        "{document}"
    );
    assert_eq!(document.matches("<w:sectPr").count(), 1, "{document}");
    let said: Vec<&String> =
        filled.warnings.iter().filter(|warning| warning.starts_with("a: its ")).collect();
    assert_eq!(said.len(), 2, "{:?}", filled.warnings);
}

#[test]
fn prefixes_that_the_host_does_not_know_are_declared() {
    let body = p("{:include \"a\"}");
    let mut all = entries(&docx(&(p("x") + "<w:p><m:oMath/></w:p>")));
    let text = String::from_utf8(all[2].1.clone()).expect("a text");
    all[2].1 = text
        .replacen("xmlns:w=", "xmlns:m=\"urn:m\" xmlns:z=\"urn:z\" mc:Ignorable=\"m z\" xmlns:w=", 1)
        .into_bytes();
    let all: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let filled = with(&body, "{}", &[("a", zipped(&all))]);
    let document = part(&filled.file, DOCUMENT);
    assert!(document.contains("<w:p xmlns:m=\"urn:m\" mc:Ignorable=\"m\"><m:oMath/>"), "{document}");
    assert!(!document.contains("urn:z"), "{document}");
}

#[test]
fn colours_hold_and_headings_count_in_what_is_taken_in() {
    let heading = "<w:p><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr><w:r><w:t>{:color c}one</w:t></w:r></w:p>";
    let filled =
        with(&[p("{:toc}"), p("{:include \"a\"}")].concat(), r#"{"c":"red"}"#, &[("a", docx(heading))]);
    let document = part(&filled.file, DOCUMENT);
    assert!(
        document.contains("FF0000") && document.contains("PAGEREF") && !document.contains("<?platen"),
        "{document}"
    );
    let message = fault(&p("{:include \"a\"}"), "{}", &[("a", docx(&p("{:toc}")))]);
    assert!(
        message.contains("a, paragraph 1, {:toc}: a table of contents stands in the document itself"),
        "{message}"
    );
}
