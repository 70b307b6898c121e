//! What is filled in a workbook besides its cells: pictures over cells, headers and footers, text boxes, titles and data of charts.

use office_template::{NoFiles, Template};

use crate::pictures::RED;
use crate::support::{entries, limits, part, run, well_formed, zipped};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006";
const SHEET: &str = "xl/worksheets/sheet1.xml";

/// A cell with a text.
fn cell(name: &str, text: &str) -> String {
    format!("<c r=\"{name}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

/// A workbook of one sheet, and further parts: name, type of the content, whose they are, and their text.
fn workbook(sheet: &str, parts: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let kind = "application/vnd.openxmlformats-officedocument";
    let types: Vec<String> = parts
        .iter()
        .map(|(name, own, ..)| format!("<Override PartName=\"/{name}\" ContentType=\"{kind}.{own}+xml\"/>"))
        .collect();
    let relationships =
        |lines: &str| format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{lines}</Relationships>");
    let relation = |kind: &str, target: &str| {
        relationships(&format!("<Relationship Id=\"rId1\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>"))
    };
    let mut files = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" \
                 ContentType=\"application/xml\"/><Override PartName=\"/xl/workbook.xml\" \
                 ContentType=\"{kind}.spreadsheetml.sheet.main+xml\"/><Override PartName=\"/{SHEET}\" \
                 ContentType=\"{kind}.spreadsheetml.worksheet+xml\"/>{}</Types>",
                types.concat()
            ),
        ),
        ("_rels/.rels".to_owned(), relation("officeDocument", "xl/workbook.xml")),
        (
            "xl/workbook.xml".to_owned(),
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"Items\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
            ),
        ),
        ("xl/_rels/workbook.xml.rels".to_owned(), relation("worksheet", "worksheets/sheet1.xml")),
        (SHEET.to_owned(), format!("<worksheet xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\">{sheet}</worksheet>")),
    ];
    for (name, own, owner, content) in parts {
        let (folder, file) = owner.rsplit_once('/').expect("a part in a folder");
        let relation = relation(own.rsplit('.').next().unwrap_or_default(), &format!("/{name}"));
        files.push((format!("{folder}/_rels/{file}.rels"), relation));
        files.push(((*name).to_owned(), (*content).to_owned()));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    zipped(&files)
}

fn filled(file: Vec<u8>, data: &str) -> Result<Vec<u8>, String> {
    let template = Template::read(file, None, &limits()).map_err(|error| error.to_string())?;
    let answer = run(template.program(), data, "{}");
    let filled = template.fill(&answer, &mut NoFiles).map_err(|error| error.to_string())?;
    for (name, content) in entries(&filled.file) {
        if [".xml", ".rels"].iter().any(|end| name.ends_with(end)) {
            well_formed(&name, &content);
        }
    }
    Ok(filled.file)
}

/// What stands between two texts, each time.
fn between(xml: &str, begin: &str, end: &str) -> Vec<String> {
    let pieces = xml.split(begin).skip(1).filter_map(|rest| rest.split_once(end));
    pieces.map(|(found, _)| found.to_owned()).collect()
}

#[test]
fn a_picture_is_drawn_over_each_cell_that_asks_for_one_and_keeps_its_proportions() {
    let sheet = format!(
        "<cols><col min=\"2\" max=\"2\" width=\"20.7109375\" customWidth=\"1\"/></cols><sheetData><row r=\"2\" ht=\"60\" customHeight=\"1\">{}{}\
         </row></sheetData><mergeCells count=\"1\"><mergeCell ref=\"B2:C2\"/></mergeCells><pageMargins left=\"0.7\" right=\"0.7\" top=\"0.75\" \
         bottom=\"0.75\" header=\"0.3\" footer=\"0.3\"/>",
        cell("A2", "{#items}{name}"),
        cell("B2", "{%logo | alt(name)}{/items}")
    );
    let logo = format!("data:image/png;base64,{RED}");
    let data = format!(
        "{{\"items\": [{{\"name\": \"a & b\", \"logo\": \"{logo}\"}}, {{\"name\": \"c\", \"logo\": \"{logo}\"}}]}}"
    );
    let file = filled(workbook(&sheet, &[]), &data).expect("two pictures");
    assert_eq!(entries(&file).iter().filter(|(name, _)| name.starts_with("xl/media/")).count(), 1);
    let drawing = part(&file, "xl/drawings/drawing1.xml");
    assert_eq!(between(&drawing, "<xdr:row>", "<"), ["1", "2"]);
    assert_eq!(between(&drawing, "<xdr:col>", "<"), ["1", "1"]);
    assert_eq!(between(&drawing, "descr=\"", "\""), ["a &amp; b", "c"]);
    assert_eq!(between(&drawing, "<xdr:cNvPr id=\"", "\""), ["1", "2"]);
    // B and C are 145 and 64 pixels wide, the row is 80 high; a pixel is left on each side, and the picture is twice as wide as high.
    assert_eq!(
        between(&drawing, "<xdr:ext cx=\"", "/>"),
        ["1485900\" cy=\"742950\"", "1485900\" cy=\"742950\""]
    );
    assert_eq!(between(&drawing, "<xdr:colOff>", "<"), ["252412", "252412"]);
    let xml = part(&file, SHEET);
    assert!(
        xml.contains("footer=\"0.3\"/><drawing xmlns:r=") && xml.ends_with("r:id=\"rId1\"/></worksheet>"),
        "{xml}"
    );
    assert!(xml.contains("<mergeCell ref=\"B3:C3\"/>"), "{xml}");
    let types = part(&file, "[Content_Types].xml");
    assert!(types.contains("/xl/drawings/drawing1.xml") && types.contains("image/png"), "{types}");
}

#[test]
fn a_list_of_pictures_is_one_over_each_copy_of_the_merged_cells() {
    let rows = format!(
        "<sheetData><row r=\"2\">{}{}</row><row r=\"3\">{}</row></sheetData><mergeCells count=\"1\"><mergeCell ref=\"B2:C3\"/></mergeCells>",
        cell("A2", "{#items}{name}"),
        cell("B2", "{%picture | alt(name)}"),
        cell("D3", "{/items}")
    );
    let red = format!("\"data:image/png;base64,{RED}\"");
    let item = |name: &str, picture: &str| format!("{{\"name\": \"{name}\", \"picture\": {picture}}}");
    let items = [item("a", &red), item("none", "null"), item("c", &red)].join(",");
    let file = filled(workbook(&rows, &[]), &format!("{{\"items\": [{items}]}}")).expect("two pictures");
    let drawing = part(&file, "xl/drawings/drawing1.xml");
    assert_eq!(between(&drawing, "descr=\"", "\""), ["a", "c"]);
    // Two columns of 64 pixels and two rows of 20 hold it, 126 wide less margins: as high as both rows, in their middle.
    assert_eq!(between(&drawing, "<xdr:row>", "<"), ["1", "5"]);
    assert_eq!(
        between(&drawing, "<xdr:ext cx=\"", "/>"),
        ["723900\" cy=\"361950\"", "723900\" cy=\"361950\""]
    );
    assert_eq!(between(&part(&file, SHEET), "<mergeCell ref=\"", "\""), ["B2:C3", "B4:C5", "B6:C7"]);
}

#[test]
fn a_picture_joins_what_the_sheet_draws_already() {
    let drawing = format!(
        "<xdr:wsDr xmlns:xdr=\"{DRAWING}/spreadsheetDrawing\" xmlns:a=\"{DRAWING}/main\"><xdr:twoCellAnchor><xdr:from><xdr:col>4</xdr:col>\
         <xdr:colOff>0</xdr:colOff><xdr:row>8</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>6</xdr:col><xdr:colOff>0</xdr:colOff>\
         <xdr:row>10</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to><xdr:sp><xdr:nvSpPr><xdr:cNvPr id=\"7\" name=\"Box\"/><xdr:cNvSpPr/></xdr:nvSpPr>\
         <xdr:spPr/><xdr:txBody><a:bodyPr/><a:p><a:r><a:t>For {{customer}}</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>"
    );
    let sheet = format!(
        "<sheetData><row r=\"1\">{}</row><row r=\"2\">{}</row></sheetData><drawing r:id=\"rId1\"/>",
        cell("A1", "{%qr link}"),
        cell("A2", "{#rows}{.}{/rows}{#more}{n}")
            .replace("{#rows}{.}{/rows}", "")
            .replace("{n}", "{n}{/more}")
    );
    let parts = [("xl/drawings/drawing1.xml", "drawing", SHEET, drawing.as_str())];
    let data =
        "{\"link\": \"https://example.org\", \"customer\": \"R&D\", \"more\": [{\"n\": 1}, {\"n\": 2}]}";
    let file = filled(workbook(&sheet, &parts), data).expect("a picture");
    let drawing = part(&file, "xl/drawings/drawing1.xml");
    assert_eq!(between(&drawing, "<a:t>", "<"), ["For R&amp;D"]);
    assert_eq!(between(&drawing, "<xdr:cNvPr id=\"", "\""), ["7", "8"]);
    assert_eq!(part(&file, SHEET).matches("<drawing ").count(), 1);
}

#[test]
fn a_picture_stands_alone_and_one_that_is_none_names_its_cell() {
    let of = |text: &str| {
        workbook(&format!("<sheetData><row r=\"3\">{}</row></sheetData>", cell("C3", text)), &[])
    };
    let alone = filled(of("see {%logo}"), "{}").expect_err("a text around it");
    assert!(alone.contains("Items!C3") && alone.contains("give the text another cell"), "{alone}");
    let none = filled(of("{%logo}"), "{\"logo\": \"data:image/png;base64,AAAA\"}").expect_err("no picture");
    assert!(none.contains("Items!C3") && none.contains("PNG"), "{none}");
    let link = filled(of("{:link \"a\" \"https://a.example\"}"), "{}").expect_err("no cell has one");
    assert!(link.contains("Items!C3") && link.contains("=HYPERLINK(A2, "), "{link}");
    let rich = filled(of("{logo}"), "{\"logo\": {\"_type\": \"rawXml\", \"xml\": \"<a/>\"}}")
        .expect_err("no cell has it");
    assert!(rich.contains("Items!C3") && rich.contains("more than a text"), "{rich}");
}

#[test]
fn headers_and_footers_keep_their_codes() {
    let header = |text: &str| {
        format!(
            "<sheetData><row r=\"1\">{}</row></sheetData><headerFooter><oddHeader>{text}</oddHeader><oddFooter>&amp;P / &amp;N</oddFooter></headerFooter>",
            cell("A1", "{name}")
        )
    };
    let data = "{\"name\": \"Smith & <Sons>\", \"year\": 2024}";
    let file = filled(workbook(&header("&amp;L&amp;\"Arial,Bold\"{name}&amp;R&amp;14{year}"), &[]), data)
        .expect("a header");
    let xml = part(&file, SHEET);
    let expected = "<oddHeader>&amp;L&amp;\"Arial,Bold\"Smith &amp;&amp; &lt;Sons&gt;&amp;R&amp;14 2024</oddHeader><oddFooter>&amp;P / &amp;N</oddFooter>";
    assert!(xml.contains(expected), "{xml}");
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(300));
    let why = filled(workbook(&header("{name}"), &[]), &long).expect_err("too long");
    assert!(why.contains("a header or footer (Items)") && why.contains("255"), "{why}");
    let section = filled(workbook(&header("{#name}x{/}"), &[]), data).expect_err("a section");
    assert!(section.contains("has values alone"), "{section}");
}

/// A bar chart of two cells whose title is `title`.
fn chart(title: &str) -> String {
    format!(
        "<c:chartSpace xmlns:c=\"{DRAWING}/chart\" xmlns:a=\"{DRAWING}/main\"><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{title}</a:t>\
         </a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:barDir val=\"col\"/><c:ser><c:idx val=\"0\"/><c:order val=\"0\"/>\
         <c:cat><c:strRef><c:f>Items!$A$1</c:f><c:strCache><c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>{{#rows}}{{a}}</c:v></c:pt></c:strCache></c:strRef></c:cat>\
         <c:val><c:numRef><c:f>Items!$B$1</c:f></c:numRef></c:val></c:ser><c:axId val=\"1\"/><c:axId val=\"2\"/></c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )
}

fn charted(title: &str, data: &str) -> Vec<u8> {
    let drawing = format!(
        "<xdr:wsDr xmlns:xdr=\"{DRAWING}/spreadsheetDrawing\" xmlns:a=\"{DRAWING}/main\"><xdr:oneCellAnchor><xdr:from><xdr:col>4</xdr:col>\
         <xdr:colOff>0</xdr:colOff><xdr:row>4</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:ext cx=\"3000000\" cy=\"2000000\"/><xdr:graphicFrame>\
         <xdr:nvGraphicFramePr><xdr:cNvPr id=\"2\" name=\"Chart\"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x=\"0\" y=\"0\"/>\
         <a:ext cx=\"0\" cy=\"0\"/></xdr:xfrm><a:graphic><a:graphicData uri=\"{DRAWING}/chart\"><c:chart xmlns:c=\"{DRAWING}/chart\" xmlns:r=\"{OFFICE}\" \
         r:id=\"rId1\"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:oneCellAnchor></xdr:wsDr>"
    );
    let sheet = format!(
        "<sheetData><row r=\"1\">{}{}</row></sheetData><drawing r:id=\"rId1\"/>",
        cell("A1", "{#rows}{a}"),
        cell("B1", "{b}{/rows}")
    );
    let chart = chart(title);
    let parts = [
        ("xl/drawings/drawing1.xml", "drawing", SHEET, drawing.as_str()),
        ("xl/charts/chart1.xml", "drawingml.chart", "xl/drawings/drawing1.xml", chart.as_str()),
    ];
    filled(workbook(&sheet, &parts), data).expect("a chart")
}

#[test]
fn a_chart_draws_the_rows_that_its_cells_became_under_its_own_title() {
    let file = charted(
        "Sales {year}",
        "{\"year\": 2024, \"rows\": [{\"a\": \"x\", \"b\": 1}, {\"a\": \"y\", \"b\": 2}, {\"a\": \"z\", \"b\": 3}]}",
    );
    let chart = part(&file, "xl/charts/chart1.xml");
    assert_eq!(between(&chart, "<a:t>", "<"), ["Sales 2024"]);
    assert_eq!(between(&chart, "<c:f>", "<"), ["Items!$A$1:$A$3", "Items!$B$1:$B$3"]);
    assert!(!chart.contains("Cache"), "{chart}");
}

#[test]
fn a_chart_filled_from_data_has_them_on_a_sheet_of_its_own() {
    let data = "{\"rows\": [{\"a\": \"x\", \"b\": 1}], \"sales\": {\"_type\": \"chart\", \"title\": \"2024\", \"categories\": {\"names\": [\"Q1\", \"Q2\", \"Q3\"]}, \
                \"series\": [{\"name\": \"North\", \"values\": [1, 2, 3]}, {\"name\": \"South\", \"values\": [4, 5, 6]}]}}";
    let file = charted("{sales}", data);
    let chart = part(&file, "xl/charts/chart1.xml");
    let area = |column: &str| format!("'Chart data 1'!${column}$2:${column}$4");
    let title = |column: &str| format!("'Chart data 1'!${column}$1");
    assert_eq!(
        between(&chart, "<c:f>", "<"),
        [title("B"), area("A"), area("B"), title("C"), area("A"), area("C")]
    );
    assert_eq!(between(&chart, "<c:v>", "<").len(), 2 + 2 * 3 + 2 * 3);
    let list = part(&file, "xl/workbook.xml");
    assert!(list.contains("name=\"Chart data 1\" sheetId=\"2\" state=\"hidden\""), "{list}");
    let sheet = part(&file, "xl/worksheets/sheet2.xml");
    assert!(sheet.contains(">South<") && sheet.contains("<v>6</v>"), "{sheet}");
    assert!(part(&file, "[Content_Types].xml").contains("/xl/worksheets/sheet2.xml"));
    assert!(part(&file, "xl/_rels/workbook.xml.rels").contains("Target=\"worksheets/sheet2.xml\""));
}

#[test]
fn comments_are_filled_and_stand_at_each_copy_of_their_cell() {
    let comments = format!(
        "<comments xmlns=\"{MAIN}\"><authors><author>Ann</author></authors><commentList><comment ref=\"A1\" authorId=\"0\"><text><r><rPr><b/></rPr>\
         <t>Ann:</t></r><r><t xml:space=\"preserve\">\nAs of {{year}} </t></r></text></comment></commentList></comments>"
    );
    let sheet = format!(
        "<sheetData><row r=\"1\">{}{}</row></sheetData>",
        cell("A1", "{#rows}{a}"),
        cell("B1", "{/rows}")
    );
    let parts = [("xl/comments1.xml", "spreadsheetml.comments", SHEET, comments.as_str())];
    let file =
        filled(workbook(&sheet, &parts), "{\"year\": \"2024 & on\", \"rows\": [{\"a\": 1}, {\"a\": 2}]}");
    let xml = part(&file.expect("a comment"), "xl/comments1.xml");
    assert_eq!(between(&xml, "<comment ref=\"", "\""), ["A1", "A2"]);
    assert_eq!(between(&xml, "preserve\">", "<"), ["\nAs of 2024 &amp; on ", "\nAs of 2024 &amp; on "]);
}
