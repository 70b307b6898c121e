//! Presentations: text of slides, tables, slides that are repeated and dropped, pictures in the frames of shapes.

use office_template::{NoFiles, Template};

use crate::support::{entries, escape, limits, part, try_fill, zipped};

const MAIN: &str = "application/vnd.openxmlformats-officedocument.presentationml";
pub const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const NAMES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
pub const LOGO: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEElEQVR42mP4z8AARwzIHABvqgf5aN2vpwAAAABJRU5ErkJggg==";

/// A text box of these paragraphs.
pub fn shape(id: u32, paragraphs: &[&str]) -> String {
    shape_of(id, "", "<p:cNvSpPr txBox=\"1\"/><p:nvPr/>", paragraphs)
}

pub fn shape_of(id: u32, alt: &str, kind: &str, paragraphs: &[&str]) -> String {
    let paragraph =
        |text: &&str| format!("<a:p><a:r><a:rPr b=\"1\"/><a:t>{}</a:t></a:r></a:p>", escape(text));
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"Box {id}\"{alt}/>{kind}</p:nvSpPr><p:spPr><a:xfrm><a:off x=\"1000\" y=\"2000\"/>\
         <a:ext cx=\"400000\" cy=\"400000\"/></a:xfrm><a:prstGeom prst=\"ellipse\"><a:avLst/></a:prstGeom></p:spPr><p:txBody>\
         <a:bodyPr><a:normAutofit fontScale=\"90000\"/></a:bodyPr>{}</p:txBody></p:sp>",
        paragraphs.iter().map(paragraph).collect::<String>()
    )
}

/// A table; each row has a number as PowerPoint gives it.
pub fn table(rows: &[&[&str]]) -> String {
    let columns = rows.first().map_or(0, |row| row.len());
    let cell = |text: &&str| {
        format!(
            "<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody><a:tcPr/></a:tc>",
            escape(text)
        )
    };
    let row = |(number, cells): (usize, &&[&str])| {
        format!(
            "<a:tr h=\"100\">{}<a:extLst><a:ext uri=\"x\"><a16:rowId xmlns:a16=\"y\" val=\"{}\"/></a:ext></a:extLst></a:tr>",
            cells.iter().map(cell).collect::<String>(),
            number + 10_000
        )
    };
    format!(
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"90\" name=\"Table\"/></p:nvGraphicFramePr><a:graphic><a:graphicData uri=\"t\">\
         <a:tbl><a:tblPr/><a:tblGrid>{}</a:tblGrid>{}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        "<a:gridCol w=\"100\"/>".repeat(columns),
        rows.iter().enumerate().map(row).collect::<String>()
    )
}

/// A presentation with these slides, each with notes that say `notes`, all in one section.
pub fn pptx(slides: &[&str], notes: &str) -> Vec<u8> {
    let mut files: Vec<(String, String)> = Vec::new();
    let (mut types, mut links, mut list, mut section) = Default::default();
    let link = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links_of = |lines: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{lines}</Relationships>"
        )
    };
    let one = |text: &mut String, piece: String| text.push_str(&piece);
    for (at, shapes) in slides.iter().enumerate() {
        let number = at + 1;
        for (kind, folder) in [("slide", "slides"), ("notesSlide", "notesSlides")] {
            one(
                &mut types,
                format!(
                    "<Override PartName=\"/ppt/{folder}/{kind}{number}.xml\" ContentType=\"{MAIN}.{kind}+xml\"/>"
                ),
            );
        }
        one(&mut links, link(&format!("rId{number}"), "slide", &format!("slides/slide{number}.xml")));
        one(&mut list, format!("<p:sldId id=\"{}\" r:id=\"rId{number}\"/>", at + 256));
        one(&mut section, format!("<p14:sldId id=\"{}\"/>", at + 256));
        let tree = |root: &str, shapes: &str| {
            format!("<p:{root} {NAMES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{root}>")
        };
        files.push((format!("ppt/slides/slide{number}.xml"), tree("sld", shapes)));
        let notes_of =
            shape_of(2, "", "<p:cNvSpPr/><p:nvPr><p:ph type=\"body\" idx=\"1\"/></p:nvPr>", &[notes]);
        files.push((format!("ppt/notesSlides/notesSlide{number}.xml"), tree("notes", &notes_of)));
        let to_notes = link("rId1", "notesSlide", &format!("../notesSlides/notesSlide{number}.xml"));
        // The last one leads to the first.
        let jump = if number == slides.len() { link("rId2", "slide", "slide1.xml") } else { String::new() };
        files.push((format!("ppt/slides/_rels/slide{number}.xml.rels"), links_of(&(to_notes + &jump))));
        let to_slide = link("rId1", "slide", &format!("../slides/slide{number}.xml"));
        files.push((format!("ppt/notesSlides/_rels/notesSlide{number}.xml.rels"), links_of(&to_slide)));
    }
    let count = slides.len();
    files.extend([
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/ppt/presentation.xml\" \
                 ContentType=\"{MAIN}.presentation.main+xml\"/><Override PartName=\"/docProps/app.xml\" \
                 ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/>{types}</Types>"
            ),
        ),
        ("_rels/.rels".to_owned(), links_of(&link("rId1", "officeDocument", "ppt/presentation.xml"))),
        (
            "ppt/presentation.xml".to_owned(),
            format!(
                "<p:presentation {NAMES}><p:sldIdLst>{list}</p:sldIdLst><p:extLst><p:ext uri=\"s\"><p14:sectionLst xmlns:p14=\"s\">\
                 <p14:section name=\"All\"><p14:sldIdLst>{section}</p14:sldIdLst></p14:section></p14:sectionLst></p:ext></p:extLst>\
                 </p:presentation>"
            ),
        ),
        ("ppt/_rels/presentation.xml.rels".to_owned(), links_of(&links)),
        (
            "docProps/app.xml".to_owned(),
            format!("<Properties><Slides>{count}</Slides><Notes>{count}</Notes><TitlesOfParts><vt:vector><vt:lpstr>{{name}} {{:slides items}} {{#x}}</vt:lpstr></vt:vector></TitlesOfParts><Company>{{title | default(0)}}</Company></Properties>"),
        ),
    ]);
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    zipped(&files)
}

fn filled(slides: &[&str], data: &str) -> Vec<u8> {
    try_fill(pptx(slides, "{title}"), data, "{}").unwrap_or_else(|error| panic!("{slides:?}: {error}")).file
}

/// The paragraphs of a part, parted by `¶`; runs of a paragraph are joined.
pub fn says(file: &[u8], name: &str) -> String {
    let xml = part(file, name);
    let texts = |paragraph: &str| {
        let runs = paragraph.split("<a:t>").skip(1);
        runs.filter_map(|run| run.split_once("</a:t>")).map(|(text, _)| text).collect::<String>()
    };
    let paragraphs: Vec<String> = xml.split("</a:p>").map(texts).collect();
    paragraphs[..paragraphs.len() - 1].join("¶")
}

fn says_of(shapes: &str, data: &str) -> String {
    says(&filled(&[shapes], data), "ppt/slides/slide1.xml")
}

fn fault(shapes: &str, data: &str) -> String {
    match try_fill(pptx(&[shapes], ""), data, "{strict:true}") {
        Ok(_) => panic!("{shapes} is filled"),
        Err(error) => error.to_string(),
    }
}

/// A presentation as a program writes it, with tags: notes, a picture, a table, a hidden slide that is dropped.
pub fn deck() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/office_files/deck.pptx");
    let mut files = entries(&std::fs::read(path).expect("the deck is there"));
    let edits = [
        ("The deck", "{title}"),
        ("Subtitle with Ümläuts", "{%logo}"),
        ("Say hello first.", "Say {name} of {title}."),
        (">Points<", ">{name} {:slides items}{:link name 'https://a.example/'}<"),
        ("Two &lt;b&gt;", "{#points}{.}{/points}"),
        ("HIDDENSLIDE", "{:slides secret}"),
        (">c10<", ">{#items}{name}<"),
        (">c11<", ">{points | count}{/items}<"),
    ];
    for (name, content) in &mut files {
        if let Ok(text) = String::from_utf8(content.clone())
            && name.starts_with("ppt/")
        {
            // A picture that holds the place of one.
            let text = text.replace("descr=\"image.png\"", "descr=\"{%logo}\"");
            *content = edits.iter().fold(text, |text, (from, to)| text.replace(from, to)).into_bytes();
        }
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}

/// Its data.
pub const DATA: &str = r#"{"title":"T & U","logo":"iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAEElEQVR42mP4z8AARwzIHABvqgf5aN2vpwAAAABJRU5ErkJggg==",
    "items":[{"name":"a","points":[1,2]},{"name":"b","points":[]},{"name":"c","points":["x"]}]}"#;

#[test]
fn texts_of_shapes_are_filled_in_the_style_of_their_tags() {
    let cut = shape(2, &["{na", "x"])
        .replace("{na</a:t></a:r>", "{na</a:t></a:r><a:r><a:t>me} &amp; {a}</a:t></a:r>");
    let file = filled(&[&cut], r#"{"name":"A <b>\nc","a":1}"#);
    assert_eq!(says(&file, "ppt/slides/slide1.xml"), "A &lt;b&gt;c &amp; 1¶x");
    let xml = part(&file, "ppt/slides/slide1.xml");
    assert!(xml.contains("<a:br><a:rPr b=\"1\"/></a:br>") && xml.contains("fontScale=\"90000\""), "{xml}");
}

#[test]
fn paragraphs_rows_and_columns_are_repeated() {
    let data = r#"{"l":[{"n":"a","k":[1,2]},{"n":"b","k":[]}],"none":[]}"#;
    assert_eq!(
        says_of(&shape(2, &["{#l}", "{n}:", "{#k}{.}, {/}", "{/l}", "end"]), data),
        "a:¶1, 2, ¶b:¶¶end"
    );
    assert_eq!(says_of(&shape(2, &["{#none}", "{n}", "{/none}"]), data), "", "a text keeps a paragraph");
    let rows = table(&[&["n", "k"], &["{#l}{n}", "{k | count}{/l}"]]);
    assert_eq!(says_of(&rows, data), "n¶k¶a¶2¶b¶0");
    let xml = part(&filled(&[&rows], data), "ppt/slides/slide1.xml");
    let ids: std::collections::BTreeSet<&str> = xml.split("val=\"").skip(1).collect();
    assert_eq!(ids.len(), 3, "each row has a number of its own: {xml}");
    let columns = table(&[&["x", "{#l}{n}"], &["y", "{k | count}{/l}"]]);
    let xml = part(&filled(&[&columns], data), "ppt/slides/slide1.xml");
    assert_eq!(xml.matches("<a:gridCol").count(), 3, "{xml}");
    assert_eq!(says_of(&columns, data), "x¶a¶b¶y¶2¶0");
    let gone = part(&filled(&[&table(&[&["{-a:tr none}x{/}"]])], data), "ppt/slides/slide1.xml");
    assert!(!gone.contains("graphicFrame"), "no frame stays without its table: {gone}");
    let item = "<p:cNvSpPr/><p:nvPr><p:ph idx=\"1\"/></p:nvPr>";
    assert_eq!(says_of(&shape_of(2, "", item, &["{#l}{n}{/l}"]), data), "a¶b", "an item of a list");
    assert_eq!(says_of(&shape(2, &["{#l}{n}{/l}"]), data), "ab");
}

#[test]
fn a_slide_is_repeated_with_what_belongs_to_it() {
    let slide = shape(2, &["{:slides items}"]) + &shape(3, &["{$index}: {name} of {title}"]);
    let data = r#"{"title":"T","items":[{"name":"a"},{"name":"b","title":"U"},{"name":"c"}]}"#;
    let file = filled(&["", &slide, &shape(2, &["last"])], data);
    let names = ["slide2", "slide4", "slide5"];
    let texts = names.map(|name| says(&file, &format!("ppt/slides/{name}.xml")));
    assert_eq!(texts, ["0: a of T", "1: b of U", "2: c of T"], "and the tag's own text box is gone");
    let notes = names.map(|name| says(&file, &format!("ppt/notesSlides/notesS{}.xml", &name[1..])));
    assert_eq!(notes, ["T", "U", "T"]);
    let main = part(&file, "ppt/presentation.xml");
    let ids: Vec<&str> = main.split("<p:sldId id=\"").skip(1).map(|rest| &rest[..3]).collect();
    assert_eq!(ids, ["256", "257", "259", "260", "258"], "{main}");
    let section: Vec<&str> = main.split("<p14:sldId id=\"").skip(1).map(|rest| &rest[..3]).collect();
    assert_eq!(section, ids, "{main}");
    let links = part(&file, "ppt/notesSlides/_rels/notesSlide5.xml.rels");
    assert!(links.contains("Target=\"../slides/slide5.xml\""), "{links}");
    let links = part(&file, "ppt/slides/_rels/slide5.xml.rels");
    assert!(links.contains("Target=\"../notesSlides/notesSlide5.xml\""), "{links}");
    let types = part(&file, "[Content_Types].xml");
    assert!(types.contains("/ppt/slides/slide5.xml") && types.contains("/ppt/notesSlides/notesSlide5.xml"));
    let counts = part(&file, "docProps/app.xml");
    assert_eq!(counts, "<Properties><Slides>5</Slides><Notes>5</Notes><Company>T</Company></Properties>");
}

#[test]
fn a_dropped_slide_leaves_nothing_that_refers_to_it() {
    let jump = "<p:sp><p:nvSpPr><p:cNvPr id=\"5\" name=\"x\"><a:hlinkClick r:id=\"rId2\"/></p:cNvPr></p:nvSpPr></p:sp>";
    for (data, left) in
        [("{}", 1), (r#"{"show":true}"#, 2), (r#"{"show":[]}"#, 1), (r#"{"show":{"a":1}}"#, 2)]
    {
        let file = filled(&[&shape(2, &["{:slides show}"]), &(jump.to_owned() + &shape(3, &["x"]))], data);
        let names: Vec<String> = entries(&file).into_iter().map(|(name, _)| name).collect();
        let is_there = |what: &str| names.iter().any(|name| name.contains(what));
        assert_eq!(
            (is_there("slide1.xml"), is_there("notesSlide1.xml")),
            (left == 2, left == 2),
            "{names:?}"
        );
        let all: String = names.iter().map(|name| part(&file, name)).collect();
        assert_eq!(all.contains("slide1.xml"), left == 2, "{data}: {all}");
        assert_eq!(all.contains("hlinkClick"), left == 2, "{data}: {all}");
        assert_eq!(all.matches("<p:sldId ").count(), left, "{data}: {all}");
        assert_eq!(all.matches("<p14:sldId ").count(), left, "{data}: {all}");
    }
}

#[test]
fn pictures_take_the_places_of_shapes() {
    let data = format!("{{\"logo\":\"{LOGO}\",\"none\":null}}");
    let xml = |shapes: &str| part(&filled(&[shapes], &data), "ppt/slides/slide1.xml");
    // Twice as wide as high, in a square: whole in the frame of a text, cut on both sides in that of a picture.
    let whole = xml(&shape(7, &["{%logo | alt(\"A & B\")}"]));
    assert!(whole.contains("<p:cNvPr id=\"7\" name=\"Box 7\" descr=\"A &amp; B\">"), "{whole}");
    assert!(
        whole.contains("<a:off x=\"1000\" y=\"102000\"/><a:ext cx=\"400000\" cy=\"200000\"/>"),
        "{whole}"
    );
    assert!(whole.contains("prst=\"ellipse\"") && !whole.contains("<p:sp>"), "{whole}");
    let kind = "<p:cNvSpPr/><p:nvPr><p:ph type=\"pic\" idx=\"3\"/></p:nvPr>";
    let cut = xml(&shape_of(7, " descr=\"{%logo}\"", kind, &[""]));
    assert!(
        cut.contains("<a:srcRect l=\"25000\" r=\"25000\"/>") && cut.contains("cx=\"400000\" cy=\"400000\""),
        "{cut}"
    );
    assert!(cut.contains("noGrp=\"1\"") && cut.contains("idx=\"3\"") && !cut.contains("{%logo}"), "{cut}");
    let fitted = xml(&shape_of(7, " descr=\"{%logo | fit('fill')}\"", kind, &[""]));
    assert!(!fitted.contains("srcRect"), "{fitted}");
    assert!(!xml(&shape(7, &["{%none}"])).contains("Box 7"), "no picture, no shape");
    for (shapes, words) in [
        (shape(7, &["Logo: {%logo}"]), "let its tag be the shape's only text"),
        (shape(7, &["{%logo}", "x"]), "let its tag be the shape's only text"),
        (table(&[&["{%logo}"]]), "let its tag be the shape's only text"),
        (shape_of(7, " descr=\"{%logo}\"", kind, &["{%logo}"]), "let its tag be the shape's only text"),
        (shape(7, &["{%\"data:image/png;base64,AAAA\"}"]), "picture"),
    ] {
        let told = fault(&shapes, &data);
        assert!(told.contains(words) && told.starts_with("slide 1, ") && told.contains("{%"), "{told}");
    }
}

#[test]
fn links_stand_in_runs_and_in_the_addresses_of_shapes() {
    let file = filled(
        &[&shape(2, &["See {:link name url} now"])],
        r#"{"name":"A & B","url":"https://a.example/x"}"#,
    );
    assert_eq!(says(&file, "ppt/slides/slide1.xml"), "See A &amp; B now");
    let xml = part(&file, "ppt/slides/slide1.xml");
    assert!(xml.contains("<a:rPr b=\"1\"><a:hlinkClick xmlns:r="), "{xml}");
    let links = part(&file, "ppt/slides/_rels/slide1.xml.rels");
    assert!(links.contains("Target=\"https://a.example/x\" TargetMode=\"External\""), "{links}");
    assert!(fault(&shape(2, &["{:link 1 \"#2\"}"]), "{}").contains("a slide has no bookmarks"));
}

#[test]
fn faults_name_the_slide_and_limits_hold() {
    for (text, words) in [
        ("{missing}", "slide 1, paragraph 1, {missing}:"),
        ("{#a}", "slide 1, paragraph 1, {#a}: the section is never closed"),
        ("{~a}", "it is of Word files"),
        ("{:pagebreak}", "it is of Word files"),
        ("{:slides a}{:slides b}", "a slide has one {:slides list}"),
    ] {
        let told = fault(&shape(2, &[text]), "{}");
        assert!(told.contains(words), "{text}: {told}");
    }
    let broken = try_fill(pptx(&["<a:p>{a}"], ""), "{}", "{}").expect_err("is broken").to_string();
    assert!(broken.starts_with("slide 1 cannot be read: its XML is broken"), "{broken}");
    let file = pptx(&["", &shape(2, &["{:slides l}"])], "{gone}");
    let told = try_fill(file.clone(), r#"{"l":[1]}"#, "{strict:true}").expect_err("is refused").to_string();
    assert!(told.contains("notes of slide 2, paragraph 1, {gone}"), "{told}");
    let mut few = limits();
    few.slides.value = 4;
    for (count, is_filled) in [(3, true), (4, false)] {
        let template = Template::read(file.clone(), None, &few).expect("is read");
        let items = vec!["1"; count].join(",");
        let answer = crate::support::run(template.program(), &format!("{{\"l\":[{items}]}}"), "{}");
        match template.fill(&answer, &mut NoFiles) {
            Ok(_) => assert!(is_filled, "{count} are too many"),
            Err(error) => assert!(!is_filled && error.to_string().contains("test.slides = 4"), "{error}"),
        }
    }
    let outline = Template::outline(file, None, &limits(), &mut NoFiles).expect("is read");
    assert!(outline.steps.contains("\"kind\":\"section\",\"text\":\"l\""), "{}", outline.steps);
    let slides: Vec<_> = outline.tags.iter().map(|tag| (tag.part.as_str(), tag.kind)).collect();
    assert!(
        slides.contains(&("slide 2", "slides")) && slides.contains(&("notes of slide 1", "value")),
        "{slides:?}"
    );
}
