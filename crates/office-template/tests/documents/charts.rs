//! Charts filled from data, and their workbooks with them.

use std::collections::BTreeMap;

use crate::support::{docx, entries, fault, p, part, try_fill, zipped};

pub const CHART: &str = "word/charts/chart1.xml";
pub const WORKBOOK: &str = "word/embeddings/book1.xlsx";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const SHEETS: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// A workbook of one sheet with a table over it.
fn workbook() -> Vec<u8> {
    let types = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let kind = |name: &str, kind: &str| {
        format!("<Override PartName=\"/xl/{name}.xml\" ContentType=\"{types}.{kind}+xml\"/>")
    };
    let link = |id: u32, kind: &str, target: &str| {
        format!("<Relationship Id=\"rId{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links =
        |lines: String| format!("{HEAD}<Relationships xmlns=\"{RELATIONSHIPS}\">{lines}</Relationships>");
    let files = [
        (
            "[Content_Types].xml",
            format!(
                "{HEAD}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>{}{}{}{}{}</Types>",
                kind("workbook", "sheet.main"),
                kind("worksheets/sheet1", "worksheet"),
                kind("tables/table1", "table"),
                kind("styles", "styles"),
                kind("calcChain", "calcChain")
            ),
        ),
        ("_rels/.rels", links(link(1, "officeDocument", "xl/workbook.xml"))),
        (
            "xl/workbook.xml",
            format!(
                "{HEAD}<workbook xmlns=\"{SHEETS}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"My data\" sheetId=\"1\" r:id=\"rId1\"/>\
                 </sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            links(
                link(1, "worksheet", "worksheets/sheet1.xml")
                    + &link(2, "styles", "styles.xml")
                    + &link(3, "calcChain", "calcChain.xml"),
            ),
        ),
        (
            "xl/calcChain.xml",
            format!("{HEAD}<calcChain xmlns=\"{SHEETS}\"><c r=\"B2\" i=\"1\"/></calcChain>"),
        ),
        (
            "xl/styles.xml",
            format!(
                "{HEAD}<styleSheet xmlns=\"{SHEETS}\"><fonts count=\"1\"><font/></fonts><fills count=\"1\"><fill/></fills><borders count=\"1\">\
                 <border/></borders><cellStyleXfs count=\"1\"><xf/></cellStyleXfs><cellXfs count=\"1\"><xf/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(
                "{HEAD}<worksheet xmlns=\"{SHEETS}\" xmlns:r=\"{OFFICE}\"><dimension ref=\"A1:B2\"/><sheetData><row r=\"1\"><c r=\"A1\" \
                 t=\"inlineStr\"><is><t>Old</t></is></c></row><row r=\"2\"><c r=\"B2\" s=\"7\"><f>1+1</f><v>2</v></c></row></sheetData>\
                 <tableParts count=\"1\"><tablePart r:id=\"rId1\"/></tableParts></worksheet>"
            ),
        ),
        ("xl/worksheets/_rels/sheet1.xml.rels", links(link(1, "table", "../tables/table1.xml"))),
        (
            "xl/tables/table1.xml",
            format!(
                "{HEAD}<table xmlns=\"{SHEETS}\" id=\"1\" name=\"Table1\" displayName=\"Table1\" ref=\"A1:B2\" totalsRowShown=\"0\">\
                 <tableColumns count=\"2\"><tableColumn id=\"1\" name=\"Quarter\"/><tableColumn id=\"2\" name=\"Old\"/></tableColumns></table>"
            ),
        ),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (*name, content.as_bytes())).collect();
    zipped(&files)
}

/// A series of the template.
fn series(index: usize, looks: &str, data: &str) -> String {
    format!(
        "<c:ser><c:idx val=\"{index}\"/><c:order val=\"{index}\"/><c:tx><c:strRef><c:f>Sheet1!$B$1</c:f></c:strRef></c:tx>{looks}{data}</c:ser>"
    )
}

const ACCENT: &str = "<c:spPr><a:solidFill><a:schemeClr val=\"accent1\"/></a:solidFill></c:spPr>";
const VALUES: &str = "<c:cat><c:strRef><c:f>Sheet1!$A$2</c:f></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$B$2</c:f><c:numCache>\
    <c:formatCode>0.0</c:formatCode><c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>1</c:v></c:pt></c:numCache></c:numRef></c:val>";
const POINTS: &str = "<c:xVal><c:numRef><c:f>Sheet1!$A$2</c:f></c:numRef></c:xVal><c:yVal><c:numRef><c:f>Sheet1!$B$2</c:f></c:numRef></c:yVal>";
const AXES: &str = "<c:axId val=\"1\"/><c:axId val=\"2\"/>";

/// A document with a chart of this title and plot area.
pub fn document(title: &str, charts: &str, axis: &str) -> Vec<u8> {
    let drawing = "http://schemas.openxmlformats.org/drawingml/2006";
    let rich = |text: &str| {
        format!(
            "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val=\"0\"/></c:title>"
        )
    };
    let ax = |name: &str, id: u32, other: u32, place: &str, title: &str| {
        format!(
            "<c:{name}><c:axId val=\"{id}\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling><c:delete val=\"0\"/><c:axPos val=\"{place}\"/>\
             {title}<c:crossAx val=\"{other}\"/></c:{name}>"
        )
    };
    let axis = if axis.is_empty() { String::new() } else { rich(axis) };
    let first = if charts.contains("scatterChart") { "valAx" } else { "catAx" };
    let lines = if charts.contains("pieChart") {
        String::new()
    } else {
        ax(first, 1, 2, "b", &axis) + &ax("valAx", 2, 1, "l", "")
    };
    let chart = format!(
        "{HEAD}<c:chartSpace xmlns:c=\"{drawing}/chart\" xmlns:a=\"{drawing}/main\" xmlns:r=\"{OFFICE}\"><c:chart>{}\
         <c:autoTitleDeleted val=\"0\"/><c:plotArea><c:layout/>{charts}{lines}</c:plotArea><c:plotVisOnly val=\"1\"/></c:chart>\
         <c:externalData r:id=\"rId1\"/></c:chartSpace>",
        rich(title)
    );
    let body = format!(
        "{}<w:p><w:r><w:drawing><wp:inline><wp:extent cx=\"5000000\" cy=\"3000000\"/><wp:docPr id=\"1\" name=\"Chart\"/><wp:cNvGraphicFramePr/>\
         <a:graphic xmlns:a=\"{drawing}/main\"><a:graphicData uri=\"{drawing}/chart\"><c:chart xmlns:c=\"{drawing}/chart\" xmlns:r=\"{OFFICE}\" \
         r:id=\"rId9\"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>",
        p("{intro}")
    );
    let mut files: Vec<(String, Vec<u8>)> = entries(&docx(&body));
    for (name, content) in &mut files {
        let text = String::from_utf8(content.clone()).expect("text");
        *content = match name.as_str() {
            "[Content_Types].xml" => text.replace(
                "</Types>",
                "<Default Extension=\"xlsx\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\"/>\
                 <Override PartName=\"/word/charts/chart1.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.drawingml.chart+xml\"/></Types>",
            ),
            "word/_rels/document.xml.rels" => text.replace(
                "</Relationships>",
                &format!("<Relationship Id=\"rId9\" Type=\"{OFFICE}/chart\" Target=\"charts/chart1.xml\"/></Relationships>"),
            ),
            _ => text,
        }
        .into_bytes();
    }
    files.push((CHART.to_owned(), chart.into_bytes()));
    files.push((
        "word/charts/_rels/chart1.xml.rels".to_owned(),
        format!("<Relationships xmlns=\"{RELATIONSHIPS}\"><Relationship Id=\"rId1\" Type=\"{OFFICE}/package\" Target=\"../embeddings/book1.xlsx\"/></Relationships>").into_bytes(),
    ));
    files.push((WORKBOOK.to_owned(), workbook()));
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}

pub fn bars(count: usize) -> String {
    let all: String = (0..count).map(|index| series(index, ACCENT, VALUES)).collect();
    format!(
        "<c:barChart><c:barDir val=\"col\"/><c:grouping val=\"clustered\"/><c:varyColors val=\"0\"/>{all}{AXES}</c:barChart>"
    )
}

/// A document with columns, for what others say of it.
pub fn columns() -> Vec<u8> {
    document("{chart}", &bars(1), "")
}

/// Data of a chart called `chart`.
pub const DATA: &str = r##"{"intro":"i","chart":{"_type":"chart","title":"Sales & more","categories":{"names":["Q1","Q2 <new>","Q3"]},
    "series":[{"name":"A","values":[1,2.5,null]},{"name":"A","color":"#1f77b4","values":[3,4]},{"values":[]}]}}"##;

struct Made {
    chart: String,
    book: BTreeMap<String, String>,
}

fn made(file: Vec<u8>, data: &str) -> Made {
    let filled = try_fill(file, data, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    let (_, book) = entries(&filled).into_iter().find(|(name, _)| name == WORKBOOK).expect("a workbook");
    let text = |content: Vec<u8>| String::from_utf8(content).expect("text");
    let book = entries(&book).into_iter().map(|(name, content)| (name, text(content))).collect();
    Made { chart: part(&filled, CHART), book }
}

fn chart_fault(charts: &str, chart: &str) -> String {
    match try_fill(document("{chart}", charts, ""), &format!("{{\"chart\":{chart}}}"), "{}") {
        Ok(_) => panic!("it is filled: {chart}"),
        Err(error) => error.to_string(),
    }
}

/// What stands between the tags of this name, each.
fn all(xml: &str, name: &str) -> Vec<String> {
    let begin = format!("<{name}>");
    let pieces = xml.split(&begin).skip(1);
    pieces.map(|piece| piece.split(&format!("</{name}>")).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn more_series_and_categories_than_the_template_has() {
    let made = made(columns(), DATA);
    assert!(made.chart.contains("<a:t>Sales &amp; more</a:t>"), "{}", made.chart);
    let texts = all(&made.chart, "c:f");
    assert_eq!(
        texts,
        [
            "'My data'!$B$1",
            "'My data'!$A$2:$A$4",
            "'My data'!$B$2:$B$4",
            "'My data'!$C$1",
            "'My data'!$A$2:$A$4",
            "'My data'!$C$2:$C$4",
            "'My data'!$D$1",
            "'My data'!$A$2:$A$4",
            "'My data'!$D$2:$D$4"
        ]
    );
    let said = all(&made.chart, "c:v");
    assert_eq!(said[..6], ["A", "Q1", "Q2 &lt;new&gt;", "Q3", "1", "2.5"]);
    assert_eq!(all(&made.chart, "c:formatCode"), ["0.0"; 3], "numbers look as the template's");
    for index in 0..3 {
        assert!(made.chart.contains(&format!("<c:idx val=\"{index}\"/><c:order val=\"{index}\"/>")));
    }
    for colour in ["schemeClr val=\"accent1\"", "srgbClr val=\"1F77B4\"", "schemeClr val=\"accent3\""] {
        assert_eq!(made.chart.matches(colour).count(), 1, "{colour}: {}", made.chart);
    }
}

#[test]
fn the_workbook_says_the_same() {
    let made = made(columns(), DATA);
    let sheet = &made.book["xl/worksheets/sheet1.xml"];
    assert!(sheet.contains("<dimension ref=\"A1:D4\"/>"), "{sheet}");
    assert!(sheet.contains("r=\"A1\" t=\"inlineStr\"><is><t xml:space=\"preserve\">Quarter</t>"), "{sheet}");
    assert!(
        sheet.contains("<c r=\"B3\" s=\"7\"><v>2.5</v></c>")
            && !sheet.contains("B4")
            && !sheet.contains("<f>"),
        "{sheet}"
    );
    let table = &made.book["xl/tables/table1.xml"];
    assert!(table.contains("ref=\"A1:D4\"") && table.contains("<tableColumns count=\"4\">"), "{table}");
    for name in ["Quarter", "A", "A 2", "Series 3"] {
        assert!(table.contains(&format!(" name=\"{name}\"/>")), "{name}: {table}");
        assert!(sheet.contains(&format!(">{name}</t>")), "{name}: {sheet}");
    }
    assert!(!made.book.contains_key("xl/calcChain.xml"));
    assert!(made.book.values().all(|part| !part.contains("calcChain")));
}

#[test]
fn fewer_series_and_categories_than_the_template_has() {
    let data = r#"{"chart":{"_type":"chart","categories":{"names":["only"]},"series":[{"name":"one","values":["7.5"]}]}}"#;
    let made = made(document("Title {chart}", &bars(3), "Axis"), data);
    assert_eq!(made.chart.matches("<c:ser>").count(), 1);
    assert!(made.chart.contains("<a:t>Title </a:t>"), "{}", made.chart);
    assert_eq!(all(&made.chart, "c:v"), ["one", "only", "7.5"]);
    assert_eq!(all(&made.chart, "c:f"), ["'My data'!$B$1", "'My data'!$A$2", "'My data'!$B$2"]);
}

#[test]
fn nothing_to_draw_is_an_empty_chart() {
    let made = made(columns(), r#"{"chart":{"_type":"chart","categories":{"names":[]},"series":[]}}"#);
    assert!(!made.chart.contains("<c:ser>") && made.chart.contains("<c:barChart>"));
    assert!(made.book["xl/tables/table1.xml"].contains("ref=\"A1:A2\""));
}

#[test]
fn a_pie_and_a_template_without_series() {
    let pie = "<c:pieChart><c:varyColors val=\"1\"/><c:firstSliceAng val=\"0\"/></c:pieChart>";
    let made = made(
        document("{chart}", pie, ""),
        r#"{"chart":{"_type":"chart","categories":{"names":["a","b"]},"series":[{"name":"P","color":"red","values":[1,2]}]}}"#,
    );
    assert!(
        made.chart.contains("<c:varyColors val=\"1\"/><c:ser>")
            && made.chart.contains("</c:ser><c:firstSliceAng"),
        "{}",
        made.chart
    );
    assert!(made.chart.contains("<a:srgbClr val=\"FF0000\"/>"));
    assert_eq!(all(&made.chart, "c:v"), ["P", "a", "b", "1", "2"]);
}

fn scatter() -> String {
    format!(
        "<c:scatterChart><c:scatterStyle val=\"lineMarker\"/>{}{AXES}</c:scatterChart>",
        series(0, "", &format!("{POINTS}<c:smooth val=\"0\"/>"))
    )
}

#[test]
fn points_have_a_common_column_across() {
    let made = made(
        document("{chart}", &scatter(), ""),
        r#"{"chart":{"_type":"chart","series":[{"name":"A","values":[{"x":1,"y":10},{"x":3,"y":30}]},{"name":"B","values":[{"x":2,"y":20}]}]}}"#,
    );
    assert_eq!(all(&made.chart, "c:v"), ["A", "1", "2", "3", "10", "30", "B", "1", "2", "3", "20"]);
    assert!(made.chart.contains("</c:yVal><c:smooth val=\"0\"/>"), "{}", made.chart);
    assert!(
        made.book["xl/worksheets/sheet1.xml"]
            .contains("<row r=\"3\"><c r=\"A3\"><v>2</v></c><c r=\"C3\" s=\"7\"><v>20</v></c></row>")
    );
}

#[test]
fn points_that_go_back_keep_their_order() {
    let made = made(
        document("{chart}", &scatter(), ""),
        r#"{"chart":{"_type":"chart","series":[{"name":"A","values":[{"x":3,"y":1},{"x":1,"y":2},{"x":3,"y":3}]}]}}"#,
    );
    assert_eq!(all(&made.chart, "c:v"), ["A", "3", "1", "3", "1", "2", "3"]);
}

#[test]
fn days_are_numbers_with_a_format() {
    let data = r#"{"chart":{"_type":"chart","categories":{"formatCode":"d.m.yyyy","names":["2026-11-22","2026-11-23"]},"series":[{"name":"A","values":[1,2]}]}}"#;
    let made = made(columns(), data);
    assert_eq!(all(&made.chart, "c:v")[1..3], ["46348", "46349"]);
    assert!(
        made.chart.contains("<c:cat><c:numRef>")
            && made.chart.contains("<c:formatCode>d.m.yyyy</c:formatCode>")
    );
    assert!(
        made.book["xl/styles.xml"].contains("formatCode=\"d.m.yyyy\"/>")
            && made.book["xl/styles.xml"].contains("<cellXfs count=\"2\">")
    );
    assert!(made.book["xl/worksheets/sheet1.xml"].contains("<c r=\"A2\" s=\"1\"><v>46348</v></c>"));
}

#[test]
fn what_is_wrong_with_the_data_is_said_with_its_remedy() {
    let bars = bars(1);
    for (chart, why) in [
        (r#"{"series":[]}"#, "give it the member \"_type\": \"chart\""),
        (r#"{"_type":"chart"}"#, "the series of a chart are a list"),
        (r#"{"_type":"chart","series":[]}"#, "the chart has no categories; give them as"),
        (
            r#"{"_type":"chart","categories":{"names":["a"]},"series":[{"name":"S","values":[1,2]}]}"#,
            "2 values for 1 categories",
        ),
        (
            r#"{"_type":"chart","categories":{"names":["a"]},"series":[{"name":"S","values":["x"]}]}"#,
            "a chart takes a number, and 'x' is none",
        ),
        (
            r#"{"_type":"chart","categories":{"names":["a"]},"series":[{"name":"S","values":[{"x":1,"y":1}]}]}"#,
            "takes numbers, one for each category",
        ),
        (
            r#"{"_type":"chart","categories":{"names":["a"]},"series":[{"color":"reddish","values":[1]}]}"#,
            "is no colour for a series",
        ),
    ] {
        let message = chart_fault(&bars, chart);
        assert!(message.contains(why) && message.contains("{chart}"), "{chart}: {message}");
    }
    let message = chart_fault(&scatter(), r#"{"_type":"chart","series":[{"name":"S","values":[1]}]}"#);
    assert!(message.contains("no point; in a chart of this kind it is written { \"x\": 1"), "{message}");
}

#[test]
fn a_charts_data_fill_nothing_else() {
    let why = "let the tag stand in the title or in the alternative text of a chart";
    assert!(fault(&p("{chart}"), DATA, "{}").contains(why));
    for (title, axis) in [("T", "{chart}"), ("{chart}{chart}", "")] {
        let error =
            try_fill(document(title, &bars(1), axis), DATA, "{}").expect_err("it is refused").to_string();
        assert!(error.contains(if axis.is_empty() { "let one tag give them" } else { why }), "{error}");
    }
}

#[test]
fn a_chart_is_no_bomb() {
    let many = vec!["1"; 1_000_000].join(",");
    let chart =
        format!(r#"{{"_type":"chart","categories":{{"names":[{many}]}},"series":[{{"values":[{many}]}}]}}"#);
    assert!(chart_fault(&bars(1), &chart).contains("at most 100000 points"));
    let names = vec!["1"; 50_000].join(",");
    let series = vec![r#"{"values":[]}"#; 200].join(",");
    let chart = format!(r#"{{"_type":"chart","categories":{{"names":[{names}]}},"series":[{series}]}}"#);
    assert!(chart_fault(&bars(1), &chart).contains("cells in its sheet"));
}

#[test]
fn a_workbook_that_cannot_be_read_is_reported() {
    let files = entries(&columns());
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, content)| {
            (name.as_str(), if name == WORKBOOK { b"no zip".as_slice() } else { content.as_slice() })
        })
        .collect();
    let filled = try_fill(zipped(&files), DATA, "{}").expect("it is filled");
    assert!(
        filled.warnings.iter().any(|warning| warning.contains("not in its workbook")),
        "{:?}",
        filled.warnings
    );
    assert!(part(&filled.file, CHART).contains("Sheet1!$B$1"));
}
