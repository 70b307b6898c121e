//! What stands beside the cells of a workbook and names them: sheets that are charts, controls of a form, data tables; and what is said
//! where lists cannot stand beside each other.

use office_template::{NoFiles, Template};

use super::book::{Sheet, book};
use super::limits::{SHEET, changed};
use super::names::{between, linked, with_parts};
use crate::support::{limits, part, try_fill};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006";
const NO_LINKS: &str =
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";
const XS: &str = "{\"xs\":[1,2,3],\"year\":2024,\"towns\":[{\"town\":\"Ulm\"},{\"town\":\"O'Hara\"}]}";

/// A workbook with a last sheet that is a chart, called `name`, of the cells `of`.
fn with_chart_sheet(sheets: &[Sheet], (name, of): (&str, &str)) -> Vec<u8> {
    let file = book(sheets, &[]);
    let file = changed(&file, "xl/_rels/workbook.xml.rels", |xml| {
        linked(&xml, "chartsheet", "chartsheets/sheet1.xml")
    });
    let file = changed(&file, "xl/workbook.xml", |xml| {
        xml.replace("</sheets>", &format!("<sheet name=\"{name}\" sheetId=\"9\" r:id=\"rId9\"/></sheets>"))
    });
    let sheet = format!("<chartsheet xmlns:r=\"{OFFICE}\"><drawing r:id=\"rId9\"/></chartsheet>");
    let drawing = format!(
        "<xdr:wsDr xmlns:xdr=\"{DRAWING}/spreadsheetDrawing\" xmlns:c=\"{DRAWING}/chart\" xmlns:r=\"{OFFICE}\"><xdr:absoluteAnchor>\
         <c:chart r:id=\"rId9\"/></xdr:absoluteAnchor></xdr:wsDr>"
    );
    let chart = format!(
        "<c:chartSpace xmlns:c=\"{DRAWING}/chart\"><c:val><c:numRef><c:f>{of}</c:f></c:numRef></c:val></c:chartSpace>"
    );
    with_parts(
        &file,
        &[
            ("xl/chartsheets/sheet1.xml", &sheet),
            (
                "xl/chartsheets/_rels/sheet1.xml.rels",
                &linked(NO_LINKS, "drawing", "../drawings/drawing1.xml"),
            ),
            ("xl/drawings/drawing1.xml", &drawing),
            ("xl/drawings/_rels/drawing1.xml.rels", &linked(NO_LINKS, "chart", "../charts/chart1.xml")),
            ("xl/charts/chart1.xml", &chart),
        ],
    )
}

#[test]
fn a_sheet_that_is_a_chart_has_a_name_with_tags_and_draws_the_rows_that_came() {
    let list = Sheet::new("{year} list").rows("A1", "head\n{#xs}|{.}|{/xs}\n|=SUM(B2)");
    let file = with_chart_sheet(&[list], ("Chart of {year}", "'{year} list'!$B$2:$B$2"));
    let file = try_fill(file, XS, "{}").expect("it is filled").file;
    let names = between(&part(&file, "xl/workbook.xml"), "<sheet name=\"", "\"");
    assert_eq!(names, ["2024 list", "Chart of 2024"]);
    assert_eq!(between(&part(&file, "xl/charts/chart1.xml"), "<c:f>", "<"), ["'2024 list'!$B$2:$B$4"]);
    // Of a sheet that is there more than once a chart draws the last copy, as a formula means it.
    let towns = Sheet::new("{town}").rows("A1", "{:sheet towns}\n{#xs}|{.}|{/xs}");
    let file = with_chart_sheet(&[towns], ("All", "'{town}'!$B$2:$B$2"));
    let file = try_fill(file, XS, "{}").expect("it is filled").file;
    assert_eq!(between(&part(&file, "xl/charts/chart1.xml"), "<c:f>", "<"), ["'O''Hara'!$B$2:$B$4"]);
}

#[test]
fn a_control_of_a_form_is_tied_to_the_cells_that_its_cells_became() {
    let controls = "<controls><control shapeId=\"1025\" r:id=\"rId9\" name=\"Drop Down 1\"><controlPr linkedCell=\"D3\" listFillRange=\"B2:B2\" \
                    r:id=\"rId9\"/></control></controls>";
    let sheet = Sheet {
        behind: controls.to_owned(),
        ..Sheet::new("S").rows("A1", "head\n{#xs}|{.}|{/xs}\n|||2\n|||=INDEX(B2:B2,D3)")
    };
    let control = "<formControlPr xmlns=\"http://schemas.microsoft.com/office/spreadsheetml/2009/9/main\" objectType=\"Drop\" fmlaLink=\"$D$3\" \
                   fmlaRange=\"$B$2:$B$2\" sel=\"2\"/>";
    let links = linked(NO_LINKS, "ctrlProp", "../ctrlProps/ctrlProp1.xml");
    let file = with_parts(
        &book(&[sheet], &[]),
        &[("xl/worksheets/_rels/sheet1.xml.rels", &links), ("xl/ctrlProps/ctrlProp1.xml", control)],
    );
    let file = try_fill(file, XS, "{}").expect("it is filled").file;
    let control = part(&file, "xl/ctrlProps/ctrlProp1.xml");
    assert!(control.contains("fmlaLink=\"$D$5\" fmlaRange=\"$B$2:$B$4\" sel=\"2\""), "{control}");
    let sheet = part(&file, SHEET);
    assert!(sheet.contains("linkedCell=\"D5\" listFillRange=\"B2:B4\""), "{sheet}");
    assert!(sheet.contains("<c r=\"D6\"><f>INDEX(B2:B4,D5)</f>"), "{sheet}");
}

#[test]
fn a_data_table_keeps_its_values_and_says_so() {
    let sheet = Sheet::new("S").rows("A1", "{#xs}{.}|{/xs}\n2|=A2*2\n3|6\n4|8");
    let file = changed(&book(&[sheet], &[]), SHEET, |xml| {
        xml.replace(
            "<c r=\"B3\">",
            "<c r=\"B3\"><f t=\"dataTable\" ref=\"B3:B4\" dt2D=\"0\" dtr=\"0\" r1=\"A2\"/>",
        )
    });
    let filled = try_fill(file, XS, "{}").expect("it is filled");
    let sheet = part(&filled.file, SHEET);
    assert!(sheet.contains("<c r=\"B5\"><v>6</v></c>") && !sheet.contains("dataTable"), "{sheet}");
    let told: Vec<&String> = filled.warnings.iter().filter(|told| told.contains("data table")).collect();
    assert_eq!(told.len(), 1, "{:?}", filled.warnings);
    assert!(told[0].starts_with("S!B3: ") && told[0].contains("calculated no more"), "{told:?}");
}

#[test]
fn sections_that_cannot_stand_beside_each_other_name_both_and_the_remedy() {
    for (rows, told) in [
        (
            "x\n|{#xs}{.}|{/xs}|{#towns}{town}|{/towns}",
            "S!D2, {#towns}: two lists cannot grow in the same rows, that of S!B2 and this one; put them below each other, or on two sheets",
        ),
        (
            "{-columns xs}a|{-columns towns}b|c\n|{/xs}|{/towns}",
            "S!B1, {-columns towns}: {-columns xs} of A1 has some of its cells, and not all; let one stand within the other, or beside it",
        ),
        (
            "{-right xs}a|{/xs}|{-right towns}b\n||c|{/towns}",
            "S!C1, {-right towns}: {-right xs} of A1 stands left of it and would move only some of its rows; let both have the same rows",
        ),
        (
            "{-columns xs}a|{-right towns}b{/towns}|\n||{/xs}",
            "S!B1, {-right towns}: {-columns xs} of A1 is around it, and grows another way",
        ),
    ] {
        let why =
            try_fill(book(&[Sheet::new("S").rows("A1", rows)], &[]), XS, "{}").expect_err(rows).to_string();
        assert!(why.contains(told), "{rows}: {why}");
    }
}

#[test]
fn a_cell_of_one_value_has_what_the_data_give_and_its_own_format() {
    let mut sheet = Sheet::new("S");
    sheet.set("A1", "{x}");
    let styles = "<styleSheet><cellXfs count=\"3\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"4\"/></cellXfs></styleSheet>";
    let cell = |style: u32, tag: &str, data: &str| {
        let file = changed(&book(std::slice::from_ref(&sheet), &[]), SHEET, |xml| {
            xml.replace("<c r=\"A1\"", &format!("<c r=\"A1\" s=\"{style}\"")).replace("{x}", tag)
        });
        let file = changed(&file, "xl/_rels/workbook.xml.rels", |xml| linked(&xml, "styles", "styles.xml"));
        let file = with_parts(&file, &[("xl/styles.xml", styles)]);
        let file = try_fill(file, &format!("{{\"x\":{data}}}"), "{}")
            .unwrap_or_else(|error| panic!("{tag}: {error}"))
            .file;
        between(&part(&file, SHEET), "<row r=\"1\">", "</row>").concat().replace("<c r=\"A1\"", "")
    };
    let text = |text: &str| format!(" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    for (tag, data, made) in [
        ("{x}", "12.50", "><v>12.5</v></c>".to_owned()),
        ("{x}", "true", " t=\"b\"><v>1</v></c>".to_owned()),
        (" {x} ", "false", " t=\"b\"><v>0</v></c>".to_owned()),
        ("{x}", "null", "/>".to_owned()),
        ("{x}", "\"\"", "/>".to_owned()),
        ("{y}", "1", "/>".to_owned()),
        ("{x}", "\"=1+1\"", text("=1+1")),
        ("{x}", "\"-1\"", text("-1")),
        ("{x}", "\"0049\"", text("0049")),
        ("{x}", "\"2026-03-16\"", text("2026-03-16")),
        ("{x | date(\"D.M.YY\")}", "\"2026-03-16\"", text("16.3.26")),
        ("{x | formula}", "\"=SUM(B1:B2)\"", "><f>SUM(B1:B2)</f></c>".to_owned()),
        ("No. {x}", "7", text("No. 7")),
    ] {
        assert_eq!(cell(2, tag, data), format!(" s=\"2\"{made}"), "{tag} {data}");
    }
    assert_eq!(cell(1, "{x}", "\"2026-03-16\""), " s=\"1\"><v>46097</v></c>", "it is formatted as a date");
    assert_eq!(cell(1, "{x}", "\"2026-03-16T18:00\""), " s=\"1\"><v>46097.75</v></c>");
}

const LINKS: &str = "<hyperlinks><hyperlink ref=\"A1\" r:id=\"rId1\"/><hyperlink ref=\"A2\" r:id=\"rId2\" tooltip=\"a &amp; b\" display=\"x\"/>\
     <hyperlink ref=\"C2:D2\" r:id=\"rId3\"/><hyperlink ref=\"B3\" r:id=\"rId2\"/></hyperlinks><pageMargins left=\"1\" right=\"1\" top=\"1\" bottom=\"1\" header=\"1\" footer=\"1\"/>";
const ROWS: (&str, &str) = ("S", "home\n{#towns}{town}|{#xs}|x|{/xs}{/towns}\nend|5");
const TOWNS: &str = "{\"xs\":[1,2],\"town\":\"all\",\"towns\":[{\"town\":\"Ulm & Au\",\"link\":\"https://b.example\"},\
     {\"town\":\"Z\",\"link\":\"mailto:a@b.example\"}]}";

/// A workbook with links whose addresses have tags, and its data.
pub fn with_links() -> (Vec<u8>, &'static str) {
    (linked_to(ROWS, ["https://a.example/", "https://a.example/%7Btown%7D", "{link}"]), TOWNS)
}

/// A sheet of these rows with links to three addresses.
fn linked_to((name, rows): (&str, &str), addresses: [&str; 3]) -> Vec<u8> {
    let links: String = (1..)
        .zip(addresses)
        .map(|(number, address)| {
            format!("<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/hyperlink\" Target=\"{address}\" TargetMode=\"External\"/>")
        })
        .collect();
    let links = NO_LINKS.replace("></", &format!(">{links}</"));
    let sheet = Sheet { behind: LINKS.to_owned(), ..Sheet::new(name).rows("A1", rows) };
    with_parts(&book(&[sheet], &[]), &[("xl/worksheets/_rels/sheet1.xml.rels", &links)])
}

fn linking(rows: (&str, &str), addresses: [&str; 3], data: &str) -> Result<Vec<u8>, String> {
    let filled = try_fill(linked_to(rows, addresses), data, "{}");
    filled.map(|filled| filled.file).map_err(|error| error.to_string())
}

/// Where the links of a sheet lead.
fn led(file: &[u8], number: u32) -> Vec<String> {
    let sheet = part(file, &format!("xl/worksheets/sheet{number}.xml"));
    let links = part(file, &format!("xl/worksheets/_rels/sheet{number}.xml.rels"));
    assert!(!links.contains("town"), "{links}");
    assert!(
        sheet.matches("<hyperlinks>").count() == 1 && sheet.contains("</hyperlinks><pageMargins"),
        "{sheet}"
    );
    let of = |link: &String| {
        let value = |name: &str| between(link, name, "\"").first().cloned().unwrap_or_default();
        let id = format!("Id=\"{}\"", value("r:id=\""));
        let line = links.split("<Relationship ").find(|line| line.contains(&id)).expect("it is related");
        format!("{} {}", value("ref=\""), between(line, "Target=\"", "\"")[0])
    };
    between(&sheet, "<hyperlink ", "/>").iter().map(of).collect()
}

#[test]
fn a_link_of_a_cell_leads_elsewhere_in_each_copy() {
    let addresses =
        ["https://a.example/", "https://a.example/%7Btown%7D?x=%26&amp;y=%7B%221%22%7D", "{link}"];
    let file = linking(ROWS, addresses, TOWNS).expect("it is filled");
    let of = |town: &str| format!("https://a.example/{town}?x=%26&amp;y=%7B%221%22%7D");
    let mut expected = vec!["A1 https://a.example/".to_owned()];
    for (first, town, link) in [(2, "Ulm%20&amp;%20Au", "https://b.example"), (4, "Z", "mailto:a@b.example")]
    {
        for row in first..first + 2 {
            expected.extend([format!("A{row} {}", of(town)), format!("C{row}:D{row} {link}")]);
        }
    }
    expected.push(format!("B6 {}", of("all")));
    assert_eq!(led(&file, 1), expected);
    let sheet = part(&file, SHEET);
    assert!(
        sheet.contains("<c r=\"B6\"><v>5</v></c>") && sheet.contains("tooltip=\"a &amp; b\"/>"),
        "{sheet}"
    );
    let told =
        Template::outline(linked_to(ROWS, addresses), None, &limits(), &mut NoFiles).expect("it is read");
    let tags: Vec<String> = told.tags.iter().map(|tag| format!("{} {}", tag.part, tag.shown)).collect();
    let tags_of_link = ["S!A2 {#towns}", "S!A2 {town}", "S!A2 {town}", "S!B2 {#xs}", "S!C2 {link}"];
    assert_eq!(tags[..5], tags_of_link, "a link's tags stand in the sections of their cell");
    let told = linking(ROWS, ["a", "b", "{link}"], &TOWNS.replace("mailto:", "javascript:"));
    let told = told.expect_err("it would run something");
    assert!(told.contains("S!C2, {link}: a link leads to an address of http:"), "{told}");
    let told = linking(ROWS, ["a", "b", "http://{#xs}"], TOWNS).expect_err("a section");
    assert!(told.contains("S!C2, {#xs}: an address holds values alone; write an expression"), "{told}");
}

#[test]
fn a_copy_of_a_sheet_has_links_of_its_own_and_a_list_without_items_leads_nowhere() {
    let rows = ("{town}", "{:sheet towns}\n{#xs}{.}|x|y{/xs}\n|b");
    let data = TOWNS.replace("[1,2]", "[]");
    let addresses = ["https://a.example/", "https://a.example/{town}", "https://c.example"];
    let file = linking(rows, addresses, &data).expect("it is filled");
    for (number, town) in [(1, "Ulm%20&amp;%20Au"), (2, "Z")] {
        let own = format!("B3 https://a.example/{town}");
        assert_eq!(led(&file, number), ["A1 https://a.example/", "C2:D2 https://c.example", &own]);
    }
}

#[test]
fn links_beyond_those_that_excel_allows_are_left_out_with_a_warning() {
    let items = vec!["0"; 40_000].join(",");
    let data = format!("{{\"xs\":[{items}],\"towns\":[],\"link\":\"https://b.example\"}}");
    let rows = ("S", "home\n{#xs}x|y|z{/xs}\nend|5");
    let file = linked_to(rows, ["https://a.example/", "https://b.example/", "{link}"]);
    let filled = try_fill(file, &data, "{}").expect("it is filled");
    assert_eq!(part(&filled.file, SHEET).matches("<hyperlink ").count(), 65_530);
    let told = filled.warnings.join("\n");
    assert!(
        told.contains("14472 were left out: hyperlinks beyond the 65530 that Excel allows on 'S'"),
        "{told}"
    );
}
