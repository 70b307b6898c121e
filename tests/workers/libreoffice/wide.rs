//! Ranges of a workbook that reach to the sheet's edges: LibreOffice would lay out every row and column of them.

use pdf_metadata::pages;
use platen::workers::libreoffice::HtmlOptions;

use super::locale::workbook_of;
use super::{MADE, Office, USUAL, run, usual};
use crate::foreign::Foreign;

const CELLS: &str = "<sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>name</t></is></c><c r=\"B1\"><v>4217</v></c></row>\
     <row r=\"4\"><c r=\"A4\" t=\"inlineStr\"><is><t>the sum</t></is></c><c r=\"C4\"><v>9</v></c></row></sheetData>";

fn merged(ranges: &[&str]) -> String {
    let merges: Vec<String> = ranges.iter().map(|range| format!("<mergeCell ref=\"{range}\"/>")).collect();
    let merges = merges.concat();
    format!("{CELLS}<mergeCells count=\"{}\">{merges}</mergeCells>", ranges.len())
}

#[tokio::test]
async fn a_workbook_whose_ranges_reach_to_the_edges_has_the_pages_of_its_cells() {
    let foreign = Foreign::new();
    let pool = Office { deadline_ms: 20_000, ..USUAL }.pool(&foreign);
    for (name, sheet) in [
        ("a row", merged(&["A6:XFD6"])),
        ("a row by its number", merged(&["6:6"])),
        ("a row with a text", merged(&["A4:XFD4"])),
        ("columns", merged(&["E1:F1048576"])),
        ("a column with a text", merged(&["B1:B1048576"])),
        ("the rest of the sheet", merged(&["A5:XFD1048576", "D1:XFD3"])),
        (
            "links",
            format!("{CELLS}<hyperlinks><hyperlink ref=\"A1:XFD1048576\" location=\"S!A1\"/></hyperlinks>"),
        ),
    ] {
        let document = workbook_of(&sheet, "");
        let (converted, pdf) = run(&pool, usual("xlsx"), &document).await.unwrap();
        assert_eq!((converted, pages(&pdf)), (MADE, Some(1)), "{name}");
        let html = HtmlOptions { saved: "ods".into(), slides: false, output_bytes: 1 << 20 };
        let mut job = usual("xlsx");
        job.html = Some(html);
        let (converted, page) = run(&pool, job, &document).await.unwrap();
        assert_eq!(converted, MADE, "{name}");
        let page = String::from_utf8(page.to_vec()).unwrap();
        assert!(page.contains("the sum") && page.contains("4217") && page.len() < 50_000, "{name}: {page}");
    }
}
