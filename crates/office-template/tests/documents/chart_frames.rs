//! Charts filled from data that stand in the alternative texts of their frames: of Word files and of slides.

use crate::charts::{CHART, DATA, WORKBOOK, bars, document};
use crate::slide_parts::{filled, slide, with};
use crate::slides::{pptx, shape};
use crate::support::{entries, part, try_fill, zipped};

const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006";
const LATER: &str = "http://schemas.microsoft.com/office/drawing/2014/chartex";
const CHART_TYPE: &str = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml";

/// A document whose chart has its data beside it.
fn framed(alt: &str) -> Vec<u8> {
    beside_too(&document("The title stays", &bars(1), ""), alt)
}

/// The same document with this alternative text of its chart.
pub fn beside_too(document: &[u8], alt: &str) -> Vec<u8> {
    let parts = entries(document).into_iter().map(|(name, content)| {
        if name != "word/document.xml" {
            return (name, content);
        }
        let text = String::from_utf8(content).expect("UTF-8");
        (name, text.replace("name=\"Chart\"/>", &format!("name=\"Chart\" descr=\"{alt}\"/>")).into_bytes())
    });
    let parts: Vec<_> = parts.collect();
    let parts: Vec<_> = parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&parts)
}

/// The frame of a chart on a slide.
fn frame(alt: &str, uri: &str) -> String {
    format!(
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"9\" name=\"Chart\" descr=\"{alt}\"/><p:cNvGraphicFramePr/><p:nvPr/>\
         </p:nvGraphicFramePr><a:graphic><a:graphicData uri=\"{uri}\"><c:chart xmlns:c=\"{uri}\" r:id=\"rId9\"/></a:graphicData>\
         </a:graphic></p:graphicFrame>"
    )
}

/// A presentation of one slide with a chart.
fn deck(shapes: &str, chart: &str) -> Vec<u8> {
    let chart = [("ppt/charts/chart1.xml", CHART_TYPE, chart)];
    with(&pptx(&[shapes, ""], ""), &chart, &[(&*slide(1), "rId9", "chart", "../charts/chart1.xml")])
}

fn refused(file: Vec<u8>, data: &str) -> String {
    match try_fill(file, data, "{}") {
        Ok(_) => panic!("it is filled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn data_beside_a_chart_fill_it_as_those_in_its_title_do() {
    let beside = try_fill(framed("{chart}"), DATA, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    let within = document("{chart}", &bars(1), "");
    let within = try_fill(within, DATA, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    let titled = part(&within, CHART).replace(">Sales &amp; more<", ">The title stays<");
    assert_eq!(part(&beside, CHART), titled);
    let book = |file: &[u8]| entries(file).into_iter().find(|(name, _)| name == WORKBOOK).expect("a book").1;
    assert_eq!(entries(&book(&beside)), entries(&book(&within)));
    assert!(part(&beside, "word/document.xml").contains("descr=\"Sales &amp; more\""));
    let alike = framed("{chart}{chart}");
    let both = document("{chart}", &bars(1), "");
    for file in [alike, beside_too(&both, "{chart}")] {
        let told = refused(file, DATA);
        assert!(told.contains("the chart has data already"), "{told}");
    }
}

#[test]
fn each_copy_of_a_place_has_a_chart_with_its_data() {
    let repeated = entries(&framed("{sales}")).into_iter().map(|(name, content)| {
        let text = String::from_utf8_lossy(&content);
        let text = text.replace("{intro}", "{#rows}");
        let end = "</w:drawing></w:r></w:p>";
        let text = text.replace(end, &format!("{end}<w:p><w:r><w:t>{{/rows}}</w:t></w:r></w:p>"));
        let is_main = name == "word/document.xml";
        (name, if is_main { text.into_bytes() } else { content })
    });
    let repeated: Vec<_> = repeated.collect();
    let repeated: Vec<_> = repeated.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    let file = zipped(&repeated);
    let sales = |value: u32| {
        format!(
            "{{\"sales\":{{\"_type\":\"chart\",\"categories\":{{\"names\":[\"a\"]}},\"series\":[{{\"name\":\"S\",\"values\":[{value}]}}]}}}}"
        )
    };
    let rows = |one, other| format!("{{\"rows\":[{},{}]}}", sales(one), sales(other));
    let same = try_fill(file.clone(), &rows(41, 41), "{}").unwrap_or_else(|error| panic!("{error}")).file;
    assert!(part(&same, CHART).contains("<c:v>41</c:v>"));
    assert_eq!(part(&same, "word/document.xml").matches("<w:drawing>").count(), 2);
    let other = try_fill(file, &rows(41, 42), "{}").unwrap_or_else(|error| panic!("{error}")).file;
    for (chart, value) in [(1, 41), (2, 42)] {
        assert!(
            part(&other, &format!("word/charts/chart{chart}.xml")).contains(&format!("<c:v>{value}</c:v>"))
        );
    }
}

#[test]
fn each_copy_of_a_slide_has_the_chart_of_its_item() {
    let chart = part(&framed(""), CHART).replace("<c:externalData r:id=\"rId1\"/>", "");
    let shapes = shape(2, &["{:slides items}"]) + &frame("{sales}", &format!("{DRAWING}/chart"));
    let sales = |value: u32| {
        format!(
            "{{\"sales\":{{\"_type\":\"chart\",\"title\":\"T{value}\",\"categories\":{{\"names\":[\"a\",\"b\"]}},\"series\":[{{\"name\":\"S\",\"values\":[{value},7]}}]}}}}"
        )
    };
    let data = format!("{{\"items\":[{},{}]}}", sales(41), sales(42));
    let file = filled(deck(&shapes, &chart), &data);
    for (slide, chart, value) in [(slide(1), 1, 41), (slide(3), 2, 42)] {
        let xml = part(&file, &format!("ppt/charts/chart{chart}.xml"));
        assert!(xml.contains(&format!("<c:v>{value}</c:v>")) && xml.contains("The title stays"), "{xml}");
        assert!(part(&file, &slide).contains(&format!("descr=\"T{value}\"")));
    }
}

#[test]
fn charts_of_later_kinds_are_refused_with_those_that_are_filled() {
    let chartex = format!(
        "<cx:chartSpace xmlns:cx=\"{LATER}\" xmlns:a=\"{DRAWING}/main\"><a:p><a:r><a:t>{{sales}}</a:t></a:r></a:p></cx:chartSpace>"
    );
    let data = r#"{"sales":{"_type":"chart","series":[{"name":"S","values":[1]}]}}"#;
    for shapes in [frame("{sales}", LATER), frame("", LATER)] {
        let told = refused(deck(&shapes, &chartex), data);
        assert!(told.contains("charts of this kind (waterfall") && told.contains("{sales}"), "{told}");
    }
    let told = refused(deck(&shape(2, &["{sales}"]), "<c:chartSpace/>"), data);
    assert!(told.contains("in the title or in the alternative text of a chart"), "{told}");
}
