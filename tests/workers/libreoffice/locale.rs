//! The locale in which a workbook shows its numbers, dates and currencies.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use platen::workers::libreoffice::HtmlOptions;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{MADE, USUAL, run, usual};
use crate::foreign::Foreign;

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// Numbers of formats, of their own codes where they have one, and values: a date, a decimal number, an amount that follows the
/// locale, one in euros, a date that is English everywhere.
const CELLS: [(u32, &str, &str); 5] = [
    (14, "", "46097"),
    (4, "", "1234567.5"),
    (8, "", "1234.5"),
    (164, "#,##0.00 [$€-407]", "1234.5"),
    (165, "[$-409]d mmmm yyyy", "46097"),
];

fn workbook() -> Vec<u8> {
    let (mut codes, mut formats, mut cells) = (String::new(), String::new(), String::new());
    for ((number, code, value), at) in CELLS.iter().zip(0..) {
        if !code.is_empty() {
            let _ = write!(codes, "<numFmt numFmtId=\"{number}\" formatCode=\"{code}\"/>");
        }
        let _ = write!(formats, "<xf numFmtId=\"{number}\" xfId=\"0\" applyNumberFormat=\"1\"/>");
        let _ = write!(cells, "<row r=\"{0}\"><c r=\"A{0}\" s=\"{at}\"><v>{value}</v></c></row>", at + 1);
    }
    let styles = format!(
        "<numFmts count=\"2\">{codes}</numFmts><fonts count=\"1\"><font><sz val=\"11\"/><name val=\"Liberation Sans\"/></font></fonts>\
         <fills count=\"1\"><fill><patternFill patternType=\"none\"/></fill></fills><borders count=\"1\"><border/></borders>\
         <cellStyleXfs count=\"1\"><xf/></cellStyleXfs><cellXfs count=\"5\">{formats}</cellXfs>"
    );
    let sheet = format!(
        "<cols><col min=\"1\" max=\"1\" width=\"40\" customWidth=\"1\"/></cols><sheetData>{cells}</sheetData>"
    );
    workbook_of(&sheet, &styles)
}

/// A workbook of one sheet, `S`, with these styles.
pub(super) fn workbook_of(sheet: &str, styles: &str) -> Vec<u8> {
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let link = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links =
        |links: String| format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{links}</Relationships>");
    let parts = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
                 <Override PartName=\"/xl/workbook.xml\" ContentType=\"{kind}.sheet.main+xml\"/><Override PartName=\"/xl/styles.xml\" ContentType=\"{kind}.styles+xml\"/>\
                 <Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"{kind}.worksheet+xml\"/></Types>"
            ),
        ),
        ("_rels/.rels", links(link("rId1", "officeDocument", "xl/workbook.xml"))),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            links(link("rId1", "worksheet", "worksheets/sheet1.xml") + &link("rId2", "styles", "styles.xml")),
        ),
        ("xl/styles.xml", format!("<styleSheet xmlns=\"{MAIN}\">{styles}</styleSheet>")),
        ("xl/worksheets/sheet1.xml", format!("<worksheet xmlns=\"{MAIN}\">{sheet}</worksheet>")),
    ];
    let mut file = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        file.start_file(name, SimpleFileOptions::default()).unwrap();
        file.write_all(content.as_bytes()).unwrap();
    }
    file.finish().unwrap().into_inner()
}

#[tokio::test]
async fn a_workbook_shows_its_cells_in_the_locale_that_is_asked_for_and_the_next_one_in_its_own() {
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    let document = workbook();
    let english = ["3/16/2026", "1,234,567.50", "$1,234.50", "1,234.50 €", "16 March 2026"];
    for (locale, shown) in [
        (None, english),
        (Some("de-DE"), ["16.03.2026", "1.234.567,50", "1.234,50 €", "1.234,50 €", "16 March 2026"]),
        (None, english),
        (Some("fr-CH"), ["16.03.2026", "1'234'567.50", "SFr. 1'234.50", "1'234.50 €", "16 March 2026"]),
        (Some("en-GB"), ["16/03/2026", "1,234,567.50", "£1,234.50", "1,234.50 €", "16 March 2026"]),
        (Some("sr-Latn-RS"), ["16.03.2026", "1.234.567,50", "1.234,50 RSD", "1.234,50 €", "16 March 2026"]),
        (Some("zz-ZZ"), english),
    ] {
        let html = HtmlOptions { saved: "ods".into(), slides: false, output_bytes: 1 << 20 };
        let mut job = usual("xlsx");
        (job.html, job.locale) = (Some(html), locale.map(Into::into));
        let (converted, page) = run(&pool, job, &document).await.unwrap();
        assert_eq!(converted, MADE, "{locale:?}");
        let page = String::from_utf8(page.to_vec()).unwrap().replace(['\u{a0}', '\u{202f}'], " ");
        for cell in shown {
            assert!(page.contains(cell), "{locale:?}: {cell} is not in {page}");
        }
    }
}
