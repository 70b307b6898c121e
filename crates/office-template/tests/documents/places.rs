//! Tags beside the text: in attributes, properties, fields' codes, drawings, comments and tracked changes.

use crate::support::{DOCUMENT, GUID, docx_with, fault, fill, p, package, paragraphs, part, text, try_fill};

const CHART: &str = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml";
const SMART_ART: &str = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml";

/// A part of this kind, filled.
fn part_of(kind: &str, content: &str, data: &str) -> Result<String, String> {
    let file = package(&p("x"), &[("word/other.xml", kind, content)], &[]);
    let filled = try_fill(file, data, "{}").map_err(|error| error.to_string())?;
    Ok(part(&filled.file, "word/other.xml"))
}

fn chart(inside: &str, data: &str) -> Result<String, String> {
    let content = format!(
        "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" \
         xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">{inside}</c:chartSpace>"
    );
    part_of(CHART, &content, data)
}

fn picture(attributes: &str) -> String {
    format!(
        "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"1\" name=\"x\" {attributes}/></wp:inline></w:drawing></w:r></w:p>"
    )
}

/// A field of this code, cut into two runs.
fn field(code: &str) -> String {
    let (one, other) = code.split_at(code.len() / 2);
    let run = |inside: &str| format!("<w:r>{inside}</w:r>");
    let mark = |kind: &str| run(&format!("<w:fldChar w:fldCharType=\"{kind}\"/>"));
    let piece = |text: &str| run(&format!("<w:instrText>{}</w:instrText>", text.replace('"', "&quot;")));
    format!(
        "<w:p>{}{}{}{}{}{}</w:p>",
        mark("begin"),
        piece(one),
        piece(other),
        mark("separate"),
        run("<w:t>result</w:t>"),
        mark("end")
    )
}

/// The code of the fields of a filled document.
fn codes(filled: &str) -> String {
    let pieces = filled.split("<w:instrText").skip(1);
    pieces
        .filter_map(|piece| piece.split_once('>')?.1.split_once("</w:instrText>"))
        .map(|(code, _)| code)
        .collect()
}

#[test]
fn alternative_texts_and_tooltips_are_filled() {
    let data = r#"{"who":"A & \"B\" <'C'>\nD","list":["x","y"]}"#;
    let filled = fill(&picture("descr=\"Photo of {who}\" title='{#list}{.}, {/list}{list.length}'"), data);
    assert!(filled.contains("descr=\"Photo of A &amp; &quot;B&quot; &lt;&apos;C&apos;&gt; D\""), "{filled}");
    assert!(filled.contains("title='x, y, 2'"), "{filled}");
    let shapes = "<w:p><w:r><w:pict><v:shape id=\"a\" alt=\"{who}\"><v:textpath string=\"{list[0]} &quot;&#123;list[1]}\"/>\
                  </v:shape></w:pict></w:r><w:hyperlink w:anchor=\"b\" w:tooltip=\"to {list[1]}\"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>";
    let filled = fill(shapes, data);
    assert!(filled.contains("string=\"x &quot;y\""), "{filled}");
    assert!(filled.contains("w:tooltip=\"to y\""), "{filled}");
}

#[test]
fn copies_have_alternative_texts_of_their_own() {
    let body = format!("{}{}{}", p("{#a}"), picture("descr=\"{.}\""), p("{/a}"));
    let filled = fill(&body, r#"{"a":["one","two"]}"#);
    assert!(filled.contains("descr=\"one\"") && filled.contains("descr=\"two\""), "{filled}");
}

#[test]
fn braces_in_attributes_that_are_no_tags_stay() {
    for text in [GUID, "{", "a } b", "{}", "{28a0092b-c50c-407e-a947-70e740481c1c} { x"] {
        let body = format!("{}{}", picture(&format!("descr=\"{text}\"")), p("{a}"));
        assert!(fill(&body, "{\"a\":1}").contains(&format!("descr=\"{text}\"")));
    }
    // An attribute that nobody sees.
    assert!(fill(&format!("<w:p w:rsidR=\"{{a}}\"/>{}", p("{a}")), "{\"a\":1}").contains("w:rsidR=\"{a}\""));
}

#[test]
fn an_attribute_holds_nothing_but_text() {
    for (text, why) in [
        ("{%a}", "nothing but text can stand here"),
        ("{:pagebreak}", "nothing but text can stand here"),
        ("{-w:tr a}{/}", "nothing but text can stand here"),
        ("{=[[ ]]=}", "nothing but text can stand here"),
        ("{#a}", "must end in the same text"),
        ("{/a}", "must begin in the same text"),
        ("{a b +}", "neither a name in the data nor an expression"),
    ] {
        let message = fault(&picture(&format!("descr=\"{text}\"")), "{\"a\":1}", "{}");
        assert!(message.contains(why), "{text}: {message}");
        assert!(message.starts_with("word/document.xml, paragraph 1, {"), "{message}");
    }
    let link = r#"{"l":{"_type":"link","text":"t","target":"https://a.example"}}"#;
    assert!(fault(&picture("descr=\"{l}\""), link, "{}").contains("nothing but text can stand here"));
}

#[test]
fn a_link_that_a_section_begins_in_is_one_link_with_its_tooltip_twice() {
    let body = "<w:p><w:hyperlink w:anchor=\"b\" w:tooltip=\"{t}\"><w:r><w:t>a {#l}b</w:t></w:r></w:hyperlink><w:r><w:t>c{/l}</w:t></w:r></w:p>";
    let filled = fill(body, r#"{"t":"tip","l":[1,2]}"#);
    assert_eq!(paragraphs(&filled), ["a bcbc"]);
    assert!(filled.contains("w:tooltip=\"tip\"") && !filled.contains("{t}"), "{filled}");
}

#[test]
fn properties_of_the_document_are_filled() {
    let core = format!(
        "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\">\
         <dc:title>Offer {{number}} for {{who}}</dc:title><dc:subject>{GUID}</dc:subject><dc:description>a {{ b</dc:description>\
         <cp:keywords>{{#list}}{{.}};{{/list}}</cp:keywords><dcterms:created>{{number}}</dcterms:created></cp:coreProperties>"
    );
    let data = r#"{"number":7,"who":"A & B","list":["x","y"]}"#;
    let filled =
        part_of("application/vnd.openxmlformats-package.core-properties+xml", &core, data).expect("filled");
    assert!(filled.contains("<dc:title>Offer 7 for A &amp; B</dc:title>"), "{filled}");
    assert!(
        filled.contains(&format!("<dc:subject>{GUID}</dc:subject><dc:description>a {{ b</dc:description>"))
    );
    assert!(filled.contains("<cp:keywords>x;y;</cp:keywords><dcterms:created>{number}<"), "{filled}");
    let custom = "<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/custom-properties\" \
                  xmlns:vt=\"http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes\">\
                  <property fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"2\" name=\"{who}\"><vt:lpwstr>{who}</vt:lpwstr></property></Properties>";
    let kind = "application/vnd.openxmlformats-officedocument.custom-properties+xml";
    let filled = part_of(kind, custom, data).expect("filled");
    assert!(filled.contains(
        "fmtid=\"{D5CDD505-2E9C-101B-9397-08002B2CF9AE}\" pid=\"2\" name=\"{who}\"><vt:lpwstr>A &amp; B<"
    ));
    let message = part_of(kind, &custom.replace("{who}<", "{:toc}<"), data).expect_err("a fault");
    assert!(message.starts_with("word/other.xml, {:toc}: nothing but text"), "{message}");
}

#[test]
fn codes_of_fields_are_filled_over_their_runs() {
    let data = r#"{"q":"a \"b\" \\o","url":"https://a.example/?x=1&y=2","list":["x","y"]}"#;
    let say = |code: &str| codes(&fill(&field(code), data));
    assert_eq!(
        say(" IF \"{q}\" = \"1\" \"{list[0]}\" "),
        " IF \"a \\\"b\\\" \\\\o\" = \"1\" \"x\" ".replace('"', "&quot;").replace("\\&quot;", "\\\"")
    );
    assert_eq!(
        say(" HYPERLINK \"{url}\" ").replace("&quot;", "\""),
        " HYPERLINK \"https://a.example/?x=1&amp;y=2\" "
    );
    assert_eq!(say(" QUOTE {#list}{.}-{/list} "), " QUOTE x-y- ");
    assert_eq!(say(&format!(" QUOTE {GUID} {{ ")), format!(" QUOTE {GUID} {{ "));
    let simple =
        "<w:p><w:fldSimple w:instr=\" QUOTE &quot;{q}&quot; \"><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>";
    let filled = fill(simple, data);
    assert!(filled.contains("w:instr=\" QUOTE &quot;a \\&quot;b\\&quot; \\\\o&quot; \""), "{filled}");
    // The result is text as any other, and no part of the code.
    assert_eq!(text(&field(" PAGE ").replace("result", "{list[1]}"), data), "y");
}

#[test]
fn data_says_neither_what_a_field_is_nor_what_it_reads() {
    let data = r#"{"a":"javascript:alert(1)"}"#;
    for (code, why) in [
        (" {a} ", "begin it with its name"),
        (" HYPERLINK{a} ", "begin it with its name"),
        (" INCLUDETEXT \"{a}\" ", "data cannot say what"),
        (" ddeauto {a} ", "data cannot say what"),
        (" HYPERLINK \"{a}\" ", "a link leads to an address of"),
        (" HYPERLINK {#a}{.}{/a} ", "a link leads to an address of"),
        (" QUOTE {%a} ", "nothing but text"),
        (" QUOTE {#a} ", "must end in the same text"),
    ] {
        let message = fault(&field(code), data, "{}");
        assert!(message.contains(why), "{code}: {message}");
    }
}

#[test]
fn titles_of_charts_are_filled_over_their_runs() {
    let title = |runs: &str| {
        format!(
            "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr/>{runs}<a:endParaRPr/></a:p></c:rich></c:tx></c:title>"
        )
    };
    let data = r#"{"who":"A & B\nC\tD","list":["x","y"],"none":[]}"#;
    let filled =
        chart(&title("<a:r><a:rPr b=\"1\"/><a:t>Sales of {wh</a:t></a:r><a:r><a:t>o}</a:t></a:r>"), data)
            .expect("filled");
    assert!(filled.contains("<a:t>Sales of A &amp; B</a:t></a:r><a:br><a:rPr b=\"1\"/></a:br><a:r><a:rPr b=\"1\"/><a:t>C\tD</a:t></a:r><a:r><a:t></a:t></a:r>"), "{filled}");
    assert!(!filled.contains("xml:space"), "{filled}");
    let filled =
        chart(&title("<a:r><a:rPr/><a:t>{#list}{.},</a:t></a:r><a:br/><a:r><a:t>{/list}</a:t></a:r>"), data)
            .expect("filled");
    assert_eq!(filled.matches("<a:br/>").count(), 2, "{filled}");
    assert!(filled.contains("x,") && filled.contains("y,"), "{filled}");
    for (text, why) in [
        ("{%who}", "nothing but text"),
        ("{-w:p list}{/}", "nothing but text"),
        ("{#list}", "never closed"),
        ("{", "no } in its paragraph"),
    ] {
        let message = chart(&title(&format!("<a:r><a:t>{text}</a:t></a:r>")), data).expect_err("a fault");
        assert!(message.contains(why), "{text}: {message}");
    }
}

#[test]
fn what_a_chart_keeps_of_its_cells_is_filled() {
    let cells = format!(
        "<c:strCache><c:pt idx=\"0\"><c:v>{{a}} &amp; {{#l}}{{.}}{{/l}}</c:v></c:pt><c:pt idx=\"1\"><c:v>{GUID}</c:v></c:pt></c:strCache>"
    );
    let filled = chart(&cells, r#"{"a":"x<y","l":[1,2]}"#).expect("filled");
    assert!(
        filled.contains(&format!("<c:v>x&lt;y &amp; 12</c:v></c:pt><c:pt idx=\"1\"><c:v>{GUID}</c:v>")),
        "{filled}"
    );
}

#[test]
fn texts_of_smart_art_are_filled_and_its_nodes_are_not_repeated() {
    let model = |points: &str| {
        format!(
            "<dgm:dataModel xmlns:dgm=\"http://schemas.openxmlformats.org/drawingml/2006/diagram\" \
             xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>"
        )
    };
    let point = |paragraphs: &[&str]| {
        let paragraphs: String = paragraphs
            .iter()
            .map(|text| format!("<a:p><a:r><a:rPr/><a:t>{text}</a:t></a:r></a:p>"))
            .collect::<Vec<_>>()
            .concat();
        format!(
            "<dgm:pt modelId=\"{GUID}\"><dgm:prSet/><dgm:spPr/><dgm:t><a:bodyPr/><a:lstStyle/>{paragraphs}</dgm:t></dgm:pt>"
        )
    };
    let data = r#"{"a":"x","l":["1","2"],"no":[]}"#;
    let filled =
        part_of(SMART_ART, &model(&point(&["{a}", "{#l}", "<{.}", "{/l}"]).replace("<{", "&lt;{")), data)
            .expect("filled");
    let texts: Vec<&str> = filled.split("<a:t>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    assert_eq!(texts, ["x", "&lt;1", "&lt;2"], "{filled}");
    assert!(filled.contains(GUID));
    let empty = part_of(SMART_ART, &model(&point(&["{#no}", "x", "{/no}"])), data).expect("filled");
    assert!(empty.contains("<a:lstStyle/><a:p></a:p></dgm:t>"), "{empty}");
    let across = model(&format!("{}{}", point(&["{#l}"]), point(&["{/l}"])));
    assert!(
        part_of(SMART_ART, &across, data)
            .expect_err("a fault")
            .contains("must stand both inside or both outside")
    );
}

#[test]
fn comments_are_filled() {
    let row = "<w:tr><w:tc><w:p><w:commentRangeStart w:id=\"0\"/><w:r><w:t>{#l}{.}{/l}</w:t></w:r><w:commentRangeEnd w:id=\"0\"/>\
               <w:r><w:commentReference w:id=\"0\"/></w:r></w:p></w:tc></w:tr>";
    let row = row
        .replace("{#l}{.}{/l}", "{#l}{.}")
        .replace("</w:tc></w:tr>", "</w:tc><w:tc><w:p><w:r><w:t>{/l}</w:t></w:r></w:p></w:tc></w:tr>");
    let comment =
        format!("<w:comment w:id=\"0\" w:author=\"{{a}}\">{}</w:comment>", p("Ask {a}{#l}, {.}{/l}"));
    let parts = [("comments.xml", "comments", "comments", comment.as_str())];
    let filled =
        try_fill(docx_with(&format!("<w:tbl>{row}</w:tbl>"), &parts), r#"{"a":"A","l":["x","y"]}"#, "{}")
            .expect("filled");
    let comments = part(&filled.file, "word/comments.xml");
    assert_eq!(paragraphs(&comments), ["Ask A, x, y"; 2], "each row has its own");
    assert!(comments.contains("w:author=\"{a}\""));
    let body = part(&filled.file, DOCUMENT);
    assert_eq!(paragraphs(&body).join("¶"), "x¶¶y¶");
    for mark in ["commentRangeStart", "commentRangeEnd", "commentReference"] {
        assert_eq!(body.matches(mark).count(), 2, "{body}");
    }
    let broken = [(
        "comments.xml",
        "comments",
        "comments",
        "<w:comment w:id=\"0\"><w:p><w:r><w:t>{a</w:t></w:r></w:p></w:comment>",
    )];
    let message = try_fill(docx_with(&p("x"), &broken), "{}", "{}").expect_err("a fault").to_string();
    assert!(message.starts_with("word/comments.xml, paragraph 1, {a"), "{message}");
}

#[test]
fn a_text_box_and_its_twin_say_the_same() {
    let content = format!("<w:txbxContent>{}</w:txbxContent>", p("{#l}{.}{/l}{n}"));
    let body = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wp:anchor><wp:docPr id=\"1\" name=\"b\" descr=\"{{n}}\"/><wps:txbx>{content}</wps:txbx>\
         </wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape alt=\"{{n}}\"><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    );
    let filled = fill(&body, r#"{"l":["x","y"],"n":7}"#);
    assert_eq!(paragraphs(&filled), ["", "xy7", "xy7"]);
    assert!(filled.contains("descr=\"7\"") && filled.contains("alt=\"7\""), "{filled}");
}

#[test]
fn what_is_inserted_is_filled_and_stays_inserted() {
    let inserted = |id: u32, text: &str| {
        format!("<w:ins w:id=\"{id}\" w:author=\"A\"><w:r><w:t>{text}</w:t></w:r></w:ins>")
    };
    let deleted = "<w:del w:id=\"9\" w:author=\"A\"><w:r><w:delText>{gone</w:delText></w:r></w:del>";
    let body = format!("<w:p>{}{deleted}</w:p>", inserted(1, "{a}"));
    let filled = fill(&body, "{\"a\":\"x\"}");
    assert!(
        filled.contains(
            "<w:ins w:id=\"1\" w:author=\"A\"><w:r><w:t xml:space=\"preserve\">x</w:t></w:r></w:ins>"
        ),
        "{filled}"
    );
    assert!(filled.contains(deleted), "{filled}");
    // Half of the tag was there before, and something between was deleted.
    let body = format!(
        "<w:p><w:r><w:t>{{na</w:t></w:r>{deleted}{}<w:r><w:t>!</w:t></w:r></w:p>",
        inserted(1, "me} and")
    );
    assert_eq!(text(&body, "{\"name\":\"N\"}"), "N and!");
    let body = format!("<w:p>{}{}</w:p>", inserted(1, "{#l}{.}"), inserted(2, ";{/l}"));
    let filled = fill(&body, r#"{"l":["x","y"]}"#);
    assert_eq!(paragraphs(&filled), ["x;y;"]);
    let mut ids: Vec<&str> =
        filled.split("<w:ins w:id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{filled}");
}

#[test]
fn braces_beside_the_text_say_nothing_of_its_delimiters() {
    let body = format!("{}{}", picture(&format!("descr=\"{GUID} {{\"")), p("{{a}}"));
    assert_eq!(text(&body, "{\"a\":1}"), "¶1");
    let only = fill(&picture("descr=\"[[a]]\""), "{\"a\":1}");
    assert!(only.contains("descr=\"1\""), "{only}");
}

#[test]
fn a_document_without_tags_is_the_same_bytes() {
    let file = package(
        &format!("{}{}", p("x"), picture(&format!("descr=\"{GUID}\""))),
        &[],
        &[("rId9", "https://a.example/%7B")],
    );
    let filled = try_fill(file.clone(), "{}", "{}").expect("filled");
    assert!(filled.file == file);
}
