//! Whatever of a presentation has tags: masters and layouts, `SmartArt`, alternative texts; and many slides of few.

use crate::effort::in_a_moment;
use crate::slide_parts::{filled, slide, with};
use crate::slides::{pptx, says, shape, shape_of};
use crate::support::part;

const MAIN: &str = "application/vnd.openxmlformats-officedocument.presentationml";
const DRAWING: &str = "application/vnd.openxmlformats-officedocument.drawingml";

/// What stands between two pieces of a part, as often as it does.
fn between<'x>(xml: &'x str, begin: &str, end: &str) -> Vec<&'x str> {
    xml.split(begin).skip(1).filter_map(|piece| piece.split(end).next()).collect()
}

fn texts(text: &str) -> String {
    format!("<x xmlns:a=\"a\"><a:p><a:r><a:t>{text}</a:t></a:r></a:p></x>")
}

#[test]
fn masters_and_layouts_have_the_data_of_the_whole_and_smart_art_those_of_its_slide() {
    let (layout, master) = (texts("{company} · {year}"), texts("{company}"));
    let (model, drawn) = (texts("{name} of {company}"), texts("{name} of {company}"));
    let kind = |end: &str| format!("{MAIN}.{end}+xml");
    let (layout_kind, master_kind) = (kind("slideLayout"), kind("slideMaster"));
    let data_kind = format!("{DRAWING}.diagramData+xml");
    let parts = [
        ("ppt/slideLayouts/slideLayout1.xml", layout_kind.as_str(), layout.as_str()),
        ("ppt/slideMasters/slideMaster1.xml", &master_kind, &master),
        ("ppt/diagrams/data1.xml", &data_kind, &model),
        ("ppt/diagrams/drawing1.xml", "application/vnd.ms-office.drawingml.diagramDrawing+xml", &drawn),
    ];
    let one = slide(1);
    let links = [
        (one.as_str(), "rId7", "slideLayout", "../slideLayouts/slideLayout1.xml"),
        (&one, "rId8", "diagramData", "../diagrams/data1.xml"),
        (&one, "rId9", "diagramDrawing", "../diagrams/drawing1.xml"),
    ];
    let art = "<p:cNvPr id=\"8\" name=\"Art\" descr=\"{name}{#last}, the last{/last}\"/>";
    let shapes = shape(2, &["{:slides items}"])
        + &format!("<p:graphicFrame><p:nvGraphicFramePr>{art}</p:nvGraphicFramePr></p:graphicFrame>");
    let data = r#"{"company":"A & B","year":2026,"items":[{"name":"one"},{"name":"two","last":true}]}"#;
    let file = filled(with(&pptx(&[&shapes, ""], ""), &parts, &links), data);
    assert_eq!(says(&file, "ppt/slideLayouts/slideLayout1.xml"), "A &amp; B · 2026");
    assert_eq!(says(&file, "ppt/slideMasters/slideMaster1.xml"), "A &amp; B");
    for (number, name, alt) in [(1, "one", "one"), (2, "two", "two, the last")] {
        for art in ["data", "drawing"] {
            let said = says(&file, &format!("ppt/diagrams/{art}{number}.xml"));
            assert_eq!(said, format!("{name} of A &amp; B"));
        }
        let xml = part(&file, &slide(if number == 1 { 1 } else { 3 }));
        assert_eq!(between(&xml, "descr=\"", "\""), [alt]);
    }
}

#[test]
fn text_shrinks_as_it_did_and_rows_have_numbers_of_their_own_in_each_slide() {
    let row = |number: u32, text: &str| {
        format!(
            "<a:tr h=\"1\"><a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc><a:extLst><a:ext uri=\"r\">\
             <a16:rowId xmlns:a16=\"y\" val=\"{number}\"/></a:ext></a:extLst></a:tr>"
        )
    };
    let table = format!(
        "<a:tbl><a:tblGrid><a:gridCol/></a:tblGrid>{}{}</a:tbl>",
        row(9, "k"),
        row(10, "{-a:tr l}{.}{/l}")
    );
    let shapes = shape(2, &["{:slides items}", "{name}"])
        + &format!(
            "<p:graphicFrame><a:graphic><a:graphicData>{table}</a:graphicData></a:graphic></p:graphicFrame>"
        );
    let data = r#"{"items":[{"name":"n","l":[1,2,3]},{"name":"m","l":[4,5]}]}"#;
    let file = filled(pptx(&[&shapes, ""], ""), data);
    for (number, rows) in [(1, 4), (3, 3)] {
        let xml = part(&file, &slide(number));
        assert!(xml.contains("<a:normAutofit fontScale=\"90000\"/>"), "{xml}");
        let mut numbers = between(&xml, "val=\"", "\"");
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), rows, "{xml}");
    }
}

#[test]
fn ten_slides_become_two_hundred() {
    let lines: Vec<String> = (0..20).map(|line| format!("{{name}}, line {line}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let placeholder = "<p:cNvSpPr/><p:nvPr><p:ph idx=\"1\"/></p:nvPr>";
    let one = shape(2, &["{:slides items}"]) + &shape_of(3, "", placeholder, &lines);
    let slides = vec![one.as_str(); 10];
    let items: Vec<String> = (0..20).map(|item| format!("{{\"name\":\"item {item}\"}}")).collect();
    let deck = pptx(&slides, "Say {name}.");
    let data = format!("{{\"items\":[{}]}}", items.join(","));
    let file = in_a_moment("200 slides", || filled(deck, &data));
    let main = part(&file, "ppt/presentation.xml");
    let mut ids = between(&main, "<p:sldId id=\"", "\"");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), main.matches("<p14:sldId ").count()), (200, 200));
    assert!(part(&file, "docProps/app.xml").contains("<Slides>200</Slides><Notes>200</Notes>"));
    assert_eq!(says(&file, "ppt/notesSlides/notesSlide200.xml").split(' ').next(), Some("Say"));
}
