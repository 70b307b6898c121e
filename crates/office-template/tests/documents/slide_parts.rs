//! What belongs to a slide: what goes with it when it is copied or dropped, and what is another's as well.

use office_template::{Error, Limits, NoFiles, Template};

use crate::effort::in_a_moment;
use crate::slides::{LOGO, OFFICE, pptx, says, shape, shape_of};
use crate::support::{entries, limits, part, run, try_fill, zipped};

const CHART: &str = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml";
const CHART_XML: &str =
    "<c:chartSpace xmlns:c=\"c\" xmlns:a=\"a\"><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:chartSpace>";

/// A presentation with further parts (name, content type, content) and relationships (part, id, the end of the type, target).
pub fn with(file: &[u8], parts: &[(&str, &str, &str)], links: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let mut files = entries(file);
    for (name, _, content) in parts {
        files.push(((*name).to_owned(), content.as_bytes().to_vec()));
    }
    let mut insert = |name: &str, end: &str, line: String| {
        let (_, content) = files.iter_mut().find(|(found, _)| found == name).expect("the list is there");
        let text = String::from_utf8(content.clone()).expect("UTF-8");
        *content = text.replace(end, &format!("{line}{end}")).into_bytes();
    };
    for (name, kind, _) in parts {
        let line = format!("<Override PartName=\"/{name}\" ContentType=\"{kind}\"/>");
        insert("[Content_Types].xml", "</Types>", line);
    }
    for (of, id, kind, target) in links {
        let (folder, name) = of.rsplit_once('/').expect("a folder");
        let kind = if kind.contains(':') { (*kind).to_owned() } else { format!("{OFFICE}/{kind}") };
        let mode = if target.contains(':') || target.contains('{') { " TargetMode=\"External\"" } else { "" };
        let line = format!("<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>");
        insert(&format!("{folder}/_rels/{name}.rels"), "</Relationships>", line);
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}

pub fn slide(number: usize) -> String {
    format!("ppt/slides/slide{number}.xml")
}

pub fn filled(file: Vec<u8>, data: &str) -> Vec<u8> {
    try_fill(file, data, "{}").unwrap_or_else(|error| panic!("{error}")).file
}

fn names(file: &[u8]) -> Vec<String> {
    entries(file).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_copy_has_no_comments_of_the_template_nor_says_so() {
    let mark = "</p:cSld><p:extLst><p:ext uri=\"c\"><p188:commentRel xmlns:p188=\"p\" r:id=\"rId9\"/></p:ext></p:extLst></p:sld>";
    let deck = pptx(&[&shape(2, &["{:slides l}"]), ""], "");
    let marked = crate::support::entries(&deck).into_iter().map(|(name, content)| {
        let text = String::from_utf8(content).expect("UTF-8");
        let is_first = name == slide(1);
        (name, if is_first { text.replace("</p:cSld></p:sld>", mark) } else { text })
    });
    let marked: Vec<_> = marked.collect();
    let marked: Vec<_> = marked.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let comments = [(
        "ppt/comments/modern1.xml",
        "application/vnd.ms-powerpoint.comments+xml",
        "<p188:cmLst xmlns:p188=\"p\"/>",
    )];
    let kind = "http://schemas.microsoft.com/office/2018/10/relationships/comments";
    let links = [(&*slide(1), "rId9", kind, "../comments/modern1.xml")];
    let file = filled(with(&zipped(&marked), &comments, &links), r#"{"l":[1,2]}"#);
    for (name, has_comments) in [(slide(1), true), (slide(3), false)] {
        let links = part(&file, &name.replace("slides/", "slides/_rels/").replace(".xml", ".xml.rels"));
        assert_eq!(part(&file, &name).contains("commentRel"), has_comments, "{name}");
        assert_eq!(links.contains("rId9"), has_comments, "{links}");
    }
}

#[test]
fn a_picture_in_the_place_of_a_linked_shape_leads_where_the_data_say() {
    let linked = shape_of(7, "", "<p:cNvSpPr txBox=\"1\"/><p:nvPr/>", &["{%logo}"])
        .replace("name=\"Box 7\"/>", "name=\"Box 7\"><a:hlinkClick r:id=\"rId9\"/></p:cNvPr>");
    let leads = [(&*slide(1), "rId9", "hyperlink", "https://a.example/{id}")];
    let file = with(&pptx(&[&(shape(2, &["{:slides l}"]) + &linked), ""], ""), &[], &leads);
    let file = filled(file, &format!("{{\"logo\":\"{LOGO}\",\"l\":[{{\"id\":1}},{{\"id\":2}}]}}"));
    for (number, address) in [(1, "https://a.example/1"), (3, "https://a.example/2")] {
        let xml = part(&file, &slide(number));
        let (_, click) = xml.split_once("hlinkClick r:id=\"").expect("the picture is linked");
        let id = click.split('"').next().expect("an id");
        let links = part(&file, &format!("ppt/slides/_rels/slide{number}.xml.rels"));
        let line = links.split("<Relationship ").find(|line| line.contains(&format!("Id=\"{id}\"")));
        assert!(line.is_some_and(|line| line.contains(&format!("\"{address}\""))), "{id}: {links}");
        assert!(xml.contains("<p:pic ") && !links.contains("{id}"), "{xml}{links}");
    }
}

#[test]
fn what_is_a_dropped_slides_alone_goes_with_it_and_nothing_else() {
    let parts = [
        ("ppt/media/own.png", "image/png", "own"),
        ("ppt/media/both.png", "image/png", "both"),
        (
            "ppt/tags/tag1.xml",
            "application/vnd.openxmlformats-officedocument.presentationml.tags+xml",
            "<t/>",
        ),
    ];
    let (one, two) = (slide(1), slide(2));
    let links = [
        (&*one, "rId7", "image", "../media/own.png"),
        (&*one, "rId8", "image", "../media/both.png"),
        (&*one, "rId9", "http://a.example/unknown", "../presentation.xml"),
        (&*one, "rId6", "tags", "../tags/tag1.xml"),
        (&*two, "rId8", "image", "../media/both.png"),
    ];
    let links = links.map(|(part, id, kind, target)| {
        (part, id, if kind.starts_with("http") { "urn:unknown" } else { kind }, target)
    });
    let deck = pptx(&[&shape(2, &["{:slides l}"]), &shape(3, &["x"])], "");
    let file = filled(with(&deck, &parts, &links), "{}");
    let left = names(&file);
    let has = |name: &str| left.iter().any(|found| found == name);
    assert!(has("ppt/presentation.xml") && has("ppt/media/both.png"), "{left:?}");
    assert!(!has("ppt/media/own.png") && !has("ppt/tags/tag1.xml") && !has(&one), "{left:?}");
    let list = part(&file, "[Content_Types].xml");
    assert!(!list.contains("own.png") && list.contains("both.png"), "{list}");
    let copied = filled(with(&deck, &parts, &links), r#"{"l":[1,2,3]}"#);
    let main = names(&copied).iter().filter(|name| name.contains("presentation")).count();
    assert_eq!(main, 2, "the presentation and its relationships are nobody's to copy");
}

#[test]
fn a_chart_of_two_slides_is_filled_once_by_what_both_have() {
    let (one, two) = (slide(1), slide(2));
    let chart = [("ppt/charts/chart1.xml", CHART, CHART_XML)];
    let links =
        [(&*one, "rId9", "chart", "../charts/chart1.xml"), (&*two, "rId9", "chart", "../charts/chart1.xml")];
    for slides in [
        [shape(2, &["{:slides l}{title}"]), shape(2, &["{title}"])],
        [shape(2, &["{title}"]), shape(2, &["{:slides l}{title}"])],
        [shape(2, &["{:slides none}{title}"]), shape(2, &["{title}"])],
    ] {
        let deck = pptx(&[&slides[0], &slides[1]], "");
        let data = r#"{"title":"All","l":[{"title":"a"},{"title":"b"}],"none":[]}"#;
        let file = filled(with(&deck, &chart, &links), data);
        let charts = names(&file).iter().filter(|name| name.starts_with("ppt/charts/")).count();
        assert_eq!((charts, says(&file, "ppt/charts/chart1.xml").as_str()), (1, "All"), "{slides:?}");
    }
}

/// Why a deck cannot be filled, if it cannot.
fn refused(file: &[u8], data: &str, limits: &Limits) -> Option<String> {
    let template = match Template::read(file.to_vec(), None, limits) {
        Ok(template) => template,
        Err(error) => return Some(error.to_string()),
    };
    let answer = run(template.program(), data, "{}");
    template.fill(&answer, &mut NoFiles).err().map(|error: Error| error.to_string())
}

#[test]
fn slides_are_counted_as_there_are_at_the_end() {
    let grown = |list: &str| shape(2, &[&format!("{{:slides {list}}}x")]);
    let deck = pptx(&[&grown("many"), &grown("none"), &grown("none")], "");
    let mut few = limits();
    few.slides.value = 4;
    assert_eq!(refused(&deck, r#"{"many":[1,2,3,4]}"#, &few), None, "two are dropped behind it");
    let told = refused(&deck, r#"{"many":[1,2,3,4,5]}"#, &few).expect("they are too many");
    assert!(told.contains("test.slides = 4"), "{told}");
    few.slides.value = 1;
    assert_eq!(refused(&deck, r#"{"many":[1],"none":[1]}"#, &few), None, "as many as the template has");
}

#[test]
fn a_copy_is_counted_once_in_the_output() {
    let text = "w".repeat(50_000);
    let deck = pptx(&[&shape(2, &["{:slides l}{name}", &text])], "");
    let items = format!("{{\"l\":[{}]}}", vec!["{\"name\":1}"; 20].join(","));
    let mut tight = limits();
    tight.output_bytes.value = 1_500_000;
    assert_eq!(refused(&deck, &items, &tight), None, "20 slides of 50 kB");
    tight.output_bytes.value = 900_000;
    let told = refused(&deck, &items, &tight).expect("it is too large");
    assert!(told.contains("test.output"), "{told}");
}

#[test]
fn a_slide_in_a_section_is_a_fault_with_what_to_do() {
    for text in [&["{#a}{:slides l}{/a}"][..], &["{#a}", "{:slides l}", "{/a}"]] {
        let told = refused(&pptx(&[&shape(2, text)], ""), "{}", &limits()).expect("is refused");
        assert!(
            told.contains("{:slides l}") && told.contains("let it stand outside of all sections"),
            "{told}"
        );
    }
    let beside = pptx(&[&(shape(2, &["{#a}x{/a}"]) + &shape(3, &["{:slides l}"]))], "");
    assert_eq!(refused(&beside, r#"{"l":[1]}"#, &limits()), None);
}

#[test]
fn large_slides_cost_what_they_are_large() {
    let cell = |merge: &str| format!("<a:tc{merge}><a:txBody><a:p/></a:txBody></a:tc>");
    // Many rows, one of them wide, in a table; many paragraphs in a text box.
    let wide = format!("<a:tr>{}</a:tr>", cell(" vMerge=\"1\"").repeat(60_000));
    let table = format!("<a:tbl>{}{wide}</a:tbl>", format!("<a:tr>{}</a:tr>", cell("")).repeat(60_000));
    let lines =
        shape(2, &["{:slides l}{name}"]).replace("</p:txBody>", &("<a:p/>".repeat(200_000) + "</p:txBody>"));
    let items = shape_of(4, "", "<p:cNvSpPr txBox=\"1\"/><p:nvPr/>", &vec!["{#l}x{/l}"; 2_000]);
    let mut generous = limits();
    generous.ratio.value = 100_000;
    let deck = pptx(&[&(lines + &items + &table)], "");
    assert_eq!(in_a_moment("a large slide", || refused(&deck, r#"{"l":[{}]}"#, &generous)), None);
}

#[test]
fn the_list_of_slides_is_counted_as_parts_are() {
    let mut few = limits();
    few.elements.value = 2_000;
    let deck = pptx(&[&shape(2, &["{a}"])], "");
    let long = entries(&deck).into_iter().map(|(name, content)| {
        let text = String::from_utf8(content).expect("UTF-8");
        (name, text.replace("<p:sldIdLst>", &("<p:x/>".repeat(3_000) + "<p:sldIdLst>")))
    });
    let long: Vec<_> = long.collect();
    let long: Vec<_> = long.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let told = refused(&zipped(&long), "{}", &few).expect("it is too long");
    assert!(told.contains("test.elements"), "{told}");
}
